//! The first inputs of fuzz targets: those that were worth keeping, a line of hexadecimal digits
//! each, in `fuzz/seeds/TARGET.hex`. Further inputs that a run finds lie in `fuzz/corpus/TARGET`
//! and stay on this computer.

use std::fs;
use std::path::{Path, PathBuf};

/// Longer ones are not kept: they seldom show more than short ones do.
const INPUT_BYTES_MAX: usize = 256;
/// At most so many bytes are kept for a target, the shortest inputs first.
const KEPT_BYTES_MAX: usize = 8 << 10;

fn seeds(root: &Path, target: &str) -> PathBuf {
    root.join("fuzz/seeds").join(format!("{target}.hex"))
}

/// The folder in which a run of a target reads its inputs, and leaves new ones.
pub(crate) fn folder(root: &Path, target: &str) -> PathBuf {
    root.join("fuzz/corpus").join(target)
}

/// Lays the kept inputs of a target where the fuzzer begins.
pub(crate) fn lay_out(root: &Path, target: &str) -> Result<(), String> {
    let (seeds, folder) = (seeds(root, target), folder(root, target));
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    for (number, line) in fs::read_to_string(&seeds).unwrap_or_default().lines().enumerate() {
        let input = from_hex(line)
            .ok_or_else(|| format!("{}:{}: no hexadecimal digits", seeds.display(), number + 1))?;
        fs::write(folder.join(format!("kept-{number:04}")), input).map_err(failed)?;
    }
    Ok(())
}

/// Makes the folder `merged` the corpus of a target, and keeps its short inputs as seeds.
pub(crate) fn keep(root: &Path, target: &str, merged: &Path) -> Result<(), String> {
    let corpus = folder(root, target);
    let failed = |e: std::io::Error| format!("{}: {e}", merged.display());
    fs::remove_dir_all(&corpus).and_then(|()| fs::rename(merged, &corpus)).map_err(failed)?;
    let lines: Vec<String> = chosen(inputs(&corpus)?).iter().map(|input| to_hex(input)).collect();
    let file = seeds(root, target);
    fs::create_dir_all(root.join("fuzz/seeds")).map_err(|e| e.to_string())?;
    fs::write(&file, lines.join("\n") + "\n").map_err(|e| format!("{}: {e}", file.display()))?;
    println!("{target}: {} inputs kept", lines.len());
    Ok(())
}

fn inputs(folder: &Path) -> Result<Vec<Vec<u8>>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        inputs.push(fs::read(entry.map_err(failed)?.path()).map_err(failed)?);
    }
    Ok(inputs)
}

/// The inputs to be kept, the shortest first, each once.
fn chosen(mut inputs: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    inputs.retain(|input| (1..=INPUT_BYTES_MAX).contains(&input.len()));
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    inputs.dedup();
    let mut left = KEPT_BYTES_MAX;
    inputs.retain(|input| {
        let fits = input.len() <= left;
        left -= if fits { input.len() } else { left };
        fits
    });
    inputs
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(line: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        line.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_comes_back_from_its_line() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&all)), Some(all));
        assert_eq!((from_hex("0"), from_hex("0g"), from_hex("é0")), (None, None, None));
    }

    #[test]
    fn short_inputs_are_kept_each_once_and_not_more_than_a_little() {
        let kept = chosen(vec![vec![2, 1], vec![], vec![7], vec![2, 1], vec![0; 257]]);
        assert_eq!(kept, [vec![7], vec![2, 1]]);
        let many: Vec<Vec<u8>> = (0..1000_u16).map(|n| n.to_le_bytes().repeat(64)).collect();
        assert_eq!(chosen(many).iter().map(Vec::len).sum::<usize>(), KEPT_BYTES_MAX);
    }
}
