//! Gauss-Seidel link by link (\[BDB09\] section 3.2): each is corrected as if it were alone, in their order, again and again.

use nalgebra::Vector3;

use crate::{
    link_error::LinkError,
    solvers::{Swept, System},
};

type V3 = Vector3<f64>;

/// All links once.
pub(crate) fn sweep(ends: &[[u32; 2]], system: &mut System<'_>, error: &impl LinkError) -> Swept {
    let mut swept = Swept::default();
    for (link, ends) in ends.iter().enumerate() {
        let [i, j] = ends.map(|k| k as usize);
        let (n, e) = system.error(link, [&system.y[i], &system.y[j]], true, error);
        if system.is_slack(link, e) {
            continue;
        }
        let of_allowed = e.abs() / system.allowed[link];
        swept.worst = swept.worst.max(of_allowed);
        let w = system.w[i] + system.w[j];
        if of_allowed <= 1.0 || w == 0.0 {
            continue;
        }
        // [BDB09, section 3.3]: i = n e / ((1/m_i + 1/m_j) h), on the first towards the second and back; here times h.
        let pull = e / (w + system.softness);
        let impulse: V3 = pull * n;
        system.pulls[link] += pull;
        system.push(i, &impulse);
        system.push(j, &-impulse);
        swept.corrections += 1;
    }
    swept
}
