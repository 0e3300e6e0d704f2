"""Takes the pictures of the explorer in docs/images, light and dark.

    python tests/browser/screenshots.py [DIRECTORY]

All data may be published: iris, the digits of scikit-learn, and drawn faces.
"""

import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from explorer import ROOT, Server, command, digits, faces, iris, launch, portrait, until, write_csv
from PIL import Image
from playwright.sync_api import sync_playwright

SIZE = {"width": 1280, "height": 800}


def servers(directory: Path):
    """Each kind of data with a model, and the views that are shown with it."""
    table, images, people = iris(directory), digits(directory), faces(directory)
    header, *lines = table.read_text().splitlines()
    for name, part in (("morning", lines[0::2]), ("evening", lines[1::2])):
        (directory / f"{name}.csv").write_text("\n".join([header, *part]) + "\n")
        command(
            "fit",
            directory / f"{name}.csv",
            "--label",
            "species",
            "-k",
            "2",
            "-o",
            directory / f"{name}.safetensors",
            "--quiet",
        )
    command(
        "fit",
        table,
        "--label",
        "species",
        "-k",
        "2",
        "-o",
        directory / "iris.safetensors",
        "--quiet",
    )
    # Directions are dropped, so that the certificate has something to say.
    command(
        "fit",
        images,
        "-k",
        "10",
        "--engine",
        "factor",
        "--max-rank",
        "40",
        "--block-rows",
        "400",
        "-o",
        directory / "digits.safetensors",
        "--quiet",
    )
    command("faces", "train", people, "-o", directory / "people.safetensors", "--quiet")
    yield (
        [directory / "digits.safetensors", images],
        {
            "map": "#view=map&row=1000",
            "variance": "#view=variance&row=1000",
            "row": "#view=row&row=1000&k=20",
        },
    )
    yield (
        [directory / "iris.safetensors", table, "--label", "species"],
        {"features": "#view=features&row=117", "biplot": "#view=map&arrows=4&row=117"},
    )
    yield (
        [directory / "people.safetensors", people],
        {"walk": "#view=walk&c=5&t=2&row=33", "faces": "#view=faces"},
    )
    yield (
        [
            directory / "morning.safetensors",
            directory / "evening.safetensors",
            table,
            "--label",
            "species",
        ],
        {"workbench": "#view=workbench"},
    )


def watched(directory: Path) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(1)
    mix, header = random.normal(size=(3, 8)), [f"sensor {i + 1}" for i in range(8)]
    normal = random.normal(size=(900, 3)) @ mix + 0.15 * random.normal(size=(900, 8))
    write_csv(directory / "good.csv", header, normal[:600])
    command(
        "fit", directory / "good.csv", "-k", "3", "-o", directory / "good.safetensors", "--quiet"
    )
    drift = normal[600:].copy()
    drift[180:, 4] += np.linspace(0, 1.4, 120)
    return header, drift


def arrive(directory: Path, header: list[str], rows) -> None:
    """Rows come in parts, and the model of them is computed after each."""
    lines = (
        write_csv(directory / "more.csv", header, rows).read_text().splitlines(keepends=True)[1:]
    )
    for first in range(0, len(lines), 30):
        with (directory / "arriving.csv").open("a") as out:
            out.writelines(lines[first : first + 30])
        time.sleep(1.4)


def act(page, name: str, directory: Path) -> None:
    """What a person does before the picture is taken."""
    if name == "workbench":
        for box in page.locator(".shelf input").all():
            box.check()
        page.get_by_role("button", name="Merge").click()
        until(
            lambda: page.locator(".result h2").first.inner_text().startswith("Merged"),
            "the merged model",
        )
    elif name == "faces":
        path = directory / "visitor.png"
        Image.fromarray(portrait(51, 0)).save(path)
        page.locator("#face").set_input_files(path)
        page.locator("[data-verdict]").wait_for()
    elif name == "monitor":
        until(lambda: "300 rows watched" in page.locator("#status-view").inner_text(), "the rows")
        page.locator("#main figure").nth(1).locator(".alarm-mark").last.click(force=True)
        page.locator("#inspector .contributions tbody tr").first.wait_for()


def shrink(path: Path) -> None:
    """Fewer bytes for the same pixels."""
    Image.open(path).convert("RGB").save(path, optimize=True)


def take(browser, server, views: dict[str, str], target: Path, directory: Path) -> None:
    for name, fragment in views.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=SIZE, color_scheme=scheme)
            page = context.new_page()
            page.goto(server.url + fragment)
            page.locator("#tabs a").first.wait_for()
            act(page, name, directory)
            page.wait_for_timeout(1500)
            path = target / f"explore-{name}-{scheme}.png"
            page.screenshot(path=path)
            shrink(path)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB")
            if name == "workbench":
                page.get_by_role("button", name=re.compile("^Undo")).click()
                page.wait_for_timeout(500)
            context.close()


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        directory = Path(name)
        browser = launch(playwright)
        for arguments, views in servers(directory):
            with Server(*arguments) as server:
                take(browser, server, views, target, directory)
        header, rows = watched(directory)
        path = write_csv(directory / "arriving.csv", header, [])
        with Server(directory / "good.safetensors", "--watch", path) as server:
            arrive(directory, header, rows)
            take(browser, server, {"monitor": "#view=monitor"}, target, directory)
        browser.close()


if __name__ == "__main__":
    main()
