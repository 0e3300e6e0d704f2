//! Every question about a model, against the numbers of the library.

use eigenspace::{EigenspaceModel, Limits, Readings, View};
use ndarray::{Array2, ArrayView1, array};
use serde_json::Value;

use crate::support::{Directory, near, numbers};

use super::client::Server;
use super::{ready, rows, whole, world};

fn matrix() -> Array2<f64> {
    let rows = rows();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

/// The view that the server has of a model of the table.
fn view(standardize: bool, k: usize) -> View {
    View::raw(EigenspaceModel::fit(&matrix()).unwrap()).standardized(standardize).unwrap().with_components(k).unwrap()
}

/// Relative to the largest expected number.
fn close(found: &Value, expected: ArrayView1<'_, f64>) {
    let size = expected.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
    near(&numbers(found), &expected.to_vec(), 1e-9 * size);
}

fn about(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} against {expected}");
}

#[test]
fn the_session_says_what_there_is() {
    let directory = world();
    let server = ready(&directory, "m.safetensors left.safetensors t.csv --label kind --state #v=1");
    let session = server.ask("session");
    assert_eq!(session["state"], "#v=1");
    assert_eq!(session["write"], false);
    let command = session["command"].as_str().unwrap();
    assert_eq!(command, "eigenspace explore m.safetensors left.safetensors t.csv --label kind --no-open");
    let models = session["models"].as_array().unwrap();
    assert_eq!((models.len(), &models[0]["name"], &models[1]["name"]), (2, &"m".into(), &"left".into()));
    assert_eq!(
        (&models[0]["rows"], &models[0]["rank"], &models[0]["n_components"]),
        (&60.into(), &4.into(), &2.into())
    );
    assert_eq!(models[0]["axes"], 4, "scores are kept along more components than the model reports");
    assert_eq!((&models[0]["origin"], &models[0]["certificate"]["text"]), (&"file".into(), &"exact".into()));
    assert_eq!(session["data"]["rows"], 60);
    assert_eq!(session["data"]["labels"], serde_json::json!(["low", "middle", "high"]));
    assert_eq!(session["data"]["columns"], serde_json::json!(["a", "b", "c", "d"]));
    assert_eq!((&session["recognizer"], &session["watch"]), (&Value::Null, &Value::Null));
}

