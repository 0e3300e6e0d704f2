//! Scripts and styles without comments and needless space, so that the page loads fewer bytes.
//!
//! ```text
//! source → pieces (strings, templates, regular expressions: as they are) → the same pieces, with space only where it counts
//! ```
//!
//! Lines stay lines wherever a script might need their end instead of a semicolon. Names stay as
//! they are, so an error in the page still says where it comes from.

/// The grammar of a file, as far as it matters here.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Syntax {
    Script,
    Style,
}

/// A shorter file with the same meaning.
pub(super) fn compact(text: &str, syntax: Syntax) -> Vec<u8> {
    let mut writer = Writer { out: Vec::with_capacity(text.len()), space: false, line: false, syntax };
    let text = text.as_bytes();
    let mut at = 0;
    // For each template that is open, the number of braces that are open in its `${…}`.
    let mut templates: Vec<usize> = Vec::new();
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let script = syntax == Syntax::Script;
        if byte.is_ascii_whitespace() {
            writer.space = true;
            writer.line |= byte == b'\n';
            at += 1;
        } else if rest.starts_with(b"/*") {
            at += 2 + end_of(&rest[2..], b"*/");
            writer.space = true;
        } else if script && rest.starts_with(b"//") {
            at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        } else {
            let length = match byte {
                b'"' | b'\'' => quoted(rest, byte),
                b'`' => template(rest, &mut templates),
                b'}' if templates.last() == Some(&0) => {
                    templates.pop();
                    // The text of a template goes on here.
                    (writer.space, writer.line) = (false, false);
                    template(rest, &mut templates)
                }
                b'/' if script && writer.expects_value() => pattern(rest),
                _ => {
                    match (byte, templates.last_mut()) {
                        (b'{', Some(open)) => *open += 1,
                        (b'}', Some(open)) => *open -= 1,
                        _ => {}
                    }
                    1
                }
            };
            writer.piece(&rest[..length]);
            at += length;
        }
    }
    writer.out
}

/// Writes pieces with as little space between them as the grammar allows.
struct Writer {
    out: Vec<u8>,
    /// Whether there was space, and whether there was the end of a line, since the last piece.
    space: bool,
    line: bool,
    syntax: Syntax,
}

impl Writer {
    fn piece(&mut self, piece: &[u8]) {
        if let (Some(&before), Some(&next)) = (self.out.last(), piece.first())
            && self.space
        {
            match self.syntax {
                Syntax::Script if self.line => self.out.extend((!b"{([,;".contains(&before)).then_some(b'\n')),
                Syntax::Script => self.out.extend(apart(before, next).then_some(b' ')),
                Syntax::Style => {
                    let tight = b"{};,:".contains(&before) || b"{}".contains(&next);
                    self.out.extend((!tight).then_some(b' '));
                }
            }
        }
        (self.space, self.line) = (false, false);
        self.out.extend(piece);
    }

    /// Whether a slash begins a regular expression here; otherwise it divides.
    fn expects_value(&self) -> bool {
        let before = self.out.trim_ascii_end();
        before.last().is_none_or(|last| b"(,=:[!&|?{};+-*%<>~^".contains(last)) || before.ends_with(b"return")
    }
}

/// Whether two pieces of a script would become one without a space.
fn apart(before: u8, next: u8) -> bool {
    let name = |byte: u8| byte.is_ascii_alphanumeric() || b"_$".contains(&byte) || !byte.is_ascii();
    (name(before) && name(next)) || (before == next && b"+-".contains(&next)) || before == b'/' || next == b'/'
}

/// The number of bytes up to the end of a delimiter; all of them if it is missing.
fn end_of(text: &[u8], delimiter: &[u8]) -> usize {
    text.windows(delimiter.len()).position(|found| found == delimiter).map_or(text.len(), |at| at + delimiter.len())
}

/// The length of a text in quotes.
fn quoted(text: &[u8], quote: u8) -> usize {
    unescaped(text, |rest| rest[0] == quote).map_or(text.len(), |at| at + 1)
}

/// The length of a template up to its end or its next `${`, which is then open.
fn template(text: &[u8], open: &mut Vec<usize>) -> usize {
    match unescaped(text, |rest| rest[0] == b'`' || rest.starts_with(b"${")) {
        Some(at) if text[at] == b'`' => at + 1,
        Some(at) => {
            open.push(0);
            at + 2
        }
        None => text.len(),
    }
}

/// The length of a regular expression, without its flags.
fn pattern(text: &[u8]) -> usize {
    let mut class = false;
    let end = unescaped(text, |rest| {
        class = (class || rest[0] == b'[') && rest[0] != b']';
        rest[0] == b'/' && !class
    });
    end.map_or(text.len(), |at| at + 1)
}

/// The first place after the opening character where something is found that no backslash precedes.
fn unescaped(text: &[u8], mut found: impl FnMut(&[u8]) -> bool) -> Option<usize> {
    let mut at = 1;
    while at < text.len() {
        if text[at] == b'\\' {
            at += 2;
        } else if found(&text[at..]) {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(syntax: Syntax, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            let found = String::from_utf8(compact(text, syntax)).expect("text");
            assert_eq!(found, *expected, "{text}");
            assert_eq!(compact(&found, syntax), found.as_bytes(), "again: {text}");
        }
    }

    #[test]
    fn scripts_keep_their_meaning() {
        check(
            Syntax::Script,
            &[
                ("// all\nlet a = 1; // one\n\n  let b = a + /* x */ 2;\n", "let a=1;let b=a+2;"),
                ("/** @type {number} */\nlet a = 1\nlet b", "let a=1\nlet b"),
                ("f(\n  a,\n  b\n)", "f(a,b\n)"),
                ("a + +b - -c + d", "a+ +b- -c+d"),
                ("return x\nin y", "return x\nin y"),
                ("let s = \"// no /* comment */  \\\" \";", "let s=\"// no /* comment */  \\\" \";"),
                ("x = '  it\\'s //';", "x='  it\\'s //';"),
                ("`a  // b ${ c + `  ${ d }  ` }  /* e */`", "`a  // b ${c+`  ${d}  `}  /* e */`"),
                ("`${ { a: 1 } }  x`", "`${{a:1}}  x`"),
                ("x.replace(/[/\"'`] *\\/ /g, \"\")", "x.replace(/[/\"'`] *\\/ /g,\"\")"),
                ("a = b / c / d; // e", "a=b / c / d;"),
                ("if (/^ {2}x/.test(y)) return /  z/;", "if(/^ {2}x/.test(y))return /  z/;"),
                ("const π = 3; let é = π", "const π=3;let é=π"),
            ],
        );
    }

    #[test]
    fn styles_keep_their_meaning() {
        check(
            Syntax::Style,
            &[
                (".a .b,\n.c > .d { color: red; /* x */ margin: 0 4px; }\n", ".a .b,.c > .d{color:red;margin:0 4px;}"),
                ("a :is(b, c) { width: calc(1px + 2px); }", "a :is(b,c){width:calc(1px + 2px);}"),
                ("p::before { content: \"  /* {;} */\"; }", "p::before{content:\"  /* {;} */\";}"),
                ("@media (max-width: 800px) {\n  b { top: 0 }\n}", "@media (max-width:800px){b{top:0}}"),
            ],
        );
    }

    #[test]
    fn unfinished_files_end() {
        for text in ["\"", "'\\", "`", "`${", "/*", "//", "a = /", "a = /[", "}", "{", "`${`"] {
            for syntax in [Syntax::Script, Syntax::Style] {
                compact(text, syntax);
            }
        }
    }
}
