//! Every kind of plot with realistic numbers, written to `target/plots` for inspection:
//! `cargo test -p eigenspace-cli -- --ignored plots`. Images of faces are used if the
//! variable `EIGENSPACE_FACES` names a directory of PGM files of 92 by 112 pixels.

use std::path::PathBuf;

use super::super::*;

/// A small generator of numbers that look random and are always the same.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

pub(super) fn clusters(count: usize, classes: usize) -> (Vec<[f64; 3]>, Vec<String>) {
    let mut noise = Noise::new(7);
    let centers: Vec<[f64; 3]> = (0..classes).map(|_| [0; 3].map(|_| 3.0 * noise.normal())).collect();
    let points = (0..count).map(|i| centers[i % classes].map(|c| c + noise.normal())).collect();
    (points, (0..count).map(|i| format!("s{}", 1 + i % classes)).collect())
}

fn directory() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/plots");
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn save(name: &str, drawing: &Drawing) {
    let directory = directory();
    std::fs::write(directory.join(format!("{name}.svg")), drawing.svg()).unwrap();
    std::fs::write(directory.join(format!("{name}.png")), drawing.png().unwrap()).unwrap();
}

fn faces() -> Vec<Vec<f64>> {
    let Ok(directory) = std::env::var("EIGENSPACE_FACES") else {
        let wave = |k: usize| (0..92 * 112).map(|i| 128.0 + 100.0 * ((i % 92 * k) as f64 / 40.0).sin()).collect();
        return (1..=10).map(wave).collect();
    };
    let read = |i: usize| {
        let bytes = std::fs::read(format!("{directory}/{i}.pgm")).unwrap();
        bytes[bytes.len() - 92 * 112..].iter().map(|b| f64::from(*b)).collect()
    };
    (1..=10).map(read).collect()
}

#[test]
#[ignore = "writes plots for inspection"]
fn plots_of_points() {
    let (points, labels) = clusters(150, 3);
    let flat = |p: &[[f64; 3]]| p.iter().map(|p| (p[0], p[1])).collect::<Vec<_>>();
    let titles = [component_title(1, Some(0.4213)), component_title(2, Some(0.221)), component_title(3, Some(0.08))];
    let base = Scatter { title: "Three kinds of iris", x_title: &titles[0], y_title: &titles[1], ..Scatter::default() };
    save("scatter3classes", &scatter(&Scatter { points: &flat(&points), labels: Some(&labels), ..base }));
    save("scatter_plain", &scatter(&Scatter { points: &flat(&points), title: "", ..base }));
    let three = titles.each_ref().map(String::as_str);
    save("scatter3", &scatter3(&Scatter3 { title: "In space", points: &points, labels: Some(&labels), titles: three }));
    for classes in [8, 10, 20, 25] {
        let (points, labels) = clusters(400, classes);
        save(
            &format!("scatter{classes}"),
            &scatter(&Scatter { points: &flat(&points), labels: Some(&labels), ..base }),
        );
        let s = Scatter3 { title: "In space", points: &points, labels: Some(&labels), titles: three };
        save(&format!("scatter3_{classes}"), &scatter3(&s));
    }
    let (points, labels) = clusters(10_000, 4);
    save("scatter10k", &scatter(&Scatter { points: &flat(&points), labels: Some(&labels), ..base }));
    let (points, labels) = clusters(100_000, 3);
    save("scatter100k", &scatter(&Scatter { points: &flat(&points), labels: None, ..base }));
    save("scatter100k_classes", &scatter(&Scatter { points: &flat(&points), labels: Some(&labels), ..base }));
    let thin: Vec<(f64, f64)> = points[..300].iter().map(|p| (p[0], 0.03 * p[1])).collect();
    save("scatter_wide", &scatter(&Scatter { points: &thin, labels: Some(&labels), ..base }));
    let tall: Vec<(f64, f64)> = points[..300].iter().map(|p| (0.03 * p[0], p[1])).collect();
    save("scatter_tall", &scatter(&Scatter { points: &tall, labels: Some(&labels), ..base }));
    let one = [(3.5, -2.0)];
    save("scatter_one", &scatter(&Scatter { points: &one, ..base }));
    save("scatter_none", &scatter(&Scatter { points: &[], ..base }));
    let (points, labels) = clusters(150, 3);
    let mut noise = Noise::new(3);
    let names = "alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids nonflavanoid_phenols \
                 proanthocyanins color_intensity hue od280/od315_of_diluted_wines proline";
    let arrows: Vec<_> = names
        .split_whitespace()
        .map(|n| {
            let (angle, size) = (std::f64::consts::TAU * noise.uniform(), 0.3 + 0.68 * noise.uniform());
            (n.to_owned(), size * angle.cos(), size * angle.sin())
        })
        .collect();
    let s = Scatter { title: "Wine", points: &flat(&points), labels: Some(&labels), ..base };
    save("biplot", &biplot(&Biplot { scatter: s, arrows: &arrows }));
    save(
        "circle",
        &circle(&Circle { title: "Wine: correlations", arrows: &arrows, x_title: &titles[0], y_title: &titles[1] }),
    );
    let many: Vec<_> = (0..120).map(|i| (format!("pixel {i}"), 0.16 * noise.normal(), 0.16 * noise.normal())).collect();
    save("biplot_many", &biplot(&Biplot { scatter: s, arrows: &many }));
    save("circle_many", &circle(&Circle { title: "Many", arrows: &many, x_title: &titles[0], y_title: &titles[1] }));
}

