//! The bench `contact`: milliseconds of a whole pass of collision handling, by stage.
//!
//! Cloth that is nothing but masses and springs is dropped on a ball, where it drapes and folds, and sheets that lie folded
//! in layers are pressed onto the floor. Triangles of all sizes are alike: thickness, gaps and ways are in proportion to
//! the edges, so that a doubling has twice the pairs.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{Isometry3, Vector3};
use partita_contact::{Contacts, Features, Obstacle, Parameters, Path, Report, Shape, State, Step};
use partita_mesh::Mesh;

use crate::{
    Effort,
    springs::{Cloth, flat},
    table::{Failure, Table, Target},
};

const DT: f64 = 1.0 / 240.0;

/// Radius of the body that cloth is draped on `[m]`.
const RADIUS: f64 = 0.3;

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let unit = "ms";
    table.case("folded", unit, None, |table| folded(table, effort))?;
    let sizes: &[u32] = if effort.quick { &[16] } else { &[50, 100, 224] };
    for &cells in sizes {
        let case = format!("{} triangles draped on a ball", 2 * cells * cells);
        let target = (cells == 50).then_some(Target::AtMost(6.0));
        let ball = Shape::Ball { radius: RADIUS };
        table.case(&case, unit, None, |table| rows(table, &case, target, &draped(effort, ball, cells)))?;
    }
    let cells = sizes[0];
    let case = format!("{} triangles draped on a round body: exact over mesh", 2 * cells * cells);
    table.case(&case, "of the time", None, |table| exact_over_mesh(table, effort, &case, cells))
}

/// Time of a pass on a ball and a lying cylinder as they are, over that on meshes: 1,280 triangles of a ball, 32 sides of a
/// cylinder. The cylinder's edges are inspected by a search on each pair.
fn exact_over_mesh(table: &mut Table, effort: Effort, case: &str, cells: u32) -> Result<(), Failure> {
    let of =
        |mesh: Mesh| Shape::Mesh { vertices: mesh.positions(), triangles: mesh.triangles().to_vec(), lines: vec![] };
    let cylinder = Mesh::cylinder(1.6, RADIUS, 32)?.turned([0.0, 0.0, 1.0], -FRAC_PI_2)?;
    let bodies = [
        ("ball", Shape::Ball { radius: RADIUS }, of(Mesh::ball(RADIUS, 3)?)),
        ("cylinder", Shape::Cylinder { half_length: 0.8, radius: RADIUS }, of(cylinder)),
    ];
    for (what, exact, mesh) in bodies {
        let [exact, mesh] = [exact, mesh].map(|shape| draped(effort, shape, cells));
        let ratios: Vec<f64> = exact.iter().zip(&mesh).map(|(a, b)| a.cost.seconds() / b.cost.seconds()).collect();
        table.row(&format!("{case}, {what}"), "of the time", None, &ratios)?;
    }
    Ok(())
}

/// Passes over a sheet that has come to lie on a round body and hang down around it.
fn draped(effort: Effort, shape: Shape, cells: u32) -> Vec<Report> {
    let edge = 1.2 / f64::from(cells);
    let body = Obstacle::new(shape).friction(0.3);
    let parameters = Parameters { thickness: 0.1 * edge, ..Parameters::default() };
    let mut cloth = Cloth::new(&flat([cells, cells], [1.2, 1.2], RADIUS + edge), parameters, vec![body]);
    // As stiff for all sizes: waves cross an edge in so much less time.
    cloth.substeps = (cells as usize).div_ceil(10);
    let still = [Path::still(Isometry3::identity())];
    // Through honey, so that it comes to rest soon.
    let mut step = || {
        cloth.v.iter_mut().for_each(|v| *v *= 0.9);
        cloth.step(DT, &still)
    };
    (0..if effort.quick { 10 } else { 120 }).for_each(|_| drop(step()));
    (0..effort.samples(40)).map(|_| step()).collect()
}

