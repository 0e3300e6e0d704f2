"""Numbers on the page equal those of the other commands."""

import csv
import io
import json
import re
import resource
import signal

import numpy as np
import pytest
from explorer import Server, command, until


def distances(model, data, k: int) -> list[dict[str, str]]:
    text = command("project", model, data, "--label", "species", "--distances", "-k", k)
    return list(csv.DictReader(io.StringIO(text)))


def test_the_sliders_q_equals_project(page, iris_server, iris_model, iris_csv):
    page.open(iris_server, "#view=row&row=41&k=1")
    for k in (1, 2, 3):
        page.get_by_label("Components in the reconstruction").fill(str(k))
        expected = distances(iris_model, iris_csv, k)[41]
        until(lambda k=k: page.locator(".quality .q").get_attribute("data-k") == str(k), f"k = {k}")
        # The scores are printed with all digits, and both sides use the same formula in f64.
        assert page.value(".quality .q") == pytest.approx(float(expected["Q"]), rel=1e-9)
        until(
            lambda k=k, e=expected: (
                abs(page.value(".stat strong") - float(e["T2"])) < 1e-9 * float(e["T2"])
            ),
            "T²",
        )


def test_colors_by_q_are_those_of_k(page, iris_server, iris_model, iris_csv):
    page.open(iris_server, "#color=q&k=1")
    for k in (1, 2, 3):
        found = sorted(float(row["Q"]) for row in distances(iris_model, iris_csv, k))
        # The ends are the 2nd and the 98th percentile, printed with four digits.
        ends = [found[int(share * 149)] for share in (0.02, 0.98)]
        until(
            lambda k=k: page.locator(".legend h2").all_inner_texts() == [f"Q (k = {k})"],
            f"k = {k}",
        )
        texts = page.locator(".legend .ends span").all_inner_texts()
        shown = [float(text.replace("\u2212", "-")) for text in texts]
        assert shown == pytest.approx(ends, rel=1e-3)
        page.keyboard.press("]")


def test_the_nearest_rows_are_those_of_k(page, iris_server):
    page.open(iris_server, "#view=row&row=41&k=1")
    shown = page.locator(".nearest .near .num")
    for k in (1, 2, 3):
        answer = page.request.get(f"{iris_server.url}api/models/0/rows/41?k={k}").json()
        distances = [near["distance"] for near in answer["nearest"]]
        until(
            lambda d=distances: (
                [float(text) for text in shown.all_inner_texts()] == pytest.approx(d, rel=1e-3)
            ),
            f"the rows that are nearest with k = {k}",
        )
        page.keyboard.press("]")


def test_merge_then_split_restores_the_spectrum(page_of, halves, iris_csv):
    with Server(*halves, iris_csv, "--label", "species") as server:
        page = page_of().open(server, "#view=workbench")
        first, second = (page.locator("#main tbody tr .link").nth(i).inner_text() for i in (0, 1))
        before = page.evaluate("fetch('api/models/0/spectrum').then((r) => r.json())")
        for name in (first, second):
            page.get_by_label(f"Choose {name}", exact=True).check()
        page.get_by_role("button", name="Merge").click()
        until(
            lambda: page.locator(".result h2").first.inner_text().startswith("Merged"),
            "the merged model",
        )
        assert "150" in page.locator(".result tbody tr").nth(2).inner_text()
        merged = page.locator(".shelf tbody tr .link").nth(2).inner_text()
        for name in (merged, second):
            page.get_by_label(f"Choose {name}", exact=True).check()
        page.get_by_role("button", name=re.compile("^Split")).click()
        until(
            lambda: page.locator(".result h2").first.inner_text().startswith("Split"),
            "the split model",
        )
        after = page.evaluate("fetch('api/models/3/spectrum').then((r) => r.json())")
        values = [[c["explained_variance"][1] for c in x["components"]] for x in (before, after)]
        assert np.max(np.abs(np.subtract(*values))) < 1e-9 * values[0][0]
        page.get_by_role("button", name=re.compile("^Undo")).click()
        until(lambda: page.locator(".shelf tbody tr").count() == 3, "three models")
        page.page.context.close()