#[test]
#[ignore = "writes plots for inspection"]
fn plots_of_scripts() {
    let (points, _) = clusters(200, 5);
    let names = ["漢字かな交じり文", "العربية جميلة", "עברית (abc) 123", "हिन्दी क्षेत्र", "한국어 and Latin"];
    let labels: Vec<String> = (0..200).map(|i| names[i % 5].to_owned()).collect();
    let points: Vec<(f64, f64)> = points.iter().map(|p| (p[0], p[1])).collect();
    let arrows: Vec<_> =
        names.iter().zip(0..).map(|(n, i)| ((*n).to_owned(), f64::from(i).cos(), f64::from(i).sin())).collect();
    let s = Scatter {
        title: "主成分 1 · المكون",
        points: &points,
        labels: Some(&labels),
        x_title: "第一主成分",
        y_title: "גובה",
    };
    save("scripts", &biplot(&Biplot { scatter: s, arrows: &arrows }));
}

#[test]
#[ignore = "writes plots for inspection"]
fn plots_of_curves() {
    let ratios: Vec<f64> = (0..12).map(|i| 0.35 * 0.68_f64.powi(i)).collect();
    let bounds: Vec<(f64, f64)> = ratios.iter().map(|r| (0.85 * r, 1.2 * r)).collect();
    let s = Scree { title: "ORL faces: explained variance", ratios: &ratios, bounds: Some(&bounds), reported: Some(5) };
    save("scree", &scree(&s));
    let ratios: Vec<f64> = (0..150).map(|i| 0.15 / (1.0 + f64::from(i)).powf(1.1)).collect();
    save("scree150", &scree(&Scree { ratios: &ratios, bounds: None, reported: Some(120), ..s }));
    let ratios: Vec<f64> = (0..2000).map(|i| 0.15 / (1.0 + f64::from(i)).powf(1.1)).collect();
    save("scree2000", &scree(&Scree { ratios: &ratios, bounds: None, reported: None, ..s }));
    save("scree1", &scree(&Scree { ratios: &[0.93], bounds: None, reported: Some(1), ..s }));
    let curve = |name: &str, dashed: bool, f: &dyn Fn(f64) -> f64| Series {
        name: name.to_owned(),
        points: (1..=20).map(|i| (f64::from(i) * 500.0, f(f64::from(i)))).collect(),
        dashed,
    };
    let series = [
        curve("update", false, &|i| 0.03 + 0.002 * (i * 1.7).sin()),
        curve("from the beginning", true, &|i| 0.02 * i),
        curve("bound", true, &|_| 0.31),
    ];
    let l = Lines {
        title: "Time per batch",
        series: &series,
        x_title: "rows seen",
        y_title: "seconds",
        ..Lines::default()
    };
    save("lines", &lines(&l));
    save("lines_log", &lines(&Lines { log_y: true, log_x: true, ..l }));
    let falling = [curve("error", false, &|i| 10f64.powf(-0.6 * i))];
    save("lines_error", &lines(&Lines { series: &falling, log_y: true, title: "Error over k", y_title: "error", ..l }));
    let mut noise = Noise::new(11);
    let t2: Vec<f64> = (0..400)
        .map(|i| (0..8).map(|_| noise.normal().powi(2)).sum::<f64>() * if i % 57 == 5 { 9.0 } else { 1.0 })
        .collect();
    let q: Vec<f64> = (0..400)
        .map(|i| (0..3).map(|_| noise.normal().powi(2)).sum::<f64>() * if i % 83 == 5 { 15.0 } else { 0.3 })
        .collect();
    let m = Monitor {
        title: "New rows against the model",
        t2: &t2,
        q: &q,
        limits: Some((20.1, 3.4)),
        level: "99 %",
        ..Monitor::default()
    };
    save("monitor", &monitor(&m));
    let labels: Vec<String> = (0..400).map(|i| format!("machine {}", i % 4)).collect();
    let near: Vec<f64> = t2.iter().map(|v| 10.0 + v.min(24.0)).collect();
    save("monitor_linear", &monitor(&Monitor { t2: &near, limits: Some((30.0, 3.4)), labels: Some(&labels), ..m }));
    let long: Vec<String> = (0..400).map(|i| format!("/data/plant-{i}/sensor/recording.csv")).collect();
    save("monitor_names", &monitor(&Monitor { names: Some(&long), ..m }));
    let close: Vec<f64> =
        (0..400).map(|i| if i % 40 == 3 { 40.0 + 0.4 * noise.normal() } else { t2[i].min(15.0) }).collect();
    save(
        "monitor_close",
        &monitor(&Monitor { t2: &close, q: &close.iter().map(|v| v * 0.1).collect::<Vec<_>>(), ..m }),
    );
    let (t2, q): (Vec<f64>, Vec<f64>) = (0..100_000)
        .map(|_| {
            ((0..8).map(|_| noise.normal().powi(2)).sum::<f64>(), (0..3).map(|_| noise.normal().powi(2)).sum::<f64>())
        })
        .unzip();
    let large = Monitor { t2: &t2, q: &q, limits: Some((20.1, 11.3)), ..m };
    save("monitor100k", &monitor(&large));
    let labels: Vec<String> = (0..100_000).map(|i| format!("machine {}", i % 4)).collect();
    save("monitor100k_classes", &monitor(&Monitor { labels: Some(&labels), ..large }));
    save("monitor5k", &monitor(&Monitor { t2: &t2[..5000], q: &q[..5000], ..large }));
    save("monitor_free", &monitor(&Monitor { limits: None, ..m }));
}

