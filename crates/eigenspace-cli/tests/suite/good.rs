//! Commands that succeed.

mod coordinates;
mod data;
mod faces;
mod formats;
mod help;
mod models;
mod settings;
mod warnings;
