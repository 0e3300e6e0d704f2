//! Who may talk to the server: only the page that was opened with the token of this run.
//!
//! ```text
//! Host ∈ bound hosts, else 421 → /{token}/…, else 404 → Origin and Sec-Fetch-Site from this page, else 403
//! ```
//!
//! A page of another site can send requests to 127.0.0.1, and with DNS rebinding it can read the
//! answers. It does not know the token, its Host is not ours, and its browser says where the
//! request comes from. Each of the three is enough.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Bytes of a token: 192 bits.
const TOKEN_BYTES: usize = 24;

/// What the page may load and do: everything comes from this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// The token of this run, and the hosts that it is served under.
pub(super) struct Gate {
    token: String,
    hosts: Vec<String>,
}

impl Gate {
    /// A new token for a server that is reached under these names, each with the port.
    pub(super) fn new(names: &[String], port: u16) -> anyhow::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("cannot create a random token: {error}"))?;
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        // Behind a proxy, or on port 80, the browser leaves out the port.
        hosts.extend(names.iter().filter(|name| !LOOPBACK.contains(&name.as_str())).cloned());
        hosts.iter_mut().for_each(|host| host.make_ascii_lowercase());
        Ok(Self { token: URL_SAFE_NO_PAD.encode(bytes), hosts })
    }

    /// The address of the page.
    pub(super) fn url(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.token)
    }

    /// Checks a request. Returns its path below the token, without the slash between them.
    pub(super) fn admit<'a>(&self, method: &Method, path: &'a str, headers: &HeaderMap) -> Result<&'a str, StatusCode> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, another) = (hosts.next().and_then(text), hosts.next());
        if another.is_some() || !host.is_some_and(|host| self.is_ours(&host)) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let (token, below) = path.strip_prefix('/').unwrap_or(path).split_once('/').ok_or(StatusCode::NOT_FOUND)?;
        if !same(token.as_bytes(), self.token.as_bytes()) {
            return Err(StatusCode::NOT_FOUND);
        }
        let origin = headers.get_all(header::ORIGIN).iter().all(|origin| {
            text(origin).is_some_and(|origin| origin.strip_prefix("http://").is_some_and(|host| self.is_ours(host)))
        });
        let is = |name: &str, expected: &str| headers.get(name).is_some_and(|value| value == expected);
        let opened = method == Method::GET
            && below.is_empty()
            && is("sec-fetch-mode", "navigate")
            && is("sec-fetch-dest", "document");
        let site =
            headers.get_all("sec-fetch-site").iter().all(|site| site == "same-origin" || site == "none") || opened;
        if origin && site { Ok(below) } else { Err(StatusCode::FORBIDDEN) }
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }
}

/// The names of this machine, which nobody else can have.
pub(super) const LOOPBACK: [&str; 2] = ["127.0.0.1", "localhost"];

fn text(value: &HeaderValue) -> Option<String> {
    value.to_str().ok().map(str::to_ascii_lowercase)
}

