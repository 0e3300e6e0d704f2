"""Every screen while it loads, when there is nothing to show, and when something fails."""

import json
import os
import re

import numpy as np
import pytest
from explorer import Server, command, until, write_csv
from test_views import VIEWS

TROUBLE = json.dumps({"error": "the disk is on fire", "hint": "use a fire extinguisher"})
# The shelf and the people come with the session, so these two load only when they work.
LOADING = [view for view in VIEWS if view not in ("workbench", "faces")]


class Gate:
    """Holds requests until it is opened."""

    def __init__(self, page, pattern):
        self.held, self.closed = [], True
        page.page.route(pattern, self.answer)

    def answer(self, route):
        if self.closed:
            self.held.append(route)
        else:
            route.continue_()

    def open(self):
        self.closed = False
        for route in self.held:
            route.continue_()


@pytest.mark.parametrize("view", LOADING)
def test_a_view_says_that_it_loads(page, iris_server, view):
    gate = Gate(page, "**/api/models/**")
    page.goto(f"{iris_server.url}#view={view}&row=17")
    notice = page.locator("#main .notice.loading")
    until(lambda: notice.count() == 1 and notice.is_visible(), "the notice")
    gate.open()
    until(lambda: notice.count() == 0, "the view")
    assert page.locator("#main .notice.error").count() == 0


@pytest.mark.parametrize("view", LOADING)
def test_a_view_shows_the_error_and_tries_again(page, iris_server, view):
    fail = {"status": 500, "content_type": "application/json", "body": TROUBLE}
    page.page.route("**/api/models/**", lambda route: route.fulfill(**fail))
    page.goto(f"{iris_server.url}#view={view}&row=17")
    error = page.locator("#main .notice.error")
    until(lambda: error.count() == 1, "the error")
    assert "the disk is on fire" in error.inner_text()
    assert "use a fire extinguisher" in error.inner_text()
    page.page.unroute("**/api/models/**")
    error.get_by_role("button", name="Try again").click()
    until(lambda: page.locator("#main .notice").count() == 0, "the view")
    page.messages.clear()


def test_the_workbench_says_that_it_works(page_of, halves):
    with Server(*halves) as server:
        page = page_of().open(server, "#view=workbench")
        gate = Gate(page, "**/api/merge")
        for box in page.locator(".shelf input").all():
            box.check()
        page.get_by_role("button", name="Merge").click()
        until(lambda: "Working" in page.locator(".shelf").inner_text(), "the word")
        assert not page.get_by_role("button", name="Merge").is_enabled()
        gate.open()
        until(lambda: page.locator(".shelf tbody tr").count() == 3, "the merged model")
        page.page.context.close()


def test_faces_say_that_they_are_compared_and_what_fails(page, faces_server, people_directory):
    page.open(faces_server, "#view=faces")
    gate = Gate(page, "**/api/recognize")
    page.locator("#face").set_input_files(people_directory / "person 3" / "4.png")
    until(lambda: page.locator(".verdict .notice.loading").count() == 1, "the notice")
    gate.open()
    until(lambda: page.locator("[data-verdict=known]").count() == 1, "the verdict")
    page.page.unroute("**/api/recognize")
    page.locator("#face").set_input_files(
        {"name": "x.png", "mimeType": "image/png", "buffer": b"no image"}
    )
    until(lambda: page.locator(".verdict .notice.error").count() == 1, "the error")
    page.messages.clear()


def test_screens_without_their_data_say_what_to_give(page_of, iris_model):
    with Server(iris_model) as server:
        for view, word in {
            "map": "DATA",
            "row": "DATA",
            "monitor": "--watch",
            "faces": "train",
        }.items():
            page = page_of().open(server, f"#view={view}")
            notice = page.locator("#main .notice.empty")
            assert notice.count() == 1
            assert word in notice.inner_text()
        for view in ("variance", "walk", "features", "workbench"):
            page = page_of().open(server, f"#view={view}")
            assert page.locator("#main .notice").count() == 0
            page.page.context.close()


DEGENERATE = {
    "equal": np.full((6, 3), 2.5),
    "column": np.arange(20.0)[:, None],
    "row": np.array([[1.0, 2.0, 3.0]]),
    "two": np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 5.0]]),
}


@pytest.mark.parametrize("kind", DEGENERATE)
def test_tables_with_hardly_anything_in_them(page_of, tmp_path, kind):
    rows = DEGENERATE[kind]
    data = write_csv(tmp_path / f"{kind}.csv", [f"f{i}" for i in range(rows.shape[1])], rows)
    with Server(data) as server:
        for view in VIEWS:
            page = page_of().open(server, f"#view={view}&row=0&arrows=1")
            page.wait_for_timeout(300)
            error = page.locator(".notice.error")
            assert error.count() == 0, (view, error.first.inner_text())
            page.page.context.close()


