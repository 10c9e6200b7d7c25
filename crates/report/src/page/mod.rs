//! The page of a tape: one HTML file that plays the run in a browser, offline.
//!
//! | stage                                        | file          |
//! |----------------------------------------------|---------------|
//! | which frames and points are shown            | `footage.rs`  |
//! | which particle is which, from frame to frame | `order.rs`    |
//! | positions as whole numbers that deflate well | `tracks.rs`   |
//! | strain likewise                              | `shades.rs`   |
//! | all binary data, deflated, as text           | `blob.rs`     |
//! | everything else, as JSON                     | `header.rs`   |
//! | the viewer                                   | `*.js`, `page.css`, `page.html` |
//!
//! The viewer's scripts are put one after the other into one script without a module system, since browsers refuse to
//! load modules from `file://`. `data.js` undoes `tracks.rs` and `blob.rs`; start at `main.js`.
//!
//! Start at [`page`].

mod blob;
mod footage;
mod header;
mod order;
mod shades;
mod tracks;

use crate::{Tape, TapeError};

use blob::Blob;
use footage::Footage;
use header::Header;

/// A page, and what its reader should know of how it was made.
#[derive(Debug)]
pub struct Page {
    /// The whole file.
    pub html: String,
    /// What was left out of it, and whether it is large.
    pub notes: Vec<String>,
}

/// Above this size browsers take seconds to open a page, and mail does not carry it `[byte]`.
const LARGE: usize = 20_000_000;

/// Words of `page.html` that stand for what is put there.
const TITLE: &str = "@title@";
const STYLE: &str = "@style@";
const HEADER: &str = "@header@";
const BLOB: &str = "@blob@";
const SCRIPT: &str = "@script@";

/// In the order in which names are used.
const SCRIPTS: [&str; 15] = [
    include_str!("maths.js"),
    include_str!("data.js"),
    include_str!("mesh.js"),
    include_str!("scene.js"),
    include_str!("light.js"),
    include_str!("shaders.js"),
    include_str!("gl.js"),
    include_str!("renderer.js"),
    include_str!("orbit.js"),
    include_str!("pick.js"),
    include_str!("player.js"),
    include_str!("charts.js"),
    include_str!("plots.js"),
    include_str!("panels.js"),
    include_str!("main.js"),
];

/// The page of a tape, also of one that was cut short.
///
/// # Errors
/// The tape cannot be read.
pub fn page(tape: &mut Tape) -> Result<Page, TapeError> {
    let footage = Footage::of(tape)?;
    let mut blob = Blob::default();
    let mut header = Header::of(tape, &footage, &mut blob);
    let blob = blob.into_text();

    let mut notes = footage.notes;
    if blob.len() > LARGE {
        notes.push(format!("a page of {} MB: fewer --fps or --seconds make it smaller", blob.len() / 1_000_000));
    }
    header.notes.clone_from(&notes);
    Ok(Page { html: filled(&tape.begin().name, &header.json(), &blob), notes })
}

/// The page's frame with everything in its place. Each word stands there once, in this order.
fn filled(name: &str, header: &str, blob: &str) -> String {
    let script = SCRIPTS.concat();
    let parts = [
        (TITLE, escaped(name)),
        (STYLE, include_str!("page.css").into()),
        (HEADER, header.into()),
        (BLOB, blob.into()),
        (SCRIPT, script),
    ];
    let mut rest = include_str!("page.html");
    let mut html = String::with_capacity(rest.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    for (word, text) in &parts {
        let (before, after) = rest.split_once(word).expect("page.html has all words in this order");
        html.push_str(before);
        html.push_str(text);
        rest = after;
    }
    html + rest
}

/// As text of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
