//! Laws of pictures: what is nearer hides what is behind, nothing comes from behind the eye, broken things are left out.

use partita_report::{Camera, Colour, Drawing, Image, Look, PictureError, Shape, render};

const SIZE: [u32; 2] = [96, 60];
const NO_TURN: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

/// Looks along -Z at the square from -1 to 1.
fn front() -> Camera {
    Camera::framing([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]).from_direction([0.0, 0.0, 1.0])
}

fn seen(drawing: &Drawing) -> Image {
    render(drawing, &front(), SIZE[0], SIZE[1], 2).unwrap()
}

fn middle(drawing: &Drawing) -> [u8; 3] {
    seen(drawing).pixel(SIZE[0] / 2, SIZE[1] / 2)
}

fn is_red([r, g, b]: [u8; 3]) -> bool {
    r / 2 > g.max(b)
}

fn is_green([r, g, b]: [u8; 3]) -> bool {
    g > r && g > b
}

fn red() -> Look {
    Look::plain(Colour([220, 20, 20]))
}

fn green() -> Look {
    Look::plain(Colour([20, 220, 20]))
}

/// A box around the origin, of eight corners and twelve triangles.
fn cuboid(size: [f64; 3]) -> Shape {
    let corner = |k: usize| [0, 1, 2].map(|axis| size[axis] * if k >> axis & 1 == 1 { 0.5 } else { -0.5 });
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let halves: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Shape::new(&(0..8).map(corner).collect::<Vec<_>>(), &halves).unwrap()
}

#[test]
fn what_is_nearer_hides_what_is_behind_in_any_order() {
    let cube = cuboid([0.8; 3]);
    let mut drawing = Drawing::new();
    drawing.body(&cube, [0.0, 0.0, 0.5], NO_TURN, red()).body(&cube, [0.0, 0.0, -0.5], NO_TURN, green());
    assert!(is_red(middle(&drawing)));
    let mut drawing = Drawing::new();
    drawing.body(&cube, [0.0, 0.0, -0.5], NO_TURN, green()).body(&cube, [0.0, 0.0, 0.5], NO_TURN, red());
    assert!(is_red(middle(&drawing)));
    // A ball that sticks out of the cube hides its face; one inside is hidden.
    drawing.points(&[[0.0, 0.0, 0.5]], 0.5, green());
    assert!(is_green(middle(&drawing)));
    let mut drawing = Drawing::new();
    drawing.points(&[[0.0, 0.0, 0.5]], 0.3, green()).body(&cube, [0.0, 0.0, 0.5], NO_TURN, red());
    assert!(is_red(middle(&drawing)));
}

/// A strip from far in front to far behind the eye: its visible part is drawn, and nothing wraps to the upper half.
#[test]
fn a_triangle_through_the_eye_plane_is_cut_there() {
    let strip = [[-0.5, -0.5, -1.0], [0.5, -0.5, -1.0], [0.5, -0.5, 1e4], [-0.5, -0.5, 1e4]];
    let mut drawing = Drawing::new();
    drawing.mesh(&strip, &[[0, 2, 1], [0, 3, 2]], red()).unwrap();
    let image = seen(&drawing);
    for y in 0..SIZE[1] {
        for x in 0..SIZE[0] {
            assert!(!is_red(image.pixel(x, y)) || y > SIZE[1] / 2, "pixel {x}, {y}");
        }
    }
    assert!((SIZE[1] * 3 / 4..SIZE[1]).all(|y| is_red(image.pixel(SIZE[0] / 2, y))));
}

#[test]
fn what_is_behind_the_eye_is_not_seen() {
    let empty = seen(&Drawing::new());
    let mut drawing = Drawing::new();
    let behind = [[-5.0, -5.0, 50.0], [5.0, -5.0, 50.0], [0.0, 5.0, 50.0]];
    drawing.mesh(&behind, &[[0, 1, 2]], red()).unwrap().points(&[[0.0, 0.0, 60.0]], 3.0, red());
    assert_eq!(seen(&drawing), empty);
}

/// Everything in the framed bounds is seen whole: its colour never touches the rim of the picture.
#[test]
fn the_framed_scene_is_inside_the_picture() {
    let bounds = [[2.0, 0.0, -7.0], [5.0, 4.0, -6.0]];
    let shape = cuboid([3.0, 4.0, 1.0]);
    let mut drawing = Drawing::new();
    drawing.body(&shape, [3.5, 2.0, -6.5], NO_TURN, red());
    for direction in [[1.0, 0.5, 1.0], [-1.0, 0.2, 0.1], [0.0, 1.0, 0.0], [0.3, -1.0, 0.3]] {
        for [width, height] in [[160, 100], [60, 120]] {
            let camera = Camera::framing(bounds).from_direction(direction);
            let image = render(&drawing, &camera, width, height, 2).unwrap();
            assert!(!image.is_blank());
            let reddish = |x, y| image.pixel(x, y)[0] > image.pixel(x, y)[1].saturating_add(40);
            assert!(!(0..width).any(|x| reddish(x, 0) || reddish(x, height - 1)), "{direction:?}");
            assert!(!(0..height).any(|y| reddish(0, y) || reddish(width - 1, y)), "{direction:?}");
        }
    }
}

