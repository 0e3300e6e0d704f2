//! Hostile pages and clients: each line of the security model.

use crate::support::Directory;

use super::client::{Answer, Server};
use super::{ready, world};

/// What the page may load and do. It uses nothing else: the tests in the browser fail on any
/// message on the console.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer, whatever it is.
fn hardened(answer: &Answer) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
    assert!(answer.headers.iter().all(|(name, _)| !name.to_lowercase().starts_with("access-control")));
}

#[test]
fn only_the_page_that_was_opened_is_answered() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    let host = server.host();
    let ours = format!("http://{host}");
    let localhost = format!("localhost:{}", server.port);
    let status = |method: &str, below: &str, headers: &[(&str, &str)]| {
        let answer = server.request(method, below, headers, b"");
        hardened(&answer);
        answer.status
    };
    for below in
        ["", "assets/main.js", "assets/style.css", "api/session", "api/models/0/spectrum", "api/models/0/points"]
    {
        assert_eq!(status("GET", below, &[]), 200, "{below}");
        assert_eq!(status("GET", below, &[("Host", &localhost)]), 200, "{below}");
        assert_eq!(status("GET", below, &[("Origin", &ours), ("Sec-Fetch-Site", "same-origin")]), 200, "{below}");
        assert_eq!(status("GET", below, &[("Sec-Fetch-Site", "none")]), 200, "{below}");
        // A name that an attacker has pointed at this machine.
        for host in ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "0.0.0.0", "localhost"] {
            assert_eq!(status("GET", below, &[("Host", host)]), 421, "{below} {host}");
        }
        for origin in ["http://evil.example", "null", "https://127.0.0.1", "file://"] {
            assert_eq!(status("GET", below, &[("Origin", origin)]), 403, "{below} {origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(
                status("GET", below, &[("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors")]),
                403,
                "{below}"
            );
        }
    }
    let opened = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(status("GET", "", &opened), 200);
    assert_eq!(status("GET", "api/session", &opened), 403);
    assert_eq!(status("POST", "api/merge", &[("Origin", "http://evil.example")]), 403);
    // A preflight of another origin is not answered as one.
    assert_eq!(
        status("OPTIONS", "api/merge", &[("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")]),
        403
    );
    assert_eq!(status("PUT", "api/session", &[]), 405);
    assert_eq!(status("POST", "assets/main.js", &[]), 405);
}

#[test]
fn a_wrong_token_finds_nothing() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    assert_eq!(server.token.len(), 32);
    let (host, token) = (server.host(), &server.token);
    let changed = format!("{}{}", if token.ends_with('A') { 'B' } else { 'A' }, &token[1..]);
    let twice = format!("{token}{token}");
    // One wrong character is as wrong as many, wherever it is.
    for place in 0..token.len() {
        let other = if token.as_bytes()[place] == b'A' { "B" } else { "A" };
        let path = format!("/{}{other}{}/api/session", &token[..place], &token[place + 1..]);
        let answer = server.raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes());
        assert_eq!(answer.status, 404, "{place}");
    }
    for path in [
        "/",
        "/api/session",
        "//api/session",
        "/assets/main.js",
        &format!("/{changed}/"),
        &format!("/{changed}/api/session"),
        &format!("/{twice}/"),
        &format!("/{}/", &token[..31]),
        &format!("/{token}"),
        &format!("/x/{token}/"),
        &format!("/{}/", token.to_lowercase().replace('-', "%2D")),
    ] {
        let answer = server.raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes());
        assert_eq!(answer.status, 404, "{path}");
        hardened(&answer);
        assert!(!String::from_utf8_lossy(&answer.body).contains(&token[..8]));
    }
    // Without a host, and with two.
    let path = format!("/{token}/api/session");
    assert_eq!(server.raw(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).status, 421);
    let two = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!([400, 421].contains(&server.raw(two.as_bytes()).status));
    // An absolute address does not stand in for the host.
    let absolute = format!("GET http://{host}{path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(server.raw(absolute.as_bytes()).status, 421);
}

#[test]
fn no_address_names_a_file() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    for below in [
        "assets/../../../../etc/passwd",
        "assets/..%2f..%2fetc%2fpasswd",
        "assets/%2e%2e/t.csv",
        "assets//etc/passwd",
        "assets/t.csv",
        "../t.csv",
        "t.csv",
        "api/../t.csv",
        "api/models/../session",
        "api/models/0/plot/../../t.csv",
        "api/models/0/t.csv",
        "api/",
        "api",
        "assets/",
        "index.html",
    ] {
        assert_eq!(server.get(below).status, 404, "{below}");
    }
}

