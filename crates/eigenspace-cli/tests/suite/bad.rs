//! Commands that must fail: they print the reason, exit with code 2, and leave every file
//! unchanged.

mod arrays;
mod cells;
mod faces;
#[cfg(target_os = "linux")]
mod full_disk;
mod hints;
mod images;
mod models;
mod options;
mod overwrite;
mod paths;
mod rows;
mod terminal;
mod world;
