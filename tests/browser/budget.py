"""Prints the budgets of the explorer: what they are, and what was measured here.

    python tests/browser/budget.py [--rows 1000000] [--seconds 60] [--only PART...] [--write]

Times are those of this machine at this moment; nothing is asserted. Each number is printed when it
is measured and kept in target/explore-budget.json; a part that fails is named, and the others go
on. `--write` stores all parts in bench/EXPLORER.md, or replaces the lines of the parts that are
named with `--only`; their date and commit are added.
"""

import argparse
import gzip
import json
import runpy
import sys
import tempfile
import time
import traceback
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
from explorer import BINARY, ROOT, Server, browser_path, command, iris, launch, until
from growth import TARGET, growth
from playwright.sync_api import sync_playwright
from results import Results
from sizes import SIZE, graphics, orl_faces, screens, stream, wide_table

RESULT = ROOT / "bench/EXPLORER.md"
PAGE = ROOT / "crates/eigenspace-cli/src/explore/page"
KEPT = TARGET / "explore-budget.json"
FEATURES = 64
FEWER = 100_000
# Nothing here takes longer, unless it is broken.
WAIT_S = 120.0


def model_and_rows(folder: Path, n: int) -> list[Path]:
    random = np.random.default_rng(0)
    centers = 4 * random.normal(size=(6, FEATURES))
    rows = (centers[random.integers(0, 6, n)] + random.normal(size=(n, FEATURES))).astype(
        np.float32
    )
    np.save(folder / f"{n}.npy", rows)
    command("fit", folder / f"{n}.npy", "-k", "10", "-o", folder / f"{n}.safetensors", "--quiet")
    return [folder / f"{n}.safetensors", folder / f"{n}.npy"]


def ready(server: Server) -> bool:
    data = json.loads(fetched(server, "api/session"))["data"]
    if data["state"] == "failed":
        raise RuntimeError(f"cannot read the rows: {data['error']}")
    return data["state"] == "ready"


def fetched(server: Server, below: str) -> bytes:
    with urllib.request.urlopen(server.url + below, timeout=WAIT_S) as answer:
        return answer.read()


def drawn(page) -> int:
    text = page.locator("#status-view").inner_text()
    return int(text.split(" of ")[0].replace(",", "")) if " drawn" in text else 0


def wait_drawn(page, n: int, start: float) -> float:
    while drawn(page) < n:
        if time.monotonic() - start > WAIT_S:
            status = page.locator("#status-view").inner_text()
            raise RuntimeError(f"waited {WAIT_S:.0f} s for {n:,} points; the page says `{status}`")
        time.sleep(0.01)
    return time.monotonic() - start


def pan(page) -> float:
    """The 95th percentile of the time between drawn frames during a drag, in milliseconds.

    The page marks the plot when a frame is complete; a browser without a screen calls
    `requestAnimationFrame` whether or not anything was drawn.
    """
    box = page.locator(".plot").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.evaluate("""() => {
      window.drawn_at = [];
      window.watcher = new MutationObserver(() => window.drawn_at.push(performance.now()));
      window.watcher.observe(document.querySelector(".plot"), { attributeFilter: ["data-drawn"] });
    }""")
    page.mouse.down()
    for i in range(90):
        page.mouse.move(box["x"] + 200 + 3 * i, box["y"] + 200 + 2 * i)
        time.sleep(0.016)
    page.mouse.up()
    at = page.evaluate("() => { window.watcher.disconnect(); return window.drawn_at; }")
    if len(at) < 3:
        raise RuntimeError(f"only {len(at)} frames were drawn while the map was dragged")
    return float(np.percentile(np.diff(at), 95))


def slider(page) -> float:
    """The median time from a step of k to the new Q on the page, in milliseconds."""
    took = page.evaluate("""async () => {
      const input = document.querySelector("#main .slider input");
      const took = [];
      for (let k = 1; k <= 10; k++) {
        const start = performance.now();
        input.value = k;
        input.dispatchEvent(new Event("input"));
        while (document.querySelector("#main .quality .q")?.dataset.k !== String(k))
        {
          if (performance.now() - start > 10000) return null;
          await new Promise((r) => setTimeout(r, 1));
        }
        took.push(performance.now() - start);
      }
      return took.sort((a, b) => a - b)[5];
    }""")
    if took is None:
        raise RuntimeError("a step of the slider took more than 10 s")
    return took


