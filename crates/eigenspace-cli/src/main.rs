//! The command: from files to models, pictures and a demo.
#![forbid(unsafe_code)]

mod draw;

fn main() {}
