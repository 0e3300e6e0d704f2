//! `eigenspace explore`: its server, without a browser. Everything stays on this machine and is
//! bounded in time.

mod answers;
mod client;
mod people;
mod security;
mod stream;
mod workbench;

use serde_json::Value;

use crate::files::lines;
use crate::oracle::table;
use crate::support::Directory;

use client::Server;

/// A table of sixty labeled rows with four columns of different units, and models of its halves.
fn world() -> Directory {
    let directory = Directory::new();
    let (rows, names) = (rows(), ["low", "middle", "high"]);
    let text = |part: std::ops::Range<usize>| {
        let mut text = "kind,a,b,c,d\n".to_owned();
        for (i, line) in lines(None, &rows[part.clone()].to_vec(), ",").lines().enumerate() {
            text += &format!("{},{line}\n", names[(part.start + i) % 3]);
        }
        text
    };
    directory.write("t.csv", text(0..60));
    for (name, part) in [("left", 0..30), ("right", 30..60)] {
        directory.write(&format!("{name}.csv"), text(part));
        directory.done(&format!("fit {name}.csv --label kind -k 2 -o {name}.safetensors -q"));
    }
    directory.done("fit t.csv --label kind -k 2 -o m.safetensors -q");
    directory.done("fit t.csv --label kind -k 2 --standardize -o s.safetensors -q");
    directory
}

fn rows() -> Vec<Vec<f64>> {
    let mut rows = table(60, 4, 3);
    for row in &mut rows {
        row[1] = 40.0 * row[1] + 0.5 * row[0];
        row[2] *= 0.1;
        row[3] += 2.0 * row[0];
    }
    rows
}

/// A server of the table and a model of it, ready to answer.
fn ready(directory: &Directory, line: &str) -> Server {
    let server = Server::start(directory, line);
    server.wait_for("the rows", |session| session["data"]["state"] == "ready");
    server
}

fn whole(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}
