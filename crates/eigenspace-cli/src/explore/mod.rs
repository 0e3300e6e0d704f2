//! `eigenspace explore`: a page where people see what a model knows and how exact it is.
//!
//! ```text
//! commands/explore.rs → load.rs, watch.rs (rows, models)    → session.rs: shelf.rs, store.rs, face_desk.rs
//! browser → server.rs → security.rs → routes.rs → one file per screen → JSON, points, PNG, SVG, CSV
//!                     ↘ event_stream.rs (what changed)             ↘ assets.rs (page/)
//! ```
//!
//! The page is plain HTML, CSS and ES modules in `page/`, embedded into the program. Everything it
//! shows is computed by the library; the files here translate. Models are values on a shelf:
//! merging or splitting adds one and changes none. Rows are in a temporary file, and so are their
//! scores, so a million rows fit into little memory.

mod assets;
mod browser;
mod compact;
mod connections;
mod directions;
mod event_stream;
mod events;
mod export;
mod face_desk;
mod faces;
mod images;
mod load;
mod lock;
mod monitor;
mod points;
mod query;
mod reply;
mod routes;
mod row;
mod scored;
mod security;
mod server;
mod session;
mod shelf;
mod spectrum;
mod start;
mod store;
mod watch;
mod workbench;

pub(crate) use server::stop;
pub(crate) use start::{Address, Plan, start};
