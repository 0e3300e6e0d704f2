"""Prints the budgets of the explorer: what they are, and what was measured here.

    python tests/browser/budget.py [--json] [--rows 1000000]

Times are those of this machine at this moment; nothing is asserted.
"""

import argparse
import gzip
import json
import os
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from explorer import BINARY, ROOT, Server, command, launch, until
from playwright.sync_api import sync_playwright

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


def measure(rows: int) -> list[dict]:
    found = []

    def add(what, value, unit, budget):
        found.append({"what": what, "measured": round(value, 2), "unit": unit, "budget": budget})

    files = sorted(PAGE.iterdir())
    add(
        "assets, gzip of each file",
        sum(len(gzip.compress(f.read_bytes(), 9, mtime=0)) for f in files) / 1000,
        "KB",
        30,
    )
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = launch(playwright)
        for n in (100_000, rows):
            with Server(*model_and_rows(folder, n)) as server:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                until(lambda s=server: ready(s), "the rows to be read", 120)
                start = time.monotonic()
                page.goto(server.url)
                if n < rows:
                    entry = "performance.getEntriesByName('first-contentful-paint')[0]"
                    paint = page.evaluate(f"{entry}?.startTime ?? NaN")
                    add("first paint", paint / 1000, "s", 0.7)
                else:
                    add(f"{n:,} points: first sample", wait_drawn(page, 4000, start), "s", 1.5)
                add(
                    f"{n:,} points: all drawn",
                    wait_drawn(page, n, start),
                    "s",
                    1.5 if n < rows else 4,
                )
                add(f"{n:,} points: frame of a pan, 95th percentile", pan(page), "ms", 50)
                if n == rows:
                    add("page heap with array buffers", heap(page) / 1e6, "MB", 64)
                page.keyboard.press("3")
                page.keyboard.press(".")
                page.locator("#main .quality .q").wait_for()
                add(f"{n:,} points: step of the slider", slider(page), "ms", 50)
                if n == rows:
                    add("server memory", server.memory() / 2**20, "MiB", 256)
                page.close()
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    found = measure(options.rows)
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "binary": BINARY.parent.name,
        "graphics": "software (SwiftShader)",
    }
    if options.json:
        print(json.dumps({**about, "budgets": found}, indent=2))
        return
    print(", ".join(f"{key}: {value}" for key, value in about.items()))
    print(f"{'':56} {'measured':>10} {'budget':>8}")
    for line in found:
        mark = "" if line["measured"] <= line["budget"] else "  over"
        print(
            f"{line['what']:56} {line['measured']:10,.2f} {line['budget']:8} {line['unit']}{mark}"
        )


if __name__ == "__main__":
    main()
