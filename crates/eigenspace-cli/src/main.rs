//! The command: from files to models, pictures and a demo.
#![forbid(unsafe_code)]

// For the commands to come; until then only tests call it.
#[cfg(test)]
mod data;

fn main() {}
