//! The shelf: merge, split, forget, add, remove and save.

use std::process::Command;

use eigenspace::EigenspaceModel;
use serde_json::{Value, json};

use crate::files::npy;
use crate::support::{Directory, near, numbers};

use super::client::Server;
use super::{ready, rows, whole, world};

fn spectrum(server: &Server, id: &Value) -> Vec<f64> {
    let found = server.ask(&format!("models/{id}/spectrum"));
    found["components"].as_array().unwrap().iter().map(|c| c["explained_variance"][1].as_f64().unwrap()).collect()
}

#[test]
fn merging_and_splitting_again_restores_the_spectrum() {
    let directory = world();
    let before = directory.listing();
    let server = ready(&directory, "left.safetensors right.safetensors m.safetensors t.csv --label kind");
    let [left, all] = [0, 2].map(|id| spectrum(&server, &json!(id)));
    let merged = server.post("merge", json!({ "models": [0, 1] }).to_string());
    assert_eq!(merged.status, 200);
    let merged = merged.json();
    assert_eq!((&merged["origin"], &merged["parents"], &merged["rows"]), (&"merge".into(), &json!([0, 1]), &60.into()));
    assert_eq!(merged["name"], "left + right");
    near(&spectrum(&server, &merged["id"]), &all, 1e-9 * all[0]);
    let again = server.post("split", json!({ "whole": merged["id"], "part": 1 }).to_string()).json();
    near(&spectrum(&server, &again["id"]), &left, 1e-9 * left[0]);
    let angles = server.ask(&format!("models/0/angles/{}?k=2", again["id"]));
    assert!(angles["largest_angle"].as_f64().unwrap() < 1e-7, "{angles}");
    assert_eq!(numbers(&angles["principal_angles"]).len(), 2);
    // Something that was never in it; the shelf stays as it is.
    let shelf = server.ask("session")["models"].clone();
    let refused = server.post("split", json!({ "whole": 0, "part": 2 }).to_string());
    assert_eq!(refused.status, 422);
    assert!(
        refused.json()["error"].as_str().unwrap().starts_with("cannot split `m` from `left`: "),
        "{}",
        refused.json()
    );
    assert!(refused.json()["hint"].is_string());
    assert_eq!(server.ask("session")["models"], shelf);
    // Undo.
    for id in [&again["id"], &merged["id"]] {
        assert_eq!(server.request("DELETE", &format!("api/models/{id}"), &[], b"").status, 204);
        server.refused(&format!("models/{id}/spectrum"), 404);
    }
    assert_eq!(server.request("DELETE", "api/models/99", &[], b"").status, 404);
    drop(server);
    crate::support::same_files(&before, &directory.listing());
}

#[test]
fn forgetting_rows_gives_the_model_without_them_and_adding_them_takes_it_back() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    assert_eq!(server.request("DELETE", "api/models/0", &[], b"").status, 409, "the only model");
    let gone = [3, 17, 17, 44];
    let found = server.post("models/0/forget", json!({ "rows": gone }).to_string()).json();
    assert_eq!((&found["origin"], whole(&found["rows"])), (&"forget".into(), 57));
    let rest: Vec<Vec<f64>> =
        rows().into_iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, row)| row).collect();
    let rest = ndarray::Array2::from_shape_fn((57, 4), |(i, j)| rest[i][j]);
    let expected = EigenspaceModel::fit(&rest).unwrap().explained_variance(1.0).unwrap();
    near(&spectrum(&server, &found["id"]), &expected.to_vec(), 1e-9 * expected[0]);
    let rows = rows();
    let array = npy(&vec![rows[3].clone(), rows[17].clone(), rows[44].clone()], "<f8", false);
    let back = server.post(&format!("models/{}/rows", found["id"]), &array).json();
    assert_eq!((&back["origin"], whole(&back["rows"])), (&"update".into(), 60));
    let all = spectrum(&server, &json!(0));
    near(&spectrum(&server, &back["id"]), &all, 1e-9 * all[0]);
    for (body, status) in [
        (json!({ "rows": [60] }), 404),
        (json!({ "rows": [] }), 400),
        (json!({ "rows": ["x"] }), 400),
        (json!({}), 400),
    ] {
        assert_eq!(server.post("models/0/forget", body.to_string()).status, status, "{body}");
    }
    assert_eq!(server.post("models/0/rows", npy(&vec![vec![1.0, 2.0]], "<f8", false)).status, 422);
    assert_eq!(server.post("models/0/rows", b"no array").status, 422);
    assert_eq!(server.request("GET", "api/merge", &[], b"").status, 405);
    assert_eq!(server.request("PUT", "api/models/0", &[], b"").status, 405);
}

