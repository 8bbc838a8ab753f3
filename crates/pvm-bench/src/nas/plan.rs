//! The cases that are run, chosen by the user's options.

use crate::case::Length;
use pvm_cli::options::bench::NasOptions;
use pvm_cli::options::bench::cases::{Case, Class, Name, Shape, THESIS_TASKS};

/// The cases to run, the shortest of a class first, and sentences about those that cannot be run.
pub(crate) fn planned(options: &NasOptions, length: Length) -> (Vec<Case>, Vec<String>) {
    let shape = options.shape.unwrap_or(Shape::Official);
    let names: Vec<Name> =
        Name::all().filter(|name| options.only.is_empty() || options.only.contains(name)).collect();
    let tasks = unique(
        &options.tasks,
        match (shape, length) {
            (Shape::Thesis, _) => &[THESIS_TASKS],
            (_, Length::Quick) => &[1, 4],
            (_, Length::Full) => &[1, 2, 4],
        },
    );
    let classes = unique(&options.class, length.pick(&[Class::S, Class::W], &[Class::S]));
    let classes: Vec<Option<Class>> = match shape {
        Shape::Official => classes.into_iter().map(Some).collect(),
        Shape::Thesis => vec![None],
    };
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for (class, tasks) in classes.iter().flat_map(|&class| tasks.iter().map(move |&n| (class, n))) {
        for &name in &names {
            let class = shape.class_of(name, class);
            let case = Case { name, class, shape, tasks };
            match hindrance(case) {
                None => cases.push(case),
                Some(why) if left_out.contains(&why) => {}
                Some(why) => left_out.push(why),
            }
        }
    }
    (cases, left_out)
}

/// The reason why a case is impossible, if it is.
fn hindrance(case: Case) -> Option<String> {
    let tasks = case.tasks;
    if case.shape == Shape::Thesis && tasks != THESIS_TASKS {
        return Some(format!(
            "the shape of the thesis has {THESIS_TASKS} tasks: not run on {tasks}"
        ));
    }
    None
}

/// Each once, in order; the others where there are none.
fn unique<T: Copy + Ord>(given: &[T], otherwise: &[T]) -> Vec<T> {
    let mut all = if given.is_empty() { otherwise.to_vec() } else { given.to_vec() };
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(class: &[Class], tasks: &[u32], shape: Option<Shape>, only: &[Name]) -> NasOptions {
        let (class, tasks, only) = (class.to_vec(), tasks.to_vec(), only.to_vec());
        NasOptions { class, tasks, shape, only, peer: None }
    }

    #[test]
    fn all_eight_are_run() {
        let (cases, left_out) = planned(&options(&[], &[], None, &[]), Length::Full);
        assert_eq!((cases.len(), left_out.len()), (2 * 3 * 8, 0));
        let (cases, left_out) = planned(&options(&[], &[], None, &[]), Length::Quick);
        assert_eq!((cases.len(), left_out.len()), (16, 0));
        let takes =
            |name: Name| (1..=16).filter(|&tasks| name.npb_takes(tasks)).collect::<Vec<_>>();
        assert_eq!(takes(Name::Sp), [1, 4, 9, 16]);
        assert_eq!(takes(Name::Lu), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn the_thesis_has_its_own_sizes_and_four_workers() {
        let thesis = Some(Shape::Thesis);
        let (cases, left_out) = planned(&options(&[], &[2, 4], thesis, &[]), Length::Full);
        assert_eq!(cases.len(), 8);
        assert_eq!(left_out, ["the shape of the thesis has 4 tasks: not run on 2"]);
        let mg = cases.iter().find(|case| case.name == Name::Mg).unwrap();
        assert_eq!((mg.test(), mg.size(), mg.class), ("MG.thesis".into(), 1 << 21, Some(Class::W)));
        assert_eq!(mg.arguments(), ["W", "4", "--json", "--shape", "thesis"]);
        assert_eq!(cases.iter().find(|case| case.name == Name::Is).unwrap().size(), 1 << 20);
    }

    #[test]
    fn what_is_named_twice_is_run_once() {
        let asked = options(&[Class::W, Class::S, Class::W], &[4, 1, 4], None, &[Name::Cg]);
        let (cases, _) = planned(&asked, Length::Full);
        let texts: Vec<String> = cases.into_iter().map(Case::text).collect();
        assert_eq!(
            texts,
            ["CG.S on 1 task", "CG.S on 4 tasks", "CG.W on 1 task", "CG.W on 4 tasks"]
        );
    }
}
