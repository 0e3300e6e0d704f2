"""Real sizes for `budget.py`: a wide table, the ORL faces, and a stream of rows."""

import os
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
from explorer import Server, command, until, write_csv

VIEWS = ["variance", "map", "row", "walk", "features", "monitor", "workbench", "faces"]
SIZE = {"width": 1280, "height": 800}
STREAM_FEATURES = 16
STREAM_RATE = 1000


def wide_table(directory: Path) -> list:
    """2,000 named columns of 1,000 rows, with a model of them."""
    random = np.random.default_rng(2)
    rows = random.normal(size=(1000, 8)) @ random.normal(size=(8, 2000))
    rows += random.normal(size=rows.shape)
    names = [f"gene {i + 1}" for i in range(2000)]
    labels = [f"batch {i % 5 + 1}" for i in range(1000)]
    table = write_csv(directory / "wide.csv", [*names, "batch"], rows, labels)
    model = directory / "wide.safetensors"
    command("fit", table, "--label", "batch", "-k", "10", "-o", model, "--quiet")
    return [model, table, "--label", "batch"]


def orl_faces(directory: Path) -> list | None:
    """The ORL faces with a recognizer of them, if they are here."""
    faces = os.environ.get("EIGENSPACE_ORL")
    if not faces:
        return None
    command("faces", "train", faces, "-o", directory / "orl.safetensors", "--quiet")
    return [directory / "orl.safetensors", faces]


def shown(page, view: str) -> bool:
    if page.locator("#tabs a[aria-current]").count() == 0:
        return False
    if page.locator("#main .notice.loading").count():
        return False
    error = page.locator("#main .notice.error")
    assert error.count() == 0, f"{view}: {error.first.inner_text()}"
    status = page.locator("#status-view").inner_text()
    if view == "map":
        drawn, _, rest = status.partition(" of ")
        return " drawn" in status and drawn == rest.split()[0]
    empty = page.locator("#main .notice.empty").count() > 0
    return empty or (bool(status) and status != "Loading")


def screens(browser, arguments: list):
    """Each screen with the seconds until it is there, on a fresh page."""
    with Server(*arguments) as server:
        for view in VIEWS:
            page = browser.new_page(viewport=SIZE)
            errors = []
            page.on("pageerror", lambda e, errors=errors: errors.append(str(e)))
            page.goto(server.url)
            until(lambda page=page: page.locator("#tabs a").count() == 8, "the tabs", 120)
            until(lambda page=page: page.locator("#main .notice.loading").count() == 0, "rows", 120)
            start = time.monotonic()
            page.goto(f"{server.url}#view={view}&row=17")
            page.reload()
            until(lambda page=page, view=view: shown(page, view), view, 60)
            took = time.monotonic() - start
            assert errors == [], (view, errors)
            page.close()
            yield view, took


class Producer(threading.Thread):
    """Appends rows to a file at a steady rate."""

    def __init__(self, path: Path, rows: np.ndarray):
        super().__init__(daemon=True)
        self.path, self.rows, self.written = path, rows, 0

    def run(self):
        start = time.monotonic()
        with self.path.open("a") as out:
            while self.written < len(self.rows):
                due = min(int((time.monotonic() - start) * STREAM_RATE), len(self.rows))
                for row in self.rows[self.written : due]:
                    out.write(",".join(f"{x:.6g}" for x in row) + "\n")
                out.flush()
                self.written = due
                time.sleep(0.02)


def stream(browser, directory: Path, seconds: int) -> dict[str, float]:
    """A page that watches 1,000 rows a second: how far it is behind, and how smooth it stays."""
    random = np.random.default_rng(3)
    mix = random.normal(size=(4, STREAM_FEATURES))
    header = [f"sensor {i + 1}" for i in range(STREAM_FEATURES)]
    noise = 0.2 * random.normal(size=(seconds * STREAM_RATE + 2000, STREAM_FEATURES))
    rows = random.normal(size=(len(noise), 4)) @ mix + noise
    write_csv(directory / "quiet.csv", header, rows[:2000])
    model = directory / "quiet.safetensors"
    command("fit", directory / "quiet.csv", "-k", "4", "-o", model, "--quiet")
    path = write_csv(directory / "stream.csv", header, [])
    with Server(model, "--watch", path) as server:
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{server.url}#view=monitor")
        page.locator("#main .notice").first.wait_for()
        page.evaluate("""() => {
          window.gaps = [];
          let before = performance.now();
          setInterval(() => {
            window.gaps.push(performance.now() - before);
            before = performance.now();
          }, 20);
        }""")
        producer = Producer(path, rows[2000:])
        producer.start()
        behind = []

        def watched() -> int:
            words = page.locator("#status-view").inner_text().split()
            return int(words[0].replace(",", "")) if words and words[0][0].isdigit() else 0

        end = time.monotonic() + seconds
        while time.monotonic() < end:
            written = producer.written
            behind.append((written - watched()) / STREAM_RATE)
            time.sleep(0.1)
        producer.join(30)
        until(lambda: watched() == seconds * STREAM_RATE, "all rows", 30)
        gaps = page.evaluate("window.gaps")
        usage = page.context.new_cdp_session(page).send("Runtime.getHeapUsage")
        found = {
            "rows shown at the end": float(watched()),
            "seconds behind, largest": max(behind),
            "pause of the page, 95th percentile": float(np.percentile(gaps, 95)) - 20,
            "pause of the page, largest": max(gaps) - 20,
            "page heap": (usage["usedSize"] + usage["backingStorageSize"]) / 1e6,
            "server memory": server.memory() / 2**20,
        }
        page.close()
    return found


def graphics(path: str) -> str:
    """The name of the browser."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown browser"