#[test]
fn models_are_saved_only_where_asked_and_never_over_a_file() {
    let directory = world();
    let before = directory.listing();
    let server = Server::start(&directory, "m.safetensors left.safetensors");
    let refused = server.post("models/0/save", json!({ "name": "x.safetensors" }).to_string());
    assert_eq!((refused.status, refused.json()["hint"].as_str()), (403, Some("start it with --write DIR")));
    drop(server);
    crate::support::same_files(&before, &directory.listing());

    directory.write("out/old.safetensors", "older");
    let server = Server::start(&directory, "m.safetensors left.safetensors --write out");
    assert_eq!(server.ask("session")["write"], true);
    let saved = server.post("models/1/save", json!({ "name": "x" }).to_string());
    assert_eq!(saved.status, 200, "{}", String::from_utf8_lossy(&saved.body));
    assert!(directory.read("out/x.safetensors") == directory.read("left.safetensors"));
    assert!(server.ask("session")["models"][1]["saved"].as_str().unwrap().ends_with("x.safetensors"));
    for name in ["x", "x.safetensors", "old.safetensors"] {
        assert_eq!(server.post("models/0/save", json!({ "name": name }).to_string()).status, 409, "{name}");
    }
    for name in
        ["../y.safetensors", "/tmp/y.safetensors", "a/b.safetensors", "..", ".", "", ".y", "a\\b", "a\u{0}b", "a\nb"]
    {
        assert_eq!(server.post("models/0/save", json!({ "name": name }).to_string()).status, 400, "{name:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(directory.path("t.csv"), directory.path("out/link.safetensors")).unwrap();
        assert_eq!(server.post("models/0/save", json!({ "name": "link" }).to_string()).status, 409);
    }
    assert!(directory.read("out/old.safetensors") == b"older" && directory.read("t.csv") == before["t.csv"]);
    // The directory vanishes.
    std::fs::remove_dir_all(directory.path("out")).unwrap();
    let refused = server.post("models/0/save", json!({ "name": "z" }).to_string());
    assert_eq!(refused.status, 422);
    assert!(
        refused.json()["error"].as_str().unwrap().contains("cannot write `out/z.safetensors`"),
        "{}",
        refused.json()
    );
    assert_eq!(server.ask("session")["models"].as_array().unwrap().len(), 2);
    let said = directory.refused("explore m.safetensors --no-open --write nowhere");
    assert!(said.err.contains("nowhere"), "{said}");
}

/// The system lets no file grow beyond 16 KiB, as a full disk would.
#[test]
fn a_full_disk_is_told_and_nothing_is_left_of_the_file() {
    let directory = Directory::new();
    directory.write("wide.npy", npy(&crate::oracle::table(20, 300, 1), "<f8", false));
    directory.done("fit wide.npy -o wide.safetensors -q");
    directory.write("out/old", "");
    let limited = |line: &str| {
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f 32; exec \"$EIGENSPACE\" explore {line} --no-open");
        command
            .args(["-euc", &script])
            .current_dir(directory.path("."))
            .env("EIGENSPACE", env!("CARGO_BIN_EXE_eigenspace"));
        Server::run(&mut command)
    };
    let server = limited("wide.safetensors --write out");
    let refused = server.post("models/0/save", json!({ "name": "x" }).to_string());
    assert_eq!(refused.status, 422);
    assert!(refused.json()["hint"].as_str().unwrap().contains("disk"), "{}", refused.json());
    assert_eq!(std::fs::read_dir(directory.path("out")).unwrap().count(), 1, "only what was there");
    assert_eq!(server.get("").status, 200);
    // Rows do not fit into their temporary file.
    let server = limited("wide.npy");
    let failed = server.wait_for("the failure", |session| session["data"]["state"] == "failed");
    assert!(failed["data"]["error"]["error"].as_str().unwrap().contains("temporary file"), "{failed:#}");
}