#[test]
fn rows_alone_are_fitted_behind_the_page() {
    let directory = world();
    let server = ready(&directory, "t.csv --label kind -k 3");
    let session = server.ask("session");
    assert_eq!((&session["models"][0]["origin"], &session["models"][0]["n_components"]), (&"fitted".into(), &3.into()));
    let spectrum = server.ask("models/0/spectrum");
    let expected = view(false, 4).explained_variance().unwrap();
    let found: Vec<f64> = spectrum["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["explained_variance"][1].as_f64().unwrap())
        .collect();
    near(&found, &expected.to_vec(), 1e-9 * expected[0]);
    directory.write("bad.csv", "a,b\n1,2\n3,4\n5,oops\n");
    let server = Server::start(&directory, "bad.csv");
    let failed = server.wait_for("the failure", |session| session["data"]["state"] == "failed");
    let error = failed["data"]["error"]["error"].as_str().unwrap();
    assert!(error.contains("`oops`") && error.contains("bad.csv"), "{error}");
    assert!(failed["data"]["error"]["hint"].as_str().unwrap().contains("--exclude"));
    let (code, said) = server.interrupt();
    let notice = "the page is still open; press Ctrl-C, and run the command again\n";
    assert!(code == Some(2) && said.ends_with(notice), "{code:?}: {said}");
    let missing = directory.refused("explore nothing.csv --no-open");
    assert!(missing.err.contains("nothing.csv"), "{missing}");
}

#[test]
fn variances_have_the_bounds_of_the_certificate() {
    let directory = world();
    directory.write("wide.npy", crate::files::npy(&crate::oracle::table(300, 40, 9), "<f8", false));
    directory.done("fit wide.npy -k 5 --engine factor --max-rank 12 --block-rows 40 -o w.safetensors -q");
    let server = Server::start(&directory, "w.safetensors");
    let model = EigenspaceModel::load(directory.path("w.safetensors")).unwrap();
    let (certificate, total) = (model.certificate(), model.total_variance(1.0).unwrap());
    assert!(!certificate.is_exact());
    let found = server.ask("models/0/spectrum?k=3");
    assert_eq!((whole(&found["n_components"]), found["components"].as_array().unwrap().len()), (3, model.rank()));
    about(&found["total_variance"], total);
    let scatter = model.feature_scatter().sum();
    for (i, component) in found["components"].as_array().unwrap().iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        let value = model.all_singular_values()[i].powi(2);
        close(&component["explained_variance"], array![low, value, high].mapv(|x| x * total / scatter).view());
        let (low, high) = certificate.captured_bounds(i + 1);
        let [least, held, most] = numbers(&component["cumulative"])[..] else { panic!("three numbers") };
        assert!((least - low).abs() < 1e-12 && (most - high).abs() < 1e-12 && least <= held && held <= most);
        about(&component["angle_bound"], certificate.angle_bound(i + 1));
    }
    // The same as a file.
    let (heading, lines) = csv(&server.get("api/models/0/variance.csv").body);
    assert_eq!(
        heading.join(","),
        "component,explained_variance,explained_variance_low,explained_variance_high,explained_variance_ratio,cumulative,\
         cumulative_low,cumulative_high,angle_bound"
    );
    assert_eq!(lines.len(), model.rank());
    let mut held = 0.0;
    for (i, (name, found)) in lines.iter().enumerate() {
        let (low, high) = certificate.eigenvalue_bound(i);
        let value = model.all_singular_values()[i].powi(2);
        held += value / scatter;
        let (least, most) = certificate.captured_bounds(i + 1);
        assert_eq!(*name, (i + 1).to_string());
        near(&found[..3], &[value, low, high].map(|x| x * total / scatter), 1e-9 * total);
        near(&found[3..], &[value / scatter, held, least, most, certificate.angle_bound(i + 1)], 1e-9);
    }
    let text = server.ask("session")["models"][0]["certificate"]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("captured "), "{text}");
    server.refused(&format!("models/0/spectrum?k={}", model.rank() + 1), 400);
    server.refused("models/0/spectrum?k=x", 400);
    server.refused("models/9/spectrum", 404);
    assert!(server.refused("models/0/spectrum?revision=2", 409).contains("has changed"));
    server.ask("models/0/spectrum?revision=1");
    // A model without rows.
    assert!(server.refused("models/0/points", 404).contains("there are no rows"));
}

/// The heading of a table, and the name and the numbers of each line.
fn csv(text: &[u8]) -> (Vec<String>, Vec<(String, Vec<f64>)>) {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let heading = lines.next().unwrap();
    let line = |line: Vec<String>| {
        assert_eq!(line.len(), heading.len());
        (line[0].clone(), line[1..].iter().map(|cell| cell.parse().unwrap()).collect())
    };
    (heading.clone(), lines.map(line).collect())
}

/// More components than a chart has room for.
#[test]
fn the_summary_is_of_k_components_even_if_fewer_are_listed() {
    let directory = Directory::new();
    directory.write("wide.npy", crate::files::npy(&crate::oracle::table(1100, 1002, 5), "<f8", false));
    directory.done("fit wide.npy -o wide.safetensors -q");
    let server = Server::start(&directory, "wide.safetensors");
    let found = server.ask("models/0/spectrum?k=1002");
    assert_eq!(found["components"].as_array().unwrap().len(), 1000);
    let summary = found["summary"].as_str().unwrap();
    assert_eq!(summary, "1,002 components of 1,002 directions kept explain 100.00 % of the variance of 1,100 rows.");
}

/// The numbers of a points answer: values by point, rows, classes.
fn points(server: &Server, below: &str) -> (Vec<f32>, Vec<u32>, Vec<u16>) {
    let answer = server.get(&format!("api/models/0/{below}"));
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let bytes = answer.body;
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4)), (&b"EIGP"[..], 1));
    let (n, d, flags) = (word(8), word(12), word(32));
    assert_eq!(u64::from_le_bytes(bytes[16..24].try_into().unwrap()), 1);
    assert_eq!((word(28), word(36)), (60, 0));
    let rows_at = 40 + 4 * n * d;
    let classes_at = rows_at + 4 * n;
    assert_eq!(bytes.len(), classes_at + 2 * n * flags);
    let values = bytes[40..rows_at].chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    let rows = bytes[rows_at..classes_at].chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect();
    let classes = bytes[classes_at..].chunks(2).map(|two| u16::from_le_bytes(two.try_into().unwrap())).collect();
    (values, rows, classes)
}

