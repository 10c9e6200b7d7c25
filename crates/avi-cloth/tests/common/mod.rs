//! Cloth that several tests have.

use nalgebra::Vector3;
use partita_avi_cloth::{AviCloth, Fabric, Membrane, Parameters};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

/// Of the paper's scenes, without bending: E 300 N/m and G 150 N/m, hence no lateral contraction, 500 g/m².
pub fn elastic() -> Fabric {
    Fabric {
        membrane: Membrane::StVenantKirchhoff { poisson: 0.0 },
        damping: 0.0,
        bend_damping: 0.0,
        ..Fabric::cotton().stretch(300.0).shear(150.0).bend(0.0).density(0.5)
    }
}

/// Forces alone, and no gravity.
pub fn plain(fabric: Fabric) -> Parameters {
    Parameters { fabric, gravity: [0.0; 3], limit: None, self_contact: false, ..Parameters::default() }
}

pub fn make(mesh: Mesh, parameters: Parameters) -> AviCloth {
    AviCloth::with_parameters("cloth", mesh, parameters).unwrap()
}

pub struct Random(pub u64);

impl Random {
    /// From -1 to 1.
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> V3 {
        V3::from_fn(|_, _| self.number())
    }
}
