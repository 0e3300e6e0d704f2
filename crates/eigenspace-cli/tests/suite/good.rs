//! Commands that do what they say.

mod coordinates;
mod formats;
mod help;
mod models;
mod settings;