/// Adds the headers that every answer has.
pub(super) fn harden(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Compares in a time that does not depend on where two texts of the same length differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |differing, (a, b)| std::hint::black_box(differing | (a ^ b)));
    a.len() == b.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate::new(&LOOPBACK.map(String::from), 4321).expect("random bytes")
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value"))).collect()
    }

    fn status(gate: &Gate, method: &Method, below: &str, pairs: &[(&'static str, &str)]) -> u16 {
        let path = format!("/{}/{below}", gate.token);
        gate.admit(method, &path, &headers(pairs)).map_or_else(
            |status| status.as_u16(),
            |found| {
                assert_eq!(found, below);
                200
            },
        )
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:4321");

    #[test]
    fn tokens_have_192_bits_and_differ() {
        let tokens: std::collections::BTreeSet<String> = (0..100).map(|_| gate().token).collect();
        assert_eq!(tokens.len(), 100);
        assert!(tokens.iter().all(|token| token.len() == 32));
    }

    #[test]
    fn only_the_bound_host_is_answered() {
        let gate = gate();
        for host in ["127.0.0.1:4321", "localhost:4321", "LOCALHOST:4321"] {
            assert_eq!(status(&gate, &Method::GET, "api/session", &[("host", host)]), 200, "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:4322",
            "evil.example:4321",
            "evil.example",
            "localhost.evil.example:4321",
            "[::1]:4321",
            "0.0.0.0:4321",
            "",
        ] {
            assert_eq!(status(&gate, &Method::GET, "api/session", &[("host", host)]), 421, "{host}");
        }
        assert_eq!(status(&gate, &Method::GET, "api/session", &[]), 421);
        let mut two = headers(&[HOST]);
        two.append(header::HOST, HeaderValue::from_static("127.0.0.1:4321"));
        assert_eq!(gate.admit(&Method::GET, "/x/", &two), Err(StatusCode::MISDIRECTED_REQUEST));
    }

    #[test]
    fn a_wrong_token_is_not_found() {
        let gate = gate();
        let token = gate.token.clone();
        let flipped = format!("{}{}", if token.starts_with('A') { 'B' } else { 'A' }, &token[1..]);
        let shorter = &token[1..];
        let longer = format!("{token}A");
        for path in [
            "/",
            "",
            "/api/session",
            "//api/session",
            "/../",
            &format!("/{flipped}/"),
            &format!("/{shorter}/"),
            &format!("/{longer}/"),
            &format!("/{token}"),
        ] {
            assert_eq!(gate.admit(&Method::GET, path, &headers(&[HOST])), Err(StatusCode::NOT_FOUND), "{path}");
        }
    }

    #[test]
    fn another_origin_is_refused() {
        let gate = gate();
        for origin in ["http://127.0.0.1:4321", "http://localhost:4321"] {
            assert_eq!(status(&gate, &Method::POST, "api/merge", &[HOST, ("origin", origin)]), 200, "{origin}");
        }
        for origin in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:4321",
            "http://127.0.0.1:4322",
            "http://127.0.0.1",
            "file://",
            "",
        ] {
            for method in [Method::GET, Method::POST, Method::DELETE] {
                assert_eq!(status(&gate, &method, "api/merge", &[HOST, ("origin", origin)]), 403, "{origin}");
            }
        }
    }

    #[test]
    fn another_site_may_only_open_the_page() {
        let gate = gate();
        for site in ["same-origin", "none"] {
            assert_eq!(status(&gate, &Method::GET, "api/session", &[HOST, ("sec-fetch-site", site)]), 200, "{site}");
        }
        let navigate = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        for site in ["cross-site", "same-site", "", "other"] {
            let from = [HOST, ("sec-fetch-site", site)];
            assert_eq!(status(&gate, &Method::GET, "api/session", &from), 403, "{site}");
            assert_eq!(status(&gate, &Method::GET, "", &from), 403, "{site}");
            let opened = [from[0], from[1], navigate[0], navigate[1]];
            assert_eq!(status(&gate, &Method::GET, "", &opened), 200, "{site}");
            assert_eq!(status(&gate, &Method::POST, "", &opened), 403, "{site}");
            assert_eq!(status(&gate, &Method::GET, "api/session", &opened), 403, "{site}");
            let framed = [from[0], from[1], navigate[0], ("sec-fetch-dest", "iframe")];
            assert_eq!(status(&gate, &Method::GET, "", &framed), 403, "{site}");
        }
    }

    #[test]
    fn an_allowed_host_is_one_with_or_without_the_port() {
        let gate = Gate::new(&["lab.example".into()], 80).expect("random bytes");
        for host in ["lab.example", "lab.example:80"] {
            assert_eq!(status(&gate, &Method::GET, "", &[("host", host)]), 200, "{host}");
        }
        for host in ["127.0.0.1:80", "localhost", "x.lab.example"] {
            assert_eq!(status(&gate, &Method::GET, "", &[("host", host)]), 421, "{host}");
        }
    }
}
