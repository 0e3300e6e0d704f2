"""The server is gone, the page sleeps, rows arrive, or somebody lies about names."""

import signal
import subprocess
import time

import numpy as np
import pytest
from explorer import Server, command, launch, until, write_csv

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_another_name_for_this_machine_is_refused(playwright, iris_server):
    """DNS rebinding: a hostile page whose name resolves to 127.0.0.1 reads nothing."""
    browser = launch(playwright, "--host-resolver-rules=MAP evil.test 127.0.0.1")
    try:
        page = browser.new_page()
        path = iris_server.url.split("/", 3)[3]
        for target in ("", "api/session"):
            answer = page.goto(f"http://evil.test:{iris_server.port}/{path}{target}")
            assert answer.status == 421
            assert "iris" not in answer.text()
    finally:
        browser.close()


def test_a_wrong_token_shows_nothing(browser, iris_server):
    page = browser.new_page()
    answer = page.goto(f"http://127.0.0.1:{iris_server.port}/{'A' * 32}/")
    assert answer.status == 404
    page.close()


def test_two_tabs_see_what_the_other_does(page_of, halves):
    with Server(*halves) as server:
        one, two = (
            page_of().open(server, "#view=workbench"),
            page_of().open(server, "#view=workbench"),
        )
        for box in one.locator(".shelf input").all():
            box.check()
        one.get_by_role("button", name="Merge").click()
        for page in (one, two):
            until(
                lambda page=page: page.locator(".shelf tbody tr").count() == 3, "the merged model"
            )
        # Each tab undoes what it did, even after it was loaded again.
        assert two.get_by_role("button", name="Undo").is_disabled()
        one.reload()
        until(lambda: one.get_by_role("button", name="Undo first + second").is_enabled(), "undo")
        # What one tab removes, the other no longer shows, and says so.
        two.keyboard.press("1")
        two.locator("#model").select_option("2")
        until(lambda: "150 rows" in two.locator("#size").inner_text(), "the merged model")
        one.get_by_role("button", name="Undo").click()
        until(lambda: "was removed in another tab" in two.locator("#toasts").inner_text(), "why")
        until(lambda: "75 rows" in two.locator("#size").inner_text(), "a model that is there")
        until(lambda: two.locator("#main svg rect.fill").count() == 4, "its variances")
        assert two.locator("#main .notice.error").count() == 0
        assert "another tab" not in one.locator("#toasts").inner_text()
        for page in (one, two):
            page.page.context.close()


def test_a_killed_server_is_reported_with_the_command(page, iris_model, iris_csv):
    with Server(iris_model, iris_csv, "--label", "species") as server:
        page.open(server)
        server.process.send_signal(signal.SIGKILL)
        until(lambda: page.locator("#banner").is_visible(), "the banner")
        assert "eigenspace explore" in page.locator("#banner").inner_text()
        page.messages.clear()
    page.page.context.close()


def test_the_page_recovers_when_the_server_answers_again(page, iris_server):
    page.open(iris_server)
    until(lambda: page.locator("#status-live").inner_text() == "live", "the stream")
    page.page.context.set_offline(True)
    page.keyboard.press(".")
    until(lambda: page.locator("#banner").is_visible(), "the banner")
    page.page.context.set_offline(False)
    until(lambda: not page.locator("#banner").is_visible(), "the page to recover")
    page.keyboard.press(".")
    until(lambda: page.locator("#inspector h2[data-row]").count() == 1, "a row")
    page.messages.clear()


def test_a_hidden_page_closes_the_stream_and_opens_it_again(page, iris_server):
    page.open(iris_server)
    until(lambda: page.locator("#status-live").inner_text() == "live", "the stream")
    before = sum("api/stream" in url for url in page.requests)
    page.evaluate(HIDE, True)
    until(lambda: "paused" in page.locator("#status-live").inner_text(), "the pause")
    page.wait_for_timeout(500)
    assert sum("api/stream" in url for url in page.requests) == before
    page.evaluate(HIDE, False)
    until(lambda: page.locator("#status-live").inner_text() == "live", "the stream")
    assert sum("api/stream" in url for url in page.requests) == before + 1