#[test]
fn points_are_the_scores_in_a_shuffled_order() {
    let directory = world();
    for (model, standardize) in [("m", false), ("s", true)] {
        let server = ready(&directory, &format!("{model}.safetensors t.csv --label kind -k 3"));
        let scores = view(standardize, 3).project(&matrix()).unwrap();
        let (values, order, classes) = points(&server, "points?axes=1,2,3");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..60) && !order.is_sorted());
        for (i, &row) in order.iter().enumerate() {
            let expected: Vec<f32> = scores.row(row as usize).iter().map(|z| *z as f32).collect();
            for (found, expected) in values[3 * i..3 * i + 3].iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{found} {expected}");
            }
            assert_eq!(u32::from(classes[i]), row % 3);
        }
        // Two parts are the whole, in the same order for other axes.
        let (first, some, _) = points(&server, "points?axes=3,1&count=25");
        let (second, others, _) = points(&server, "points?axes=3,1&first=25&count=100");
        assert_eq!([some, others].concat(), order);
        let turned: Vec<f32> = (0..60).flat_map(|i| [values[3 * i + 2], values[3 * i]]).collect();
        assert_eq!([first, second].concat(), turned);
        let readings = view(standardize, 3).readings(&matrix()).unwrap();
        for (of, expected) in
            [("t2", readings.hotelling), ("q", readings.squared_distance), ("feature:2", matrix().column(2).to_owned())]
        {
            let (values, order, _) = points(&server, &format!("column?of={of}"));
            for (found, row) in values.iter().zip(order) {
                let expected = expected[row as usize] as f32;
                assert!((found - expected).abs() <= 1e-5 * (1e-3 + expected.abs()), "{of}: {found} {expected}");
            }
        }
        // For another number of components than the model reports.
        let readings = view(standardize, 1).readings(&matrix()).unwrap();
        for (of, expected) in [("t2", readings.hotelling), ("q", readings.squared_distance)] {
            let (values, order, _) = points(&server, &format!("column?of={of}&k=1"));
            for (found, row) in values.iter().zip(order) {
                let expected = expected[row as usize] as f32;
                assert!((found - expected).abs() <= 1e-5 * (1e-3 + expected.abs()), "{of}: {found} {expected}");
            }
        }
        for bad in [
            "column?of=q&k=5",
            "points?axes=1",
            "points?axes=1,5",
            "points?axes=0,1",
            "points?axes=a,b",
            "column?of=feature:4",
            "column?of=",
            "points?first=x",
        ] {
            server.refused(&format!("models/0/{bad}"), 400);
        }
    }
}

#[test]
fn a_row_has_the_numbers_of_the_library_for_every_k() {
    let directory = world();
    let rows = matrix();
    for (model, standardize) in [("m", false), ("s", true)] {
        let server = ready(&directory, &format!("{model}.safetensors t.csv --label kind"));
        for (row, k) in [(0, 1), (17, 2), (59, 3), (30, 4)] {
            let (view, one) = (view(standardize, k), rows.row(row).insert_axis(ndarray::Axis(0)));
            let found = server.ask(&format!("models/0/rows/{row}?k={k}"));
            let scores = view.project(one).unwrap();
            let Readings { hotelling: t2, squared_distance: q, .. } = view.readings(one).unwrap();
            let limits: Limits = view.limits(0.99).unwrap();
            close(&found["values"], rows.row(row));
            close(&found["scores"], scores.row(0));
            close(&found["cos2"], view.squared_cosines(one).unwrap().row(0));
            about(&found["t2"], t2[0]);
            about(&found["q"], q[0]);
            about(&found["t2_limit"], limits.hotelling);
            about(&found["q_limit"], limits.squared_distance);
            assert_eq!(found["label"], ["low", "middle", "high"][row % 3]);

            let again = server.ask(&format!("models/0/rows/{row}/reconstruction?k={k}"));
            let expected = view.reconstruct(&scores).unwrap();
            close(&again["values"], expected.row(0));
            close(&again["residual"], (&rows.row(row) - &expected.row(0)).view());
            about(&again["q"], q[0]);

            let found = server.ask(&format!("models/0/rows/{row}/contributions?k={k}&top=2"));
            let shares = view.contributions(one).unwrap();
            let features = found["features"].as_array().unwrap();
            assert_eq!(features.len(), 2);
            for feature in features {
                let j = whole(&feature["feature"]);
                about(&feature["t2"], shares.hotelling[[0, j]]);
                about(&feature["q"], shares.squared_distance[[0, j]]);
                about(&feature["value"], rows[[row, j]]);
                assert_eq!(feature["name"], ["a", "b", "c", "d"][j]);
            }
            let sum = |key: &str| {
                features.iter().map(|f| f[key].as_f64().unwrap()).sum::<f64>() + found["rest"][key].as_f64().unwrap()
            };
            assert!(
                (sum("t2") - t2[0]).abs() <= 1e-9 * (1.0 + t2[0]) && (sum("q") - q[0]).abs() <= 1e-9 * (1.0 + q[0])
            );
        }
        server.refused("models/0/rows/60", 404);
        server.refused("models/0/rows/x", 404);
        server.refused("models/0/rows/1/reconstruction?k=0", 400);
        server.refused("models/0/rows/1/original.png", 409);
    }
}

