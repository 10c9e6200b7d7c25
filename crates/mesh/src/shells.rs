//! Closed shells: which lies within which, and which way each should face.
//!
//! Start at [`inside_out`].

use nalgebra::Vector3;

/// An island without boundary.
pub(crate) struct Shell {
    /// They agree with each other.
    triangles: Vec<[Vector3<f64>; 3]>,
    /// Six times the volume, negative if they face inwards.
    volume: f64,
    bounds: [Vector3<f64>; 2],
    /// Triangles that were given facing outwards, less those inwards.
    given: i64,
}

/// For each shell, whether to turn it.
///
/// A shell within no other is the outside of a solid. One directly within a solid is the wall of a cavity if the two
/// were given facing opposite ways, else another solid drawn into the first; only that counts, since a body may have
/// been given inside out as a whole. One directly within a cavity is a solid, a core. Solids face outwards, cavities
/// inwards.
///
/// Limits: a shell was given as most of its triangles were; if as many say either, it is a solid. Where shells cross
/// there is no right answer: one is within another of greater volume if its bounds are (but for `slack` `[m]`) and a
/// point of its inside is. A room that was given facing inwards around things that face outwards is a body given inside
/// out.
pub(crate) fn inside_out(shells: &[Shell], slack: f64) -> Vec<bool> {
    let around = larger_bounds_around(shells, slack);
    let mut outermost_first: Vec<usize> = (0..shells.len()).collect();
    outermost_first.sort_by(|&i, &j| shells[j].volume.abs().total_cmp(&shells[i].volume.abs()));

    let mut cavity = vec![false; shells.len()];
    for shell in outermost_first {
        let opposite = |other: usize| shells[other].given.signum() * shells[shell].given.signum() < 0;
        // Most often none faces the other way, and where things are does not matter.
        if around[shell].iter().any(|&other| opposite(other)) {
            let point = shells[shell].inner_point();
            let within = around[shell].iter().copied().filter(|&other| shells[other].contains(point));
            let directly = within.min_by(|&i, &j| shells[i].volume.abs().total_cmp(&shells[j].volume.abs()));
            cavity[shell] = directly.is_some_and(|other| !cavity[other] && opposite(other));
        }
    }
    let wrong = |(shell, cavity): (&Shell, bool)| if cavity { shell.volume > 0.0 } else { shell.volume < 0.0 };
    shells.iter().zip(cavity).map(wrong).collect()
}

/// For each shell, those of greater volume whose bounds contain its bounds.
///
/// A sweep along the axis on which shells overlap least, past the lower ends of their bounds in order.
fn larger_bounds_around(shells: &[Shell], slack: f64) -> Vec<Vec<usize>> {
    let extent = |[low, high]: [Vector3<f64>; 2]| high - low;
    let hull = |[a, b]: [Vector3<f64>; 2], [c, d]: [Vector3<f64>; 2]| [a.inf(&c), b.sup(&d)];
    let Some(all) = shells.iter().map(|shell| shell.bounds).reduce(hull) else { return vec![] };
    let overlap = shells.iter().map(|shell| extent(shell.bounds)).sum::<Vector3<f64>>().component_div(&extent(all));
    let axis = overlap.imin();
    let [low, high] = [0, 1].map(|end| move |shell: usize| shells[shell].bounds[end][axis]);

    let mut by_low: Vec<usize> = (0..shells.len()).collect();
    by_low.sort_by(|&i, &j| low(i).total_cmp(&low(j)));
    let mut begin = by_low.iter().copied().peekable();
    let (mut open, mut around) = (vec![], vec![vec![]; shells.len()]);
    for &shell in &by_low {
        open.extend(std::iter::from_fn(|| begin.next_if(|&other| low(other) - slack <= low(shell))));
        open.retain(|&other| high(other) + slack >= low(shell));
        around[shell] = open.iter().copied().filter(|&other| shells[shell].fits_into(&shells[other], slack)).collect();
    }
    around
}

impl Shell {
    /// Of triangles that agree; so many of them had to be `turned` for that.
    pub fn new(triangles: Vec<[Vector3<f64>; 3]>, turned: usize) -> Self {
        let origin = triangles[0][0];
        let volume = triangles.iter().map(|t| t.map(|x| x - origin)).map(|[a, b, c]| a.cross(&b).dot(&c)).sum();
        let corners = triangles.as_flattened().iter();
        let bounds = corners.fold([origin; 2], |[low, high], x| [low.inf(x), high.sup(x)]);
        let agreed = triangles.len() as i64 - 2 * turned as i64;
        let given = if volume < 0.0 { -agreed } else { agreed };
        Shell { triangles, volume, bounds, given }
    }

    fn fits_into(&self, other: &Shell, slack: f64) -> bool {
        let ([low, high], [lowest, highest]) = (self.bounds, other.bounds);
        self.volume.abs() < other.volume.abs()
            && (0..3).all(|k| low[k] >= lowest[k] - slack && high[k] <= highest[k] + slack)
    }

    /// A point well off the surface: the middle of the longest piece inside, of a line along x through the middle of
    /// the triangle that is largest as seen along x. A point of the surface would not do, as shells may touch.
    fn inner_point(&self) -> Vector3<f64> {
        let seen = |[a, b, c]: &[Vector3<f64>; 3]| (b - a).cross(&(c - a)).x.abs();
        let largest = self.triangles.iter().max_by(|s, t| seen(s).total_cmp(&seen(t))).expect("a shell has triangles");
        let mut point = largest.iter().sum::<Vector3<f64>>() / 3.0;

        let mut crossings: Vec<(f64, i32)> = self.crossings(point).collect();
        crossings.sort_by(|(x, _), (other, _)| x.total_cmp(other));
        let (mut around, mut longest) = (0, 0.0);
        for pair in crossings.windows(2) {
            let [(x, turns), (next, _)] = [pair[0], pair[1]];
            around += turns;
            if around != 0 && next - x > longest {
                (longest, point.x) = (next - x, 0.5 * (x + next));
            }
        }
        point
    }

    /// Whether the surface goes around a point that is not on it.
    fn contains(&self, point: Vector3<f64>) -> bool {
        self.crossings(point).filter(|(x, _)| *x > point.x).map(|(_, turns)| turns).sum::<i32>() != 0
    }

    /// Where the line along x through a point crosses the surface, and which way: 1 or -1.
    ///
    /// A line through an edge or a vertex goes through as many triangles as one beside it: seen along x, an edge holds
    /// its lower end but not its upper one, and both its triangles find the same side of it, to the bit.
    fn crossings(&self, point: Vector3<f64>) -> impl Iterator<Item = (f64, i32)> {
        // Seen along x: whether the edge passes the point on the side of greater z, upwards or downwards.
        let passes = move |a: Vector3<f64>, b: Vector3<f64>| {
            let (low, high, way) = if a.y <= b.y { (a, b, 1) } else { (b, a, -1) };
            let beyond = || (high.y - low.y) * (point.z - low.z) < (high.z - low.z) * (point.y - low.y);
            if low.y <= point.y && point.y < high.y && beyond() { way } else { 0 }
        };
        self.triangles.iter().filter_map(move |&[a, b, c]| {
            let turns = passes(a, b) + passes(b, c) + passes(c, a);
            let n = (b - a).cross(&(c - a));
            let x = a.x - (n.y * (point.y - a.y) + n.z * (point.z - a.z)) / n.x;
            // Within the triangle, even if it is all but edge-on and rounding is large.
            (turns != 0).then(|| (x.max(a.x.min(b.x).min(c.x)).min(a.x.max(b.x).max(c.x)), turns))
        })
    }
}
