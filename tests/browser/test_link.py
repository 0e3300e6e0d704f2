"""The fragment holds what the page shows, and nothing in it can break the page."""

import subprocess

from explorer import Server, until

FULL = "#v=1&view=map&m=0&axes=2,3&color=q&k=3&row=17&c=2&t=-1.5&at=0.5,-0.25,2&arrows=3&log=1"


def test_a_fragment_survives_a_round_trip(page, page_of, iris_server):
    page.open(iris_server, FULL)
    assert page.drawn() == 150
    once = page.state()
    assert once == dict(part.split("=", 1) for part in FULL[1:].split("&"))
    other = page_of().open(iris_server, "#" + page.url.split("#")[1])
    other.drawn()
    assert other.state() == once
    drawing = "document.querySelector('.plot .layer').outerHTML"
    assert page.evaluate(drawing) == other.evaluate(drawing)


def test_a_link_stays_short_and_readable(page, tmp_path, iris_server):
    page.open(iris_server, FULL + "&hide=" + ",".join(str(i) for i in range(5000)))
    page.drawn()
    page.keyboard.press("]")
    page.wait_for_timeout(400)
    fragment = "#" + page.url.split("#")[1]
    assert len(fragment.encode()) < 2048
    assert "axes=2,3" in fragment


def test_invalid_fragments_are_ignored(page, iris_server):
    hostile = "#view=%3Cscript%3E&m=99&axes=0,999999&k=-4&row=1e99&color=feature:99999"
    hostile += "&at=NaN,1,2&__proto__=1&hide=x&t=900"
    page.open(iris_server, hostile)
    assert page.locator("#tabs a[aria-current]").inner_text() == "Map"
    # There is no such column, so the map has the colors of the labels, and says why.
    toast = page.locator(".toast.error")
    until(lambda: toast.count() == 1, "the reason")
    assert "cannot color by `feature:99999`" in toast.inner_text()
    assert page.drawn() == 150
    assert "color" not in page.state()
    assert page.locator("#main .notice").count() == 0
    page.locator("#main .tools .field", has_text="Color").locator("select").select_option("q")
    until(lambda: page.locator(".legend .ramp").count() == 1, "another color")
    page.messages.clear()


def test_copied_link_and_command_open_the_same_view(
    page_of, browser, iris_server, iris_model, iris_csv
):
    page = page_of(permissions=["clipboard-read", "clipboard-write"]).open(
        iris_server, "#view=features&axes=1,3&row=5"
    )
    page.get_by_role("button", name="Copy link").click()
    until(lambda: page.locator(".toast").count() == 1, "the message")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(iris_server.url)
    assert "axes=1,3" in link
    page.get_by_role("button", name="Copy command").click()
    until(lambda: page.locator(".toast").count() == 2, "the message")
    text = page.evaluate("navigator.clipboard.readText()")
    assert iris_server.url.split("/")[3] not in text
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {text}"], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    assert words[:2] == ["eigenspace", "explore"]
    assert words[-2] == "--state"
    with Server(iris_model, iris_csv, "--label", "species", "--state", words[-1]) as again:
        other = page_of().open(again)
        assert other.state() == page.state()
        other.page.context.close()


def test_back_returns_to_the_view_before(page, iris_server):
    page.open(iris_server, "#view=map")
    page.keyboard.press("1")
    page.keyboard.press("5")
    page.go_back()
    until(
        lambda: page.locator("#tabs a[aria-current]").inner_text() == "Variance", "the view before"
    )
