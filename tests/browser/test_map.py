"""The map: points that are drawn, picked, hidden and selected, with and without WebGL."""

import json
import urllib.request

import numpy as np
from explorer import Server, launch, until, write_csv
from PIL import Image

BLUE, VERMILION, GREEN = (0, 114, 178), (213, 94, 0), (0, 158, 115)


LOSE = """() => {
  const context = document.querySelector(".plot canvas").getContext("webgl2");
  window.lost = context.getExtension("WEBGL_lose_context");
  window.lost.loseContext();
}"""


# The mean opacity in the middle of the map, and halfway to a corner of the points.
OPACITY = """() => {
  const from = document.querySelector(".plot canvas");
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [from.width, from.height];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(from, 0, 0);
  const mean = (x, y) => {
    const { data } = context.getImageData(x - 5, y - 5, 10, 10);
    return data.filter((_, i) => i % 4 === 3).reduce((a, b) => a + b, 0) / 100;
  };
  const [w, h] = [from.width, from.height];
  return [mean(w >> 1, h >> 1), mean((w >> 1) + (h >> 2), (h >> 1) + (h >> 2))];
}"""


# The red channel of a picture.
PIXELS = """(image) => {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [image.naturalWidth, image.naturalHeight];
  const context = copy.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  return [...data].filter((_, i) => i % 4 === 0);
}"""


def fetch(server, path):
    with urllib.request.urlopen(f"{server.url}api/{path}") as answer:
        return json.load(answer)


def place_of(page, server, row: int) -> tuple[float, float]:
    """Where a row is on the screen, computed from its scores and the numbers on the axes."""
    scores = fetch(server, f"models/0/rows/{row}?k=2")["scores"]
    ticks = page.evaluate(
        """() => [...document.querySelectorAll(".plot .layer:first-child text.tick")].map((t) => {
          const box = t.getBoundingClientRect();
          const value = Number(t.textContent.replace("\u2212", "-").replace(",", ""));
          const end = t.getAttribute("text-anchor") === "end";
          return { value, end, x: box.x + box.width / 2, y: box.y + box.height / 2 };
        })"""
    )
    found = []
    for score, kind in ((scores[0], False), (scores[1], True)):
        at = [(t["value"], t["y" if kind else "x"]) for t in ticks if t["end"] == kind]
        (v0, p0), (v1, p1) = at[0], at[-1]
        found.append(p0 + (score - v0) / (v1 - v0) * (p1 - p0))
    return found[0], found[1]


def test_all_points_are_drawn_in_the_colors_of_their_labels(page, iris_server):
    page.open(iris_server)
    assert page.drawn() == 150
    assert "WebGL2" in page.status()
    assert all(page.ink(color) > 400 for color in (BLUE, VERMILION, GREEN))
    titles = page.locator(".plot .axis-name").all_text_contents()
    assert titles == ["PC 1 (92.5 %)", "PC 2 (5.3 %)"]


def test_points_of_later_chunks_have_their_colors(page, tmp_path):
    random = np.random.default_rng(0)
    labels = ["abc"[i] for i in random.integers(0, 3, 45_000)]
    places = [[20.0 * "abc".index(c), 0.0] for c in labels] + random.normal(size=(45_000, 2))
    data = write_csv(tmp_path / "many.csv", ["x", "y", "kind"], places, labels)
    with Server(data, "--label", "kind") as server:
        page.open(server)
        assert page.drawn() == 45_000
        ink = [page.ink(color) for color in (BLUE, VERMILION, GREEN)]
        assert min(ink) > 0.5 * max(ink) > 500
        page.page.context.close()


def test_the_picked_row_is_the_row_under_the_pointer(page, iris_server):
    page.open(iris_server)
    page.drawn()
    for row in (41, 60, 117):
        page.mouse.click(*place_of(page, iris_server, row))
        until(lambda: page.state().get("row"), "a row")
        chosen = int(page.state()["row"])
        mine, other = (
            fetch(iris_server, f"models/0/rows/{r}?k=2")["scores"] for r in (row, chosen)
        )
        assert max(abs(a - b) for a, b in zip(mine, other, strict=True)) < 0.02
        until(
            lambda r=chosen: (
                page.locator("#inspector h2").first.get_attribute("data-row") == str(r)
            ),
            "the row",
        )


def test_the_picture_of_a_picked_row_is_that_rows(page, digits_server, digits_directory):
    page.open(digits_server)
    page.drawn()
    for clicked in (1234, 77):
        page.mouse.click(*place_of(page, digits_server, clicked))
        chosen = int(page.state()["row"])
        name = fetch(digits_server, f"models/0/rows/{chosen}")["name"]
        until(lambda n=name: page.locator("#inspector h2").first.inner_text() == n, "the name")
        image = page.locator(".pictures img").first
        until(
            lambda i=image, c=chosen: (
                f"/rows/{c}/original.png" in i.evaluate("(i) => i.currentSrc")
                and i.evaluate("(i) => i.complete")
            ),
            "the picture",
        )
        expected = np.asarray(Image.open(digits_directory / name))
        assert image.evaluate(PIXELS) == expected.ravel().tolist()


