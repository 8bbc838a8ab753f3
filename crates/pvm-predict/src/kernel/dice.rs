//! Random numbers from a seed: the same seed gives the same run, on every computer.

/// A generator with 64 bits of state (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Makes a generator from a seed. Different `stream`s of a seed give independent numbers.
    pub(crate) const fn new(seed: u64, stream: u64) -> Self {
        let mut dice = Self(seed);
        let first = dice.roll();
        Self(first ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next 64 bits.
    pub(crate) const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number below `count`, which is not 0.
    pub(crate) const fn below(&mut self, count: u64) -> u64 {
        ((self.roll() as u128 * count as u128) >> 64) as u64
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        (self.roll() >> 11) as f64 * (1.0 / (1u64 << 53) as f64) < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_even_and_streams_differ() {
        let mut dice = Dice::new(1, 0);
        let mut counts = [0u32; 8];
        (0..80_000).for_each(|_| counts[dice.below(8) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        assert_ne!(Dice::new(1, 0).roll(), Dice::new(1, 1).roll());
        let hits = (0..100_000).filter(|_| dice.chance(0.25)).count();
        assert!((24_000..26_000).contains(&hits), "{hits}");
        assert_eq!(Dice::new(7, 3).roll(), Dice::new(7, 3).roll());
    }
}
