//! Samples of long lists of scenes.

/// Whether the environment asks for all scenes.
pub fn takes_all() -> bool {
    std::env::var("PARTITA_CASES").is_ok_and(|cases| cases == "all")
}

/// A sample of scenes, or all of them if the environment has `PARTITA_CASES=all`.
///
/// Of n scenes it takes each `every`-th on average, spread over nested loops of any lengths by
/// multiples of the golden ratio. It is the same in every run.
pub struct Sample {
    every: f64,
    seen: u32,
}

impl Sample {
    /// Takes the first scene, then one in `every`.
    pub fn one_in(every: u32) -> Self {
        Self { every: if takes_all() { 1.0 } else { f64::from(every) }, seen: 0 }
    }

    /// Whether the next scene is not in the sample.
    pub fn leaves_out(&mut self) -> bool {
        let place = (f64::from(self.seen) * 0.618_033_988_749_895).fract();
        self.seen += 1;
        place * self.every >= 1.0
    }
}
