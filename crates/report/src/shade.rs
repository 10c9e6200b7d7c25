//! Colour of each pixel: sun with soft shadows, a sky that corners and undersides see less of, and the ground's glow.

use nalgebra::Vector3;

use crate::boards::boards;
use crate::camera::{Camera, View};
use crate::colour::Encoder;
use crate::drawing::{Drawing, Finish, Geometry, Look};
use crate::gather::{Facet, Scene, Sphere, gather};
use crate::raster::{FIRST_FACET, GROUND, Id, NOTHING, Seen, Visibility, rasterise};
use crate::shadow::ShadowMap;
use crate::{Image, PictureError};

type Light = Vector3<f32>;

/// Sunlight on a surface that faces it, relative to white.
const SUN: [f32; 3] = [1.02, 0.94, 0.80];
/// Light of the whole open sky.
const SKY: [f32; 3] = [0.36, 0.40, 0.46];
/// Light thrown back by the ground, on surfaces that face down.
const GLOW: [f32; 3] = [0.15, 0.135, 0.115];
/// How much light the ground throws back.
const GROUND_COLOUR: [f32; 3] = [0.60, 0.595, 0.585];
/// Background at and above the horizon.
const HORIZON: [f32; 3] = [0.74, 0.765, 0.79];
const ZENITH: [f32; 3] = [0.30, 0.42, 0.58];

/// How finely light is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quality {
    /// Samples by pixel and side.
    pub samples: u32,
    /// Texels of the sun's shadow map, a side.
    pub shadow_size: usize,
    /// Directions from which the sky is looked at.
    pub sky_directions: usize,
    /// Texels of each of their maps, a side.
    pub sky_size: usize,
    /// Pixels, a side, that share the light of the sky where they show the same facet or the ground.
    pub sky_block: usize,
}

impl Quality {
    /// For frames of a film.
    pub const FILM: Quality =
        Quality { samples: 2, shadow_size: 1024, sky_directions: 16, sky_size: 128, sky_block: 2 };
    /// For a storyboard.
    pub const BOARD: Quality = Quality { samples: 3, sky_block: 1, ..Quality::FILM };
    /// For the one picture that people see first.
    pub const STILL: Quality =
        Quality { samples: 3, shadow_size: 2048, sky_directions: 48, sky_size: 160, sky_block: 1 };
}

/// Draws one picture: `width` x `height` pixels, each the mean of `samples` x `samples` places (2 is good).
///
/// # Errors
///
/// A picture of no or absurd size, or a camera that sees nothing.
pub fn render(
    drawing: &Drawing,
    camera: &Camera,
    width: u32,
    height: u32,
    samples: u32,
) -> Result<Image, PictureError> {
    if !(1..=8).contains(&samples) {
        return Err(PictureError::Samples { samples });
    }
    let quality = Quality { samples, ..Quality::FILM };
    render_with(drawing, &camera.view(width, height)?, quality).map(|(image, _)| image)
}

/// The picture, and how many triangles and points were left out of it.
pub(crate) fn render_with(drawing: &Drawing, view: &View, quality: Quality) -> Result<(Image, usize), PictureError> {
    let scene = gather(drawing, view.origin);
    let visibility = rasterise(&scene, view, quality.samples as usize);
    let lights = Lights::cast(&scene, view, quality);
    let painter = Painter { drawing, view, scene: &scene, lights, quality };
    let image = Image::new(view.width, view.height, painter.paint(&visibility))?;
    Ok((image, scene.skipped))
}

struct Lights {
    sun: ShadowMap,
    sky: Vec<ShadowMap>,
    /// What a surface facing up gets from an open sky, summed over its directions.
    open_sky: f32,
}

impl Lights {
    fn cast(scene: &Scene, view: &View, quality: Quality) -> Self {
        // Over the left shoulder, so that shadows fall to the right and away.
        let level = Vector3::y().cross(&view.right);
        let toward_eye = if level.dot(&view.back) < 0.0 { -level } else { level };
        let sun = (toward_eye * 0.34 - view.right * 0.62 + Vector3::y() * 0.86).normalize();
        let sky: Vec<ShadowMap> = (0..quality.sky_directions)
            .map(|k| {
                // Even over the upper half sphere, but for the lowest tenth, whose shadows have no end.
                let height = 1.0 - 0.9 * (k as f32 + 0.5) / quality.sky_directions as f32;
                let (sin, cos) = (2.399_963_2 * k as f32).sin_cos();
                let level = (1.0 - height * height).sqrt();
                ShadowMap::cast(scene, view, Vector3::new(level * cos, height, level * sin), quality.sky_size)
            })
            .collect();
        let open_sky = sky.iter().map(|map| map.direction.y).sum();
        Lights { sun: ShadowMap::cast(scene, view, sun, quality.shadow_size), sky, open_sky }
    }

