//! The reference simulators keep the laws.

use partita_simulator::{reference::*, simulator_laws};

fn free_mass() -> MassOnSpring {
    let parameters = SpringParameters { mass: 2.0, ..SpringParameters::default() };
    MassOnSpring::new("free", parameters).unwrap().started_at([0.3, 0.2, 0.1], [0.0, 1.0, -1.0]).unwrap()
}

fn swinging_mass() -> MassOnSpring {
    let parameters = SpringParameters {
        mass: 0.5,
        stiffness: 40.0,
        damping: 0.1,
        anchor: [0.0, 1.0, 0.0],
        gravity: [0.0, -9.81, 0.0],
    };
    MassOnSpring::new("swinging", parameters).unwrap().started_at([0.3, 1.0, 0.0], [0.0; 3]).unwrap()
}

fn chain() -> Chain {
    let positions: Vec<_> = (0..12).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    Chain::new("chain", &positions, ChainParameters { damping: 0.05, ..ChainParameters::default() }).unwrap()
}

mod mass_on_spring {
    use super::*;
    simulator_laws!(swinging_mass(), dt = 1.0 / 1024.0, load = 0.1, free = free_mass());
}

mod hanging_chain {
    use super::*;
    simulator_laws!(chain(), dt = 1.0 / 1024.0, load = 0.1, free = chain());
}
