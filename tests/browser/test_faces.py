"""Faces: known people, strangers, things that are not faces, and people who come and go."""

import json

import numpy as np
import pytest
from explorer import portrait, until
from PIL import Image


def save(path, pixels):
    Image.fromarray(pixels).save(path)
    return path


def ask(page, path) -> str:
    page.locator("#face").set_input_files(path)
    until(
        lambda: (
            page.locator("[data-verdict]").count() == 1
            and page.locator(".verdict .notice").count() == 0
        ),
        "the verdict",
    )
    return page.locator("[data-verdict]").get_attribute("data-verdict")


@pytest.fixture
def open_faces(page, faces_server):
    return page.open(faces_server, "#view=faces")


def test_a_stranger_is_unknown(open_faces, tmp_path):
    assert ask(open_faces, save(tmp_path / "stranger.png", portrait(51, 0))) == "unknown"


def test_noise_is_not_a_face(open_faces, tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (60, 48), dtype=np.uint8)
    assert ask(open_faces, save(tmp_path / "noise.png", noise)) == "not a face"


def test_an_enrolled_image_is_known(open_faces, people_directory):
    assert ask(open_faces, people_directory / "person 3" / "4.png") == "known"
    assert open_faces.locator(".who").inner_text() == "person 3"
    assert open_faces.locator(".matches li").count() == 5
    assert open_faces.locator(".ruler").count() == 2


DROPPED = """([bytes, name]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([Uint8Array.from(bytes)], name, { type: "image/png" }));
  return transfer;
}"""


def test_a_dropped_picture_is_recognized(open_faces, people_directory):
    page = open_faces
    picture = (people_directory / "person 3" / "4.png").read_bytes()
    transfer = page.evaluate_handle(DROPPED, [list(picture), "4.png"])
    drop = page.locator(".drop")
    drop.dispatch_event("dragover", {"dataTransfer": transfer})
    assert "over" in drop.get_attribute("class").split()
    drop.dispatch_event("drop", {"dataTransfer": transfer})
    until(lambda: page.locator(".who.known").count() == 1, "the verdict")
    assert page.locator(".who").inner_text() == "person 3"
    assert "over" not in drop.get_attribute("class").split()


def test_of_many_people_the_first_are_listed_and_others_found(page, faces_server):
    def crowded(route):
        session = json.loads(route.fetch().text())
        session["recognizer"]["people"] = [f"person {i + 1}" for i in range(250)]
        route.fulfill(body=json.dumps(session), content_type="application/json")

    page.page.route("**/api/session", crowded)
    page.page.route("**/api/stream*", lambda route: route.abort())
    page.open(faces_server, "#view=faces")
    people = page.locator(".people")
    until(lambda: "the first 200 of 250" in people.inner_text(), "how many are left out")
    assert people.locator("li").count() == 200
    page.get_by_label("Search people").fill("person 24")
    assert people.locator("li").count() == 11
    assert "the first" not in people.inner_text()
    page.page.context.close()
    page.messages.clear()


def test_a_wrong_size_gives_a_hint(open_faces, tmp_path):
    path = save(tmp_path / "small.png", np.zeros((5, 5), np.uint8))
    open_faces.locator("#face").set_input_files(path)
    until(lambda: open_faces.locator(".verdict .notice.error").count() == 1, "the error")
    assert "48" in open_faces.locator(".verdict .notice.error").inner_text()
    open_faces.messages.clear()


def test_somebody_enrolled_is_known_and_forgotten_again(open_faces, tmp_path):
    page = open_faces
    path = save(tmp_path / "new.png", portrait(51, 0))
    assert ask(page, path) == "unknown"
    page.get_by_label("Name of the person").fill("<b>Eve</b>")
    page.get_by_role("button", name="Enroll", exact=True).click()
    until(
        lambda: (
            page.locator(".who").count() == 1 and page.locator(".who").inner_text() == "<b>Eve</b>"
        ),
        "the new person",
    )
    page.get_by_role("button", name="Forget <b>Eve</b>").click()
    until(lambda: "12 people" in page.locator(".people").inner_text(), "twelve people")
    until(lambda: page.locator("[data-verdict=unknown]").count() == 1, "a stranger again")
    page.get_by_role("button", name="Restore").click()
    until(lambda: not page.get_by_role("button", name="Restore").is_enabled(), "the file's people")


def test_a_row_of_the_data_is_recognized(page, faces_server):
    page.open(faces_server, "#view=faces&row=17")
    page.get_by_role("button", name="Use row 17").click()
    until(lambda: page.locator("[data-verdict]").count() == 1, "the verdict")
    assert page.locator("[data-verdict]").get_attribute("data-verdict") == "known"