#[test]
fn a_shadow_lies_on_the_ground_away_from_the_sun() {
    let camera = Camera::framing([[-1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]).from_direction([0.0, 0.6, 1.0]);
    let cube = cuboid([0.5; 3]);
    let mut drawing = Drawing::on_ground(0.0);
    let bare = render(&drawing, &camera, 160, 100, 2).unwrap();
    drawing.body(&cube, [0.0, 0.25, 0.0], NO_TURN, green());
    let shaded = render(&drawing, &camera, 160, 100, 2).unwrap();
    let darker = |x: u32, y: u32| bare.pixel(x, y)[1].saturating_sub(shaded.pixel(x, y)[1]) > 40;
    let count = |columns: std::ops::Range<u32>| {
        columns.flat_map(|x| (0..100).map(move |y| (x, y))).filter(|&(x, y)| darker(x, y)).count()
    };
    // The sun stands at the left, so the shadow falls to the right.
    assert!(count(100..160) > 50, "{} pixels", count(100..160));
    assert!(count(0..55) == 0, "{} pixels", count(0..55));
}

#[test]
fn empty_scenes_are_blank_and_scenes_are_not() {
    let camera = Camera::framing([[-1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]);
    for empty in [Drawing::new(), Drawing::on_ground(0.0)] {
        assert!(render(&empty, &camera, 320, 200, 2).unwrap().is_blank());
    }
    let mut drawing = Drawing::on_ground(0.0);
    drawing.points(&[[0.0, 0.05, 0.0]], 0.05, Look::plain(Colour::WATER));
    assert!(!render(&drawing, &camera, 320, 200, 2).unwrap().is_blank());
}

/// NaN, infinities and huge numbers are left out; the rest of the picture is as if they were not there.
#[test]
fn what_is_not_finite_is_left_out() {
    let mut clean = Drawing::on_ground(-1.0);
    clean.points(&[[0.0; 3]], 0.3, red());
    let mut dirty = Drawing::on_ground(-1.0);
    dirty.points(&[[0.0; 3]], 0.3, red());
    let cube = cuboid([0.2; 3]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e12] {
        let vertices = [[bad, 0.0, 0.0], [0.0, bad, 0.0], [0.5, 0.5, 0.5]];
        dirty.mesh(&vertices, &[[0, 1, 2]], green()).unwrap();
        dirty.points(&[[0.0, bad, 0.0]], 0.1, green());
        dirty.body(&cube, [bad, 0.0, 0.0], NO_TURN, green());
    }
    dirty.body(&cube, [0.0; 3], [f64::NAN; 4], green()).body(&cube, [0.0; 3], [0.0; 4], green());
    dirty.points(&[[0.0; 3]], f64::NAN, green()).points(&[[0.0; 3]], -1.0, green());
    assert_eq!(seen(&dirty), seen(&clean));
}

#[test]
fn nothing_to_draw_is_no_panic() {
    let empty_shape = Shape::new(&[], &[]).unwrap();
    let flat = Shape::new(&[[0.0; 3]; 3], &[[0, 1, 2], [0, 0, 0]]).unwrap();
    let mut drawing = Drawing::on_ground(f64::NAN);
    drawing.body(&empty_shape, [0.0; 3], NO_TURN, red()).body(&flat, [0.0; 3], NO_TURN, red()).points(&[], 0.1, red());
    seen(&drawing);
    for size in [1, 2, 3] {
        render(&drawing, &front(), size, 1, 1).unwrap();
    }
}

#[test]
fn pictures_of_no_size_are_errors() {
    let drawing = Drawing::new();
    assert!(matches!(render(&drawing, &front(), 0, 60, 2), Err(PictureError::Size { .. })));
    assert!(matches!(render(&drawing, &front(), 60, 60, 0), Err(PictureError::Samples { .. })));
}

/// Boards are painted on a box and nowhere else: a box has dark joints between them, a single sheet has one colour.
#[test]
fn a_box_of_wood_has_boards_and_other_shapes_have_none() {
    let shades = |shape: &Shape| {
        let mut drawing = Drawing::new();
        drawing.body(shape, [0.0; 3], NO_TURN, Look::crate_wood(3));
        let image = render(&drawing, &front(), 240, 150, 2).unwrap();
        let middle = |x: u32, y: u32| image.pixel(100 + x % 40, 55 + y % 40)[0];
        let all: Vec<u8> = (0..40).flat_map(|y| (0..40).map(move |x| (x, y))).map(|(x, y)| middle(x, y)).collect();
        all.iter().max().unwrap() - all.iter().min().unwrap()
    };
    let corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let sheet = Shape::new(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap();
    assert!(shades(&cuboid([1.6, 1.6, 1.0])) > 40, "{}", shades(&cuboid([1.6, 1.6, 1.0])));
    assert!(shades(&sheet) < 5, "{}", shades(&sheet));
}
