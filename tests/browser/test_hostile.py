"""A page of another site that even knows the address reads nothing and changes nothing."""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from explorer import Server, launch, until

ATTACK = """async (url) => {
  const tried = {};
  for (const [name, options] of Object.entries({
    cors: {}, opaque: { mode: "no-cors" }, credentials: { credentials: "include" },
    merge: { method: "POST", mode: "no-cors", body: '{"models": [0, 1]}' },
    json: { method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
  })) {
    const target = url + (name === "merge" || name === "json" ? "api/merge" : "api/session");
    tried[name] = await fetch(target, options).then((a) => a.text(), () => "refused");
  }
  const loads = (tag, properties) => new Promise((done) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.onload = () => done("loaded");
    node.onerror = () => done("refused");
    document.body.append(node);
  });
  tried.script = await loads("script", { src: `${url}assets/main.js` });
  tried.module = await loads("script", { src: `${url}assets/main.js`, type: "module" });
  tried.image = await loads("img", { src: `${url}assets/icon.svg` });
  tried.style = await loads("link", { rel: "stylesheet", href: `${url}assets/style.css` });
  tried.stream = await new Promise((done) => {
    const source = new EventSource(`${url}api/stream`);
    source.onopen = () => done("opened");
    source.onerror = () => { source.close(); done("refused"); };
  });
  const frame = document.createElement("iframe");
  frame.src = url;
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, { method: "post", target: "sink", enctype: "text/plain" });
  form.action = `${url}api/merge`;
  const field = document.createElement("input");
  form.append(Object.assign(field, { name: '{"models": [0, 1], "x": "', value: '"}' }));
  const sink = Object.assign(document.createElement("iframe"), { name: "sink" });
  document.body.append(sink, form);
  form.submit();
  await new Promise((done) => setTimeout(done, 1000));
  const opened = open(url);
  await new Promise((done) => setTimeout(done, 1500));
  try { tried.window = opened.document.body.innerText; } catch { tried.window = "refused"; }
  tried.handle = opened.closed ? "cut" : "kept";
  return tried;
}"""


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>hostile</title><body></body>")

    def log_message(self, *_):
        pass


@pytest.fixture
def hostile_port():
    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1"])
def test_another_page_reads_and_changes_nothing(playwright, halves, hostile_port, host):
    """`evil.test` is another site; another port of this machine is the same site."""
    browser = launch(playwright, "--host-resolver-rules=MAP evil.test 127.0.0.1")
    try:
        with Server(*halves) as server:
            page = browser.new_page()
            page.goto(f"http://{host}:{hostile_port}/")
            tried = page.evaluate(ATTACK, server.url)
            # An opaque answer is empty for the page that asked.
            assert {k: v for k, v in tried.items() if v not in ("refused", "", "cut")} == {}
            for frame in page.frames[1:]:
                assert frame.locator("#tabs").count() == 0
            with urllib.request.urlopen(f"{server.url}api/session", timeout=30) as answer:
                assert len(json.load(answer)["models"]) == 2
    finally:
        browser.close()


def test_the_page_runs_no_script_that_it_does_not_bring(page, iris_server):
    page.open(iris_server)
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'injected'";
      const image = document.createElement("img");
      image.setAttribute("onerror", "document.title = 'injected'");
      image.src = "data:,";
      const outside = document.createElement("script");
      outside.src = "http://127.0.0.1:9/x.js";
      const style = document.createElement("style");
      style.textContent = "body { display: none }";
      document.body.append(script, image, outside, style);
    }""")
    until(lambda: len(page.messages) >= 4, "the refusals of the browser")
    assert page.title() != "injected"
    assert page.locator("body").is_visible()
    assert all("Content Security Policy" in message for message in page.messages), page.messages
    page.messages.clear()