def heap(page) -> float:
    usage = page.context.new_cdp_session(page).send("Runtime.getHeapUsage")
    return usage["usedSize"] + usage["backingStorageSize"]


def kilobytes(server: Server, files) -> float:
    """Kilobytes of files as they are sent, each compressed alone."""
    return sum(len(gzip.compress(fetched(server, file), 9, mtime=0)) for file in files) / 1000


def assets(results: Results, browser, folder: Path) -> None:
    """The files of the page: all of them, and those that are needed until a view is there."""
    table = iris(folder)
    command("fit", table, "--label", "species", "-o", folder / "iris.safetensors", "--quiet")
    with Server(folder / "iris.safetensors", table, "--label", "species") as server:
        for view in ("variance", "map"):
            page, loaded = browser.new_page(viewport=SIZE), []
            page.on("request", lambda request, loaded=loaded: loaded.append(request.url))
            # The other views follow once the first is there; they are not counted.
            page.clock.install()
            page.goto(f"{server.url}#view={view}")
            page.locator("#main .view").wait_for()
            files = {url.removeprefix(server.url).split("#")[0] for url in loaded}
            needed = sorted(file for file in files if not file.startswith("api/"))
            kilo = kilobytes(server, needed)
            results.add(f"assets until the {view.title()} is there, gzip", kilo, "KB", 30)
            page.close()
        every = ["", *(f"assets/{path.name}" for path in PAGE.iterdir() if path.suffix != ".html")]
        results.add("assets of all views, gzip of each file", kilobytes(server, every), "KB", 30)


def large(results: Results, browser, folder: Path, n: int, most: bool) -> None:
    """A map of n points; `most` for the larger of the two sizes."""
    add = results.add
    with Server(*model_and_rows(folder, n)) as server:
        page = browser.new_page(viewport=SIZE)
        until(lambda: ready(server), "the rows to be read", WAIT_S)
        start = time.monotonic()
        page.goto(server.url)
        if most:
            add(f"{n:,} points: first sample", wait_drawn(page, 4000, start), "s", 1.5)
        else:
            entry = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
            paint = until(lambda: page.evaluate(entry), "the first paint", WAIT_S)
            add("first paint", paint / 1000, "s", 0.7)
        add(f"{n:,} points: all drawn", wait_drawn(page, n, start), "s", 4 if most else 1.5)
        add(f"{n:,} points: frame of a pan, 95th percentile", pan(page), "ms", 50)
        if most:
            add(f"{n:,} points: page heap with array buffers", heap(page) / 1e6, "MB", 64)
        page.keyboard.press("3")
        page.keyboard.press(".")
        page.locator("#main .quality .q").wait_for()
        add(f"{n:,} points: step of the slider, median", slider(page), "ms", 50)
        if most:
            add(f"{n:,} points: server memory", server.memory() / 2**20, "MiB", 256)
            add(f"{n:,} points: server memory, peak", server.memory("VmHWM") / 2**20, "MiB", 256)
        page.close()


def every_screen(results: Results, browser, folder: Path, kind: str, make) -> None:
    arguments = make(folder)
    if not arguments:
        raise RuntimeError("EIGENSPACE_ORL does not name the faces")
    for view, took in screens(browser, arguments):
        results.add(f"{kind}: {view.title()} shown", took, "s")


def streamed(results: Results, browser, folder: Path, seconds: int) -> None:
    units = {"seconds": "s", "pause": "ms", "page": "MB", "server": "MiB", "rows": "rows"}
    for what, value in stream(browser, folder, seconds).items():
        unit, what = units[what.split()[0]], what.removeprefix("seconds ")
        results.add(f"1,000 rows a second for {seconds} s: {what}", value, unit)


def program(results: Results, _browser, _folder: Path) -> None:
    crates, seconds, size = growth()
    results.add("program: bytes that `explore` adds", size / 1e6, "MB", 3)
    results.add("program: crates that `explore` adds", crates, "crates")
    results.add("program: processor time of a build that `explore` adds", seconds, "s", 90)


