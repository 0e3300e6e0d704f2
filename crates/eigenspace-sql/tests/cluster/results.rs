//! A cluster gives the results of one process.

use std::fs;
use std::path::Path;

use eigenspace::EigenspaceModel;

use crate::process::{Cluster, printed_here, write_csv, write_npy};
use crate::reference::{D, Reference, rows, site, weight};

/// n ε stays below the tolerance of [`Reference::check`], 1e-12, for the errors of both sides
/// together.
const N: usize = 2000;

fn models(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    found.sort();
    found
}

/// With one partition, the plan and the order of all sums are those of one process, and so are the
/// bytes. With several, states arrive in any order, so sums are rounded differently: n ε relative
/// to the largest eigenvalue, which is what the reference allows.
#[test]
fn models_are_those_of_one_process() {
    let cluster = Cluster::start(2, &[]);
    let (place, all) = (cluster.place(), rows(N));
    write_csv(&place.join("data"), &all, 8);
    let query = "SELECT site, pca(a, b, c, d, 2) FROM 'data/*.csv' GROUP BY ROLLUP (site)";
    cluster.printed(&["--partitions", "1", "--models", "one", query]);
    printed_here(place, &["--partitions", "1", "--models", "here", query]);
    cluster.printed(&["--models", "many", query]);
    let (one, here, many) = (models(&place.join("one")), models(&place.join("here")), models(&place.join("many")));
    assert!(one == here, "one partition gives other bytes on a cluster");
    for found in [one, many] {
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["north", "null", "south", "west"]);
        for (name, bytes) in &found {
            let own = (0..N).filter(|&row| name == "null" || name == site(row)).map(|row| &all[row]);
            let model = EigenspaceModel::from_bytes(bytes).unwrap();
            Reference::of(own).check(&model);
            assert_eq!(model.metadata().feature_names().unwrap(), ["a", "b", "c", "d"]);
        }
    }
    // Both executors took part: each has kept its results.
    for executor in 0..2 {
        assert!(fs::read_dir(cluster.work_of(executor)).unwrap().next().is_some(), "executor {executor} was idle");
    }
}

