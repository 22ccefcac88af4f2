//! Pseudo-random numbers that are the same in every run.

/// SplitMix64 (Steele, Lea, Flood 2014): seeds that differ in one bit give streams that have nothing in
/// common.
pub struct Random(pub u64);

impl Random {
    /// Any number of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In 0..n; 0 where n is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// True once in n times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [−1/2, 1/2).
    pub fn centred(&mut self) -> f64 {
        self.unit() - 0.5
    }

    /// In [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number from −2 to 2, zero as often as it must be for degenerate problems to be frequent.
    pub fn entry(&mut self) -> f64 {
        self.pick(&[-2.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0])
    }

    /// Many of [`entry`](Self::entry).
    pub fn entries(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.entry()).collect()
    }
}

/// Marsaglia's xorshift, not from zero: seeds that tests keep belong to its streams.
pub struct Xorshift(pub u64);

impl Xorshift {
    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The linear congruential generator of Knuth (MMIX): recorded piles belong to its stream.
pub struct Congruential(pub u64);

impl Congruential {
    /// In [−1/2, 1/2).
    pub fn centred(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }
}
