"""Every view opens without a message on the console, and nothing is requested from elsewhere."""

import json

import pytest
from explorer import until

VIEWS = ["variance", "map", "row", "walk", "features", "monitor", "workbench", "faces"]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_a_table_opens(page, iris_server, view):
    page.open(iris_server, f"#view={view}&row=17")
    assert page.locator("#tabs a[aria-current]").inner_text().lower() == view
    assert page.locator("#main .notice.error").count() == 0
    assert all(url.startswith(iris_server.url) for url in page.requests)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_images_opens(page, faces_server, view):
    page.open(faces_server, f"#view={view}&row=17")
    page.wait_for_timeout(300)
    assert page.locator("#main .notice.error").count() == 0
    broken = """() => [...document.images]
      .filter((i) => i.offsetParent && i.complete && !i.naturalWidth).map((i) => i.src)"""
    assert page.evaluate(broken) == []
    assert all(url.startswith(faces_server.url) for url in page.requests)


def test_the_keyboard_reaches_every_view_and_dialog(page, iris_server):
    page.open(iris_server)
    for number, view in enumerate(VIEWS, 1):
        page.keyboard.press(str(number))
        until(
            lambda view=view: page.locator("#tabs a[aria-current]").inner_text().lower() == view,
            view,
        )
        page.wait_for_timeout(50)
        assert "lost" not in page.status()
    page.keyboard.press("?")
    until(lambda: page.locator("dialog").is_visible(), "the help")
    page.keyboard.press("Escape")
    until(lambda: page.locator("dialog").count() == 0, "the dialog to close")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    until(lambda: page.get_by_role("link", name="scatter.svg").is_visible(), "the exports")
    page.keyboard.press("Escape")
    until(lambda: page.locator("dialog").count() == 0, "the dialog to close")
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.keyboard.press("]")
    assert page.state()["row"] == "1"
    assert page.state()["k"] == "3"
    page.keyboard.press(",")
    page.keyboard.press("[")
    assert page.state()["row"] == "0"
    before = page.state().get("at")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    page.wait_for_timeout(300)
    assert page.state()["at"] != before
    page.keyboard.press("-")
    page.keyboard.press("-")
    page.wait_for_timeout(300)
    # Both keys together: 1.25 times 0.8 times 0.8.
    assert float(page.state()["at"].split(",")[2]) == pytest.approx(0.8)
    page.keyboard.press("0")
    assert "at" not in page.state()
    page.keyboard.press("1")
    page.keyboard.press("l")
    until(lambda: page.locator(".plot.lasso").count() == 1, "the lasso on the map")
    page.keyboard.press("Escape")
    until(lambda: page.locator(".plot.lasso").count() == 0, "no lasso")


def test_walking_along_a_component_moves_the_features(page, iris_server):
    page.open(iris_server, "#view=walk&t=2")
    until(lambda: page.locator("#main svg rect.fill").count() == 4, "four features")
    before = page.locator("#main svg rect.fill").first.get_attribute("width")
    page.locator("input[type=range]").first.fill("-1")
    until(
        lambda: page.locator("#main svg rect.fill").first.get_attribute("width") != before,
        "shorter bars",
    )
    assert page.state()["t"] == "-1"
    page.get_by_role("button", name="Play").click()
    until(lambda: page.state()["t"] != "-1", "the walk to play")
    page.get_by_role("button", name="Pause").click()


def test_a_walk_goes_in_steps_where_motion_is_not_wanted(page_of, iris_server):
    page = page_of(reduced_motion="reduce").open(iris_server, "#view=walk&t=0")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('button')).transitionDuration")
        == "0s"
    )
    page.evaluate("""() => {
      window.steps = new Set();
      const output = document.querySelector("#main .tools output");
      const note = new MutationObserver(() => window.steps.add(output.textContent));
      note.observe(output, { childList: true });
    }""")
    page.get_by_role("button", name="Play").click()
    until(lambda: page.evaluate("window.steps.size") >= 3, "three steps")
    page.get_by_role("button", name="Pause").click()
    assert all("." not in step for step in page.evaluate("[...window.steps]"))
    page.page.context.close()