def test_a_failed_split_leaves_the_shelf_and_gives_the_hint(page_of, halves):
    with Server(*halves) as server:
        page = page_of().open(server, "#view=workbench")
        for box in page.locator(".shelf input").all():
            box.check()
        page.get_by_role("button", name=re.compile("^Split")).click()
        until(lambda: page.locator("#main .notice.error").count() == 1, "the error")
        assert "The shelf is unchanged" in page.locator("#main .notice.error").inner_text()
        assert page.locator(".shelf tbody tr").count() == 2
        page.messages.clear()
        page.page.context.close()


FAIL = {"status": 500, "content_type": "application/json", "body": '{"error": "no more paper"}'}


def test_a_result_that_cannot_be_compared_is_still_on_the_shelf(page, halves):
    with Server(*halves) as server:
        page.page.route("**/spectrum*", lambda route: route.fulfill(**FAIL))
        page.open(server, "#view=workbench")
        glance = page.locator(".result .notice.error")
        until(lambda: "no more paper" in glance.inner_text(), "the reason of the first look")
        for box in page.locator(".shelf input").all():
            box.check()
        page.get_by_role("button", name="Merge").click()
        error = page.locator("#main div > .notice.error[role=alert]", has_text="on the shelf")
        until(lambda: error.count() == 1, "what became of it")
        assert "first + second is on the shelf, but cannot be compared" in error.inner_text()
        assert page.locator(".shelf tbody tr").count() == 3
        page.page.unroute_all()
        glance.get_by_role("button", name="Try again").click()
        until(lambda: page.locator(".result path.line").count() == 3, "the shelf")
        page.messages.clear()
        page.page.context.close()


def test_the_lines_of_many_models_differ(page, halves):
    with Server(*(4 * [halves[0]]), *(4 * [halves[1]])) as server:
        page.open(server, "#view=workbench")
        for box in page.locator(".shelf input").all():
            box.check()
        page.get_by_role("button", name="Merge").click()
        lines = page.locator(".result path.line")
        until(lambda: lines.count() == 9, "nine lines")
        looks = lines.evaluate_all("""(paths) => paths.map((path) => {
          const { stroke, strokeDasharray } = getComputedStyle(path);
          return `${stroke} ${strokeDasharray}`;
        })""")
        assert len(set(looks)) == 9
        accent = page.evaluate("getComputedStyle(document.querySelector('a')).color")
        assert not any(look.startswith(accent) for look in looks)
        page.page.context.close()


def test_forgetting_rows_equals_a_fit_without_them(page_of, directory, iris_model, iris_csv):
    lines = iris_csv.read_text().splitlines()
    (directory / "rest.csv").write_text("\n".join([lines[0], *lines[51:]]) + "\n")
    command(
        "fit",
        directory / "rest.csv",
        "--label",
        "species",
        "-o",
        directory / "rest.safetensors",
        "--quiet",
    )
    expected = json.loads(command("inspect", directory / "rest.safetensors", "--json"))[
        "explained_variance"
    ]
    with Server(iris_model, iris_csv, "--label", "species") as server:
        page = page_of().open(server, "#view=monitor")
        chart = page.locator("#main svg").first.bounding_box()
        left, right = chart["x"] + 64, chart["x"] + chart["width"] - 16
        page.mouse.move(left - 20, chart["y"] + 80)
        page.mouse.down()
        page.mouse.move(left + 6 + (right - left - 12) * 49.5 / 149, chart["y"] + 80, steps=5)
        page.mouse.up()
        until(
            lambda: page.locator(".selected strong").inner_text() == "50 rows selected", "50 rows"
        )
        page.keyboard.press("7")
        page.get_by_role("button", name="Forget 50").click()
        until(
            lambda: (
                page.locator(".result h2").count() > 0
                and page.locator(".result h2").first.inner_text().startswith("Forgot")
            ),
            "the result",
        )
        made = page.evaluate("fetch('api/models/1/spectrum').then((r) => r.json())")["components"]
        found = [c["explained_variance"][1] for c in made][: len(expected)]
        assert found == pytest.approx(expected, rel=1e-9)
        page.page.context.close()


def test_added_rows_equal_a_fit_with_them(page_of, directory, halves, iris_csv):
    rows = np.loadtxt(directory / "second.csv", delimiter=",", skiprows=1, usecols=range(4))
    np.save(directory / "second.npy", rows)
    with Server(halves[0]) as server:
        page = page_of().open(server, "#view=workbench")
        page.get_by_label("Rows to add").set_input_files(directory / "second.npy")
        until(lambda: page.locator(".shelf tbody tr").count() == 2, "the new model")
        until(lambda: page.locator(".result tbody tr").count() == 2, "the comparison")
        made = page.evaluate("fetch('api/models/1/spectrum').then((r) => r.json())")["components"]
        page.page.context.close()
    table = np.loadtxt(iris_csv, delimiter=",", skiprows=1, usecols=range(4))
    expected = np.linalg.eigvalsh(np.cov(table.T))[::-1]
    assert [c["explained_variance"][1] for c in made] == pytest.approx(expected, rel=1e-9)


