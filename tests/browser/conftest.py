"""Fixtures: servers with iris, digits and drawn faces; pages that fail on any console message."""

import os
import warnings

import pytest
from explorer import BINARY, Server, command, digits, faces, iris, launch, until
from playwright.sync_api import sync_playwright

SKIPPED = "EIGENSPACE_BROWSER=none: THE BROWSER TESTS WERE SKIPPED"


def pytest_collection_modifyitems(items):
    if os.environ.get("EIGENSPACE_BROWSER") != "none":
        return
    if os.environ.get("CI"):
        raise pytest.UsageError("EIGENSPACE_BROWSER=none is refused in CI; hint: install a browser")
    warnings.warn(SKIPPED, stacklevel=1)
    for item in items:
        item.add_marker(pytest.mark.skip(reason=SKIPPED))


def pytest_terminal_summary(terminalreporter):
    if os.environ.get("EIGENSPACE_BROWSER") == "none":
        terminalreporter.write_line(SKIPPED)


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    assert BINARY.exists(), (
        f"no {BINARY}; hint: run `cargo build -p eigenspace-cli`, or set EIGENSPACE_BINARY"
    )
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def iris_csv(directory):
    return iris(directory)


@pytest.fixture(scope="session")
def iris_model(directory, iris_csv):
    command(
        "fit",
        iris_csv,
        "--label",
        "species",
        "-k",
        "2",
        "-o",
        directory / "iris.safetensors",
        "--quiet",
    )
    return directory / "iris.safetensors"


@pytest.fixture(scope="session")
def halves(directory, iris_csv):
    """Models of the first and the second 75 rows."""
    lines = iris_csv.read_text().splitlines()
    made = []
    for name, part in (("first", lines[1:76]), ("second", lines[76:])):
        (directory / f"{name}.csv").write_text("\n".join([lines[0], *part]) + "\n")
        made.append(directory / f"{name}.safetensors")
        command(
            "fit",
            directory / f"{name}.csv",
            "--label",
            "species",
            "-k",
            "4",
            "-o",
            made[-1],
            "--quiet",
        )
    return made


@pytest.fixture(scope="session")
def iris_server(iris_model, iris_csv):
    with Server(iris_model, iris_csv, "--label", "species") as server:
        yield server


@pytest.fixture(scope="session")
def digits_directory(directory):
    return digits(directory)


@pytest.fixture(scope="session")
def digits_server(directory, digits_directory):
    command("fit", digits_directory, "-k", "10", "-o", directory / "digits.safetensors", "--quiet")
    with Server(directory / "digits.safetensors", digits_directory) as server:
        yield server


@pytest.fixture(scope="session")
def people_directory(directory):
    return faces(directory)


@pytest.fixture(scope="session")
def recognizer(directory, people_directory):
    command("faces", "train", people_directory, "-o", directory / "people.safetensors", "--quiet")
    return directory / "people.safetensors"


@pytest.fixture(scope="session")
def faces_server(recognizer, people_directory):
    with Server(recognizer, people_directory) as server:
        yield server


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright):
    started = launch(playwright)
    yield started
    started.close()


class Page:
    """A Playwright page that remembers messages and requests, with shortcuts for tests."""

    def __init__(self, page):
        self.page = page
        self.messages, self.requests = [], []
        page.on(
            "console", lambda m: self.messages.append(f"{m.type}: {m.text} {m.location['url']}")
        )
        page.on("pageerror", lambda e: self.messages.append(f"error: {e}"))
        page.on("request", lambda r: self.requests.append(r.url))

    def __getattr__(self, name):
        return getattr(self.page, name)

    def open(self, server, fragment=""):
        self.page.goto(server.url + fragment)
        until(lambda: self.page.locator("#tabs a").count() == 8, "the tabs")
        until(lambda: self.page.locator("#main .notice.loading").count() == 0, "the view")
        return self

    def status(self) -> str:
        return self.page.locator("#status-view").inner_text()

    def drawn(self) -> int:
        """Points on the map; waits until all are drawn."""
        until(
            lambda: (
                " drawn" in self.status()
                and self.status().split(" of ")[0] == self.status().split(" of ")[1].split()[0]
            ),
            "all points",
        )
        return int(self.status().split(" of ")[0].replace(",", ""))

    def value(self, selector: str) -> float:
        """The full number behind a rounded one."""
        return float(self.page.locator(selector).first.get_attribute("data-value"))

    def state(self) -> dict[str, str]:
        self.page.wait_for_timeout(200)
        return dict(part.split("=", 1) for part in self.page.url.split("#")[1].split("&"))

    def ink(self, color: tuple[int, int, int]) -> int:
        """Pixels of the map in one color; blending and edges may change each channel a little."""
        return self.page.evaluate(
            """([r, g, b]) => {
              const from = document.querySelector(".plot canvas");
              const copy = document.createElement("canvas");
              [copy.width, copy.height] = [from.width, from.height];
              const context = copy.getContext("2d");
              context.drawImage(from, 0, 0);
              const { data } = context.getImageData(0, 0, copy.width, copy.height);
              let n = 0;
              for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 60 && [r, g, b]
                  .every((x, c) => Math.abs(data[i + c] - x) < 12)) n++;
              return n;
            }""",
            list(color),
        )


@pytest.fixture
def page_of(browser):
    """Makes pages; afterward, messages on the console fail the test unless it took them."""
    made = []

    def make(**options):
        context = (options.pop("browser", None) or browser).new_context(
            **{"viewport": {"width": 1280, "height": 800}, **options}
        )
        made.append(Page(context.new_page()))
        return made[-1]

    yield make
    messages = [message for page in made for message in page.messages]
    for page in made:
        page.page.context.close()
    assert messages == []


@pytest.fixture
def page(page_of):
    return page_of()
