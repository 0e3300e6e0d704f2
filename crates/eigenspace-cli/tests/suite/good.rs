//! Commands that do what they say.

mod coordinates;
mod data;
mod formats;
mod help;
mod models;
mod settings;
