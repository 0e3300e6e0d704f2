"""What screens say about bounds of 1, standard deviations of 0, many features, and lost streams."""

import json
import signal

import numpy as np
from explorer import Server, command, until, write_csv


def test_where_nothing_is_certain_the_chart_is_hatched(page, directory, digits_directory):
    """Directions were dropped, so the bounds of the last components are 1."""
    model = directory / "dropped.safetensors"
    dropping = ["--engine", "factor", "--max-rank", "20", "--block-rows", "200"]
    command("fit", digits_directory, "-k", "5", *dropping, "-o", model, "--quiet")
    with Server(model) as server:
        page.open(server, "#view=variance")
        hatched = page.locator("#main rect[fill='url(#hatch)']")
        until(lambda: hatched.count() > 0, "the hatched part")
        assert "nothing is certain here" in page.locator("#main").inner_text()
        angles = json.loads(page.request.get(f"{server.url}api/models/0/spectrum").text())
        uncertain = [c["angle_bound"] >= 1 for c in angles["components"]]
        assert uncertain[-1]
        assert page.locator("#main rect.uncertain").count() == sum(uncertain)
        page.page.context.close()


def test_a_component_without_variance_cannot_be_walked(page, iris_server):
    def flat(route):
        answer = json.loads(route.fetch().text())
        for component in answer["components"]:
            component["explained_variance"] = [0, 0, 0]
        route.fulfill(body=json.dumps(answer), content_type="application/json")

    page.page.route("**/spectrum*", flat)
    page.open(iris_server, "#view=walk")
    until(lambda: page.locator("#main .tools .alarm:not([role])").count() == 1, "the reason")
    assert "standard deviation along this component is 0" in page.locator("#main").inner_text()
    assert page.get_by_label("Standard deviations from the mean").is_disabled()
    assert page.get_by_role("button", name="Play").is_disabled()


def test_where_all_components_are_used_q_is_zero_and_raises_no_alarm(page, iris_server):
    """What is left of the rows is rounding; its limit is rounding as well and means nothing."""
    page.open(iris_server, "#view=monitor&k=4&row=17")
    q = page.locator("#main figure").nth(1)
    until(lambda: "Q of every row is 0" in q.inner_text(), "the reason")
    assert q.locator(".alarm-mark, .limit").count() == 0
    stat = page.locator("#inspector .stat").nth(1)
    until(lambda: "all components used" in stat.inner_text(), "the reason beside the row")
    page.keyboard.press("[")
    until(lambda: q.locator(".limit").count() == 1, "the limit of three components")
    until(lambda: "limit" in stat.inner_text(), "the limit beside the row")


def test_of_many_features_the_most_important_are_shown_and_others_found(page, tmp_path):
    random = np.random.default_rng(4)
    rows = random.normal(size=(60, 600)) * np.linspace(2, 0.1, 600)
    data = write_csv(tmp_path / "many.csv", [f"gene {i}" for i in range(600)], rows)
    with Server(data, "-k", "3") as server:
        page.open(server, "#view=features")
        until(lambda: "40 of 600 features" in page.status(), "the first features")
        assert page.locator("#main .list tbody tr").count() == 40
        assert "0.00 %" not in page.locator("#main .list tbody").inner_text()
        page.locator("#main [type=search]").fill("gene 599")
        until(lambda: page.locator("#main .list tbody tr").count() == 1, "the feature")
        assert "gene 599" in page.locator("#main .list tbody").inner_text()
        page.page.context.close()


def test_the_monitor_waits_for_rows_and_says_that_it_reconnects(
    page, tmp_path, iris_model, iris_csv
):
    header, *lines = [line.rsplit(",", 1)[0] for line in iris_csv.read_text().splitlines()]
    live = tmp_path / "live.csv"
    live.write_text(header + "\n")
    with Server(iris_model, "--watch", live) as server:
        page.open(server, "#view=monitor")
        notice = page.locator("#main .notice.empty")
        until(lambda: notice.count() == 1, "the notice")
        assert "Waiting for rows" in notice.inner_text()
        assert "live.csv" in notice.inner_text()
        with live.open("a") as out:
            out.write("\n".join(lines[:40]) + "\n")
        until(lambda: "40 rows watched" in page.status(), "the rows")
        server.process.send_signal(signal.SIGKILL)
        until(lambda: "reconnecting" in page.status(), "the word")
        assert page.locator("#main figure svg.chart").count() >= 2, "what was there stays"
        page.messages.clear()
        page.page.context.close()
        page.messages.clear()


def test_beyond_a_thousand_components_the_chart_says_where_it_ends(page, tmp_path):
    rows = np.random.default_rng(5).normal(size=(1006, 1004)).astype(np.float32)
    np.save(tmp_path / "wide.npy", rows)
    command("fit", tmp_path / "wide.npy", "-o", tmp_path / "wide.safetensors", "--quiet")
    with Server(tmp_path / "wide.safetensors") as server:
        page.open(server, "#view=variance&k=1003")
        chart = page.locator("#main figure").first
        until(lambda: chart.locator("rect.fill").count() == 1000, "a thousand bars")
        assert "The chart shows the first 1,000 components" in chart.inner_text()
        assert "1,003 components of 1,004 directions kept explain 100.00 %" in chart.inner_text()
        assert page.status().startswith("1,000 of 1,004 components")
        handle = page.locator(".k-line[role=slider]")
        assert "k = 1,003" in handle.text_content()
        outer, inner = (x.bounding_box() for x in (chart.locator("svg.chart"), handle))
        assert outer["x"] <= inner["x"]
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        handle.focus()
        page.keyboard.press("ArrowRight")
        assert page.state()["k"] == "1004"
        page.page.context.close()
