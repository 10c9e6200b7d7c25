//! The device that tests run on.

use std::sync::{Arc, LazyLock};

use partita_ibds_cloth_gpu::Gpu;

/// With this set to anything a missing adapter fails.
const REQUIRE: &str = "PARTITA_REQUIRE_GPU";

static GPU: LazyLock<Option<Arc<Gpu>>> = LazyLock::new(|| match Gpu::new() {
    Ok(gpu) => Some(gpu),
    Err(error) if std::env::var_os(REQUIRE).is_some() => panic!("{error}, though {REQUIRE} is set"),
    Err(error) => {
        eprintln!("SKIPPED, NOTHING WAS TESTED: {error}. Set {REQUIRE} to make this a failure.");
        None
    }
});

/// Whether there is one; says so where not.
pub fn is_there() -> bool {
    GPU.is_some()
}

/// One for all tests of a process.
pub fn gpu() -> Arc<Gpu> {
    GPU.clone().expect("a device, which was asked for before")
}