def test_a_frozen_server_answers_when_it_wakes(page, watched):
    """A laptop that sleeps stops the command as well; nothing is lost, and nothing comes twice."""
    server, arrive = watched
    page.goto(server.url + "#view=monitor")
    until(lambda: "50 rows watched" in page.status(), "the first rows")
    server.process.send_signal(signal.SIGSTOP)
    arrive(30)
    page.keyboard.press(".")
    time.sleep(2)
    assert "50 rows watched" in page.status()
    server.process.send_signal(signal.SIGCONT)
    until(lambda: "80 rows watched, the last 80 shown" in page.status(), "the new rows")
    until(lambda: page.locator("#inspector h2[data-row]").count() == 1, "the row")
    assert not page.locator("#banner").is_visible()
    page.page.context.close()


def test_rows_that_arrive_while_the_page_is_hidden_are_shown_later(page, watched):
    server, arrive = watched
    page.goto(server.url + "#view=monitor")
    until(lambda: "50 rows watched" in page.status(), "the first rows")
    page.evaluate(HIDE, True)
    until(lambda: "paused" in page.locator("#status-live").inner_text(), "the pause")
    arrive(30)
    time.sleep(1)
    assert "50 rows watched" in page.status()
    page.evaluate(HIDE, False)
    until(lambda: "80 rows watched, the last 80 shown" in page.status(), "the rows, each once")
    page.page.context.close()


def test_data_alone_is_fitted_behind_the_page(page, iris_csv):
    with Server(iris_csv, "--label", "species") as server:
        page.open(server)
        assert page.drawn() == 150
        page.page.context.close()


