//! Cloth that several tests have.

use partita_avi_cloth::{AviCloth, Fabric, Membrane, Parameters};
use partita_mesh::Mesh;

/// Of the paper's scenes, without bending: E 300 N/m and G 150 N/m, hence no lateral contraction, 500 g/m².
pub fn elastic() -> Fabric {
    let fabric = Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).undamped();
    fabric.stretch(300.0).shear(150.0).bend(0.0).density(0.5)
}

/// Forces alone, and no gravity.
pub fn plain(fabric: Fabric) -> Parameters {
    Parameters { fabric, gravity: [0.0; 3], limit: None, self_contact: false, ..Parameters::default() }
}

pub fn make(mesh: Mesh, parameters: Parameters) -> AviCloth {
    AviCloth::with_parameters("cloth", mesh, parameters).unwrap()
}