def test_models_are_saved_once_and_only_with_write(page_of, halves, tmp_path):
    with Server(*halves, "--write", tmp_path) as server:
        page = page_of().open(server, "#view=workbench")
        page.get_by_role("button", name="Save first").click()
        page.get_by_role("button", name="Save", exact=True).click()
        until(lambda: (tmp_path / "first.safetensors").exists(), "the file")
        until(lambda: page.locator(".toast.info").count() == 1, "the message")
        until(lambda: page.locator("dialog").count() == 0, "the dialog to close")
        saved = (tmp_path / "first.safetensors").read_bytes()
        page.get_by_role("button", name="Save first").click()
        page.get_by_role("button", name="Save", exact=True).click()
        until(lambda: "choose another name" in page.locator("dialog").inner_text(), "the refusal")
        assert (tmp_path / "first.safetensors").read_bytes() == saved
        page.get_by_label("Name of the file").fill("again")
        page.get_by_role("button", name="Save", exact=True).click()
        until(lambda: (tmp_path / "again.safetensors").exists(), "the other file")
        page.messages.clear()
        page.page.context.close()
    with Server(*halves) as server:
        page = page_of().open(server, "#view=workbench")
        assert page.get_by_role("button", name="Save").count() == 0
        page.page.context.close()


def test_a_full_disk_is_told_and_the_page_goes_on(page_of, directory, tmp_path):
    """No file may grow beyond 16 KiB, as on a full disk."""
    np.save(directory / "large.npy", np.random.default_rng(0).normal(size=(20, 300)))
    command("fit", directory / "large.npy", "-o", directory / "large.safetensors", "--quiet")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    with Server(directory / "large.safetensors", "--write", tmp_path, preexec_fn=limit) as server:
        page = page_of().open(server, "#view=workbench")
        page.get_by_role("button", name="Save large").click()
        page.get_by_role("button", name="Save", exact=True).click()
        until(lambda: "disk" in page.locator("dialog [role=alert]").inner_text(), "the reason")
        assert list(tmp_path.iterdir()) == []
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        until(lambda: page.locator("#main svg rect.fill").count() == 19, "the variances")
        page.messages.clear()
        page.page.context.close()


def test_the_variance_table_equals_inspect(page, iris_server, iris_model):
    expected = json.loads(command("inspect", iris_model, "--json"))["explained_variance"]
    page.open(iris_server, "#view=variance")
    page.locator("#main summary").first.click()
    page.locator("#main tbody tr").first.wait_for()
    shown = [
        float(row.split("\t")[1]) for row in page.locator("#main tbody tr").all_inner_texts()[:2]
    ]
    assert shown == pytest.approx(expected[:2], rel=1e-3)


KINDS = {
    "map": ["scatter", "biplot"],
    "variance": ["scree"],
    "features": ["circle"],
    "monitor": ["monitor"],
}


@pytest.mark.parametrize("view", KINDS)
def test_exports_equal_plot(page, iris_server, iris_model, iris_csv, tmp_path, view):
    page.open(iris_server, f"#view={view}&k=2")
    page.wait_for_timeout(300)
    page.keyboard.press("e")
    for kind in KINDS[view]:
        for end in ("svg", "png"):
            with page.expect_download() as download:
                page.get_by_role("link", name=f"{kind}.{end}").click()
            data = [iris_csv, "--label", "species"] if kind not in ("scree", "circle") else []
            command("plot", kind, iris_model, *data, "-o", tmp_path / f"x.{end}", "--quiet")
            assert download.value.path().read_bytes() == (tmp_path / f"x.{end}").read_bytes(), kind


def test_the_exported_model_is_the_file(page, iris_server, iris_model):
    page.open(iris_server)
    page.keyboard.press("e")
    with page.expect_download() as download:
        page.get_by_role("link", name="iris.safetensors").click()
    text = command("compare", download.value.path(), iris_model, "--within", "1e-12")
    assert "yes" in text
