"""Faces: known people, strangers, things that are not faces, and people who come and go."""

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
