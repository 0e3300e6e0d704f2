//! Events: their order, resuming, a watched input, and the end.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{near, numbers};

use super::client::Server;
use super::{ready, rows, whole, world};

fn line(row: &[f64]) -> String {
    format!("low,{}\n", row.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
}

#[test]
fn a_stream_starts_with_the_session_and_tells_every_change_in_order() {
    let directory = world();
    let server = ready(&directory, "left.safetensors right.safetensors t.csv --label kind");
    let mut events = server.events(&[], "");
    let first = events.next().unwrap();
    assert_eq!((first.name.as_str(), first.data["models"].as_array().unwrap().len()), ("session", 2));
    let mut seen = first.id;
    for count in 3..6 {
        server.post("merge", json!({ "models": [0, 1] }).to_string());
        let event = events.next_of("session");
        assert!(event.id > seen);
        assert_eq!(event.data["models"].as_array().unwrap().len(), count);
        seen = event.id;
    }
    // A page that reconnects gets what it missed, and nothing twice.
    drop(events);
    server.post("merge", json!({ "models": [0, 1] }).to_string());
    for (headers, query) in
        [(vec![("Last-Event-ID", seen.to_string())], String::new()), (vec![], format!("?last={seen}"))]
    {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let event = server.events(&headers, &query).next().unwrap();
        assert_eq!((event.name.as_str(), event.id), ("session", seen + 1));
    }
    // One that saw something else starts again.
    for id in ["999999", "x", "-1"] {
        let event = server.events(&[("Last-Event-ID", id)], "").next().unwrap();
        assert_eq!((event.name.as_str(), event.id), ("session", seen + 1));
    }
}

#[test]
fn rows_that_arrive_in_a_file_are_compared_with_the_model() {
    let directory = world();
    directory.write("live.csv", "kind,a,b,c,d\n");
    let server = Server::start(&directory, "m.safetensors --watch live.csv --label kind");
    let mut events = server.events(&[], "");
    let waiting = events.next().unwrap();
    assert_eq!(waiting.data["watch"]["source"], "live.csv");
    let all = rows();
    let mut file = OpenOptions::new().append(true).open(directory.path("live.csv")).unwrap();
    let view =
        eigenspace::View::new(eigenspace::EigenspaceModel::load(directory.path("m.safetensors")).unwrap()).unwrap();
    let (mut t2, mut q) = (Vec::new(), Vec::new());
    for part in all.chunks(20) {
        let text: String = part.iter().map(|row| line(row)).collect();
        // A line that arrives in two pieces is one row.
        let (start, end) = text.split_at(text.len() / 2);
        for piece in [start, end] {
            file.write_all(piece.as_bytes()).unwrap();
            file.flush().unwrap();
            std::thread::sleep(Duration::from_millis(120));
        }
    }
    while t2.len() < 60 {
        let event = events.next_of("readings");
        assert_eq!((whole(&event.data["first"]), whole(&event.data["model"])), (t2.len(), 0));
        t2.extend(numbers(&event.data["t2"]));
        q.extend(numbers(&event.data["q"]));
        assert_eq!(whole(&event.data["rows"]), t2.len());
        assert!(event.data["t2_limit"].is_f64());
    }
    let matrix = ndarray::Array2::from_shape_fn((60, 4), |(i, j)| all[i][j]);
    let expected = view.readings(&matrix).unwrap();
    let (expected_t2, expected_q) = (expected.hotelling, expected.squared_distance);
    near(&t2, &expected_t2.to_vec(), 1e-9 * (1.0 + expected_t2.sum()));
    near(&q, &expected_q.to_vec(), 1e-9 * (1.0 + expected_q.sum()));
    // A page that is opened later gets the history, and the rows are there to be looked at.
    let mut late = server.events(&[], "");
    assert_eq!(late.next().unwrap().name, "session");
    let history = late.next_of("readings");
    near(&numbers(&history.data["t2"]), &t2, 0.0);
    let shares = server.ask("watch/rows/7/contributions");
    assert!((shares["q"].as_f64().unwrap() - q[7]).abs() < 1e-9 * (1.0 + q[7]));
    // The model of the rows that arrived, once no more come. They are those of the model, so there
    // is no angle.
    let event = events.next_of("readings");
    assert_eq!(numbers(&event.data["t2"]).len(), 0);
    assert!(event.data["angle"].as_f64().unwrap() < 1e-6, "{}", event.data);
    let strange: String = all.iter().map(|row| line(&[row[1], row[0], row[3] + 500.0, row[2]])).collect();
    let live = server.wait_for("the model", |session| session["models"].as_array().unwrap().len() == 2);
    assert_eq!(live["models"][1]["origin"], "stream");
    file.write_all(strange.as_bytes()).unwrap();
    let event = events.next_of("readings");
    assert!(numbers(&event.data["q"]).iter().all(|q| *q > event.data["q_limit"].as_f64().unwrap()), "{}", event.data);
    // A bad line ends it, with its place.
    file.write_all(b"low,1,2,oops,4\n").unwrap();
    let failed = server.wait_for("the failure", |session| session["watch"]["state"] == "failed");
    let error = failed["watch"]["error"]["error"].as_str().unwrap();
    assert!(error.contains("oops") && error.contains("122"), "{error}");
}

/// The sign of a component is that of its largest entry, so it flips when another entry becomes the
/// largest. On the page, the component stays on its side.
#[test]
fn components_that_are_computed_again_stay_on_their_side() {
    let directory = world();
    directory.write("live.csv", "kind,a,b,c,d\n");
    let server = Server::start(&directory, "m.safetensors --watch live.csv --label kind");
    let mut file = OpenOptions::new().append(true).open(directory.path("live.csv")).unwrap();
    let mut count = 0;
    let mut arrive = |b: f64| {
        let text: String =
            (1..=40).flat_map(|i| [i, -i]).map(|i| line(&[f64::from(i), b * f64::from(i), 0.0, 0.0])).collect();
        file.write_all(text.as_bytes()).unwrap();
        count += 80;
        server.wait_for("the model of all rows", |session| session["models"][1]["rows"] == count)
    };
    let component = || {
        let file = server.get("api/models/1/model.safetensors").body;
        directory.write("now.safetensors", file);
        eigenspace::EigenspaceModel::load(directory.path("now.safetensors")).unwrap().components().row(0).to_owned()
    };
    let shown = || {
        let scores = numbers(&server.ask("models/1/rows/0")["scores"]);
        let loading = server.ask("models/1/features?axes=1&sort=name")["features"][0]["loadings"][0].as_f64().unwrap();
        let top = server.ask("models/1/components/1")["top"][0].clone();
        let walk = numbers(&server.ask("models/1/walk?component=1&t=1")["values"]);
        let points = server.get("api/models/1/points?axes=1,1").body;
        let point = f32::from_le_bytes(points[40..44].try_into().unwrap());
        let row = whole(&json!(u32::from_le_bytes(points[40 + 8 * count_of(&points)..][..4].try_into().unwrap())));
        let far = numbers(&server.ask(&format!("models/1/rows/{row}"))["scores"])[0];
        assert!((f64::from(point) - far).abs() < 1e-4 * (1.0 + far.abs()), "{point} {far}");
        let sign = if whole(&top["feature"]) == 0 { 1.0 } else { -1.0 };
        [scores[0], loading, sign * top["loading"].as_f64().unwrap(), walk[0]].map(f64::signum)
    };
    arrive(-0.9);
    let (before, sides) = (component(), shown());
    assert!(before[0] > 0.0 && before[1] < 0.0, "{before}");
    assert_eq!(sides, [1.0; 4]);
    arrive(-1.3);
    let after = component();
    assert!(after[0] < 0.0 && after[1] > 0.0, "{after}: the rule for signs has flipped the component");
    assert_eq!(shown(), sides, "and the page shows it on the side where it was");
}

/// The number of points in an answer.
fn count_of(points: &[u8]) -> usize {
    u32::from_le_bytes(points[8..12].try_into().unwrap()) as usize
}

#[test]
fn rows_that_arrive_on_standard_input_end_with_it() {
    let directory = world();
    let mut server = Server::start(&directory, "t.csv -k 2 --watch - --label kind");
    let mut stdin = server.stdin();
    let mut events = server.events(&[], "");
    stdin.write_all(b"kind,a,b,c,d\n").unwrap();
    for row in &rows()[..5] {
        stdin.write_all(line(row).as_bytes()).unwrap();
        stdin.flush().unwrap();
    }
    let event = events.next_of("readings");
    assert_eq!(whole(&event.data["first"]), 60, "after the rows that were read before");
    drop(stdin);
    let ended = server.wait_for("the end", |session| session["watch"]["state"] == "ended");
    assert_eq!((whole(&ended["watch"]["rows"]), whole(&ended["data"]["rows"])), (5, 65));
    assert_eq!(whole(&ended["watch"]["first"]), 60);
    let said = directory.refused("explore - --watch - --no-open");
    assert!(said.err.contains("cannot read standard input twice"), "{said}");
}

#[test]
fn reading_and_fitting_are_told_as_they_happen() {
    let directory = world();
    let all = rows();
    let first = format!("kind,a,b,c,d\n{}", line(&all[0]));
    let mut server = Server::start_reading(&directory, "- --label kind", first.as_bytes());
    let mut stdin = server.stdin();
    let mut events = server.events(&[], "");
    assert_eq!(events.next().unwrap().data["data"]["state"], "reading");
    all[1..].iter().for_each(|row| stdin.write_all(line(row).as_bytes()).unwrap());
    drop(stdin);
    let mut event = events.next_of("progress");
    while event.data["what"] == "reading" {
        event = events.next_of("progress");
    }
    assert_eq!(event.data, json!({ "what": "fitting", "done": 60, "total": 60 }));
    let session = server.wait_for("the model", |session| session["data"]["state"] == "ready");
    assert_eq!(session["models"][0]["origin"], "fitted");
}

/// A busy machine can only make them fewer.
#[test]
fn a_stream_has_at_most_ten_events_a_second() {
    let directory = world();
    let server = ready(&directory, "left.safetensors right.safetensors t.csv --label kind");
    let begun = Instant::now();
    let mut events = server.events(&[], "");
    let begin = events.next().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..40 {
                assert_eq!(server.post("merge", json!({ "models": [0, 1] }).to_string()).status, 200);
            }
        });
        let (mut last, mut sent) = (begin.data, 0);
        while last["models"].as_array().unwrap().len() < 42 {
            last = events.next_of("session").data;
            sent += 1;
        }
        assert!(sent <= 1 + 10 * (1 + begun.elapsed().as_millis() / 1000), "{sent} in {:?}", begun.elapsed());
    });
}

/// Streams would keep the server open for ever.
#[test]
fn an_interrupt_ends_open_streams_and_the_server() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    let mut streams: Vec<_> = (0..3).map(|_| server.events(&[], "")).collect();
    streams.iter_mut().for_each(|events| assert_eq!(events.next().unwrap().name, "session"));
    let (code, said) = server.interrupt();
    assert_eq!(code, Some(0), "{said}");
    for events in &mut streams {
        let last = events.next().unwrap();
        assert_eq!((last.name.as_str(), &last.data["reason"]), ("end", &"the server was stopped".into()));
        assert!(events.next().is_none());
    }
}