#[test]
fn too_much_is_refused() {
    let directory = world();
    let server = ready(&directory, "m.safetensors t.csv --label kind");
    let head = |length: usize| {
        format!(
            "POST /{}/api/models/0/rows HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n",
            server.token,
            server.host()
        )
    };
    // Refused by its header, before any of it arrives.
    let answer = server.raw(head(1 << 40).as_bytes());
    assert_eq!((answer.status, answer.json()["error"].as_str()), (413, Some("the request is larger than 16 MiB")));
    // Pieces of unknown length.
    let mut request = head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked").into_bytes();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..17 {
        request.extend(format!("{:x}\r\n", piece.len()).as_bytes());
        request.extend(&piece);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    assert_eq!(server.raw(&request).status, 413);
    // The largest body that is taken is read and found to be no array.
    let body = vec![0; 16 << 20];
    assert_eq!(server.raw(&[head(body.len()).as_bytes(), &body].concat()).status, 422);
    for (body, status) in [
        (&b"{"[..], 400),
        (b"", 400),
        (b"[]", 400),
        (b"{\"models\": [0, -1]}", 400),
        (b"{\"models\": [0, 99]}", 404),
        (b"{\"models\": [0]}", 400),
    ] {
        assert_eq!(server.post("merge", body).status, status, "{}", String::from_utf8_lossy(body));
    }
    // It still answers.
    assert_eq!(server.get("").status, 200);
}

#[test]
fn the_command_prints_the_address_and_nothing_else_and_hides_it_from_other_processes() {
    let directory = world();
    let server = Server::start(&directory, "m.safetensors");
    assert_eq!(server.url, format!("http://127.0.0.1:{}/{}/", server.port, server.token));
    #[cfg(target_os = "linux")]
    {
        let shown = std::fs::read(format!("/proc/{}/cmdline", server.child.id())).unwrap();
        assert!(!String::from_utf8_lossy(&shown).contains(&server.token));
    }
    assert!(
        !server.ask("session").to_string().contains(&server.token),
        "the page can copy its command without the token"
    );
    let taken = directory.refused(&format!("explore m.safetensors --no-open --port {}", server.port));
    assert!(taken.err.contains(&format!("cannot listen on 127.0.0.1, port {}", server.port)), "{taken}");
    let hint = "\nhint: choose another port with --port, or leave out --port to use a free one\n";
    assert!(taken.err.ends_with(hint), "{taken}");
    let (code, said) = server.interrupt();
    assert_eq!(code, Some(0), "{said}");
    let mut command = directory.command("explore m.safetensors --no-open --json");
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let printed: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(printed["url"].as_str().unwrap().contains(&format!(":{}/", printed["port"])));
}

/// Other users of the machine see the arguments of the browser, and no other address of the machine
/// is served.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_not_told_the_token_and_only_this_address_is_served() {
    use std::os::unix::fs::PermissionsExt;
    let directory = world();
    directory.write("bin/xdg-open", "#!/bin/sh\necho \"$@\" > \"$SEEN.part\"\nstat -c %a \"$1\" > \"$SEEN.mode\"\ncat \"$1\" > \"$SEEN.page\"\nmv \"$SEEN.part\" \"$SEEN\"\n");
    std::fs::set_permissions(directory.path("bin/xdg-open"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", directory.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = directory.command("explore m.safetensors");
    let server = Server::run(command.env("PATH", path).env("DISPLAY", ":99").env("SEEN", directory.path("seen")));
    let begun = std::time::Instant::now();
    while !directory.exists("seen") {
        assert!(begun.elapsed().as_secs() < 60, "no browser was opened");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let arguments = directory.text("seen");
    assert!(!arguments.contains(&server.token) && !arguments.contains("http"), "{arguments}");
    assert_eq!(directory.text("seen.mode").trim(), "600");
    assert!(directory.text("seen.page").contains(&server.url));
    // Every address that begins with 127 is this machine; a server of all addresses would answer
    // here.
    let elsewhere = std::net::TcpStream::connect(("127.0.0.2", server.port));
    assert_eq!(elsewhere.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    let (code, said) = server.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(!std::path::Path::new(arguments.trim()).exists(), "the file that leads to the page is removed");
}

#[test]
fn another_address_needs_a_host_and_takes_no_other() {
    let directory: Directory = world();
    let said = directory.refused("explore m.safetensors --no-open --bind 0.0.0.0");
    assert!(said.err.contains("--allow-host"), "{said}");
    let said = directory.refused("explore m.safetensors --no-open --allow-host lab.example");
    assert!(said.err.contains("--bind"), "{said}");
    // An address that no machine has, so that nothing is served: the warning comes first.
    let said = directory.refused("explore m.safetensors --no-open --bind 192.0.2.1 --allow-host lab.example");
    let (warning, failure) =
        ("warning: the page is served on 192.0.2.1, without encryption", "cannot listen on 192.0.2.1");
    assert!(said.err.contains(warning) && said.err.contains(failure), "{said}");
    let mut command = directory.command("explore m.safetensors --no-open --bind 127.0.0.1 --allow-host lab.example");
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    let rest = line.trim_end().strip_prefix("http://lab.example:").unwrap();
    let (port, token) = rest.trim_end_matches('/').split_once('/').unwrap();
    let server = Server { child, url: line.clone(), port: port.parse().unwrap(), token: token.to_owned() };
    for (host, status) in
        [("lab.example", 200), (&*format!("lab.example:{port}"), 200), (&*server.host(), 421), ("evil.example", 421)]
    {
        assert_eq!(server.request("GET", "", &[("Host", host)], b"").status, status, "{host}");
    }
}
