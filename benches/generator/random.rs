//! The generator's own random numbers, so that no release of a crate changes a fleet.

/// Sebastiano Vigna's `SplitMix64`.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// A sequence for a list of numbers; each other list gives another sequence.
    pub(super) fn new(parts: &[u64]) -> Self {
        let mut random = Self(0);
        for part in parts {
            random.0 ^= *part;
            random.0 = random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, not including, `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// `sha256:` and 64 digits.
    pub(super) fn digest(&mut self) -> String {
        let [a, b, c, d] = [self.next(), self.next(), self.next(), self.next()];
        format!("sha256:{a:016x}{b:016x}{c:016x}{d:016x}")
    }

    /// A word of a made-up vocabulary.
    pub(super) fn word(&mut self) -> &'static str {
        const WORDS: [&str; 16] = [
            "cache", "queue", "shard", "model", "batch", "index", "token", "limit", "retry", "trace",
            "quota", "probe", "store", "route", "epoch", "layer",
        ];
        let position = usize::try_from(self.below(16)).unwrap_or(0);
        WORDS.get(position).copied().unwrap_or("other")
    }
}
