//! s
use partita_avi_cloth::*;
use partita_simulator::{Inputs, Simulator};
fn main() {
    let side = 1.6;
    let mesh = Mesh::unstructured([side, side], 5016, |_| 1.0).unwrap().turned([1.0, 0.0, 0.0], -1.5707963).unwrap();
    let corners: Vec<u32> = (0..mesh.vertices().len() as u32)
        .filter(|&v| mesh.vertices()[v as usize].z.abs() < 1e-9 && (mesh.vertices()[v as usize].x - 0.5*side).abs() > 0.4999*side)
        .collect();
    for (bend, limit) in [(0.0, None), (1e-5, None), (0.0, Some(Limit::default())), (1e-5, Some(Limit::default()))] {
    let fabric = Fabric { membrane: Membrane::StVenantKirchhoff { poisson: 0.0 }, damping: 0.0, bend_damping: 0.0,
        ..Fabric::cotton().stretch(300.0).shear(150.0).bend(bend).density(0.5) };
    for twin in [true, false] {
    let p = Parameters { fabric, limit, self_contact: false, courant: 0.8, ..Parameters::default() };
    let mut c = AviCloth::with_parameters("x", mesh.clone(), p).unwrap();
    let least = c.spans().iter().copied().fold(1.0, f64::min); let mean = c.spans().len() as f64/c.spans().iter().map(|x| 1.0/x).sum::<f64>(); 
    if twin { c = c.integrator(Integrator::SymplecticEuler { step: least }); }
    c.pin(&corners).unwrap();
    let scale = c.ledger().unwrap().mass * 9.81 * side;
    let e = |c: &AviCloth| { let l = c.ledger().unwrap(); (l.kinetic + l.potential) / scale };
    let e0 = e(&c);
    let t = std::time::Instant::now();
    let mut n = 0; let mut lim = 0; let mut early = 0; let mut most: f64 = 0.0;
    for _ in 0..120 { c.step(1.0/30.0, Inputs::NONE).unwrap(); n += c.counts().events; lim += c.counts().limited; early += c.counts().early; most = most.max(c.stretch()); }
    if twin && bend > 0.0 { n = n / c.spans().len() as u64 * 5016; }
    let t = t.elapsed().as_secs_f64();
    println!("twin {twin} bend {bend} limit {} least {least:.2e} mean {mean:.2e}: {t:.2} s, {n} events {:.1} ns, limited {lim} early {early}, energy {:.4} stretch {:.3} most {:.3}", limit.is_some(), t*1e9/n as f64, e(&c)-e0, c.stretch(), most);
    }}
}
