//! Which frames of a tape tell most.

use nalgebra::Vector3;
use partita::simulator::Surface;

use crate::camera::View;
use crate::{Frame, PictureError, ReportError, Tape};

/// What moves slower than this much of the scene in a second is at rest: a hundredth of a pixel a frame `[1/s]`.
const AT_REST: f64 = 1e-3;

/// Sweeps and forces of each frame of a tape.
///
/// A sweep is the time since the frame before `[s]`, and the volume that the shown surfaces which
/// are in the picture sweep in a second of that `[m³/s]`. A force is the sum of the sizes of all
/// coupling forces `[N]`.
///
/// Every vertex weighs a third of the area of its triangles, times its speed. So a large body counts for more than a
/// small one, as it does to the eye, and a sheet of ten thousand triangles for as much as a board of two. What has flown
/// out of the picture does not count, nor do free particles, since frames do not tell which of them is which.
pub(crate) fn activity(tape: &mut Tape, view: &View) -> Result<(Vec<[f64; 2]>, Vec<f64>), ReportError> {
    let begin = tape.begin().clone();
    let shown = |number: &usize| begin.surfaces[*number].look.is_some();
    let shown: Vec<usize> = (0..begin.surfaces.len()).filter(shown).collect();
    let weights: Vec<Vec<f64>> = shown.iter().map(|&number| areas(&begin.surfaces[number].surface)).collect();
    let placed = |frame: &Frame| -> Vec<Vec<[f64; 3]>> {
        let placement = |&number: &usize| frame.surfaces.get(number).map(|at| (at, &begin.surfaces[number].surface));
        shown.iter().filter_map(placement).map(|(at, surface)| at.vertices(surface)).collect()
    };
    // Of one surface [m³/s].
    let swept = |now: &[[f64; 3]], before: &[[f64; 3]], areas: &[f64], dt: f64| -> f64 {
        let speed = |x: &[f64; 3], old: &[f64; 3]| (Vector3::from(*x) - Vector3::from(*old)).norm() / dt;
        let vertices = now.iter().zip(before).zip(areas).map(|((x, old), area)| (x, speed(x, old), area));
        let slowest = AT_REST * f64::from(view.radius);
        let counts = |x: &[f64; 3], speed: f64| speed > slowest && speed.is_finite() && view.shows(*x);
        vertices.filter(|&(x, speed, _)| counts(x, speed)).map(|(_, speed, area)| area * speed).sum()
    };

    let force = |frame: &Frame| frame.forces.iter().map(|force| Vector3::from(force.force).norm()).sum::<f64>();

    let first = tape.frame(0)?;
    let (mut time, mut before) = (first.time, placed(&first));
    let (mut sweeps, mut forces) = (vec![[0.0; 2]], vec![force(&first)]);
    for number in 1..tape.frames() {
        let frame = tape.frame(number)?;
        let (dt, now) = (frame.time - time, placed(&frame));
        let surfaces = now.iter().zip(&before).zip(&weights);
        sweeps.push([dt, surfaces.map(|((now, before), areas)| swept(now, before, areas, dt)).sum()]);
        forces.push(force(&frame));
        (time, before) = (frame.time, now);
    }
    Ok((sweeps, forces))
}

/// Frame with the most motion under coupling forces F `[N]`: the maximum of v F/(F + mean F), v its sweep.
///
/// Free fall scores 0, and a brief impact does not dominate. Without forces v alone counts. Ties up
/// to rounding give the earliest frame, no motion the middle one.
pub(crate) fn most_telling(sweeps: &[[f64; 2]], forces: &[f64]) -> usize {
    let mean = forces.iter().sum::<f64>() / forces.len().max(1) as f64;
    let (mut telling, mut most) = (sweeps.len() / 2, 0.0);
    for (number, (&[_, swept], force)) in sweeps.iter().zip(forces).enumerate() {
        let happens = if mean > 0.0 && mean.is_finite() { swept * force / (force + mean) } else { swept };
        if happens > most * (1.0 + 1e-9) {
            (telling, most) = (number, happens);
        }
    }
    telling
}