#[test]
#[ignore = "writes plots for inspection"]
fn plots_of_images() {
    let faces = faces();
    let size = ImageSize { width: 92, height: 112, channels: 1 };
    let mean: Vec<f64> = (0..92 * 112).map(|i| faces.iter().map(|f| f[i]).sum::<f64>() / 10.0).collect();
    let tile = |(i, f): (usize, &Vec<f64>)| Tile {
        pixels: f.clone(),
        caption: format!("{} ({:.1} %)", i + 1, 20.0 / (i + 1) as f64),
    };
    let tiles: Vec<Tile> = faces.iter().enumerate().map(tile).collect();
    let g = Gallery { title: "Faces", tiles: &tiles, size, columns: 5, range: Range::Unit(0.0, 255.0) };
    save("gallery", &gallery(&g));
    let minus = |f: &Vec<f64>, share: f64| f.iter().zip(&mean).map(|(v, m)| share * (v - m)).collect::<Vec<f64>>();
    let signed: Vec<Tile> = faces
        .iter()
        .enumerate()
        .map(|(i, f)| Tile { pixels: minus(f, 1.0), caption: format!("PC {}", i + 1) })
        .collect();
    save(
        "gallery_signed",
        &gallery(&Gallery { title: "Differences from the mean", tiles: &signed, range: Range::Signed(None), ..g }),
    );
    let digit: Vec<Tile> = (0..7)
        .map(|k| Tile { pixels: (0..64).map(|i| f64::from((i * k) % 17)).collect(), caption: String::new() })
        .collect();
    let small = ImageSize { width: 8, height: 8, channels: 1 };
    save("gallery_digits", &gallery(&Gallery { title: "Digits", tiles: &digit, size: small, range: Range::Own, ..g }));
    let color = [Tile {
        pixels: (0..48 * 32 * 3).map(|i| ((i / 3 % 48 * (1 + i % 3)) as f64 / 48.0) % 1.0).collect(),
        caption: "a color image with a very long caption".into(),
    }];
    let rgb = ImageSize { width: 48, height: 32, channels: 3 };
    save(
        "gallery_rgb",
        &gallery(&Gallery { title: "Color", tiles: &color, size: rgb, range: Range::Unit(0.0, 1.0), ..g }),
    );
    let blend = |share: f64| faces[2].iter().zip(&mean).map(|(v, m)| m + share * (v - m)).collect::<Vec<f64>>();
    let shares = [0.3, 0.5, 0.7, 0.85, 0.95];
    let rows = [
        StripRow { heading: "original".into(), tiles: vec![faces[2].clone(); 5], range: Range::Unit(0.0, 255.0) },
        StripRow {
            heading: "reconstruction".into(),
            tiles: shares.map(blend).to_vec(),
            range: Range::Unit(0.0, 255.0),
        },
        StripRow {
            heading: "residual".into(),
            tiles: shares.map(|s| minus(&faces[2], 1.0 - s)).to_vec(),
            range: Range::Signed(None),
        },
    ];
    let columns = [5, 10, 20, 50, 100].map(|k| format!("k = {k}"));
    let title = "One face from more and more components";
    let strip = strip(&Strip { title, columns: &columns, rows: &rows, size });
    save("strip", &strip);
    let row = |a: &str, b: &str, c: &str| vec![a.to_owned(), b.to_owned(), c.to_owned()];
    let page = Page::new("Faces, one batch at a time")
        .section("The data")
        .text("Ten images of one person.\n\nEvery image has 92 by 112 pixels.")
        .table(&row("batch", "rows", "explained"), &[row("first", "1,000", "71.3 %"), row("second", "500", "72.0 %")])
        .section("Images")
        .drawing(&gallery(&g), "All images.")
        .section("Reconstruction")
        .drawing(&strip, "One face from 5 to 100 components, and what is missing.");
    std::fs::write(directory().join("page.html"), page.html()).unwrap();
}
