//! What a distant light sees: its shadow map, and how much of the light a point gets.

use nalgebra::Vector3;

use crate::camera::View;
use crate::gather::Scene;
use crate::raster::{fill_disc, fill_polygon};

/// Heights of the surfaces nearest to a light that shines along parallel rays.
pub(crate) struct ShadowMap {
    /// Towards the light.
    pub direction: Vector3<f32>,
    /// Across the map, one texel long `[1/m]`.
    across: [Vector3<f32>; 2],
    /// Texel of the centre of view.
    centre: [f32; 2],
    size: usize,
    /// Edge of a texel `[m]`.
    pub texel: f32,
    /// Greatest height towards the light `[m]`, for each texel.
    heights: Vec<f32>,
    /// Lowest and highest height around each tile of `TILE` x `TILE` texels and its neighbours.
    tiles: Vec<[f32; 2]>,
}

const TILE: usize = 8;
/// Widest half-shadow `[texels]`; a tile's neighbours reach as far.
const WIDEST: f32 = 7.5;
/// Narrowest half-shadow `[texels]`: hides the texels.
const NARROWEST: f32 = 1.4;
/// Radius of the sun as seen from the scene `[-]`, larger than life: width of a half-shadow by height of its caster.
const SUN_RADIUS: f32 = 0.045;