def test_unreadable_data_shows_the_error(page, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,four\n")
    with Server(bad) as server:
        page.goto(server.url)
        until(lambda: page.locator("#main .notice.error").count() == 1, "the error")
        assert "four" in page.locator("#main .notice.error").inner_text()
        page.messages.clear()
        page.page.context.close()


def test_hostile_names_stay_text(page, tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    random = np.random.default_rng(0)
    data = write_csv(
        tmp_path / "evil.csv",
        [evil, "b</script>", "c", "kind"],
        random.normal(size=(40, 3)),
        [evil if i % 2 else "'\"&" for i in range(40)],
    )
    with Server(data, "--label", "kind") as server:
        for view in ("map", "features", "walk", "row", "variance", "monitor"):
            page.open(server, f"#view={view}&row=3&arrows=3&color=feature:0")
            page.wait_for_timeout(300)
            assert page.locator("img[src=x]").count() == 0
        page.open(server, "#view=features")
        assert evil in page.locator("#main tbody").inner_text()
        page.page.context.close()


@pytest.fixture
def watched(tmp_path):
    """A model of quiet rows, and a file that the command watches."""
    random = np.random.default_rng(1)
    mix = random.normal(size=(2, 6))
    header = [f"sensor {i + 1}" for i in range(6)]

    def rows(n, shift=0.0):
        return (
            random.normal(size=(n, 2)) @ mix
            + 0.1 * random.normal(size=(n, 6))
            + shift * np.eye(6)[2]
        )

    write_csv(tmp_path / "good.csv", header, rows(400))
    command("fit", tmp_path / "good.csv", "-k", "2", "-o", tmp_path / "good.safetensors", "--quiet")
    path = write_csv(tmp_path / "live.csv", header, rows(50))

    def arrive(n, shift=0.0):
        with path.open("a") as out:
            out.writelines(",".join(f"{x:.6g}" for x in row) + "\n" for row in rows(n, shift))

    with Server(tmp_path / "good.safetensors", "--watch", path) as server:
        yield server, arrive


def test_drift_raises_the_alarm(page, watched):
    server, arrive = watched
    page.goto(server.url + "#view=monitor")
    until(lambda: "50 rows watched" in page.status(), "the first rows")
    quiet = page.locator("#main .alarm-mark").count()
    assert quiet < 12
    arrive(60, shift=2.0)
    until(lambda: "110 rows watched" in page.status(), "the new rows")
    until(lambda: page.locator("#main .alarm-mark").count() >= quiet + 60, "alarms")
    mark = page.locator("#main figure").nth(1).locator(".alarm-mark").last.bounding_box()
    page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    until(lambda: page.locator("#inspector .contributions tbody tr").count() > 0, "contributions")
    assert (
        page.locator("#inspector .contributions tbody tr").first.inner_text().startswith("sensor 3")
    )
    page.get_by_role("button", name="Pause").click()
    arrive(20)
    time.sleep(1)
    assert "110 rows watched" in page.status()
    page.get_by_role("button", name="Resume").click()
    until(lambda: "130 rows watched" in page.status(), "the rows that came meanwhile")
    page.page.context.close()


def test_rows_from_standard_input_are_watched(page, tmp_path, iris_model, iris_csv):
    lines = [line.rsplit(",", 1)[0] for line in iris_csv.read_text().splitlines()]
    with Server(iris_model, "--watch", "-", stdin=subprocess.PIPE) as server:
        server.process.stdin.write(("\n".join(lines[:31]) + "\n").encode())
        server.process.stdin.flush()
        page.goto(server.url + "#view=monitor")
        until(lambda: "30 rows watched" in page.status(), "the rows")
        server.process.stdin.close()
        until(lambda: "ended" in page.status(), "the end of the input")
        page.page.context.close()


def test_rows_that_arrive_are_measured_with_the_reference_whatever_is_chosen(page, watched):
    server, _ = watched
    page.goto(server.url + "#view=monitor")
    until(lambda: "50 rows watched" in page.status(), "the first rows")
    tools, q = page.locator("#main .tools"), page.locator("#main figure").nth(1)
    assert "compared with good, k = 2" in tools.inner_text()
    until(lambda: page.locator("#model option").count() == 2, "the model of the rows")
    page.locator("#model").select_option(label="rows that arrived")
    for _ in range(6):
        page.keyboard.press("]")
    assert page.state()["k"] == "6", "all features"
    assert "compared with good, k = 2" in tools.inner_text()
    assert q.locator(".limit").count() == 1
    assert "of rows beyond the limit" in q.locator(".summary").inner_text()
    page.keyboard.press(".")
    page.locator("#inspector .contributions tbody tr").first.wait_for()
    answer = page.request.get(f"{server.url}api/watch/rows/0/contributions?top=8").json()
    assert answer["n_components"] == 2
    inspector = page.locator("#inspector")
    assert "compared with good, k = 2" in inspector.locator(".stats").inner_text()
    shown = [page.value(f"#inspector .stat:nth-child({i}) strong") for i in (1, 2)]
    assert shown == pytest.approx([answer["t2"], answer["q"]], rel=1e-9)
    feature = answer["features"][0]
    first = inspector.locator(".contributions tbody tr").first.inner_text().split()
    assert " ".join(first[:2]) == feature["name"]
    assert float(first[2].replace("\u2212", "-")) == pytest.approx(feature["t2"], rel=1e-3)
    # The data, with the model and the k that are chosen: nothing is left over.
    page.get_by_role("button", name="Data", exact=True).click()
    until(lambda: "Q of every row is 0" in q.locator(".summary").inner_text(), "no Q")
    until(lambda: "all components used" in inspector.locator(".stats").inner_text(), "why")
    assert "k = 6" in tools.inner_text()
    page.page.context.close()


def test_the_share_beyond_is_of_the_rows_that_are_kept(page, watched):
    server, arrive = watched
    page.goto(server.url + "#view=monitor")
    until(lambda: "50 rows watched" in page.status(), "the first rows")
    summary = page.locator("#main figure .summary").first
    assert "% of rows beyond" in summary.inner_text()
    arrive(5050)
    until(lambda: "5,100 rows watched, the last 5,000 shown" in page.status(), "the new rows")
    until(lambda: "% of the last 5,000 rows beyond" in summary.inner_text(), "which rows")
    page.page.context.close()


def test_a_watched_row_that_cannot_be_read_is_named(page, watched, tmp_path):
    server, _ = watched
    page.goto(server.url + "#view=monitor")
    until(lambda: "50 rows watched" in page.status(), "the first rows")
    with (tmp_path / "live.csv").open("a") as out:
        out.write("1,2,3,oops,5,6\n")
    error = page.locator("#main .notice.error")
    until(lambda: error.count() == 1, "the error")
    assert "oops" in error.inner_text()
    assert "line 52" in error.inner_text()
    # The rows before it are kept with the others.
    page.keyboard.press("2")
    assert page.drawn() == 50
    page.page.context.close()