/// First, last, and three moments between that part the run into quarters, of which half is time and half what went on in it; fewer
/// where there are fewer frames.
pub(crate) fn five_moments(sweeps: &[[f64; 2]]) -> Vec<usize> {
    let until = |of: &dyn Fn(&[f64; 2]) -> f64| -> Vec<f64> {
        let sums = sweeps.iter().scan(0.0, |sum, sweep| {
            *sum += of(sweep);
            Some(*sum)
        });
        let sums: Vec<f64> = sums.collect();
        let whole = sums.last().copied().unwrap_or_default();
        sums.into_iter().map(|sum| if whole > 0.0 { sum / whole } else { 0.0 }).collect()
    };
    let (times, volumes) = (until(&|[dt, _]| *dt), until(&|[dt, swept]| dt * swept));
    let went_on = if volumes.last().is_some_and(|all| *all > 0.0) { &volumes } else { &times };
    let shares: Vec<f64> = times.iter().zip(went_on).map(|(time, volume)| 0.5 * (time + volume)).collect();
    let nearest = |quarter: u32| {
        let away = |share: &f64| (share - 0.25 * f64::from(quarter)).abs();
        shares.iter().enumerate().rev().min_by(|(_, a), (_, b)| away(a).total_cmp(&away(b))).map(|(number, _)| number)
    };
    let last = sweeps.len().saturating_sub(1);
    let mut numbers = vec![0];
    numbers.extend((1..4).filter_map(nearest).chain([last]));
    numbers.dedup();
    numbers
}

/// The frame nearest to `time` `[s]`, the earliest of these.
pub(crate) fn nearest(tape: &mut Tape, time: f64) -> Result<usize, ReportError> {
    let mut nearest = None;
    for number in 0..tape.frames() {
        let away = (tape.frame(number)?.time - time).abs();
        if nearest.is_none_or(|(_, least)| away < least) {
            nearest = Some((number, away));
        }
    }
    Ok(nearest.ok_or(PictureError::NoFrame)?.0)
}