impl ShadowMap {
    /// Looks at the scene from the light at `direction`, `size` x `size` texels over the framed region.
    pub fn cast(scene: &Scene, view: &View, direction: Vector3<f32>, size: usize) -> Self {
        let u = Vector3::y().cross(&direction).try_normalize(1e-4).unwrap_or_else(Vector3::x);
        let v = direction.cross(&u);
        let extent = |axis: &Vector3<f32>| {
            let along = view.corners.map(|corner| corner.dot(axis));
            along.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &a| (low.min(a), high.max(a)))
        };
        let ((u0, u1), (v0, v1)) = (extent(&u), extent(&v));
        let texel = 1.1 * (u1 - u0).max(v1 - v0) / size as f32;
        let centre = [0.5 * (u0 + u1), 0.5 * (v0 + v1)].map(|middle| 0.5 * size as f32 - middle / texel);
        let mut map = ShadowMap {
            direction,
            across: [u / texel, v / texel],
            centre,
            size,
            texel,
            heights: vec![f32::NEG_INFINITY; size * size],
            tiles: vec![],
        };
        map.draw(scene);
        map.tiles = map.bound_tiles();
        map
    }

    /// Place on the map `[texels]` and height towards the light `[m]`.
    fn place(&self, point: Vector3<f32>) -> [f32; 3] {
        let [u, v] = self.across;
        [self.centre[0] + point.dot(&u), self.centre[1] + point.dot(&v), point.dot(&self.direction)]
    }

    fn draw(&mut self, scene: &Scene) {
        let size = [self.size; 2];
        let mut heights = std::mem::take(&mut self.heights);
        let (mut polygon, mut spare) = (Vec::with_capacity(8), Vec::with_capacity(8));
        for facet in &scene.facets {
            polygon.clear();
            polygon.extend(facet.corners.iter().map(|&corner| self.place(corner)));
            fill_polygon(size, &mut polygon, &mut spare, |at, height| heights[at] = heights[at].max(height));
        }
        for sphere in &scene.spheres {
            let [x, y, height] = self.place(sphere.centre);
            fill_disc(size, [x, y], sphere.radius / self.texel, |at, z| {
                heights[at] = heights[at].max(height + z * sphere.radius);
            });
        }
        self.heights = heights;
    }

    fn bound_tiles(&self) -> Vec<[f32; 2]> {
        let count = self.size / TILE;
        let mut own = vec![[f32::INFINITY, f32::NEG_INFINITY]; count * count];
        for (row, heights) in self.heights.chunks(self.size).enumerate().take(count * TILE) {
            for (tile, heights) in heights.chunks_exact(TILE).enumerate() {
                let bound = &mut own[row / TILE * count + tile];
                for &height in heights {
                    *bound = [bound[0].min(height), bound[1].max(height)];
                }
            }
        }
        let mut tiles = own.clone();
        for row in 0..count {
            for column in 0..count {
                for r in row.saturating_sub(1)..(row + 2).min(count) {
                    for c in column.saturating_sub(1)..(column + 2).min(count) {
                        let (bound, near) = (&mut tiles[row * count + column], own[r * count + c]);
                        *bound = [bound[0].min(near[0]), bound[1].max(near[1])];
                    }
                }
            }
        }
        tiles
    }

    /// Part of the light that reaches `point` on a surface with this normal `[-]`, soft at the rim of a shadow and the
    /// softer the higher its caster.
    pub fn light(&self, point: Vector3<f32>, normal: Vector3<f32>) -> f32 {
        // A texel's width along the normal keeps a surface from shading itself.
        let [x, y, height] = self.place(point + 1.8 * self.texel * normal);
        let limit = (self.size - TILE) as f32;
        if !(x >= TILE as f32 && y >= TILE as f32 && x < limit && y < limit) {
            return 1.0;
        }
        let [low, high] = self.tiles[y as usize / TILE * (self.size / TILE) + x as usize / TILE];
        if high <= height {
            return 1.0;
        }
        if low > height {
            return 0.0;
        }

        let (mut casters, mut above) = (0.0, 0.0);
        for [dx, dy] in SPIRAL.iter().step_by(2) {
            let found = self.heights[(y + WIDEST * dy) as usize * self.size + (x + WIDEST * dx) as usize];
            if found > height {
                (casters, above) = (casters + 1.0, above + found - height);
            }
        }
        // The half-shadow lies inside the part that was searched.
        if casters == 0.0 || casters == SEARCHED {
            return 1.0 - casters / SEARCHED;
        }
        let reach = (SUN_RADIUS * above / casters / self.texel).clamp(NARROWEST, WIDEST - 1.0);
        let lit: f32 = SPIRAL.iter().map(|[dx, dy]| self.lit(x + reach * dx, y + reach * dy, height)).sum();
        lit / SPIRAL.len() as f32
    }

    /// Part of the light that reaches `point` `[-]`, at a quarter of the cost of [`ShadowMap::light`]: for one of many lights.
    pub fn clear(&self, point: Vector3<f32>, normal: Vector3<f32>) -> f32 {
        let [x, y, height] = self.place(point + 1.2 * self.texel * normal);
        let limit = (self.size - TILE) as f32;
        if !(x >= TILE as f32 && y >= TILE as f32 && x < limit && y < limit) {
            return 1.0;
        }
        let [low, high] = self.tiles[y as usize / TILE * (self.size / TILE) + x as usize / TILE];
        if high <= height {
            1.0
        } else if low > height {
            0.0
        } else {
            self.lit(x, y, height)
        }
    }

    /// Share of the four texels around a place, by distance, that let the light through.
    fn lit(&self, x: f32, y: f32, height: f32) -> f32 {
        let (x, y) = (x - 0.5, y - 0.5);
        let (column, row) = (x as usize, y as usize);
        let (s, t) = (x - column as f32, y - row as f32);
        let at = row * self.size + column;
        let free = |at: usize| if self.heights[at] > height { 0.0 } else { 1.0 };
        let upper = free(at) * (1.0 - s) + free(at + 1) * s;
        let lower = free(at + self.size) * (1.0 - s) + free(at + self.size + 1) * s;
        upper * (1.0 - t) + lower * t
    }
}

/// Every other one of [`SPIRAL`] is looked at in search of casters.
const SEARCHED: f32 = (SPIRAL.len() / 2) as f32;
/// Points spread evenly over the unit disc: turns of the golden angle, radius as the root of the index.
const SPIRAL: [[f32; 2]; 24] = [
    [0.1443, 0.0000],
    [-0.1843, 0.1689],
    [0.0282, -0.3215],
    [0.2324, 0.3031],
    [-0.4264, -0.0754],
    [0.4039, -0.2569],
    [-0.1351, 0.5026],
    [-0.2577, -0.4961],
    [0.5590, 0.2041],
    [-0.5816, 0.2401],
    [0.2803, -0.5991],
    [0.2072, 0.6605],
    [-0.6244, -0.3619],
    [0.7325, -0.1610],
    [-0.4470, 0.6359],
    [-0.1033, -0.7970],
    [0.6340, 0.5343],
    [-0.8532, 0.0353],
    [0.6223, -0.6193],
    [-0.0416, 0.9004],
    [-0.5922, -0.7096],
    [0.9380, 0.1262],
    [-0.7948, 0.5530],
    [0.2172, -0.9654],
];
