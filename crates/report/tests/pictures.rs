//! Laws of pictures: what is nearer hides what is behind, nothing comes from behind the eye, broken things are left out.

use partita_report::{Camera, Colour, Drawing, Film, FilmSettings, Image, Look, PictureError, Shape, render};

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

#[test]
fn what_is_nearer_hides_what_is_behind_in_any_order() {
    let cube = Shape::cuboid([0.8; 3]).unwrap();
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
    let shape = Shape::cuboid([3.0, 4.0, 1.0]).unwrap();
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
    let cube = Shape::cuboid([0.5; 3]).unwrap();
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

/// NaN, infinities and huge numbers are left out and counted; the rest of the picture is as if they were not there.
#[test]
fn what_is_not_finite_is_left_out_and_counted() {
    let mut clean = Drawing::on_ground(-1.0);
    clean.points(&[[0.0; 3]], 0.3, red());
    let mut dirty = Drawing::on_ground(-1.0);
    dirty.points(&[[0.0; 3]], 0.3, red());
    let cube = Shape::cuboid([0.2; 3]).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e12] {
        let vertices = [[bad, 0.0, 0.0], [0.0, bad, 0.0], [0.5, 0.5, 0.5]];
        dirty.mesh(&vertices, &[[0, 1, 2]], green()).unwrap();
        dirty.points(&[[0.0, bad, 0.0]], 0.1, green());
        dirty.body(&cube, [bad, 0.0, 0.0], NO_TURN, green());
    }
    dirty.body(&cube, [0.0; 3], [f64::NAN; 4], green()).body(&cube, [0.0; 3], [0.0; 4], green());
    dirty.points(&[[0.0; 3]], f64::NAN, green()).points(&[[0.0; 3]], -1.0, green());
    assert_eq!(seen(&dirty), seen(&clean));
    let mut film =
        Film::new(FilmSettings { width: 32, height: 20, still: [32, 20], ..FilmSettings::default() }, front()).unwrap();
    film.frame(&dirty).unwrap();
    assert_eq!(film.skipped(), 5 * (1 + 1 + 12) + 2 * 12 + 2);
    film.develop().unwrap();
}

#[test]
fn nothing_to_draw_is_no_panic() {
    let empty_shape = Shape::new(&[], &[]).unwrap();
    let flat = Shape::new(&[[0.0; 3]; 3], &[[0, 1, 2], [0, 0, 0]]).unwrap();
    let mut drawing = Drawing::on_ground(f64::NAN);
    drawing.shape(&empty_shape, red()).shape(&flat, red()).points(&[], 0.1, red());
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
    let film = |settings| Film::new(settings, front()).map(|_| ()).unwrap_err();
    assert!(matches!(film(FilmSettings { width: 0, ..FilmSettings::default() }), PictureError::Size { .. }));
    assert!(matches!(film(FilmSettings { still: [960, 0], ..FilmSettings::default() }), PictureError::Size { .. }));
    for frames_per_second in [0.0, -24.0, f64::NAN, 51.0, f64::INFINITY] {
        let error = film(FilmSettings { frames_per_second, ..FilmSettings::default() });
        assert!(matches!(error, PictureError::FrameRate { .. }));
    }
}

fn moving_ball(frames: usize, settings: FilmSettings) -> Film {
    let mut film = Film::new(settings, front()).unwrap();
    for k in 0..frames {
        let mut drawing = Drawing::on_ground(-1.0);
        drawing.points(&[[k as f64 / frames as f64 - 0.5, 0.0, 0.0]], 0.3, red());
        film.frame(&drawing).unwrap();
    }
    film
}

const SMALL: FilmSettings =
    FilmSettings { width: 96, height: 60, frames_per_second: 24.0, still: [120, 75], still_frame: None };

/// 48 frames at 24 a second last two seconds, although a GIF counts in hundredths; what the last frame shows is what
/// the picture of that moment shows, up to the palette.
#[test]
fn the_film_has_every_frame_lasts_as_long_and_shows_the_scene() {
    let (_, bytes) = moving_ball(48, SMALL).develop().unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes.as_slice()).unwrap();
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    assert_eq!((decoder.width(), decoder.height()), (96, 60));
    let (mut frames, mut hundredths) = (0, 0);
    let mut canvas = vec![[0u8; 3]; 96 * 60];
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        (frames, hundredths) = (frames + 1, hundredths + u32::from(frame.delay));
        for (k, pixel) in frame.buffer.chunks(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
            let row = k / usize::from(frame.width) + usize::from(frame.top);
            let column = k % usize::from(frame.width) + usize::from(frame.left);
            canvas[row * 96 + column].copy_from_slice(&pixel[..3]);
        }
    }
    assert_eq!((frames, hundredths), (48, 200));

    let mut last = Drawing::on_ground(-1.0);
    last.points(&[[47.0 / 48.0 - 0.5, 0.0, 0.0]], 0.3, red());
    let worst = |a: &[u8; 3], b: &[u8; 3]| (0..3).map(|k| u32::from(a[k].abs_diff(b[k]))).max().unwrap();
    let errors: Vec<u32> =
        canvas.iter().zip(render(&last, &front(), 96, 60, 2).unwrap().pixels()).map(|(a, b)| worst(a, b)).collect();
    let mean = f64::from(errors.iter().sum::<u32>()) / errors.len() as f64;
    assert!(mean < 4.0, "mean error of {mean} levels");
}

#[test]
fn the_still_is_the_chosen_frame_or_one_near_the_middle() {
    let column_of_ball = |image: &Image| {
        let columns: Vec<u32> = (0..120).filter(|&x| (0..75).any(|y| is_red(image.pixel(x, y)))).collect();
        f64::from(columns[0] + columns[columns.len() - 1]) / 2.0
    };
    let still = |frames, still_frame| moving_ball(frames, FilmSettings { still_frame, ..SMALL }).develop().unwrap().0;
    assert!(column_of_ball(&still(40, Some(0))) < 50.0);
    assert!(column_of_ball(&still(40, Some(39))) > 70.0);
    // A film shorter than the chosen frame: the last one.
    assert!(column_of_ball(&still(40, Some(1000))) > 70.0);
    for frames in [1, 2, 15, 16, 17, 33, 64, 100] {
        let film = moving_ball(frames, SMALL);
        assert_eq!(film.frames(), frames);
        let column = column_of_ball(&film.develop().unwrap().0);
        assert!(frames < 15 || (55.0..65.0).contains(&column), "{frames} frames: {column}");
    }
}

#[test]
fn a_film_is_due_at_its_rate() {
    let mut film = Film::new(SMALL, front()).unwrap();
    for step in 0..=240 {
        if film.is_due(f64::from(step) / 240.0) {
            film.frame(&Drawing::new()).unwrap();
        }
    }
    assert_eq!(film.frames(), 25);
    assert!(matches!(Film::new(SMALL, front()).unwrap().develop(), Err(PictureError::NoFrame)));
}