#[test]
fn the_nearest_rows_are_those_with_the_nearest_scores() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    let scores = view(false, 2).project(&matrix()).unwrap();
    for row in [3, 41] {
        let distance = |other: usize| (&scores.row(row) - &scores.row(other)).mapv(|x| x * x).sum().sqrt();
        let mut order: Vec<usize> = (0..60).filter(|other| *other != row).collect();
        order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        let found = server.ask(&format!("models/0/rows/{row}"));
        for (near, other) in found["nearest"].as_array().unwrap().iter().zip(order) {
            assert_eq!(whole(&near["row"]), other);
            assert!((near["distance"].as_f64().unwrap() - distance(other)).abs() < 1e-5 * (1.0 + distance(other)));
        }
        assert_eq!(found["nearest"].as_array().unwrap().len(), 8);
    }
    // Scores are kept along ten components, so distances by twenty use ten, and say so.
    directory.write("wide.npy", crate::files::npy(&crate::oracle::table(40, 30, 7), "<f8", false));
    directory.done("fit wide.npy -k 5 -o wide.safetensors -q");
    let wide = ready(&directory, "wide.safetensors wide.npy");
    let [ten, twenty] = [10, 20].map(|k| wide.ask(&format!("models/0/rows/3?k={k}")));
    assert_eq!((whole(&ten["n_components"]), whole(&ten["nearest_k"])), (10, 10));
    assert_eq!((whole(&twenty["n_components"]), whole(&twenty["nearest_k"])), (20, 10));
    assert_eq!(ten["nearest"], twenty["nearest"]);
    assert_ne!(ten["nearest"], wide.ask("models/0/rows/3?k=5")["nearest"]);
    let found = server.ask("rows?search=MIDD&limit=3");
    assert_eq!((whole(&found["total"]), whole(&found["rows"][1]["row"])), (20, 4));
    assert_eq!(server.ask("rows?search=17")["rows"][0]["row"], 17);
}

#[test]
fn components_and_features_are_those_of_the_library() {
    let directory = world();
    for (model, standardize) in [("m", false), ("s", true)] {
        let server = ready(&directory, &format!("{model}.safetensors t.csv --label kind"));
        let view = view(standardize, 4);
        let (correlations, loadings) = (view.correlations().unwrap(), view.loadings().unwrap());
        for i in 1..=4 {
            let found = server.ask(&format!("models/0/components/{i}"));
            about(&found["explained_variance"], view.explained_variance().unwrap()[i - 1]);
            about(&found["explained_variance_ratio"], view.explained_variance_ratio()[i - 1]);
            for top in found["top"].as_array().unwrap() {
                let j = whole(&top["feature"]);
                about(&top["loading"], loadings[[j, i - 1]]);
                about(&top["correlation"], correlations[[j, i - 1]]);
            }
            let deviation = view.score_deviations().unwrap()[i - 1];
            let walk = server.ask(&format!("models/0/walk?component={i}&t=-1.5"));
            about(&walk["score_deviation"], deviation);
            let mut scores = Array2::zeros((1, i));
            scores[[0, i - 1]] = -1.5 * deviation;
            close(&walk["values"], view.reconstruct(&scores).unwrap().row(0));
        }
        close(&server.ask("models/0/walk?component=1&t=0")["values"], view.raw_model().mean());
        let found = server.ask("models/0/features?axes=1,3&sort=cos2");
        let summary = view.feature_summary(&[0, 2]).unwrap();
        assert_eq!(whole(&found["total"]), 4);
        let listed = found["features"].as_array().unwrap();
        let cosines: Vec<f64> = listed.iter().map(|f| f["cos2"].as_f64().unwrap()).collect();
        assert!(cosines.is_sorted_by(|a, b| a >= b));
        for feature in listed {
            let j = whole(&feature["feature"]);
            about(&feature["cos2"], summary.squared_cosine[j]);
            about(&feature["contribution"], summary.contribution[j]);
            about(&feature["mean"], summary.mean[j]);
            about(&feature["deviation"], summary.deviation[j]);
            close(&feature["loadings"], array![loadings[[j, 0]], loadings[[j, 2]]].view());
            close(&feature["correlations"], array![correlations[[j, 0]], correlations[[j, 2]]].view());
        }
        let found = server.ask("models/0/features?axes=2&search=C&top=9");
        assert_eq!((whole(&found["total"]), &found["features"][0]["name"]), (1, &"c".into()));
        server.refused("models/0/components/5", 404);
        server.refused("models/0/components/0", 404);
        server.refused("models/0/walk?component=1&t=1e9", 400);
        server.refused("models/0/features?axes=1,9", 404);
        server.refused("models/0/features?sort=color", 400);
        server.refused("models/0/components/1.png", 409);
    }
}