#[test]
fn every_function_and_every_format_works_on_a_cluster() {
    let cluster = Cluster::start(2, &["--policy", "push"]);
    let (place, all) = (cluster.place(), rows(300));
    write_csv(&place.join("data"), &all, 3);
    let cells: Vec<f64> = all.iter().flatten().copied().collect();
    write_npy(&place.join("rows.npy"), D, &cells);
    // Long enough for four partitions, each of which is a task.
    write_npy(&place.join("long.npy"), D, &cells.repeat(120));
    // A model of 720 kB, which must not be copied for each of 9,000 rows.
    let wide: Vec<f64> =
        (0..9000 * 300_usize).map(|cell| (cell * 7919 % 1009 + cell * cell % 31) as f64 / 100.0).collect();
    write_npy(&place.join("wide.npy"), 300, &wide);
    let lists = "SELECT site, a, b, c, d, [a, b, c, d] AS x, row_number() OVER () AS day FROM 'data/*.csv'";
    // One partition numbers the rows in the order of the files.
    printed_here(place, &["--partitions", "1", "--output", "rows.parquet", lists]);
    let by_site = "SELECT site, pca(x, 2) AS m FROM 'rows.parquet' GROUP BY site";
    cluster.printed(&["--output", "models.parquet", by_site]);
    // What a query prints is rounded, so that it does not depend on the order of sums.
    let queries = [
        "SELECT count(*) AS n, pca_count(pca(a, b, 1)) AS rows FROM 'data/*1.csv'",
        "SELECT count(*) AS n FROM 'data/part0[02].csv'",
        "SELECT count(*) AS n FROM 'data/*'",
        "SELECT pca_describe(pca_merge(m)) AS all_sites FROM 'models.parquet'",
        "SELECT pca_describe(pca(features, 2)) AS npy FROM 'rows.npy'",
        "SELECT count(*) AS n, pca_count(pca(features, 2)) AS rows FROM 'long.npy'",
        "SELECT pca_count(pca(features, 2)) AS n FROM (SELECT * FROM 'long.npy' UNION ALL SELECT * FROM 'rows.npy')",
        "SELECT count(features) AS n FROM (SELECT features FROM 'rows.npy' LIMIT 7)",
        "SELECT site, pca_count(m) AS n, pca_describe(pca_split((SELECT pca_merge(m) FROM 'models.parquet'), m)) AS rest FROM 'models.parquet' ORDER BY site",
        "SELECT site, round(pca_explained(m)[1], 9) AS share, round(pca_mean(m)[1], 9) AS mean, round(abs(pca_components(m)[1][1]), 9) AS c FROM 'models.parquet' ORDER BY site",
        "SELECT site, pca_certificate(m)['exact'] AS exact FROM 'models.parquet' ORDER BY site",
        "SELECT day, round(abs(pca_project((SELECT pca_merge(m) FROM 'models.parquet'), x)[1]), 9) AS score FROM 'rows.parquet' ORDER BY day LIMIT 5",
        "SELECT day, round(pca_t2((SELECT pca_merge(m) FROM 'models.parquet'), a, b, c, d), 9) AS t2, round(pca_q((SELECT pca_merge(m) FROM 'models.parquet'), x), 9) AS q FROM 'rows.parquet' ORDER BY day LIMIT 5",
        "SELECT array_length(pca_reconstruct(m, [1.0, 2.0])) AS d FROM 'models.parquet'",
        "SELECT round(avg(pca_q((SELECT pca(features, 5) FROM 'wide.npy'), features)), 6) AS q, count(*) AS n FROM 'wide.npy'",
        "SELECT site, pca_t2((SELECT m FROM 'models.parquet' WHERE site = 'none'), a, b, c, d) AS t2 FROM 'rows.parquet' ORDER BY day LIMIT 2",
        "SELECT count(*) AS n FROM 'rows.parquet' WHERE a > (SELECT max(pca_mean(m)[1]) FROM 'models.parquet')",
        "SELECT day, round(pca_mean(pca(x, 2) OVER (ORDER BY day ROWS 19 PRECEDING))[1], 9) AS mean FROM 'rows.parquet' ORDER BY day DESC LIMIT 4",
        "SELECT day, round(pca_mean(pca(x, 2) OVER (ORDER BY day))[1], 9) AS mean FROM 'rows.parquet' ORDER BY day DESC LIMIT 4",
        "SELECT pca_count(pca(x, 2) FILTER (WHERE site <> 'west')) AS n FROM 'rows.parquet'",
        "SELECT pca(x, 2) AS nothing FROM 'rows.parquet' WHERE day < 0",
        "SELECT table_name FROM information_schema.tables WHERE table_name = 'none'",
    ];
    for query in queries {
        assert_eq!(cluster.printed(&[query]), printed_here(place, &[query]), "{query}");
    }
    // The weights are 0, 1, 2, 0, …
    cluster.printed(&["--models", "out", "SELECT pca_weighted(x, (day - 1) % 3, 2) AS weighted FROM 'rows.parquet'"]);
    let found = EigenspaceModel::load(place.join("out/weighted.safetensors")).unwrap();
    let mut expected = Reference::of((0..300).flat_map(|row| vec![&all[row]; weight(row)]));
    assert_eq!(found.weight(), expected.count as f64);
    expected.count = (0..300).filter(|&row| weight(row) > 0).count();
    expected.check(&found);
    let plan = cluster.printed(&["EXPLAIN SELECT site, pca(x, 2) FROM 'rows.parquet' GROUP BY site"]);
    assert!(plan.contains("mode=Partial") && plan.contains("mode=Final"), "{plan}");
}

/// The rows of a partition with few rows are its state: here 400 · 6,000 · 8 bytes = 19 MB, more
/// than the 16 MB that a message has at most by default.
#[test]
fn a_state_can_be_longer_than_16_megabytes() {
    const WIDTH: usize = 6000;
    let cluster = Cluster::start(2, &[]);
    let cells: Vec<f64> = (0..400 * WIDTH).map(|cell| (cell * 7919 % 1009) as f64 / 100.0).collect();
    for file in ["a.npy", "b.npy"] {
        write_npy(&cluster.place().join(file), WIDTH, &cells);
    }
    let query = "SELECT kind, pca(features, 3) AS m FROM (SELECT 1 AS kind, features FROM 'a.npy' UNION ALL SELECT 1, features FROM 'b.npy') GROUP BY kind";
    let printed = cluster.printed(&[query]);
    assert!(printed.contains("model of 800 rows, 6000 features, 3 components"), "{printed}");
}
