"""Prints the budgets of the explorer: what they are, and what was measured here.

    python tests/browser/budget.py [--rows 1000000] [--seconds 60] [--write]

Times are those of this machine at this moment; nothing is asserted. `--write` stores the result in
bench/EXPLORER.md.
"""

import argparse
import gzip
import json
import runpy
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from explorer import BINARY, ROOT, Server, browser_path, command, launch, until
from playwright.sync_api import sync_playwright
from sizes import SIZE, graphics, orl_faces, screens, stream, wide_table

RESULT = ROOT / "bench/EXPLORER.md"
PAGE = ROOT / "crates/eigenspace-cli/src/explore/page"
FEATURES = 64


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
    with urllib.request.urlopen(f"{server.url}api/session") as answer:
        return json.load(answer)["data"]["state"] == "ready"


def drawn(page) -> int:
    text = page.locator("#status-view").inner_text()
    return int(text.split(" of ")[0].replace(",", "")) if " drawn" in text else 0


def wait_drawn(page, n: int, start: float) -> float:
    while drawn(page) < n:
        if time.monotonic() - start > 120:
            return float("nan")
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
    return float(np.percentile(np.diff(at), 95))


def slider(page) -> float:
    """The median time from a step of k to the new Q on the page, in milliseconds."""
    return page.evaluate("""async () => {
      const input = document.querySelector("#main .slider input");
      const took = [];
      for (let k = 1; k <= 10; k++) {
        const start = performance.now();
        input.value = k;
        input.dispatchEvent(new Event("input"));
        while (document.querySelector("#main .quality .q")?.dataset.k !== String(k))
          await new Promise((r) => setTimeout(r, 1));
        took.push(performance.now() - start);
      }
      return took.sort((a, b) => a - b)[5];
    }""")


def heap(page) -> float:
    usage = page.context.new_cdp_session(page).send("Runtime.getHeapUsage")
    return usage["usedSize"] + usage["backingStorageSize"]


def assets() -> float:
    """Kilobytes of the page, each file compressed alone."""
    files = sorted(PAGE.iterdir())
    return sum(len(gzip.compress(f.read_bytes(), 9, mtime=0)) for f in files) / 1000


def large(add, browser, folder: Path, n: int, most: bool) -> None:
    """A map of n points; `most` for the larger of the two sizes."""
    with Server(*model_and_rows(folder, n)) as server:
        page = browser.new_page(viewport=SIZE)
        until(lambda: ready(server), "the rows to be read", 120)
        start = time.monotonic()
        page.goto(server.url)
        if most:
            add(f"{n:,} points: first sample", wait_drawn(page, 4000, start), "s", 1.5)
        else:
            entry = "performance.getEntriesByName('first-contentful-paint')[0]"
            paint = page.evaluate(f"{entry}?.startTime ?? NaN")
            add("first paint", paint / 1000, "s", 0.7)
        add(f"{n:,} points: all drawn", wait_drawn(page, n, start), "s", 4 if most else 1.5)
        add(f"{n:,} points: frame of a pan, 95th percentile", pan(page), "ms", 50)
        if most:
            add("page heap with array buffers", heap(page) / 1e6, "MB", 64)
        page.keyboard.press("3")
        page.keyboard.press(".")
        page.locator("#main .quality .q").wait_for()
        add(f"{n:,} points: step of the slider, median", slider(page), "ms", 50)
        if most:
            add("server memory", server.memory() / 2**20, "MiB", 256)
        page.close()


def measure(rows: int, seconds: int) -> list[dict]:
    found = []

    def add(what, value, unit, budget=None):
        found.append({"what": what, "measured": value, "unit": unit, "budget": budget})

    add("assets, gzip of each file", assets(), "KB", 30)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = launch(playwright)
        for n in (100_000, rows):
            large(add, browser, folder, n, n == rows)
        kinds = {"2,000 columns": wide_table(folder), "ORL faces": orl_faces(folder)}
        for kind, arguments in kinds.items():
            if arguments:
                for view, took in screens(browser, arguments).items():
                    add(f"{kind}: {view.title()} shown", took, "s")
        if seconds:
            units = {"seconds": "s", "pause": "ms", "page": "MB", "server": "MiB", "rows": "rows"}
            for what, value in stream(browser, folder, seconds).items():
                unit = units[what.split()[0]]
                what = what.removeprefix("seconds ")
                add(f"1,000 rows a second for {seconds} s: {what}", value, unit)
        browser.close()
    return found


def table(found: list[dict]) -> str:
    lines = ["| what | measured | budget | |", "|---|---:|---:|---|"]
    for line in found:
        over = line["budget"] and line["measured"] > line["budget"]
        digits = 0 if line["unit"] == "rows" else 1 if line["unit"] in ("ms", "MB", "MiB") else 2
        budget = f"{line['budget']} {line['unit']}" if line["budget"] else ""
        measured = f"{line['measured']:,.{digits}f} {line['unit']}"
        lines.append(f"| {line['what']} | {measured} | {budget} | {'over' if over else ''} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=60, help="of the stream; 0: none")
    parser.add_argument("--write", action="store_true", help=f"to {RESULT.relative_to(ROOT)}")
    options = parser.parse_args()
    about = runpy.run_path(str(ROOT / "bench/machine.py"))["described"]()
    found = table(measure(options.rows, options.seconds))
    changed = " with changes" if about["changed_since"] else ""
    machine = (
        f"{about['date'][:10]}, {about['cpu']}, {about['cores']} cores, "
        f"{about['memory_gib']} GiB, {about['system']}, load {about['load_before']} before; "
        f"{graphics(browser_path())}, drawing in software (SwiftShader); "
        f"{BINARY.parent.name} build of commit {about['commit']}{changed}."
    )
    text = (
        "# Budgets of the explorer\n\n"
        "Written by `cargo xtask explore-budget`; do not edit. The map shows rows of "
        f"{FEATURES} features.\nNothing here is asserted by a test.\n\n{machine}\n\n{found}\n"
    )
    print(text)
    if options.write:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