/// Passes over sheets folded like a bellows, each size in turn, and what a doubling costs.
fn folded(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let sizes: &[u32] = if effort.quick { &[8, 16] } else { &[84, 167, 334, 667, 1667] };
    let mut bellows = sizes.iter().map(|&columns| Bellows::new(columns)).collect::<Result<Vec<_>, _>>()?;
    let mut reports: Vec<Vec<Report>> = sizes.iter().map(|_| vec![]).collect();
    for _ in 0..effort.samples(15) {
        for (bellows, reports) in bellows.iter_mut().zip(&mut reports) {
            reports.push(bellows.press()?);
        }
    }
    for (bellows, reports) in bellows.iter().zip(&reports) {
        let triangles = bellows.contacts.features().triangles().len();
        rows(table, &format!("{triangles} triangles folded"), None, reports)?;
    }
    for i in 1..sizes.len() {
        // To the power that a factor of two has in this factor.
        let factor = f64::from(sizes[i]) / f64::from(sizes[i - 1]);
        let ratios = reports[i].iter().zip(&reports[i - 1]);
        let ratios: Vec<f64> = ratios
            .map(|(more, less)| (more.cost.seconds() / less.cost.seconds()).powf(factor.log2().recip()))
            .collect();
        let count = |k: usize| bellows[k].contacts.features().triangles().len();
        let case = format!("folded, {} over {} triangles, by doubling", count(i), count(i - 1));
        table.row(&case, "twice/once", Some(Target::AtMost(2.6)), &ratios)?;
    }
    Ok(())
}

/// A strip of 30 rows of cells, folded every ten rows into three layers, on its way down to the floor.
struct Bellows {
    contacts: Contacts,
    state: State,
    begin: Vec<Vector3<f64>>,
    end: Vec<Vector3<f64>>,
    inverse_masses: Vec<f64>,
}

impl Bellows {
    fn new(columns: u32) -> Result<Self, Failure> {
        let (edge, thickness) = (0.01, 1e-3);
        let mesh = Mesh::grid([columns, 30], [edge * f64::from(columns), 30.0 * edge])?;
        let low = mesh.bounds()[0];
        let fold = |v: &Vector3<f64>| {
            // Along the strip: ten rows forth, ten back, rising evenly by a little more than a layer each.
            let along = v.y - low[1];
            let (layer, within) = ((along / (10.0 * edge)).floor(), along % (10.0 * edge));
            let z = if layer % 2.0 == 0.0 { within } else { 10.0 * edge - within };
            Vector3::new(v.x, 0.6 * thickness + 1.3 * thickness * along / (10.0 * edge), z)
        };
        let begin: Vec<_> = mesh.vertices().iter().map(fold).collect();
        // Everything goes down, in waves, by less than a layer.
        let way =
            |x: &Vector3<f64>| Vector3::y() * (-0.5 * thickness * (1.0 + (40.0 * x.x).sin() * (55.0 * x.z).cos()));
        let end = begin.iter().map(|x| x + way(x)).collect();
        let features = Features::new(begin.len(), mesh.triangles(), &[])?;
        let floor = Obstacle::new(Shape::HalfSpace).friction(0.3);
        let contacts = Contacts::new(features, Parameters { thickness, ..Parameters::default() }, vec![floor])?;
        Ok(Self { contacts, state: State::default(), inverse_masses: vec![1e4; begin.len()], begin, end })
    }

    fn press(&mut self) -> Result<Report, Failure> {
        let paths = [Path::still(Isometry3::identity())];
        let step =
            Step { dt: DT, begin: &self.begin, velocities: None, inverse_masses: &self.inverse_masses, paths: &paths };
        Ok(self.contacts.resolve(&mut self.state, &step, &mut self.end.clone())?)
    }
}

fn rows(table: &mut Table, case: &str, target: Option<Target>, reports: &[Report]) -> Result<(), Failure> {
    let each = |of: &dyn Fn(&Report) -> f64| reports.iter().map(of).collect::<Vec<_>>();
    table.row(case, "ms", target, &each(&|report| 1e3 * report.cost.seconds()))?;
    table.row(&format!("{case}: pairs"), "ms", None, &each(&|report| 1e3 * report.cost.pairs))?;
    table.row(&format!("{case}: repel"), "ms", None, &each(&|report| 1e3 * report.cost.repel))?;
    table.row(&format!("{case}: impacts"), "ms", None, &each(&|report| 1e3 * report.cost.impacts))?;
    table.row(&format!("{case}: zones"), "ms", None, &each(&|report| 1e3 * report.cost.zones))?;
    table.row(&format!("{case}: pairs tested"), "pairs", None, &each(&|report| report.cost.tested as f64))?;
    table.row(&format!("{case}: contacts kept"), "contacts", None, &each(&|report| report.contacts as f64))?;
    table.row(&format!("{case}: impacts found"), "impacts", None, &each(&|report| report.impacts as f64))
}
