//! Of the bench `ibds-gpu`: pieces of cloth that a device corrects together (\[BBD09\] figures 3b and 3c), and a sheet that lies on the ground
//! with friction, all its particles in contact (figure 4), and pieces that lie on each other.

use std::sync::Arc;

use partita::{
    ibds_cloth::Net,
    ibds_cloth_gpu::{Gpu, IbdsClothGpu},
    simulator::{Carrier, Guide, HandleId, HandleState, Inputs, Motion, Primitive, PrimitiveShape, Simulator, Surface},
};

use crate::{
    Effort,
    ibds_gpu::{SWEEPS, run},
    table::{Failure, Table, median},
};

/// Particles across and along a piece, and how many pieces.
const PIECES: [[u32; 2]; 5] = [[8, 8], [8, 16], [16, 16], [16, 32], [32, 32]];
const COUNTS: [u32; 4] = [1, 4, 16, 64];

/// Particles along an edge of the sheet on the ground: for a device, and for one in software.
const ON_GROUND: [u32; 2] = [256, 64];

/// Pieces that lie on each other.
const LAYERS: u32 = 4;

/// How far particles are from each other `[m]`, and the mass of one `[kg]`.
const APART: f64 = 0.02;
const MASS: f64 = 1e-4;

/// Up to so many particles.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort, gpu: &Arc<Gpu>, most: u32) -> Result<(), Failure> {
    for (size @ [across, along], count) in PIECES.into_iter().flat_map(|size| COUNTS.map(|count| (size, count))) {
        if across * along * count <= most {
            let text = format!("{count} x {} particles: a device", across * along);
            table.case(&text, "ms a step", None, |table| pieces(table, effort, &text, (size, count), gpu))?;
        }
    }
    let side = match (effort.quick, gpu.is_software()) {
        (true, _) => 8,
        (false, true) => ON_GROUND[1],
        (false, false) => ON_GROUND[0],
    };
    let text = format!("{} particles on the ground", side * side);
    table.case(&text, "ms a step", None, |table| on_ground(table, effort, &text, side, gpu))?;
    let text = format!("{LAYERS} x {} particles on each other", side * side / 4);
    table.case(&text, "ms a step", None, |table| on_each_other(table, effort, &text, side / 2, gpu))
}

/// Level pieces above each other, and of each the first row.
fn net([across, along]: [u32; 2], count: u32) -> Result<(Net, Vec<u32>), Failure> {
    let one = across * along;
    let place = |k: u32| {
        let (piece, k) = (k / one, k % one);
        [k % across, piece, k / across].map(|n| APART * f64::from(n))
    };
    let positions: Vec<[f64; 3]> = (0..count * one).map(place).collect();
    let pairs = (0..count * one).flat_map(|k| {
        let (column, row) = (k % across, k % one / across);
        [(column + 1 < across).then_some([k, k + 1]), (row + 1 < along).then_some([k, k + across])]
    });
    let net = Net::new(&positions, &vec![MASS; positions.len()])?.bars(pairs.flatten())?;
    Ok((net, (0..count * one).filter(|k| k % one < across).collect()))
}

fn pieces(
    table: &mut Table,
    effort: Effort,
    text: &str,
    (size, count): ([u32; 2], u32),
    gpu: &Arc<Gpu>,
) -> Result<(), Failure> {
    let (net, edges) = net(size, count)?;
    let mut cloth = IbdsClothGpu::new("pieces", net.clone(), gpu)?;
    cloth.pin(&edges)?;
    let ran = run(&mut cloth.max_iterations(SWEEPS), &net, Inputs::NONE, effort)?;
    table.row_with(text, "ms a step", None, &ran.costs, &[("iterations", ran.iterations), ("stretch", ran.stretch)])
}

/// What lies below all.
fn ground() -> Guide {
    let surface = Surface {
        name: "ground".into(),
        carrier: Carrier::Frame(HandleId { owner: 0, index: 0 }),
        vertices: vec![],
        triangles: vec![],
        lines: vec![],
        two_sided: false,
        primitive: Some(Primitive {
            shape: PrimitiveShape::HalfSpace,
            position: [0.0; 3],
            orientation: [0.0, 0.0, 0.0, 1.0],
        }),
        friction: 0.0,
        restitution: 0.0,
        thickness: 0.0,
    };
    let (friction, restitution, thickness, except) = (0.4, 0.0, 1e-3, vec![]);
    Guide::Obstacle { surface: Arc::new(surface), friction, restitution, thickness, except }
}

/// It is drawn along under the cloth, so far in a step `[m]`.
fn drawn(by: f64) -> Inputs {
    let [begin, end] = [0.0, by].map(|x| [HandleState::point([x, -2e-3, 0.0], [100.0 * by, 0.0, 0.0])].into());
    Inputs { motions: vec![Some(Motion { begin, end })], ..Inputs::default() }
}

fn on_ground(table: &mut Table, effort: Effort, text: &str, side: u32, gpu: &Arc<Gpu>) -> Result<(), Failure> {
    let (net, _) = net([side; 2], 1)?;
    let runs = [("alone", false, Inputs::NONE), ("in contact", false, &drawn(2e-3))];
    compare(table, effort, text, &net, gpu, runs)
}

/// Pieces that fall on each other and lie there, and the same where they do not meet: all on the ground then.
fn on_each_other(table: &mut Table, effort: Effort, text: &str, side: u32, gpu: &Arc<Gpu>) -> Result<(), Failure> {
    let (net, _) = net([side; 2], LAYERS)?;
    let ground = drawn(0.0);
    compare(table, effort, text, &net, gpu, [("through each other", false, &ground), ("in contact", true, &ground)])
}

/// The same net over the ground twice, without what is asked for and with it: by name, whether it meets itself, and what it is given.
fn compare(
    table: &mut Table,
    effort: Effort,
    text: &str,
    net: &Net,
    gpu: &Arc<Gpu>,
    runs: [(&str, bool, &Inputs); 2],
) -> Result<(), Failure> {
    let mut costs = vec![];
    for (name, meets_itself, inputs) in runs {
        let mut cloth = IbdsClothGpu::new("cloth", net.clone(), gpu)?;
        cloth.follow(vec![ground()])?;
        let ran = run(&mut cloth.max_iterations(SWEEPS).self_contact(meets_itself), net, inputs, effort)?;
        table.row_with(&format!("{text}, {name}"), "ms a step", None, &ran.costs, &[("iterations", ran.iterations)])?;
        costs.push(median(&ran.costs));
    }
    table.row(&format!("{text}: contacts over none"), "times", None, &[costs[1] / costs[0]])
}
