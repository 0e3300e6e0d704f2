//! Plots: every kind, as SVG and PNG, and errors.

use crate::support::Directory;

const TABLE: &str = "name,height,weight,span,pulse
Ada,171,65,170,62
Ben,183,81,186,58
Cleo,160,55,158,71
Dov,176,77,178,64
Eva,168,60,165,66
Finn,190,92,194,55
";

fn table() -> Directory {
    let directory = Directory::with("people.csv", TABLE);
    directory.done("fit people.csv --label name -o m --quiet");
    directory
}

/// Eight images of 4 x 3 in two classes.
fn images() -> Directory {
    let directory = Directory::new();
    for i in 0..8_u8 {
        let mut bytes = b"P5\n4 3\n255\n".to_vec();
        bytes.extend((0..12_u8).map(|j| (i * 31) ^ (j * 17)));
        directory.write(&format!("faces/s{}/{}.pgm", i / 4 + 1, i % 4 + 1), bytes);
    }
    directory.done("fit faces -k 3 -o m --quiet");
    directory
}

/// Draws as SVG and as PNG; returns the SVG.
fn drawn(directory: &Directory, arguments: &str) -> String {
    for ending in ["svg", "png"] {
        let said = directory.run(&format!("plot {arguments} -o plot.{ending}"));
        assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said}");
        assert!(said.err.ends_with(&format!("wrote `plot.{ending}`\n")), "{said}");
    }
    let png = directory.read("plot.png");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 2000, "{} bytes", png.len());
    let svg = directory.text("plot.svg");
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert!(document.root_element().has_tag_name("svg"));
    assert!(!svg.contains("NaN"));
    svg
}

/// The texts of a plot.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts
        .map(|node| {
            node.descendants().filter(|node| node.is_text()).filter_map(|node| node.text()).collect::<Vec<_>>().concat()
        })
        .collect()
}

#[test]
fn kinds_that_show_a_model_alone_need_no_rows() {
    let directory = table();
    assert!(texts(&drawn(&directory, "scree m")).contains(&"cumulative".to_owned()));
    let names = texts(&drawn(&directory, "circle m --title People"));
    for name in ["height", "weight", "span", "pulse", "People"] {
        assert!(names.iter().any(|text| text == name), "{name} is missing: {names:?}");
    }
}

#[test]
fn kinds_that_show_rows_color_them_by_label() {
    let directory = table();
    for kind in ["scatter", "biplot", "monitor"] {
        let names = texts(&drawn(&directory, &format!("{kind} m people.csv --label name -k 2")));
        assert!(["Ada", "Finn"].iter().all(|name| names.iter().any(|text| text == name)), "{kind}: {names:?}");
    }
    let axes = texts(&drawn(&directory, "scatter m people.csv --label name --axes 3,1,2"));
    for axis in ["PC 1", "PC 2", "PC 3"] {
        assert!(axes.iter().any(|text| text.starts_with(axis)), "{axis}: {axes:?}");
    }
}

#[test]
fn the_share_on_an_axis_is_that_of_the_component() {
    let directory = table();
    let axes = texts(&drawn(&directory, "scatter m people.csv --label name"));
    // By plain loops and the power method, without the library.
    let rows: Vec<Vec<f64>> =
        TABLE.lines().skip(1).map(|line| line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect()).collect();
    let mean: Vec<f64> = (0..4).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / 6.0).collect();
    let scatter = |a: usize, b: usize| rows.iter().map(|row| (row[a] - mean[a]) * (row[b] - mean[b])).sum::<f64>();
    let mut direction = vec![1.0; 4];
    let mut value = 0.0;
    for _ in 0..200 {
        let turned: Vec<f64> = (0..4).map(|a| (0..4).map(|b| scatter(a, b) * direction[b]).sum()).collect();
        value = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
        direction = turned.iter().map(|x| x / value).collect();
    }
    let share = 100.0 * value / (0..4).map(|j| scatter(j, j)).sum::<f64>();
    let wanted = format!("PC 1 ({share:.1} %)");
    assert!(axes.contains(&wanted), "{wanted}: {axes:?}");
}

#[test]
fn models_of_images_show_images() {
    let directory = images();
    let svg = drawn(&directory, "gallery m");
    assert_eq!(svg.matches("<image").count(), 4, "the mean and three components");
    let svg = drawn(&directory, "strip m faces --row 5 --steps 1,2,3");
    assert_eq!(svg.matches("<image").count(), 10, "three rows of three and the bar of colors");
    let said = directory.run("plot strip m faces --steps 1,500 -o steps.svg");
    assert!(said.code == Some(0) && said.err.starts_with("warning: 500 components were requested, but "), "{said}");
    let said = directory.refused("plot gallery m --shape 1x1 -o shape.svg").err;
    assert!(said.starts_with("error: cannot use --shape 1x1: the model stores images of "), "{said}");
    assert!(said.ends_with("\n\nhint: leave out --shape\n"), "{said}");
    let names = texts(&drawn(&directory, "scatter m faces"));
    assert!(names.contains(&"s1".to_owned()) && names.contains(&"s2".to_owned()), "{names:?}");
}

#[test]
fn a_character_without_a_font_is_reported_for_a_png_and_kept_in_an_svg() {
    let directory = table();
    let title = "\u{10abcd}\u{10abce}";
    let said = directory.run(&format!("plot scree m --title {title} -o x.png"));
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(said.err.matches("warning: ").count(), 1, "{said}");
    assert!(said.err.contains("no installed font has the characters U+10ABCD, U+10ABCE"), "{said}");
    assert!(said.err.contains("\nhint: install ") && said.err.contains(".svg"), "{said}");
    let said = directory.run(&format!("plot scree m --title {title} -o x.svg"));
    assert_eq!(said.err, "wrote `x.svg`\n", "{said}");
    assert!(directory.text("x.svg").contains(title));
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let directory = table();
    let hint = |line: &str| directory.refused(line).err;
    assert_eq!(
        hint("plot gallery m -o x.svg"),
        "error: cannot show the rows as images: the model does not store their width and height\n\nhint: set the size of the images with --shape WIDTHxHEIGHT\n"
    );
    assert_eq!(
        hint("plot gallery m --shape 3x2 -o x.svg"),
        "error: invalid shape 3x2: it does not match the 4 features of the model\n\nhint: choose a width and height whose product (times 3 for color) is the number of features\n"
    );
    assert_eq!(
        hint("plot scatter m -o x.svg"),
        "error: cannot draw a scatter plot without rows\n\nhint: pass the rows after the model: eigenspace plot KIND MODEL DATA\n"
    );
    assert_eq!(
        hint("plot scree m -o x.jpg"),
        "error: cannot infer the image format of `x.jpg` from its name\n\nhint: use a name that ends in .svg or .png\n"
    );
    assert_eq!(
        hint("plot circle m --axes 1,9 -o x.svg"),
        "error: cannot use component 9: the model reports 4 components\n\nhint: choose components from 1 to 4\n"
    );
    let images = images();
    assert_eq!(
        images.refused("plot strip m faces --row 8 -o x.svg").err,
        "error: cannot show row 8: the input has only 8 rows\n\nhint: choose a row from 0 to 7\n"
    );
    assert!(
        images
            .refused("plot biplot m faces -o x.svg")
            .err
            .starts_with("error: cannot draw this plot: the columns of the model have no names")
    );
}
