//! What contacts do to each other and to nothing else is taken back before impulses are told.
//!
//! Between obstacles that leave hardly any room, contacts push against each other for as long as they are swept: the cloth gets
//! the difference, and each obstacle would be told of all of it. Of all impulses q_j that give each vertex the same, Σ c_jv q_j =
//! J_v, those with the least Σ q_j² have nothing of that. They are q_j = Σ c_jv y_v, where y solves Σ_jw c_jv c_jw y_w = J_v.

use nalgebra::Vector3;

use crate::{Contacts, respond::Contact};

type V3 = Vector3<f64>;

/// Obstacles push against each other where they push so many times as hard as the cloth is pushed `[-]`.
const SQUEEZED: f64 = 2.0;

/// Left over of what vertices get, relative, and iterations until then.
const TOLERANCE: f64 = 1e-12;
const MOST: usize = 1000;

impl Contacts {
    /// Takes back what obstacles would be told of each other.
    pub(crate) fn relieve(&self, contacts: &mut [Contact]) {
        let n = self.features.vertices();
        let parts = |contact: &Contact| {
            let all = contact.pair.vertices.map(|v| v as usize).into_iter().zip(contact.weights);
            all.filter(move |(v, _)| *v < n)
        };
        let impulse = |contact: &Contact| contact.push * contact.n + contact.drag;
        let told = contacts.iter().filter(|contact| contact.obstacle.is_some());
        let told: f64 =
            told.map(|contact| parts(contact).map(|(_, c)| c).sum::<f64>().abs() * impulse(contact).norm()).sum();
        // Cheaper than what each vertex gets, and no more than that comes to.
        let whole: V3 =
            contacts.iter().map(|contact| parts(contact).map(|(_, c)| c).sum::<f64>() * impulse(contact)).sum();
        if told <= SQUEEZED * whole.norm() {
            return;
        }
        let mut got = vec![V3::zeros(); n];
        contacts.iter().for_each(|contact| parts(contact).for_each(|(v, c)| got[v] += c * impulse(contact)));
        let size: f64 = got.iter().map(|j| j.norm_squared()).sum();
        if told <= SQUEEZED * got.iter().map(|j| j.norm()).sum::<f64>() || size == 0.0 {
            return;
        }

        // Conjugate gradients.
        let (mut y, mut residual) = (vec![V3::zeros(); n], got.clone());
        let (mut direction, mut image, mut left) = (got, vec![V3::zeros(); n], size);
        for _ in 0..MOST {
            if left <= TOLERANCE * TOLERANCE * size {
                break;
            }
            image.fill(V3::zeros());
            for contact in &*contacts {
                let sum: V3 = parts(contact).map(|(v, c)| c * direction[v]).sum();
                parts(contact).for_each(|(v, c)| image[v] += c * sum);
            }
            let step = left / direction.iter().zip(&image).map(|(d, a)| d.dot(a)).sum::<f64>();
            y.iter_mut().zip(&direction).for_each(|(y, d)| *y += step * d);
            residual.iter_mut().zip(&image).for_each(|(r, a)| *r -= step * a);
            let before = std::mem::replace(&mut left, residual.iter().map(|r| r.norm_squared()).sum());
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + left / before * *d);
        }
        if left <= TOLERANCE * TOLERANCE * size {
            for contact in contacts {
                contact.drag = parts(contact).map(|(v, c)| c * y[v]).sum();
                contact.push = 0.0;
            }
        }
    }
}