def test_a_long_read_shows_its_progress(page, iris_csv):
    """Rows come through a pipe, and the page is open before the last."""
    header, *lines = iris_csv.read_text().splitlines()
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        # The command reads the names of the columns before it prints the address.
        pipe.write("\n".join([header, *lines, ""]).encode())
        pipe.flush()
        with Server("-", "--label", "species", stdin=reading) as server:
            os.close(reading)
            page.goto(server.url)
            loading = page.locator("#main .notice.loading")
            loading.wait_for()
            assert "Reading" in loading.inner_text()
            assert loading.locator("progress").count() == 1
            # More rows than one block, and a pause, so that there is progress to tell.
            for _ in range(2):
                pipe.write("\n".join([*(lines * 400), ""]).encode())
                pipe.flush()
                page.wait_for_timeout(400)
            until(lambda: re.search(r"[1-9][\d,]* rows so far", loading.inner_text()), "progress")
            pipe.close()
            assert page.drawn() == 150 * 801
            page.page.context.close()


def test_fitting_is_shown_as_soon_as_it_is_told(page, iris_server):
    def reading(route):
        session = json.loads(route.fetch().text())
        session["models"] = []
        session["data"] |= {"state": "reading", "rows": 0, "done": 120, "total": 150}
        route.fulfill(body=json.dumps(session), content_type="application/json")

    told = {"what": "fitting", "done": 150, "total": 150}
    events = f"id: 7\nevent: progress\ndata: {json.dumps(told)}\n\n"
    gate = Gate(page, "**/api/stream*")
    page.page.route("**/api/session", reading)
    page.goto(iris_server.url)
    notice = page.locator("#main .notice.loading")
    until(lambda: "Reading " in notice.inner_text(), "the rows that are read")
    assert "120 of 150 rows" in notice.inner_text()
    until(lambda: notice.count() == 1 and gate.held, "the request for events")
    for route in gate.held:
        route.fulfill(body=events, content_type="text/event-stream")
    until(lambda: "Fitting a model to" in notice.inner_text(), "the word")
    assert "fitting" in page.locator("#size").inner_text()
    page.page.context.close()
    page.messages.clear()


def test_the_map_grows_while_rows_are_read(page, iris_model, iris_csv):
    """Some rows are drawn before the last is read; all of them as soon as it is."""
    header, *lines = iris_csv.read_text().splitlines()
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write("\n".join([header, *lines, ""]).encode())
        pipe.flush()
        with Server(iris_model, "-", "--label", "species", stdin=reading) as server:
            os.close(reading)
            for _ in range(3):
                pipe.write("\n".join([*(lines * 200), ""]).encode())
                pipe.flush()
            session = f"{server.url}api/session"
            until(lambda: page.request.get(session).json()["data"]["rows"] > 0, "some rows")
            page.goto(server.url)
            assert 0 < page.drawn() < 150 * 801
            pipe.write("\n".join([*(lines * 200), ""]).encode())
            pipe.close()
            until(lambda: page.status().startswith(f"{150 * 801:,} of "), "all points")
            page.page.context.close()


def test_data_that_fail_beside_a_model_are_an_error(page, tmp_path, iris_model, iris_csv):
    lines = iris_csv.read_text().splitlines()
    lines[70] = lines[70].replace(",", ",x", 1)
    (tmp_path / "bad.csv").write_text("\n".join(lines) + "\n")
    with Server(iris_model, tmp_path / "bad.csv", "--label", "species") as server:
        for view in ("map", "row", "monitor"):
            page.goto(f"{server.url}#view={view}")
            until(lambda: page.locator("#main .notice.error").count() == 1, "the error")
            assert "bad.csv" in page.locator("#main .notice.error").inner_text()
        page.open(server, "#view=variance")
        assert page.locator("#main svg rect.fill").count() == 4
        page.messages.clear()
        page.page.context.close()


def test_the_first_view_fits_what_was_given(
    page_of, tmp_path, iris_model, iris_csv, halves, recognizer
):
    (tmp_path / "live.csv").write_text(
        iris_csv.read_text().splitlines()[0].rsplit(",", 1)[0] + "\n"
    )
    cases = {
        "Map": [iris_csv, "--label", "species"],
        "Variance": [iris_model],
        "Workbench": halves,
        "Faces": [recognizer],
        "Monitor": [iris_model, "--watch", tmp_path / "live.csv"],
    }
    for view, arguments in cases.items():
        with Server(*arguments) as server:
            page = page_of()
            page.goto(server.url)
            until(
                lambda page=page, view=view: (
                    page.locator("#tabs a[aria-current]").all_inner_texts() == [view]
                ),
                view,
            )
            page.page.context.close()


def test_a_model_of_other_columns_is_refused_with_a_hint(page, directory, iris_csv, iris_model):
    random = np.random.default_rng(0)
    other = write_csv(directory / "other.csv", ["a", "b", "c"], random.normal(size=(20, 3)))
    command("fit", other, "-o", directory / "other.safetensors", "--quiet")
    with Server(
        iris_model, directory / "other.safetensors", iris_csv, "--label", "species"
    ) as server:
        page.open(server, "#view=map&m=1")
        until(lambda: page.locator("#main .notice.error").count() == 1, "the error")
        assert "4 columns" in page.locator("#main .notice.error").inner_text()
        page.locator("#model").select_option("0")
        assert page.drawn() == 150
        page.messages.clear()
        page.page.context.close()
