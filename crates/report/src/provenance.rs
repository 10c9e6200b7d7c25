//! Provenance of a run: by what, when and on what machine it was made.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

use partita::simulator::Settings;
use serde_json::json;

use crate::Options;

/// Command line, word by word.
pub(crate) fn command() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Names and values: version of partita, commit, machine, CPU, start. Found at the first call, by [`crate::Report::new`].
pub(crate) fn provenance() -> Vec<(String, String)> {
    static FOUND: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
        let machine = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let mut found = vec![("partita", env!("CARGO_PKG_VERSION").into()), ("machine", machine), ("started", started)];
        found.extend(cpu().map(|cpu| ("CPU", cpu)));
        found.extend(commit().map(|commit| ("commit", commit)));
        found
    });
    FOUND.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

/// Options and parameters of a run, by name.
pub(crate) fn parameters(options: &Options, scene: &Settings) -> Settings {
    json!({
        "options": {
            "seconds": options.seconds,
            "seed": options.seed,
            "threads": options.threads(),
            "fps": options.fps,
            "exact_frames": options.exact_frames,
            "quick": options.quick,
        },
        "scene": scene,
    })
}

fn cpu() -> Option<String> {
    let refresh = sysinfo::RefreshKind::nothing().with_cpu(sysinfo::CpuRefreshKind::nothing());
    let system = sysinfo::System::new_with_specifics(refresh);
    let cpus = system.cpus();
    let brand = cpus.first()?.brand().trim();
    (!brand.is_empty()).then(|| format!("{brand}, {} logical cores", cpus.len()))
}

/// Commit of the repository that contains the program, as it is now; "-dirty" where files are changed.
fn commit() -> Option<String> {
    commit_in(std::env::current_exe().ok()?.parent()?)
}

fn commit_in(folder: &Path) -> Option<String> {
    let describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let output = Command::new("git").arg("-C").arg(folder).args(describe).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !commit.trim().is_empty()).then(|| commit.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_that_of_the_folder_and_says_what_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit_in(folder.path()), None);
        let git = |words: &[&str]| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
            let run = Command::new("git").arg("-C").arg(folder.path()).args(identity).args(words).output().unwrap();
            assert!(run.status.success(), "{run:?}");
            String::from_utf8(run.stdout).unwrap().trim().to_string()
        };
        git(&["init", "--quiet"]);
        std::fs::write(folder.path().join("a"), "1").unwrap();
        git(&["add", "a"]);
        git(&["commit", "--quiet", "--no-gpg-sign", "-m", "first"]);
        let commit = git(&["rev-parse", "HEAD"])[..12].to_string();
        assert_eq!(commit_in(folder.path()), Some(commit.clone()));
        std::fs::write(folder.path().join("a"), "2").unwrap();
        assert_eq!(commit_in(folder.path()), Some(format!("{commit}-dirty")));
    }

    #[test]
    fn a_start_is_a_date_and_stays() {
        let found = provenance();
        let started = &found.iter().find(|(name, _)| name == "started").unwrap().1;
        assert!(started.len() == 20 && started.ends_with('Z') && started.starts_with("20"), "{started}");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(provenance(), found);
    }
}