/// By vertex, a third of the area of its triangles `[m²]`; 0 where that is not finite.
fn areas(surface: &Surface) -> Vec<f64> {
    let mut areas = vec![0.0; surface.vertices.len()];
    for triangle in &surface.triangles {
        let corner = |k: usize| surface.vertices.get(triangle[k] as usize).copied().map(Vector3::from);
        let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) else { continue };
        let area = 0.5 * (b - a).cross(&(c - a)).norm();
        if area.is_finite() {
            triangle.iter().for_each(|&i| areas[i as usize] += area / 3.0);
        }
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{at, begin, deforming, square, tape};
    use crate::{Begin, Placement};

    fn telling(begin: &Begin, frames: Vec<Vec<Placement>>) -> usize {
        let view = begin.camera.view(960, 600).unwrap();
        let (sweeps, forces) = activity(&mut tape(begin, frames), &view).unwrap();
        most_telling(&sweeps, &forces)
    }

    /// A fall, faster and faster, to an impact at frame 6, after which it is caught within four frames. Forces are those of an
    /// impact on cloth, which goes on to bear the weight.
    #[test]
    fn it_is_the_impact_and_not_the_fall() {
        let sweeps: Vec<[f64; 2]> =
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 4.0, 2.0, 0.5, 0.0].map(|swept| [0.1, swept]).into();
        let forces = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 30.0, 20.0, 10.0, 10.0];
        assert_eq!(most_telling(&sweeps, &forces), 7);
        assert_eq!(most_telling(&sweeps, &[0.0; 11]), 6);
        // Cloth that hangs from its first frame: forces stay what they are.
        assert_eq!(most_telling(&sweeps, &[10.0; 11]), 6);
        assert_eq!(most_telling(&sweeps, &[f64::NAN; 11]), 6);
    }

    /// At rest, or moving evenly, quarters are those of time.
    #[test]
    fn a_storyboard_has_five_moments_or_all_that_there_are() {
        let expected: [&[usize]; 6] = [&[0], &[0, 1], &[0, 1, 2], &[0, 1, 2, 3], &[0, 1, 2, 3, 4], &[0, 1, 3, 4, 5]];
        for swept in [0.0, 2.0] {
            let evenly = |frames: usize| -> Vec<[f64; 2]> {
                (0..frames).map(|k| if k == 0 { [0.0; 2] } else { [0.125, swept] }).collect()
            };
            for (frames, expected) in (1..).zip(expected) {
                assert_eq!(five_moments(&evenly(frames)), expected, "{frames} frames");
            }
            assert_eq!(five_moments(&evenly(97)), [0, 24, 48, 72, 96]);
        }
    }

    /// Of eight seconds, all that happens does so in the second one: two of the three moments lie in it.
    #[test]
    fn moments_are_where_something_happens() {
        let sweeps: Vec<[f64; 2]> =
            (0..81).map(|k| [if k == 0 { 0.0 } else { 0.1 }, f64::from((11..21).contains(&k))]).collect();
        let moments = five_moments(&sweeps);
        assert_eq!((moments[0], moments[4]), (0, 80));
        assert!(moments[1..3].iter().all(|k| (10..=21).contains(k)), "{moments:?}");
    }

    /// Hit after one second, from then on slower and slower, at rest after two.
    #[test]
    fn it_is_where_a_body_is_hit_and_flies() {
        let begin = begin(10.0, vec![square("crate", 0.4, true)]);
        let place = |t: f64| (t - 1.0).clamp(0.0, 1.0) * (2.0 - (t - 1.0).clamp(0.0, 1.0)) - 0.5;
        let frames = (0..40).map(|k| vec![at([place(0.1 * f64::from(k)), 0.0, 0.0])]).collect();
        assert_eq!(telling(&begin, frames), 11);
    }

    /// y = sin(2 pi t) at one end, at rest at the other: fastest where it goes through the middle, 1/4 s after the crest.
    #[test]
    fn a_sheet_that_waves_is_caught_in_full_swing() {
        let begin = begin(40.0, vec![deforming("sheet", 1.0)]);
        let wave = |t: f64| 0.5 * (std::f64::consts::TAU * t).cos();
        let corners = |t: f64| vec![[-0.5, 0.0, -0.5], [0.5, wave(t), -0.5], [0.5, wave(t), 0.5], [-0.5, 0.0, 0.5]];
        let frames = (0..30).map(|k| vec![Placement::Deformed(corners(f64::from(k) / 40.0))]).collect();
        // Between frames 9 and 10, at 0.24 s, as fast as between 10 and 11: the earlier of them.
        assert_eq!(telling(&begin, frames), 10);
    }

    /// 0.1 m of a square metre in frame 5, 0.5 m of a square decimetre in frame 8.
    #[test]
    fn what_is_large_counts_for_more() {
        let begin = begin(24.0, vec![square("large", 1.0, true), square("small", 0.1, true)]);
        let step = |k: i32, from: i32, by: f64| at([if k >= from { by } else { 0.0 }, 0.0, 0.0]);
        let frames = (0..20).map(|k| vec![step(k, 5, 0.1), step(k, 8, 0.5)]).collect();
        assert_eq!(telling(&begin, frames), 5);
    }

    #[test]
    fn what_is_hidden_or_out_of_the_picture_or_not_finite_does_not_count() {
        let surfaces = vec![square("seen", 0.1, true), square("hidden", 9.0, false), square("gone", 1.0, true)];
        let begin = begin(24.0, surfaces);
        let frames = (0..20).map(|k: i32| {
            let seen = at([if k >= 13 { 0.2 } else { 0.0 }, 0.0, 0.0]);
            let gone = if k == 7 { f64::NAN } else { 50.0 + f64::from(k).powi(2) };
            vec![seen, at([0.0, f64::from(k).powi(3), 0.0]), at([gone, 0.0, 0.0])]
        });
        assert_eq!(telling(&begin, frames.collect()), 13);
    }

    /// Steady motion is the same everywhere up to rounding; what creeps at a nanometre a second stands still.
    #[test]
    fn of_equals_it_is_the_earliest_and_at_rest_the_middle_one() {
        let begin = begin(24.0, vec![square("crate", 0.4, true)]);
        let moving = |speed: f64, frames: i32| -> Vec<_> {
            (0..frames).map(|k| vec![at([speed * f64::from(k) / 24.0 - 0.3, 0.0, 0.0])]).collect()
        };
        assert_eq!(telling(&begin, moving(0.5, 24)), 1);
        for (frames, middle) in [(1, 0), (2, 1), (5, 2), (24, 12)] {
            assert_eq!(telling(&begin, moving(0.0, frames)), middle);
            assert_eq!(telling(&begin, moving(1e-9, frames)), middle);
        }
    }

    #[test]
    fn the_nearest_frame_is_found() {
        let begin = begin(10.0, vec![square("crate", 0.4, true)]);
        let mut tape = tape(&begin, (0..8).map(|_| vec![at([0.0; 3])]));
        for (time, frame) in [(-1.0, 0), (0.0, 0), (0.34, 3), (0.37, 4), (9e9, 7), (f64::NAN, 0)] {
            assert_eq!(nearest(&mut tape, time).unwrap(), frame);
        }
    }
}
