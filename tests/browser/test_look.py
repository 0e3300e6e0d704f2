"""Light and dark, small windows, names and contrast for people who do not see or do not point."""

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from explorer import Server, command, until, write_csv
from test_views import VIEWS


def luminance(color: str) -> float:
    channels = [float(x) / 255 for x in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible(page_of, iris_server, faces_server, scheme):
    page = page_of(color_scheme=scheme)
    found = []
    for server, views in ((iris_server, VIEWS[:-1]), (faces_server, ["row", "walk", "faces"])):
        for view in views:
            page.open(server, f"#view={view}&row=17")
            page.wait_for_timeout(400)
            for violation in Axe().run(page.page).response["violations"]:
                found += [
                    (view, violation["id"], node["html"][:120], node["failureSummary"][:200])
                    for node in violation["nodes"]
                ]
    assert found == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs_and_answers_are_accessible(
    page_of, faces_server, people_directory, halves, tmp_path, scheme
):
    def violations(page):
        page.wait_for_timeout(400)  # colors of buttons change gradually
        return [
            (violation["id"], node["html"][:120], node["failureSummary"][:200])
            for violation in Axe().run(page.page).response["violations"]
            for node in violation["nodes"]
        ]

    page = page_of(color_scheme=scheme).open(faces_server, "#view=faces")
    page.locator("#face").set_input_files(people_directory / "person 3" / "4.png")
    until(lambda: page.locator("[data-verdict=known]").count() == 1, "the verdict")
    assert violations(page) == []
    page.page.context.close()
    with Server(*halves, "--write", tmp_path) as server:
        page = page_of(color_scheme=scheme).open(server, "#view=workbench")
        for box in page.locator(".shelf input").all():
            box.check()
        page.get_by_role("button", name="Merge").click()
        until(lambda: page.locator(".result tbody tr").count() == 3, "the comparison")
        assert violations(page) == []
        for key in ("?", "e", "Save first"):
            if len(key) == 1:
                page.keyboard.press(key)
            else:
                page.get_by_role("button", name=key, exact=True).click()
            until(lambda: page.locator("dialog").is_visible(), "the dialog")
            assert violations(page) == [], key
            page.keyboard.press("Escape")
            until(lambda: page.locator("dialog").count() == 0, "the dialog to close")
        page.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out_from_the_background(page_of, iris_server, scheme):
    """At least 3:1, as WCAG asks of graphics: all colors of labels, and both ends of the ramp."""
    page = page_of(color_scheme=scheme).open(iris_server)
    colors = page.evaluate("""() => {
      const classes = Array.from({ length: 10 }, (_, i) => `c${i}`);
      const names = ["none", "accent", "r0", "r3", ...classes];
      const color = (name) => {
        const probe = document.createElement("i");
        probe.className = name;
        document.body.append(probe);
        return getComputedStyle(probe).color;
      };
      return Object.fromEntries(names.map((name) => [name, color(name)]));
    }""")
    background = luminance(
        page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    )
    assert len(set(colors.values())) == len(colors)
    for name, color in colors.items():
        low, high = sorted([luminance(color), background])
        assert (high + 0.05) / (low + 0.05) >= 3, (name, color)


def test_dark_follows_the_system_without_a_reload(page, iris_server):
    page.open(iris_server)
    page.drawn()
    light = page.evaluate("getComputedStyle(document.body).color")
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).color")
    assert luminance(light) < 0.1 < 0.6 < luminance(dark)
    until(lambda: page.ink((75, 163, 220)) > 400, "points in the colors of the dark theme")


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_a_phone(page_of, iris_server, view):
    page = page_of(viewport={"width": 400, "height": 800}).open(iris_server, f"#view={view}&row=17")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.page.context.close()


def test_no_label_is_cut_off(page_of, tmp_path):
    """Numbers in millions, long names and many components have room."""
    random = np.random.default_rng(2)
    rows = 1e5 * random.normal(size=(90, 40)) * np.linspace(9, 1, 40)
    names = [f"a column with a long name {i}" for i in range(40)]
    data = write_csv(tmp_path / "large.csv", names, rows)
    cut = """() => [...document.querySelectorAll("#body svg text")].filter((text) => {
      const [inner, outer] = [text, text.ownerSVGElement].map((x) => x.getBoundingClientRect());
      return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1
        || inner.top < outer.top - 3 || inner.bottom > outer.bottom + 3);
    }).map((text) => text.textContent)"""
    command("fit", data, "-k", "5", "-o", tmp_path / "large.safetensors", "--quiet")
    with Server(tmp_path / "large.safetensors", data) as server:
        page = page_of()
        for view in VIEWS[:-1]:
            page.open(server, f"#view={view}&row=17&arrows=8")
            page.wait_for_timeout(400)
            assert page.evaluate(cut) == [], view
        page.page.context.close()


def test_every_chart_has_a_summary_and_a_table(page_of, halves, iris_csv):
    charts = {"variance": 2, "row": 1, "walk": 1, "features": 1, "monitor": 2, "workbench": 1}
    with Server(*halves, iris_csv, "--label", "species") as server:
        for view, expected in charts.items():
            page = page_of().open(server, f"#view={view}&row=17")
            until(lambda p=page, n=expected: p.locator("#main figure svg.chart").count() == n, view)
            for figure in page.locator("#main figure").all():
                until(
                    lambda f=figure: len(f.locator("svg").get_attribute("aria-label") or "") > 40,
                    "a summary for people who do not see",
                )
                assert len(figure.locator(".summary").inner_text()) > 20
                if view == "features":
                    assert page.locator("#main .list tbody tr").count() == 4
                    continue
                figure.get_by_text("Table", exact=True).click()
                until(lambda f=figure: f.locator("tbody tr").count() > 1, f"the table of {view}")
            page.page.context.close()
        page = page_of().open(server, "#view=map&row=17")
        page.drawn()
        assert "150 rows along PC 1" in page.locator(".plot").get_attribute("aria-label")
        page.get_by_text("Table", exact=True).first.click()
        until(lambda: page.locator("#main tbody tr").count() == 150, "the table of the map")
        page.page.context.close()
