//! Commands that must fail: they say why, exit with 2, and leave every file as it was.

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
