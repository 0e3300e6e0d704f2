//! Commands that must fail: they print the reason, exit with code 2, and leave every file unchanged.

mod arrays;
mod faces;
mod models;
mod options;
mod overwrite;
mod paths;
mod pictures;
mod rows;
mod terminal;
mod world;