def parts(rows: int, seconds: int) -> dict:
    """Everything that is measured, by name; each takes the results, a browser and a directory."""
    return {
        "program": program,
        "assets": assets,
        "points": partial(large, n=FEWER, most=False),
        "million": partial(large, n=rows, most=True),
        "wide": partial(every_screen, kind="2,000 columns", make=wide_table),
        "faces": partial(every_screen, kind="ORL faces", make=orl_faces),
        "stream": partial(streamed, seconds=seconds),
    }


def measure(results: Results, chosen: dict) -> None:
    with sync_playwright() as playwright:
        for name, part in chosen.items():
            print(f"-- {name}", flush=True)
            # A browser for each part, so that one that crashes does not take the others with it.
            browser = launch(playwright)
            try:
                with tempfile.TemporaryDirectory() as folder:
                    part(results, browser, Path(folder))
            except Exception as error:
                traceback.print_exc()
                results.failed(name, error)
            finally:
                browser.close()


INTRODUCTION = f"""# Budgets of the explorer

Written by `cargo xtask explore-budget -- --write`; do not edit. Points on the map are
rows of {FEATURES} features. Nothing here is asserted by a test, except the size of the files
of the Map (`tests/browser/test_loading.py`).

Assets are the files of the page as they are sent, without comments and needless space. Each is
compressed alone with `gzip -9` to be counted; the server sends them as they are, because they do
not leave the machine. The budget of 30 KB is for what somebody waits for: "until the Map is there"
counts the files that a browser loads before it shows that screen, without a chosen row, and a test
holds it. The files of the other screens, the row inspector, dialogs and the plain canvas follow
after a second, or when they are first needed. "All views" counts them too: eight screens do not fit
into 30 KB, so this line is over the budget, although nobody waits for it.
"""


def updated(text: str, results: Results, about: dict, names: list[str]) -> str:
    """The stored text with the lines of some parts replaced."""
    lines = {line.split("|")[1].strip(): line for line in results.table().splitlines()[2:]}
    before, table = text.split("\n\n|", 1)
    machine = next(part for part in before.split("\n\n") if " cores, " in part)
    table = ("|" + table).rstrip().splitlines()
    note = f"Measured later: {', '.join(names)} ({about['date'][:10]}, commit {about['commit']})."
    new = [lines.pop(line.split("|")[1].strip(), line) for line in table] + list(lines.values())
    return f"{INTRODUCTION}\n{machine}\n\n{note}\n\n" + "\n".join(new) + "\n"


def described(results: Results, about: dict) -> str:
    changed = " with changes" if about["changed_since"] else ""
    machine = (
        f"{about['date'][:10]}, {about['cpu']}, {about['cores']} cores, "
        f"{about['memory_gib']} GiB, {about['system']}, load {about['load_before']} before; "
        f"{graphics(browser_path())}, drawing in software (SwiftShader); "
        f"{BINARY.parent.name} build of commit {about['commit']}{changed}."
    )
    return f"{INTRODUCTION}\n{machine}\n\n{results.table()}\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=60, help="of the stream")
    parser.add_argument("--only", nargs="+", help="measure only these parts")
    parser.add_argument("--write", action="store_true", help=f"to {RESULT.relative_to(ROOT)}")
    options = parser.parse_args()
    all_parts = parts(options.rows, options.seconds)
    names = options.only or list(all_parts)
    for name in names:
        if name not in all_parts:
            parser.error(f"there is no part `{name}`; expected {', '.join(all_parts)}")
    about = runpy.run_path(str(ROOT / "bench/machine.py"))["described"]()
    results = Results(KEPT)
    try:
        measure(results, {name: all_parts[name] for name in names})
    finally:
        text = described(results, about)
        if options.write and options.only and RESULT.exists():
            text = updated(RESULT.read_text(), results, about, names)
        print(text)
        if options.write and results.lines:
            RESULT.write_text(text)
    if not results.complete:
        sys.exit(1)


if __name__ == "__main__":
    main()