    /// Sunlight that reaches a point of a surface `[-]`.
    fn sun(&self, point: Vector3<f32>, normal: Vector3<f32>, flat: Vector3<f32>) -> f32 {
        let facing = normal.dot(&self.sun.direction);
        if facing > 0.0 && flat.dot(&self.sun.direction) > 0.0 { facing * self.sun.light(point, flat) } else { 0.0 }
    }

    /// Light from all around: from those parts of the sky that a point sees, and from the ground.
    fn around(&self, point: Vector3<f32>, normal: Vector3<f32>, flat: Vector3<f32>) -> Light {
        let mut sky = 0.0;
        for map in &self.sky {
            let facing = normal.dot(&map.direction);
            if facing > 0.0 {
                sky += facing * map.clear(point, flat);
            }
        }
        let below = 0.5 - 0.5 * normal.y;
        sky / self.open_sky * Light::from(SKY) + below * Light::from(GLOW)
    }
}

struct Painter<'a> {
    drawing: &'a Drawing,
    view: &'a View,
    scene: &'a Scene,
    lights: Lights,
    quality: Quality,
}

/// Light from all around, once it is known, for the pixels of a block that show the same thing.
type Around = Option<Light>;

impl Painter<'_> {
    fn paint(&self, visibility: &Visibility) -> Vec<[u8; 3]> {
        let (n, encoder) = (visibility.samples, Encoder::get());
        let mut pixels = Vec::with_capacity(visibility.ids.len() / (n * n));
        let mut seen = Vec::with_capacity(n * n);
        let block = self.quality.sky_block;
        let mut blocks: Vec<(Id, Around)> = vec![];
        for row in 0..self.view.height as usize {
            if row % block == 0 {
                blocks.clear();
                blocks.resize(self.view.width as usize / block + 1, (NOTHING, None));
            }
            for column in 0..self.view.width as usize {
                visibility.seen_in_pixel(row, column, &mut seen);
                let mut light = Light::zeros();
                for &Seen { id, at: [x, y], share } in &seen {
                    let known = &mut blocks[column / block];
                    if known.0 != id || block == 1 {
                        *known = (id, None);
                    }
                    light += share * self.colour(id, x, y, &mut known.1);
                }
                pixels.push(encoder.encode(light));
            }
        }
        pixels
    }

    fn colour(&self, id: Id, x: f32, y: f32, around: &mut Around) -> Light {
        let ray = self.view.ray(x, y);
        let facets = self.scene.facets.len();
        match id {
            NOTHING => background(ray),
            GROUND => self.ground(ray, around),
            id => match (id - FIRST_FACET) as usize {
                facet if facet < facets => self.facet(&self.scene.facets[facet], ray, around),
                sphere => self.sphere(&self.scene.spheres[sphere - facets], ray),
            },
        }
    }

    /// Light grey slabs that fade into the background far from the scene.
    fn ground(&self, ray: Vector3<f32>, around: &mut Around) -> Light {
        let view = self.view;
        let depth = (self.scene.ground.unwrap_or_default() - view.eye.y) / ray.y;
        let point = view.eye + depth * ray;
        let far = ((point.x * point.x + point.z * point.z).sqrt() / view.radius - 1.2) / 4.0;
        let haze = smooth_step(far);
        if haze >= 1.0 {
            return background(ray);
        }
        let (sun, around) = self.light(point, Vector3::y(), Vector3::y(), around);
        let world = [f64::from(point.x) + view.origin.x, f64::from(point.z) + view.origin.z];
        // A pixel's width on the ground, longer where it is seen at a flat angle.
        let footprint = [ray.x, ray.z].map(|along| depth / view.focal * (1.0 + (along / ray.y).abs() * ray.norm()));
        let colour = Light::from(GROUND_COLOUR) * slabs(world, footprint, slab_edge(view.radius));
        let lit = colour.component_mul(&(sun * Light::from(SUN) + around));
        if haze > 0.0 { lit.lerp(&background(ray), haze) } else { lit }
    }

    fn facet(&self, facet: &Facet, ray: Vector3<f32>, around: &mut Around) -> Light {
        let [a, b, c] = facet.corners;
        let (ab, ac, to_eye) = (b - a, c - a, self.view.eye - a);
        let across = ab.cross(&ac);
        // The ray meets the plane at eye + depth ray = a + s ab + t ac.
        let slant = -ray.dot(&across);
        let turned = to_eye.cross(&ray);
        let (s, t) = (turned.dot(&ac) / slant, -turned.dot(&ab) / slant);
        let (s, t) = if s.is_finite() && t.is_finite() { (s.clamp(0.0, 1.0), t.clamp(0.0, 1.0)) } else { (0.3, 0.3) };
        let weights = [1.0 - s - t, s, t];
        let point = a + s * ab + t * ac;

        let side = if slant < 0.0 { -1.0 } else { 1.0 };
        let flat = side * across.try_normalize(0.0).unwrap_or(self.view.back);
        let smooth: Vector3<f32> = facet.normals.iter().zip(weights).map(|(n, weight)| *n * weight).sum();
        let smooth = (side * smooth).try_normalize(1e-6).unwrap_or(flat);

        let item = &self.drawing.items[facet.item as usize];
        let mut colour = item.look.colour.linear();
        if let (Finish::Boards, Geometry::Body { shape, .. }) = (item.look.finish, &item.geometry)
            && let Some(face) = shape.0.faces.get(facet.triangle as usize)
        {
            let place = [0, 1].map(|k| (0..3).map(|corner| face.corners[corner][k] * weights[corner]).sum());
            let depth = (point - self.view.eye).dot(&-self.view.back);
            let footprint = depth / self.view.focal / smooth.dot(&-ray.normalize()).abs().max(0.2);
            colour = boards(colour, place, face, item.look.seed, footprint);
        }
        let light = self.light(point, smooth, flat, around);
        self.lit(smooth, ray, colour, light, &item.look)
    }

    fn sphere(&self, sphere: &Sphere, ray: Vector3<f32>) -> Light {
        // Nearest point of the ray to the centre, then back to the surface where there is one.
        let to_centre = sphere.centre - self.view.eye;
        let ray = ray.normalize();
        let along = to_centre.dot(&ray);
        let beside = along * ray - to_centre;
        let inside = (sphere.radius * sphere.radius - beside.norm_squared()).max(0.0).sqrt();
        let normal = (beside - inside * ray).try_normalize(1e-12).unwrap_or(-ray);
        let look = &self.drawing.items[sphere.item as usize].look;
        let colour = look.colour.linear() * (0.85 + 0.4 * sphere.tint);
        let light = self.light(sphere.centre + sphere.radius * normal, normal, normal, &mut None);
        self.lit(normal, ray, colour, light, look)
    }

    /// Sunlight `[-]`, and light from all around, which is looked up unless a neighbour knows it.
    fn light(
        &self,
        point: Vector3<f32>,
        normal: Vector3<f32>,
        flat: Vector3<f32>,
        around: &mut Around,
    ) -> (f32, Light) {
        let around = around.get_or_insert_with(|| self.lights.around(point, normal, flat));
        (self.lights.sun(point, normal, flat), *around)
    }

    /// Matt colour under all lights, with the sun's highlight on top.
    fn lit(
        &self,
        normal: Vector3<f32>,
        ray: Vector3<f32>,
        colour: Light,
        (sun, around): (f32, Light),
        look: &Look,
    ) -> Light {
        let half = (self.lights.sun.direction - ray.normalize()).normalize();
        let highlight = if sun > 0.0 { look.gloss * normal.dot(&half).max(0.0).powi(48) } else { 0.0 };
        colour.component_mul(&(sun * Light::from(SUN) + around)) + highlight * Light::from(SUN)
    }
}