def test_features_are_filtered_and_searched(page, iris_server):
    page.open(iris_server, "#view=features")
    until(lambda: page.locator("#main tbody tr").count() == 4, "four features")
    page.get_by_label("Search features by name").fill("petal")
    until(lambda: page.locator("#main tbody tr").count() == 2, "two features")
    page.get_by_label("Search features by name").fill("")
    until(lambda: page.locator("#main tbody tr").count() == 4, "four features")
    page.get_by_label("Smallest cos²").fill("0.95")
    until(lambda: page.locator("#main tbody tr").count() < 4, "fewer features")
    page.get_by_label("Smallest cos²").fill("0")
    page.get_by_label("Smallest contribution").fill("1")
    until(lambda: page.locator("#main tbody tr").count() == 1, "the feature that contributes most")
    assert "petal length" in page.locator("#main tbody").inner_text()


def test_k_is_dragged_in_the_variance_chart(page, iris_server):
    page.open(iris_server, "#view=variance&k=2")
    chart = page.locator("#main svg").first.bounding_box()
    page.mouse.click(chart["x"] + 0.9 * chart["width"], chart["y"] + 0.5 * chart["height"])
    assert page.state()["k"] in ("3", "4")
    page.locator(".k-line[role=slider]").focus()
    page.keyboard.press("Home")
    assert page.state()["k"] == "1"
    page.get_by_role("button", name="Logarithmic").click()
    assert page.state()["log"] == "1"
    page.locator("#main summary").first.click()
    until(lambda: page.locator("#main tbody tr").count() == 4, "the table")


def test_the_line_of_k_follows_the_mouse(page, iris_server):
    page.open(iris_server, "#view=variance&k=1")
    bars = page.locator("#main figure").first.locator("rect.fill")
    until(lambda: bars.count() == 4, "four bars")
    line = page.locator(".k-line[role=slider]").bounding_box()
    third, fourth = (bars.nth(i).bounding_box() for i in (2, 3))
    y = line["y"] + line["height"] / 2
    page.mouse.move(line["x"] + line["width"] / 2, y)
    page.mouse.down()
    page.mouse.move((third["x"] + third["width"] + fourth["x"]) / 2, y, steps=8)
    assert page.state()["k"] == "3", "before the button is released"
    page.mouse.up()
    page.mouse.move(line["x"], y)
    assert page.state()["k"] == "3", "after it"
    summary = page.request.get(f"{iris_server.url}api/models/0/spectrum?k=3").json()["summary"]
    shown = page.locator("#main figure .summary").first
    until(lambda: shown.inner_text() == summary, "the share of three components")
    handle = page.locator(".k-line[role=slider]")
    assert handle.get_attribute("aria-valuenow") == "3"


def test_a_step_of_the_walk_that_fails_is_told(page, iris_server, faces_server):
    trouble = json.dumps({"error": "the disk is on fire", "hint": "use a fire extinguisher"})
    fail = {"status": 500, "content_type": "application/json", "body": trouble}
    for server in (iris_server, faces_server):
        page.open(server, "#view=walk&t=0")
        slider = page.get_by_label("Standard deviations from the mean")
        slider.wait_for()
        for pattern in ("**/walk?*", "**/walk.png?*"):
            page.page.route(pattern, lambda route: route.fulfill(**fail))
        slider.fill("-1.3")
        alert = page.locator("#main .tools [role=alert]")
        until(lambda a=alert: "the disk is on fire; use a fire" in a.inner_text(), "the reason")
        page.page.unroute_all()
        slider.fill("1.1")
        until(lambda a=alert: a.inner_text() == "", "the next step")
    page.messages.clear()
