//! Opens the page in a browser.
//!
//! Arguments of a process can be read by every user of the machine, and the address of the page
//! contains its token. So the browser is given a private file that leads to the page instead of the
//! address.

use std::io::Write;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Opens the page; nothing if there is no browser to open. The file is removed when the result is
/// dropped.
pub(super) fn open(url: &str) -> Option<TempDir> {
    if cfg!(all(unix, not(target_os = "macos")))
        && !["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some())
    {
        return None;
    }
    // Both are only for this user.
    let directory = tempfile::Builder::new().prefix("eigenspace-").tempdir().ok()?;
    let path = directory.path().join("open.html");
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>eigenspace</title>"
    );
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path).and_then(|mut file| file.write_all(page.as_bytes())).ok()?;
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    std::thread::spawn(move || drop(child.wait()));
    Some(directory)
}