#[test]
fn the_monitor_has_the_readings_of_all_rows_and_the_largest_of_many() {
    let directory = world();
    let server = ready(&directory, "s.safetensors t.csv --label kind");
    let view = view(true, 2);
    let found = server.ask("models/0/monitor?confidence=0.9");
    let Readings { hotelling: t2, squared_distance: q, .. } = view.readings(&matrix()).unwrap();
    let limits = view.limits(0.9).unwrap();
    close(&found["t2"], t2.view());
    close(&found["q"], q.view());
    about(&found["t2_limit"], limits.hotelling);
    about(&found["q_limit"], limits.squared_distance);
    let share = |values: &ndarray::Array1<f64>, limit: f64| values.iter().filter(|x| **x > limit).count() as f64 / 60.0;
    about(&found["beyond_t2"], share(&t2, limits.hotelling));
    about(&found["beyond_q"], share(&q, limits.squared_distance));
    let found = server.ask("models/0/monitor?first=10&count=5&k=1");
    let q = super::answers::view(true, 1).squared_distance(&matrix()).unwrap();
    near(&numbers(&found["q"]), &q.to_vec()[10..15], 1e-9 * (1.0 + q.sum()));
    server.refused("models/0/monitor?confidence=7", 400);

    let rows = crate::oracle::table(12_000, 4, 5);
    directory.write("many.npy", crate::files::npy(&rows, "<f4", false));
    let server = ready(&directory, "many.npy -k 2");
    let found = server.ask("models/0/monitor");
    assert_eq!((whole(&found["stride"]), whole(&found["total"])), (3, 12_000));
    let values = numbers(&found["t2"]);
    assert_eq!((values.len(), found["rows"].as_array().unwrap().len()), (4000, 4000));
    let all: Vec<f64> = (0..3)
        .flat_map(|part| numbers(&server.ask(&format!("models/0/monitor?first={}&count=5000", 5000 * part))["t2"]))
        .collect();
    let expected: Vec<f64> = all.chunks(3).map(|three| three.iter().copied().fold(0.0, f64::max)).collect();
    assert_eq!((all.len(), values), (12_000, expected));
}

