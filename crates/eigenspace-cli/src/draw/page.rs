//! One self-contained HTML page of text, tables and drawings: no script, nothing loaded from
//! elsewhere.

use std::fmt::Write;

use super::Drawing;
use super::svg::escape;

/// Light and dark colors follow the reader's setting; plots keep their white background in both.
const STYLE: &str = "
:root{color-scheme:light dark;--ink:#222;--faded:#666;--ground:#fff;--rule:#ddd}
@media (prefers-color-scheme:dark){:root{--ink:#e4e4e4;--faded:#a0a0a0;--ground:#17191c;--rule:#3a3d42}}
body{margin:0 auto;padding:2.5rem 1.25rem;max-width:56rem;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,sans-serif}
h1{font-size:1.8rem;line-height:1.2;margin:0 0 1.5rem}
h2{font-size:1.25rem;margin:2.5rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--rule)}
p{max-width:44rem}
nav ol{margin:0;padding-left:1.25rem;columns:16rem auto}
a{color:inherit;text-decoration-color:var(--faded)}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .9rem .35rem 0;text-align:left;border-bottom:1px solid var(--rule);vertical-align:top}
th{font-weight:600}
.number{text-align:right}
figure{margin:1.5rem 0}
figure svg{display:block;max-width:100%;height:auto;background:#fff;border-radius:6px}
figcaption{margin-top:.5rem;color:var(--faded);font-size:.9rem;max-width:44rem}
@media print{body{max-width:none;padding:0}figure,table{break-inside:avoid}}
";

/// A page that is built from top to bottom.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    title: String,
    headings: Vec<String>,
    body: String,
}

impl Page {
    pub(crate) fn new(title: &str) -> Self {
        Self { title: escape(title), headings: Vec::new(), body: String::new() }
    }

    /// Starts a section.
    pub(crate) fn section(mut self, heading: &str) -> Self {
        let heading = escape(heading);
        self.headings.push(heading.clone());
        let _ = writeln!(self.body, "<h2 id=\"section-{}\">{heading}</h2>", self.headings.len());
        self
    }

    /// Plain text; an empty line starts a new paragraph.
    pub(crate) fn text(mut self, text: &str) -> Self {
        let text = text.replace("\r\n", "\n");
        for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
            let _ = writeln!(self.body, "<p>{}</p>", escape(paragraph));
        }
        self
    }

    /// A table; columns that hold only numbers are aligned to the right.
    pub(crate) fn table(mut self, header: &[String], rows: &[Vec<String>]) -> Self {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(header.len());
        let class: Vec<&str> = (0..columns).map(|i| if numbers(rows, i) { " class=\"number\"" } else { "" }).collect();
        self.body.push_str("<div class=\"wide\"><table>\n");
        if !header.is_empty() {
            self.body.push_str("<thead><tr>");
            for (i, class) in class.iter().enumerate() {
                let cell = header.get(i).map_or("", String::as_str);
                let _ = write!(self.body, "<th scope=\"col\"{class}>{}</th>", escape(cell));
            }
            self.body.push_str("</tr></thead>\n");
        }
        self.body.push_str("<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for (i, class) in class.iter().enumerate() {
                let _ = write!(self.body, "<td{class}>{}</td>", escape(row.get(i).map_or("", String::as_str)));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody>\n</table></div>\n");
        self
    }

    /// A plot, as wide as the page allows. Plots have no ids, so a page can hold any number of
    /// them.
    pub(crate) fn drawing(mut self, drawing: &Drawing, caption: &str) -> Self {
        let _ = writeln!(self.body, "<figure>\n{}", drawing.svg().trim_end());
        if !caption.is_empty() {
            let _ = writeln!(self.body, "<figcaption>{}</figcaption>", escape(caption));
        }
        self.body.push_str("</figure>\n");
        self
    }

    /// The finished page; with three or more sections, it starts with a table of contents.
    pub(crate) fn html(&self) -> String {
        let mut contents = String::new();
        if self.headings.len() >= 3 {
            contents.push_str("<nav aria-label=\"Contents\"><ol>\n");
            for (i, heading) in self.headings.iter().enumerate() {
                let _ = writeln!(contents, "<li><a href=\"#section-{}\">{heading}</a></li>", i + 1);
            }
            contents.push_str("</ol></nav>\n");
        }
        let Self { title, body, .. } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1>{title}</h1>\n{contents}{body}</body>\n</html>\n"
        )
    }
}

/// Whether every cell of the column starts or ends like a number, and there is at least one.
fn numbers(rows: &[Vec<String>], column: usize) -> bool {
    let mut cells =
        rows.iter().filter_map(|row| row.get(column)).map(|c| c.trim()).filter(|c| !c.is_empty()).peekable();
    let number = |cell: &str| {
        let digits = cell.trim_start_matches(['−', '-', '+']).trim_end_matches(['%', ' ', '\u{a0}']);
        digits.replace(',', "").parse::<f64>().is_ok()
    };
    cells.peek().is_some() && cells.all(number)
}
