//! SHA-256 (FIPS 180-4) of files: what a sealed prediction was made of.

use std::io::{self, Read};

const BLOCK: usize = 64;

/// The hash of all that a reader gives, in hexadecimal.
pub(super) fn of(mut input: impl Read) -> io::Result<String> {
    let mut state = roots(&PRIMES[..8], |prime| prime.sqrt());
    let (mut block, mut length) = ([0; BLOCK], 0u64);
    loop {
        let filled = fill(&mut input, &mut block)?;
        length += filled as u64;
        if filled == BLOCK {
            mix(&mut state, &block);
            continue;
        }
        block[filled..].fill(0);
        block[filled] = 0x80;
        if filled >= BLOCK - 8 {
            mix(&mut state, &block);
            block = [0; BLOCK];
        }
        block[BLOCK - 8..].copy_from_slice(&(length * 8).to_be_bytes());
        mix(&mut state, &block);
        return Ok(state.iter().map(|word| format!("{word:08x}")).collect());
    }
}

fn fill(input: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match input.read(&mut block[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// The first 32 bits behind the point of roots of primes, from which the standard takes its
/// constants. A root below 7 has 50 bits behind the point in 64-bit floating point.
fn roots<const N: usize>(primes: &[u32], root: impl Fn(f64) -> f64) -> [u32; N] {
    std::array::from_fn(|place| {
        let root = root(f64::from(primes[place]));
        (root.fract() * 4_294_967_296.0) as u32
    })
}

const PRIMES: [u32; 64] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193,
    197, 199, 211, 223, 227, 229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307,
    311,
];

fn mix(state: &mut [u32; 8], block: &[u8; BLOCK]) {
    let constants: [u32; 64] = roots(&PRIMES, f64::cbrt);
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for place in 16..64 {
        let (a, b) = (words[place - 15], words[place - 2]);
        let a = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let b = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        let sum = words[place - 16].wrapping_add(a).wrapping_add(words[place - 7]);
        words[place] = sum.wrapping_add(b);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (constant, word) in constants.iter().zip(words) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(*constant);
        let first = first.wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(more);
    }
}

#[cfg(test)]
mod tests {
    /// Against the tool of the system, for lengths about the ends of blocks.
    #[test]
    fn hashes_are_those_of_sha256sum() {
        use std::io::Write as _;
        use std::process::{Command, Stdio};
        for length in [0, 3, 55, 56, 63, 64, 65, 119, 120, 1000] {
            let bytes: Vec<u8> = (0..length).map(|place| (place * 7) as u8).collect();
            let mut tool = Command::new("sha256sum");
            let tool = tool.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut tool = tool.spawn().expect("coreutils");
            tool.stdin.take().expect("a pipe").write_all(&bytes).expect("it reads");
            let told = tool.wait_with_output().expect("it ends").stdout;
            let told = String::from_utf8_lossy(&told);
            let ours = super::of(bytes.as_slice()).expect("memory");
            assert_eq!(told.split(' ').next(), Some(ours.as_str()), "{length} bytes");
        }
    }
}