#[test]
fn downloads_are_what_the_command_writes() {
    let directory = world();
    let server = ready(&directory, "s.safetensors t.csv --label kind");
    for (kind, line) in [
        ("scree", "scree s.safetensors"),
        ("circle", "circle s.safetensors"),
        ("scatter", "scatter s.safetensors t.csv --label kind"),
        ("biplot", "biplot s.safetensors t.csv --label kind"),
        ("monitor", "monitor s.safetensors t.csv --label kind"),
    ] {
        for ending in ["svg", "png"] {
            directory.done(&format!("plot {line} -o plot.{ending} -q"));
            let found = server.get(&format!("api/models/0/plot/{kind}.{ending}"));
            assert_eq!(
                (found.status, found.body == directory.read(&format!("plot.{ending}"))),
                (200, true),
                "{kind}.{ending}"
            );
        }
    }
    directory.done("plot scatter s.safetensors t.csv --label kind -k 3 --axes 3,1 -o plot.svg -q");
    assert_eq!(server.get("api/models/0/plot/scatter.svg?k=3&axes=3,1").body, directory.read("plot.svg"));
    // Components beyond those that the model reports, as the page shows them.
    for (kind, axes) in [("scatter", "2,3"), ("scatter", "1,2,3"), ("biplot", "1,4"), ("circle", "3,4")] {
        let (rows, k) = (if kind == "circle" { "" } else { "t.csv --label kind" }, axes.rsplit(',').next().unwrap());
        directory.done(&format!("plot {kind} s.safetensors {rows} -k {k} --axes {axes} -o plot.svg -q"));
        let found = server.get(&format!("api/models/0/plot/{kind}.svg?axes={axes}"));
        assert_eq!((found.status, found.body == directory.read("plot.svg")), (200, true), "{kind} {axes}");
    }
    server.refused("models/0/plot/scatter.svg?axes=1,5", 400);
    let scores = String::from_utf8(server.get("api/models/0/scores.csv?k=3").body).unwrap();
    assert_eq!(scores, directory.done("project s.safetensors t.csv --label kind -k 3 -q"));
    let loadings = String::from_utf8(server.get("api/models/0/loadings.csv?k=4").body).unwrap();
    let (heading, lines) = csv(loadings.as_bytes());
    assert_eq!(heading, ["feature", "mean", "PC1", "PC2", "PC3", "PC4"]);
    let view = view(true, 4);
    for (j, (name, found)) in lines.iter().enumerate() {
        let expected = [&[view.raw_model().mean()[j]], &view.loadings().unwrap().row(j).to_vec()[..]].concat();
        assert_eq!(*name, ["a", "b", "c", "d"][j]);
        near(found, &expected, 1e-9 * expected.iter().fold(1.0, |size, x| x.abs().max(size)));
    }
    assert_eq!(lines.len(), 4);
    server.refused("models/0/scores.csv?k=5", 400);
    server.refused("models/0/loadings.csv?k=0", 400);
    let scores = server.get("api/models/0/scores.csv");
    assert_eq!(String::from_utf8(scores.body).unwrap(), directory.done("project s.safetensors t.csv --label kind -q"));
    let model = server.get("api/models/0/model.safetensors");
    assert_eq!(model.header("content-disposition"), Some("attachment; filename=\"s.safetensors\""));
    assert!(model.body == directory.read("s.safetensors"));
    let variance = String::from_utf8(server.get("api/models/0/variance.csv").body).unwrap();
    assert_eq!(variance.lines().count(), 5);
    let loadings = String::from_utf8(server.get("api/models/0/loadings.csv").body).unwrap();
    assert!(loadings.starts_with("feature,mean,PC1,PC2\na,"), "{loadings}");
    server.refused("models/0/plot/scree.gif", 404);
    server.refused("models/0/plot/pie.svg", 404);
    server.refused("models/0/plot/gallery.svg", 422);
}

#[test]
fn missing_cells_are_refused_left_out_or_filled_as_asked() {
    let directory = world();
    let text = directory.text("t.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    let cut = lines[5].rsplit_once(',').unwrap().0.to_owned() + ",";
    lines[5] = &cut;
    directory.write("holes.csv", lines.join("\n") + "\n");
    let server = Server::start(&directory, "m.safetensors holes.csv --label kind");
    let failed = server.wait_for("the failure", |session| session["data"]["state"] == "failed");
    assert!(failed["data"]["error"]["error"].as_str().unwrap().contains("line 6"), "{failed:#}");
    let server = ready(&directory, "m.safetensors holes.csv --label kind --missing skip");
    assert_eq!(server.ask("session")["data"]["rows"], 59);
    let server = ready(&directory, "m.safetensors holes.csv --label kind --missing impute");
    let found = server.ask("models/0/rows/4");
    assert_eq!((found["values"][3].as_f64(), server.ask("session")["data"]["rows"].as_u64()), (None, Some(60)));
    let (t2, q) = (found["t2"].as_f64().unwrap(), found["q"].as_f64().unwrap());
    let contributions = server.ask("models/0/rows/4/contributions");
    about(&contributions["t2"], t2);
    about(&contributions["q"], q);
    assert_eq!(points(&server, "points").1.len(), 60);
}