def test_the_legend_hides_and_isolates(page, iris_server):
    page.open(iris_server)
    page.drawn()
    page.get_by_role("button", name="setosa 50").click()
    until(lambda: page.ink(BLUE) == 0, "hidden points")
    assert page.ink(VERMILION) > 400
    assert page.state()["hide"] == "0"
    page.get_by_role("button", name="Only setosa").click(force=True)
    until(lambda: page.ink(BLUE) > 400 and page.ink(VERMILION) == 0, "only setosa")
    page.get_by_role("button", name="Show all labels").click()
    until(lambda: page.ink(VERMILION) > 400, "all points")


def test_a_lasso_selects_rows_in_all_views(page, iris_server):
    page.open(iris_server)
    page.drawn()
    plot = page.locator(".plot").bounding_box()
    page.keyboard.press("l")
    corners = [
        (60, 20),
        (60, plot["height"] - 60),
        (plot["width"] * 0.3, plot["height"] - 60),
        (plot["width"] * 0.3, 20),
        (60, 20),
    ]
    for i, (x, y) in enumerate(corners):
        page.mouse.move(plot["x"] + x, plot["y"] + y, steps=3)
        if i == 0:
            page.mouse.down()
    page.mouse.up()
    text = until(lambda: page.locator(".selected strong").inner_text(), "a selection")
    assert 0 < int(text.split()[0]) < 150
    page.keyboard.press("6")
    until(
        lambda: page.locator("#main circle.selected").count() == 2 * int(text.split()[0]),
        "selected rows on the Monitor",
    )
    page.keyboard.press("7")
    assert page.get_by_role("button", name=f"Forget {text.split()[0]} selected").is_enabled()
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    until(lambda: not page.locator(".selected").is_visible(), "no selection")


def test_search_finds_a_row_by_name(page, digits_server):
    page.open(digits_server)
    page.get_by_label("Search rows").fill("/1500.png")
    page.keyboard.press("Enter")
    until(lambda: page.locator("#inspector h2").first.inner_text().endswith("1500.png"), "the row")


def test_color_by_a_number_and_three_axes(page, digits_server):
    page.open(digits_server, "#color=q")
    assert page.drawn() == 1797
    until(lambda: page.locator(".legend .ramp").count() == 1, "the color ramp")
    page.get_by_role("button", name="3-D").click()
    until(lambda: page.locator(".plot .axis-name").count() == 3, "three axes")
    page.drawn()
    before = page.screenshot()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_timeout(400)
    assert page.screenshot() != before
    assert len(page.state()["at"].split(",")) == 5


def test_one_of_many_columns_is_found_by_its_name(page, tmp_path):
    random = np.random.default_rng(0)
    names = [f"gene {i + 1}" for i in range(300)]
    data = write_csv(tmp_path / "genes.csv", names, random.normal(size=(50, 300)))
    with Server(data) as server:
        page.open(server)
        page.drawn()
        page.get_by_label("Color").select_option("search")
        page.get_by_label("Column to color by").fill("gene 217")
        page.keyboard.press("Enter")
        until(lambda: page.locator(".legend .ramp").count() == 1, "the color ramp")
        assert page.state()["color"] == "feature:216"
        assert page.locator(".legend h2").inner_text() == "gene 217"
        page.page.context.close()


def test_many_points_show_where_they_are_dense(page, tmp_path):
    random = np.random.default_rng(0)
    spread = random.uniform(-3, 3, size=(200_000, 2))
    dense = random.normal(size=(50_000, 2)) * 0.1
    np.save(tmp_path / "many.npy", np.vstack([spread, dense]).astype(np.float32))
    with Server(tmp_path / "many.npy") as server:
        page.open(server)
        assert page.drawn() == 250_000
        middle, corner = page.evaluate(OPACITY)
        assert middle > 2 * corner > 0
        assert corner < 200
        page.page.context.close()


def test_arrows_show_features_with_their_scale(page, iris_server):
    page.open(iris_server, "#arrows=4")
    until(lambda: page.locator(".plot line.arrow").count() == 4, "four arrows")
    text = page.locator(".plot").text_content()
    assert "loadings \N{MULTIPLICATION SIGN}" in text
    assert "petal length" in text


def test_a_lost_context_is_restored(page, iris_server):
    page.open(iris_server)
    page.drawn()
    page.evaluate(LOSE)
    until(lambda: "lost" in page.status(), "the loss to be reported")
    page.evaluate("window.lost.restoreContext()")
    until(
        lambda: "lost" not in page.status() and page.status().startswith("150 "), "the restored map"
    )
    until(lambda: page.ink(BLUE) > 400, "points")


def test_a_context_that_stays_lost_is_replaced_by_a_canvas(page, iris_server):
    page.open(iris_server)
    page.drawn()
    page.evaluate(LOSE)
    until(lambda: "2-D canvas" in page.status(), "the plain canvas")
    assert page.ink(BLUE) > 400


def test_without_webgl_a_canvas_draws_and_says_so(page_of, playwright, iris_server):
    plain = launch(playwright, "--disable-3d-apis")
    try:
        page = page_of(browser=plain).open(iris_server)
        assert page.drawn() == 150
        assert "2-D canvas (no WebGL)" in page.status()
        assert all(page.ink(color) > 400 for color in (BLUE, VERMILION, GREEN))
        page.page.context.close()
    finally:
        plain.close()
