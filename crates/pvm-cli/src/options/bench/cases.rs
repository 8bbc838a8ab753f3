//! The choice of runs: benchmarks, classes, shapes, numbers of tasks.

/// The eight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
pub enum Name {
    /// Pairs of random numbers.
    #[value(name = "EP")]
    Ep,
    /// A multigrid solver.
    #[value(name = "MG")]
    Mg,
    /// The least eigenvalue of a sparse matrix.
    #[value(name = "CG")]
    Cg,
    /// Keys to be ranked.
    #[value(name = "IS")]
    Is,
    /// A Fourier transform in three dimensions.
    #[value(name = "FT")]
    Ft,
    /// A flow, by successive over-relaxation.
    #[value(name = "LU")]
    Lu,
    /// A flow, by lines of scalar equations.
    #[value(name = "SP")]
    Sp,
    /// A flow, by lines of equations in blocks.
    #[value(name = "BT")]
    Bt,
}

/// NPB's classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
pub enum Class {
    /// Samples: seconds at most.
    #[value(name = "S")]
    S,
    /// For workstations of their time.
    #[value(name = "W")]
    W,
    /// The smallest of the official ones.
    #[value(name = "A")]
    A,
    /// The next one; FT needs some 2 GB.
    #[value(name = "B")]
    B,
}

/// The work of the programs besides their numerics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
pub enum Shape {
    /// Classes, and messages as they are fastest.
    #[value(name = "official")]
    Official,
    /// Four workers, sizes and encoding as in the thesis.
    #[value(name = "thesis")]
    Thesis,
}

/// The workers of the thesis.
pub const THESIS_TASKS: u32 = 4;

/// The properties of a benchmark.
struct Properties {
    name: Name,
    text: &'static str,
    /// Pairs, points of the grid, order of the matrix or keys, in the classes.
    sizes: [u64; 4],
    /// Its size in the shape of the thesis, and the class of that size, if there is one.
    thesis: (u64, Option<Class>),
    /// About how many seconds it takes in the classes; only the time that is left is guessed from
    /// it.
    seconds: [f64; 4],
}

const fn cube(side: u64) -> u64 {
    side * side * side
}

use Class::{S, W};
const KNOWN: [Properties; 8] = [
    Properties {
        name: Name::Ep,
        text: "EP",
        sizes: [1 << 24, 1 << 25, 1 << 28, 1 << 30],
        thesis: (1 << 24, Some(S)),
        seconds: [0.3, 0.9, 5.0, 20.0],
    },
    Properties {
        name: Name::Mg,
        text: "MG",
        sizes: [cube(32), cube(128), cube(256), cube(256)],
        thesis: (cube(128), Some(W)),
        seconds: [0.1, 0.4, 1.2, 6.0],
    },
    Properties {
        name: Name::Cg,
        text: "CG",
        sizes: [1400, 7000, 14_000, 75_000],
        thesis: (1400, Some(S)),
        seconds: [0.1, 0.5, 1.2, 50.0],
    },
    Properties {
        name: Name::Is,
        text: "IS",
        sizes: [1 << 16, 1 << 20, 1 << 23, 1 << 25],
        thesis: (1 << 20, None),
        seconds: [0.1, 0.2, 1.0, 4.0],
    },
    Properties {
        name: Name::Ft,
        text: "FT",
        sizes: [cube(64), 128 * 128 * 32, 256 * 256 * 128, 512 * 256 * 256],
        thesis: (cube(64), Some(S)),
        seconds: [0.1, 0.3, 4.0, 50.0],
    },
    Properties {
        name: Name::Lu,
        text: "LU",
        sizes: [cube(12), cube(33), cube(64), cube(102)],
        thesis: (cube(12), Some(S)),
        seconds: [0.1, 8.0, 30.0, 130.0],
    },
    Properties {
        name: Name::Sp,
        text: "SP",
        sizes: [cube(12), cube(36), cube(64), cube(102)],
        thesis: (cube(12), Some(S)),
        seconds: [0.2, 7.0, 25.0, 110.0],
    },
    Properties {
        name: Name::Bt,
        text: "BT",
        sizes: [cube(12), cube(24), cube(64), cube(102)],
        thesis: (cube(12), Some(S)),
        seconds: [0.2, 2.5, 70.0, 300.0],
    },
];

impl Name {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|known| known.name)
    }

    fn known(self) -> &'static Properties {
        &KNOWN[self as usize]
    }

    /// As it stands in tables.
    pub fn text(self) -> &'static str {
        self.known().text
    }

    /// The program's part of `nas-cg`, and of NPB's `cg.A.x`.
    pub fn lower(self) -> String {
        self.text().to_lowercase()
    }

    /// True if NPB's program can have this number of tasks.
    pub fn npb_takes(self, tasks: u32) -> bool {
        let is_square = tasks.isqrt().pow(2) == tasks;
        match self {
            Self::Sp | Self::Bt => is_square,
            Self::Ep => true,
            Self::Mg | Self::Cg | Self::Is | Self::Ft | Self::Lu => tasks.is_power_of_two(),
        }
    }
}

impl Class {
    /// As it stands in tables.
    pub fn text(self) -> &'static str {
        ["S", "W", "A", "B"][self as usize]
    }
}

/// One benchmark, of one size, with a number of tasks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Case {
    /// The benchmark.
    pub name: Name,
    /// The class; none in the shape of the thesis, where no class is the same.
    pub class: Option<Class>,
    /// The shape.
    pub shape: Shape,
    /// The number of tasks that compute.
    pub tasks: u32,
}

impl Case {
    /// As it stands in the rows of the figures: `CG.A`, `CG.thesis`.
    pub fn test(self) -> String {
        let of = match self.shape {
            Shape::Official => self.class.map_or("", Class::text),
            Shape::Thesis => "thesis",
        };
        format!("{}.{of}", self.name.text())
    }

    /// The size of the problem.
    pub fn size(self) -> u64 {
        match (self.shape, self.class) {
            (Shape::Official, Some(class)) => self.name.known().sizes[class as usize],
            _ => self.name.known().thesis.0,
        }
    }

    /// About how many hundredths of a second it takes.
    pub fn weight(self) -> u64 {
        let class = self.class.unwrap_or(Class::W);
        (100.0 * self.name.known().seconds[class as usize]).max(10.0) as u64
    }

    /// The arguments of a program of ours.
    pub fn arguments(self) -> Vec<String> {
        let class = self.class.unwrap_or(Class::S).text();
        let mut words = vec![class.to_owned(), self.tasks.to_string(), "--json".to_owned()];
        if self.shape == Shape::Thesis {
            words.extend(["--shape", "thesis"].map(str::to_owned));
        }
        words
    }

    /// For people.
    pub fn text(self) -> String {
        let plural = if self.tasks == 1 { "" } else { "s" };
        format!("{} on {} task{plural}", self.test(), self.tasks)
    }
}

impl Shape {
    /// The classes that are run in this shape: of the thesis none, as its sizes are its own.
    pub fn class_of(self, name: Name, class: Option<Class>) -> Option<Class> {
        if self == Self::Thesis { name.known().thesis.1 } else { class }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stands_under_its_name() {
        for known in &KNOWN {
            assert_eq!(known.name.text(), known.text);
        }
    }

    #[test]
    fn npb_takes_squares_or_powers_of_two() {
        let takes =
            |name: Name| (1..=16).filter(|&tasks| name.npb_takes(tasks)).collect::<Vec<_>>();
        assert_eq!(takes(Name::Sp), [1, 4, 9, 16]);
        assert_eq!(takes(Name::Lu), [1, 2, 4, 8, 16]);
    }
}
