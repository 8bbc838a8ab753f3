//! Figures that the tests of this room work with.

use super::figures::{Computer, Figures, Key};

/// A run with one test of three systems; the times grow with the size.
pub(crate) fn sample(factor: f64) -> Figures {
    let mut figures = Figures::new(true, Computer::default(), Vec::new());
    for (system, base) in [("NeoPVM", 1.0), ("PVM 3.4.6", 30.0), ("Open MPI", 1.5)] {
        for size in [0_u64, 1000, 1_000_000] {
            for round in 0..3 {
                let key = Key {
                    suite: "echo".to_owned(),
                    test: "echo".to_owned(),
                    tasks: 2,
                    size,
                    system: system.to_owned(),
                    variant: "direct raw".to_owned(),
                };
                let own = if system == "NeoPVM" { factor } else { 1.0 };
                let time = own * base * (1.0 + size as f64 / 1000.0) + 0.01 * f64::from(round);
                figures.add(key, "us", vec![time, time * 1.02, time * 1.02, time * 1.5]);
            }
        }
    }
    figures
}
