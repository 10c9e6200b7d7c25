//! A film as MP4, by the `ffmpeg` of the machine where there is one.
//!
//! Frames go through a pipe, as plain RGB. A film is an extra: what goes wrong with it is told in a note and fails
//! nothing.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Image;
use crate::partial::{FILM, Hidden};

/// A film in the making. Dropped before [`Mp4::finish`], it leaves nothing.
pub(crate) struct Mp4 {
    path: PathBuf,
    hidden: Hidden,
    /// As it was started.
    command: String,
    ffmpeg: Child,
    /// To the thread that feeds ffmpeg; `None` after the last frame.
    frames: Option<SyncSender<Vec<u8>>>,
    /// Its last words, once it has closed its standard error.
    words: Receiver<String>,
    /// How long it may take no frame, or not end.
    patience: Duration,
    trouble: Option<String>,
}

/// An encoder that is alive takes a frame in far less, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at whether ffmpeg is ready.
const PAUSE: Duration = Duration::from_millis(2);
/// Frames that wait for ffmpeg.
const WAITING: usize = 4;

impl Mp4 {
    /// Starts `program` (`ffmpeg`, looked for on the PATH) on a film of this even size and rate `[1/s]`; `None` where
    /// there is no such program, a note where it cannot be started.
    pub fn begin(
        program: &OsStr,
        path: &Path,
        size: [u32; 2],
        rate: f64,
        threads: usize,
    ) -> Result<Option<Self>, String> {
        let hidden = Hidden::beside(path).map_err(|error| note(path, &error.to_string()))?;
        // Not a bare name: ffmpeg would take "-x" for an option and "http:" for a server.
        let mut output = OsString::from("file:");
        output.push(hidden.inside(FILM));
        let [width, height] = size;
        let mut command = Command::new(program);
        command.args(["-hide_banner", "-nostdin", "-loglevel", "error", "-n", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
        command.args(["-video_size", &format!("{width}x{height}"), "-framerate", &rate.to_string(), "-i", "pipe:0"]);
        // For MP4 ffmpeg itself chooses H.264 where it has an encoder, else MPEG-4, to which -q:v says "good".
        command.args(["-pix_fmt", "yuv420p", "-q:v", "3", "-threads", &threads.to_string()]);
        command.args(["-movflags", "+faststart", "-f", "mp4"]).arg(output);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut ffmpeg = match command.spawn() {
            Ok(ffmpeg) => ffmpeg,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(note(path, &format!("`{}` did not start: {error}", words_of(&command)))),
        };

        // Both threads end when ffmpeg does, and are not waited for: what it has started may hold its pipes.
        let (frames, queue) = mpsc::sync_channel::<Vec<u8>>(WAITING);
        let mut stdin = ffmpeg.stdin.take().expect("piped above");
        thread::spawn(move || queue.into_iter().try_for_each(|frame| stdin.write_all(&frame)));
        let (tell, words) = mpsc::channel();
        let stderr = ffmpeg.stderr.take().expect("piped above");
        thread::spawn(move || tell.send(last_line(stderr)));
        let (path, command, patience) = (path.to_path_buf(), words_of(&command), PATIENCE);
        Ok(Some(Mp4 { path, hidden, command, ffmpeg, frames: Some(frames), words, patience, trouble: None }))
    }

    /// Adds a frame, of the size of the film. Waits while ffmpeg is behind.
    pub fn frame(&mut self, image: &Image) {
        let Some(frames) = &self.frames else { return };
        let (mut bytes, since) = (image.pixels().as_flattened().to_vec(), Instant::now());
        loop {
            match frames.try_send(bytes) {
                Ok(()) => return,
                Err(TrySendError::Full(_)) if since.elapsed() > self.patience => {
                    return self.give_up(format!("took no frame for {:?}", self.patience));
                }
                Err(TrySendError::Full(unsent)) => {
                    bytes = unsent;
                    thread::sleep(PAUSE);
                }
                // Why is known at the end.
                Err(TrySendError::Disconnected(_)) => return self.frames = None,
            }
        }
    }

    /// Ends the film: its path, or, where it failed, a note.
    pub fn finish(mut self) -> Result<PathBuf, String> {
        self.frames = None;
        let outcome = match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => self.wait().and_then(|()| self.put_in_place().map_err(|error| format!("left no film: {error}"))),
        };
        outcome.map_err(|trouble| note(&self.path, &format!("`{}` {trouble}", self.command)))?;
        Ok(self.path.clone())
    }

    fn wait(&mut self) -> Result<(), String> {
        let since = Instant::now();
        loop {
            match self.ffmpeg.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    let words = self.words.recv_timeout(self.patience.min(Duration::from_secs(1))).unwrap_or_default();
                    return Err(format!("ended with {status}: {words}"));
                }
                Ok(None) if since.elapsed() > self.patience => {
                    return Err(format!("did not end within {:?}", self.patience));
                }
                Ok(None) => thread::sleep(PAUSE),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn put_in_place(&self) -> io::Result<()> {
        let film = self.hidden.inside(FILM);
        File::open(&film)?.sync_all()?;
        fs::rename(film, &self.path)
    }

    fn give_up(&mut self, trouble: String) {
        self.frames = None;
        self.trouble = Some(trouble);
        let _ = self.ffmpeg.kill();
    }
}

impl Drop for Mp4 {
    fn drop(&mut self) {
        // Neither does anything after a film that succeeded.
        let _ = self.ffmpeg.kill();
        let _ = self.ffmpeg.wait();
    }
}

fn note(path: &Path, trouble: &str) -> String {
    format!("{} was not made, which touches nothing else: {trouble}", path.display())
}

fn words_of(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    words.join(OsStr::new(" ")).to_string_lossy().into_owned()
}

/// Reads to the end; the last line with words, in so far as it is in the last 1000 bytes.
fn last_line(mut stderr: impl Read) -> String {
    let (mut tail, mut buffer) = (Vec::new(), [0; 1000]);
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        tail.extend_from_slice(&buffer[..read]);
        tail.drain(..tail.len().saturating_sub(1000));
    }
    let text = String::from_utf8_lossy(&tail);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
    line.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Runs `script` as ffmpeg on five grey frames of 4 x 2 pixels: what is left in the folder, and the path or a note.
    fn film(script: &str) -> (Vec<String>, Result<PathBuf, String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ffmpeg");
        // By a process of its own: what other tests start meanwhile would keep it open for writing, and so from being run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$0" && chmod 755 "$0""#;
        assert!(Command::new("sh").arg("-c").arg(write).arg(&program).arg(script).status().unwrap().success());
        let path = folder.path().join("a film.mp4");
        let mut film = Mp4::begin(program.as_os_str(), &path, [4, 2], 12.5, 3).unwrap().unwrap();
        film.patience = Duration::from_millis(300);
        for level in 0..5 {
            film.frame(&Image::new(4, 2, vec![[level; 3]; 8]).unwrap());
        }
        let written = film.finish();
        fs::remove_file(program).unwrap();
        let names = fs::read_dir(folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        (names, written, folder)
    }

    /// Its last argument is "file:" and the partial name.
    const TO_OUTPUT: &str = r#"for last; do :; done; exec > "${last#file:}"; "#;

    #[test]
    fn frames_arrive_as_they_are_and_the_film_is_put_in_place() {
        let (names, written, folder) = film(&format!("{TO_OUTPUT} cat; echo \"$@\""));
        assert_eq!(names, ["a film.mp4"]);
        let bytes = fs::read(written.unwrap()).unwrap();
        let frames: Vec<u8> = (0..5).flat_map(|level| [level; 24]).collect();
        assert_eq!(bytes[..120], frames);
        let words = String::from_utf8_lossy(&bytes[120..]);
        for expected in ["rgb24", "4x2", "12.5", "pipe:0", "yuv420p", "-threads 3", "file:/"] {
            assert!(words.contains(expected), "{expected} in {words}");
        }
        drop(folder);
    }

    #[test]
    fn a_film_that_fails_leaves_nothing() {
        let patience = Instant::now();
        let failing = [
            (format!("{TO_OUTPUT} cat > /dev/null; echo half; exit 1"), "` ended with exit status: 1: no reason given"),
            (
                "exec < /dev/null; echo and >&2; echo no encoder >&2; exit 3".into(),
                "` ended with exit status: 3: no encoder",
            ),
            ("cat > /dev/null".into(), "` left no film: "),
            ("exit 0".into(), "` left no film: "),
            (format!("{TO_OUTPUT} echo half; sleep 30"), "` did not end within "),
            ("sleep 30 & exec sleep 30".into(), "` did not end within "),
            ("cat > /dev/null; sleep 30".into(), "` did not end within "),
        ];
        for (script, why) in failing {
            let (names, written, folder) = film(&script);
            let note = written.unwrap_err();
            assert_eq!(names, [""; 0], "{script}");
            let command = format!("`{}/ffmpeg -hide_banner", folder.path().display());
            for words in ["a film.mp4 was not made, which touches nothing else: ", &command, why] {
                assert!(note.contains(words), "{words} in {note}");
            }
        }
        assert!(patience.elapsed() < Duration::from_secs(15));
    }

    #[test]
    fn no_ffmpeg_is_no_film() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("film.mp4");
        assert!(Mp4::begin("/nowhere/ffmpeg".as_ref(), path, [4, 2], 24.0, 1).unwrap().is_none());
        // A file that is no program.
        let note = Mp4::begin("/dev/null".as_ref(), path, [4, 2], 24.0, 1).err().unwrap();
        assert!(note.contains("`/dev/null -hide_banner") && note.contains("` did not start: "), "{note}");
    }

    #[test]
    fn the_reason_is_the_last_line_with_words() {
        assert_eq!(last_line("first\n  last \u{1b}[31m\n\n".as_bytes()), "last [31m");
        assert_eq!(last_line("".as_bytes()), "no reason given");
        assert_eq!(last_line("x".repeat(5000).as_bytes()).len(), 1000);
    }
}
