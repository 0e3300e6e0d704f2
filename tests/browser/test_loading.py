"""The page loads what it shows and the rest later; a file that did not come is asked for again."""

import gzip
import signal

from explorer import Server, until

BUDGET = 30_000
NOT_FOR_THE_MAP = {
    "row.js",
    "inspector.js",
    "dialogs.js",
    "canvas2d.js",
    "views.css",
    "variance.js",
}


def loaded(page) -> set[str]:
    page.wait_for_timeout(20)  # requests are counted while Playwright waits
    return {url.rsplit("/", 1)[1] for url in page.requests if "/assets/" in url}


def test_the_map_loads_less_than_its_budget(page, iris_server):
    page.page.clock.install()
    page.open(iris_server)
    page.locator("#main .view").wait_for()
    first = loaded(page)
    assert not first & NOT_FOR_THE_MAP, "files of other views"
    files = ["", *(f"assets/{name}" for name in sorted(first))]
    sent = [page.request.get(iris_server.url + file).body() for file in files]
    size = sum(len(gzip.compress(body, 9, mtime=0)) for body in sent)
    assert size < BUDGET, f"{size} bytes: {files}"
    page.page.clock.run_for(1500)
    until(lambda: loaded(page) >= NOT_FOR_THE_MAP, "the files of the other views")


def test_what_was_loaded_works_without_the_server(page, iris_model, iris_csv):
    with Server(iris_model, iris_csv, "--label", "species") as server:
        page.open(server)
        until(lambda: loaded(page) >= NOT_FOR_THE_MAP, "all files")
        page.wait_for_timeout(300)
        server.process.send_signal(signal.SIGKILL)
        until(lambda: page.locator("#banner").is_visible(), "the banner")
        page.keyboard.press("?")
        until(lambda: page.locator("dialog").is_visible(), "the help")
        page.keyboard.press("Escape")
        page.keyboard.press("7")
        until(lambda: page.locator("#main .shelf").count() == 1, "the workbench")
        page.page.context.close()
        page.messages.clear()


def test_a_file_that_does_not_come_is_told_and_asked_for_again(page, iris_server):
    page.page.clock.install()
    late = ["**/assets/row.js", "**/assets/variance.js", "**/assets/dialogs.js"]
    for pattern in late:
        page.page.route(pattern, lambda route: route.abort())
    page.open(iris_server)
    page.keyboard.press(".")
    error = page.locator("#inspector .notice.error")
    until(lambda: error.count() == 1, "the error beside the map")
    assert "cannot load the row inspector" in error.inner_text()
    page.keyboard.press("?")
    until(lambda: "cannot load the dialog" in page.locator("#toasts").inner_text(), "the message")
    for pattern in late:
        page.page.unroute(pattern)
    error.get_by_role("button", name="Try again").click()
    until(lambda: page.locator("#inspector h2[data-row]").count() == 1, "the row")
    page.keyboard.press("?")
    until(lambda: page.locator("dialog").is_visible(), "the help")
    page.messages.clear()
