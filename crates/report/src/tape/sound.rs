//! Whether what is on a tape fits together, so that page, pictures and exports need not ask.

use partita::simulator::Carrier;

use super::{Begin, Frame, Placement, TapeSurface, clouds};

/// What is wrong with the surfaces and clouds of a tape, if anything is.
pub(super) fn fault_of_begin(begin: &Begin) -> Option<String> {
    let simulators = begin.simulators.len();
    let fault = |taped: &TapeSurface| {
        let owner = format!("surface `{}`, number of its simulator", taped.surface.name);
        let unsound = taped.surface.check().err().map(|error| error.to_string());
        unsound.or_else(|| not_below(&owner, taped.simulator, simulators))
    };
    let fault = begin.surfaces.iter().find_map(fault);
    fault.or_else(|| not_below("number of clouds", begin.clouds.len(), simulators + 1))
}

/// What is wrong with a frame of this tape, if anything is.
pub(super) fn fault_of_frame(begin: &Begin, frame: &Frame) -> Option<String> {
    let surfaces = begin.surfaces.iter().zip(&frame.surfaces);
    let placed = |(taped, placement): (&TapeSurface, &Placement)| {
        let thing = format!("surface `{}/{}`", begin.simulators[taped.simulator], taped.surface.name);
        match (placement, &taped.surface.carrier) {
            (Placement::Rigid { .. }, Carrier::Frame(_)) => None,
            (Placement::Deformed(vertices), Carrier::Points(_)) => {
                differ(&format!("{thing}, number of vertices"), vertices.len(), taped.surface.vertices.len())
            }
            (Placement::Rigid { .. }, _) => Some(format!("{thing}: expected each vertex, found one pose")),
            (Placement::Deformed(_), _) => Some(format!("{thing}: expected one pose, found each vertex")),
        }
    };
    let pushed = |(number, force): (usize, &super::Force)| {
        not_below(&format!("force {number}, number of its interface"), force.interface, begin.interfaces.len())
    };
    differ("number of surfaces", frame.surfaces.len(), begin.surfaces.len())
        .or_else(|| differ("number of clouds", frame.clouds.len(), begin.clouds.len()))
        .or_else(|| surfaces.into_iter().find_map(placed))
        .or_else(|| clouds::fault(&frame.clouds).map(|fault| format!("cloud {fault}")))
        .or_else(|| frame.forces.iter().enumerate().find_map(pushed))
}

fn differ(thing: &str, found: usize, expected: usize) -> Option<String> {
    (found != expected).then(|| format!("{thing}: expected {expected}, found {found}"))
}

fn not_below(thing: &str, found: usize, end: usize) -> Option<String> {
    (found >= end).then(|| format!("{thing}: expected below {end}, found {found}"))
}

#[cfg(test)]
mod tests {
    use partita::simulator::Cloud;

    use super::*;
    use crate::Force;
    use crate::synthetic::{at, begin, deforming, square};

    /// A square that deforms, and one that does not.
    fn squares() -> Begin {
        begin(24.0, vec![deforming("cloth", 1.0), square("plate", 1.0, true)])
    }

    #[test]
    fn a_begin_that_does_not_fit_together_is_found_with_surface_and_numbers() {
        type Change = fn(&mut Begin);
        let changes: [(Change, &str); 4] = [
            (
                |begin| begin.surfaces[1].surface.triangles[1] = [0, 4, 3],
                "surface `plate`, triangle 1: expected indices below 4, found [0, 4, 3]",
            ),
            (
                |begin| begin.surfaces[0].surface.vertices.truncate(3),
                "surface `cloth`, triangle 1: expected indices below 3, found [0, 2, 3]",
            ),
            (
                |begin| begin.surfaces[0].simulator = 1,
                "surface `cloth`, number of its simulator: expected below 1, found 1",
            ),
            (|begin| begin.clouds = vec![begin.clouds[0].clone(); 2], "number of clouds: expected below 2, found 2"),
        ];
        assert_eq!(fault_of_begin(&squares()), None);
        for (change, words) in changes {
            let mut begin = squares();
            change(&mut begin);
            assert_eq!(fault_of_begin(&begin).unwrap(), words);
        }
    }

    #[test]
    fn a_frame_that_does_not_fit_its_tape_is_found_with_surface_and_numbers() {
        type Change = fn(&mut Frame);
        let force = Force { interface: 0, position: [0.0; 3], force: [0.0; 3], torque: [0.0; 3] };
        let changes: [(Change, &str); 7] = [
            (|frame| frame.surfaces.truncate(1), "number of surfaces: expected 2, found 1"),
            (|frame| frame.clouds.clear(), "number of clouds: expected 1, found 0"),
            (
                |frame| frame.surfaces[0] = Placement::Deformed(vec![[0.0; 3]; 3]),
                "surface `test/cloth`, number of vertices: expected 4, found 3",
            ),
            (
                |frame| frame.surfaces[0] = Placement::Deformed(vec![[0.0; 3]; 5]),
                "surface `test/cloth`, number of vertices: expected 4, found 5",
            ),
            (|frame| frame.surfaces[0] = at([0.0; 3]), "surface `test/cloth`: expected each vertex, found one pose"),
            (
                |frame| frame.surfaces[1] = Placement::Deformed(vec![[0.0; 3]; 4]),
                "surface `test/plate`: expected one pose, found each vertex",
            ),
            (|frame| frame.forces[0].interface = 1, "force 0, number of its interface: expected below 1, found 1"),
        ];
        let begin = Begin { interfaces: vec![("test".into(), "test".into())], ..squares() };
        let surfaces = vec![Placement::Deformed(vec![[0.0; 3]; 4]), at([0.0; 3])];
        let sound = Frame { surfaces, clouds: vec![Cloud::default()], forces: vec![force], ..Frame::default() };
        assert_eq!(fault_of_frame(&begin, &sound), None);
        for (change, words) in changes {
            let mut frame = sound.clone();
            change(&mut frame);
            assert_eq!(fault_of_frame(&begin, &frame).unwrap(), words);
        }
    }
}
