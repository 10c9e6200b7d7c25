//! The contract's laws, for placed particles with an emitter.

use partita_particles::{Emitter, Particles};
use partita_simulator::simulator_laws;

/// Ten placed particles in two rows, and a stream of emitted ones.
fn cloud() -> Particles {
    let stream = Emitter::cuboid([0.0, 0.3, 0.0], [0.6, 0.1, 0.6]).rate(2000.0).speed(1.0).spread(0.3).lifetime(0.05);
    let mut cloud = Particles::new("cloud").mass(0.01).drag(0.01).wind([0.5, 0.0, 0.0]).emit(stream.seed(3));
    for i in 0..10 {
        let (column, row) = (f64::from(i % 5), f64::from(i / 5));
        cloud.add([0.1 * column, 0.0, 0.1 * row], [0.0, 0.1 * row, 0.0]).unwrap();
    }
    cloud
}

/// Particles that nothing but gravity accelerates.
fn free() -> Particles {
    let mut free = Particles::new("free").mass(0.01);
    for i in 0..8 {
        free.add([0.1 * f64::from(i), 0.0, 0.0], [0.0, 0.0, 0.3]).unwrap();
    }
    free
}

simulator_laws!(cloud(), dt = 1.0 / 1024.0, load = 0.1, free = free());