/// From the horizon's colour up to the zenith's.
fn background(ray: Vector3<f32>) -> Light {
    let height = ray.y / ray.norm();
    Light::from(HORIZON).lerp(&Light::from(ZENITH), smooth_step(height / 0.7))
}

pub(crate) fn smooth_step(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// 1, 2 or 5 times a power of ten, of which some eight fit across the scene `[m]`.
fn slab_edge(radius: f32) -> f64 {
    let wanted = f64::from(radius) / 4.0;
    let power = 10f64.powf(wanted.log10().floor());
    power
        * if wanted >= 5.0 * power {
            5.0
        } else if wanted >= 2.0 * power {
            2.0
        } else {
            1.0
        }
}

/// Brightness `[-]` of slabs with thin joints, averaged over a pixel's footprint.
fn slabs(place: [f64; 2], footprint: [f32; 2], edge: f64) -> f32 {
    let joint: f32 = (0..2)
        .map(|k| {
            let slabs = place[k] / edge;
            let to_joint = (slabs - slabs.round()).abs() * edge;
            line(to_joint as f32, 0.006 * edge as f32, footprint[k])
        })
        .fold(0.0, f32::max);
    1.0 - 0.12 * joint
}

/// How much of a pixel of this `footprint` a line of this half `width` covers, `distance` away `[-]`.
pub(crate) fn line(distance: f32, width: f32, footprint: f32) -> f32 {
    let reach = 0.5 * footprint.max(1e-9);
    let covered = (distance + reach).min(width) - (distance - reach).max(-width);
    (covered / (2.0 * reach)).clamp(0.0, 1.0)
}
