//! Parameters of a scene as data: its own, and those that each simulator reports.

use partita_simulator::{HandleId, Settings};
use serde_json::{Map, json};

use crate::{Scene, scene::Attach};

/// Nearest whole number, if only rounding is between: 1/(1/49) is not 49.
fn whole(x: f64) -> f64 {
    if (x - x.round()).abs() < 1e-12 * x { x.round() } else { x }
}

/// Parameters of the scene by name, for tables and files; in metres, kilograms and seconds.
pub(crate) fn settings(scene: &Scene) -> Settings {
    let Scene { rate, scheme, threads, timeout, thresholds, is_strict, .. } = scene;
    let of = |handles: &[HandleId]| {
        let owner = handles.first()?.owner;
        scene.simulators.iter().find(|simulator| simulator.handles().owner() == owner)
    };
    let name = |handles: &[HandleId]| of(handles).map(|simulator| simulator.name().to_string());
    let handle = |handle: HandleId| of(&[handle]).map(|simulator| simulator.handles().describe(handle));
    let attachment = |Attach { own, to }: &Attach| json!({ "follower": name(own), "handles": own.len(), "leader": name(to), "leader's handles": to.len() });
    let spring = |spring: &crate::scene::Spring| {
        let [a, b] = spring.ends.map(handle);
        let (k, c, l) = (spring.stiffness, spring.damping, spring.rest_length);
        json!({ "ends": [a, b], "stiffness": k, "damping": c, "rest_length": l })
    };
    let contact = |contact: &crate::scene::Contact| {
        json!({
            "follower": contact.follower,
            "leader": contact.leader,
            "only": contact.only,
            "friction": contact.friction,
            "restitution": contact.restitution,
            "thickness": contact.thickness,
        })
    };
    let simulators = scene.simulators.iter().map(|simulator| (simulator.name().to_string(), simulator.settings()));
    json!({
        "rate": whole(1.0 / rate.dt),
        "scheme": scheme,
        "threads": threads,
        "timeout": timeout,
        "thresholds": thresholds,
        "strict": is_strict,
        "substeps": scene.substeps.iter().cloned().map(|(name, n)| (name, n.into())).collect::<Map<_, _>>(),
        "attachments": scene.attachments.iter().map(attachment).collect::<Vec<_>>(),
        "contacts": scene.contacts.iter().map(contact).collect::<Vec<_>>(),
        "springs": scene.springs.iter().map(spring).collect::<Vec<_>>(),
        "simulators": simulators.collect::<Map<_, _>>(),
    })
}
