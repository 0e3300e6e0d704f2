"""Errors say what is wrong with which argument, and their hints are what to write instead."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from odd import before, fitted, model
from PIL import Image

from eigenspace import (
    PCA,
    Accumulator,
    EigenspaceModel,
    FormatError,
    IncrementalPCA,
    datasets,
    faces,
    reconstruction_error,
    set_threads,
)

ROWS = before(4)
FRAME = pd.DataFrame(ROWS, columns=list("abcd"))
HOLE = FRAME.copy()
HOLE.loc[7, "c"] = np.nan
TEXT = FRAME.assign(e="north")
PIXELS = np.random.default_rng(3).integers(0, 256, size=(8, 12)).astype(float)
PEOPLE = ["s1", "s1", "s2", "s2", "s3", "s3", "s4", "s4"]
READ = "read the file first, for example with numpy.loadtxt or pandas.read_csv"
SCALED = "the images have values from .* to .*, but the images of the recognizer have 8 bits; "


@pytest.fixture(scope="module")
def recognizer(tmp_path_factory):
    """Return a recognizer of images of 4 x 3 pixels, read from files of 8 bits."""
    directory = tmp_path_factory.mktemp("people")
    for i, (person, pixels) in enumerate(zip(PEOPLE, PIXELS, strict=True)):
        (directory / person).mkdir(exist_ok=True)
        Image.fromarray(pixels.reshape(3, 4).astype(np.uint8)).save(directory / person / f"{i}.pgm")
    return faces.train(directory, classifier="knn")


def raised(call):
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        call()
    return str(caught.value), caught.value.hint


MESSAGES = {
    "a negative number of threads": (
        lambda: set_threads(-1),
        "invalid number of threads -1: expected a number from 1 to 1024",
        "pass a number from 1 to 1024, or None for one thread per core",
    ),
    "an accumulator in place of a model": (
        lambda: EigenspaceModel.from_bytes(Accumulator().absorb(ROWS).to_bytes()),
        "not a valid model: it is an accumulator",
        "use Accumulator.from_bytes(data).finish()",
    ),
    "a checkpoint in place of a model": (
        lambda: EigenspaceModel.from_bytes(b"eigenspace checkpoint 5\n" + bytes(99)),
        "not a valid model: it is the checkpoint of a fit that has not ended",
        "resume the fit and let it finish, then pass the model that it writes",
    ),
    "a checkpoint in place of an accumulator": (
        lambda: Accumulator.from_bytes(b"eigenspace checkpoint 5\n" + bytes(99)),
        "not a valid accumulator: it is the checkpoint of a fit that has not ended",
        "resume the fit and let it finish, then pass the model that it writes",
    ),
    "a name of a file to absorb": (
        lambda: Accumulator().absorb("people.csv"),
        "invalid X: expected a table of numbers, found a string",
        READ,
    ),
    "a name of a file to fit": (
        lambda: EigenspaceModel.fit("people.csv"),
        "invalid X: expected a table of numbers, found a string",
        READ,
    ),
    "a name of a file for an estimator": (
        lambda: IncrementalPCA().fit("people.csv"),
        "invalid X: expected a table of numbers, found a string",
        READ,
    ),
    "a path to project": (
        lambda: model(4).project(Path("people.csv")),
        "invalid X: expected a table of numbers, found a path",
        READ,
    ),
    "a word for a weight": (
        lambda: IncrementalPCA().fit(ROWS, sample_weight="a"),
        "invalid sample_weight: expected numbers, found text",
        "pass an array with one weight for each row",
    ),
    "a column of only missing cells to impute": (
        lambda: IncrementalPCA(2, missing="impute").fit(FRAME.assign(c=np.nan)),
        f"cannot fill column `c`: it has no value in any of the {len(ROWS)} rows",
        "leave out the column, or add rows that have a value in it before you read the model",
    ),
    "text in a partition": (
        lambda: Accumulator(partition="p7").absorb([["a"]]),
        "partition `p7`: invalid X: expected numbers, found text",
        "remove columns that are not numbers, or encode them as numbers",
    ),
    "a text column in a partition": (
        lambda: Accumulator(partition="p7").absorb(TEXT),
        "partition `p7`: the column `e` holds text, expected numbers",
        "leave it out: X.drop(columns='e')",
    ),
    "too few weights in a partition": (
        lambda: Accumulator(partition="p7").absorb(ROWS, [1.0]),
        f"partition `p7`: the number of weights is 1, but the number of rows is {len(ROWS)}",
        "pass one weight for each row",
    ),
    "other names in a partition": (
        lambda: Accumulator(partition="p7").absorb(FRAME).absorb(FRAME[list("abdc")]),
        "partition `p7`: the features differ: column 2 is `c` in one and `d` in the other",
        "reorder or select the columns so that both are the same",
    ),
    "partitions of different width": (
        lambda: Accumulator(partition="p1").absorb(ROWS) + Accumulator(partition="p2").absorb(ROWS[:, :3]),
        "cannot merge partitions `p1` and `p2`: the numbers of features differ: 4 and 3",
        "merge, split and compare only models, accumulators or subspaces of the same columns",
    ),
    "partitions with different options": (
        lambda: Accumulator(2).absorb(ROWS) + Accumulator(3).absorb(ROWS),
        "cannot merge the accumulators: they were made with different options: n_components is 2 in one and 3 in the "
        "other",
        "make all accumulators with the same options",
    ),
    "columns in another order": (
        lambda: EigenspaceModel.fit(FRAME).project(FRAME[list("dcba")]),
        "the features differ: column 0 is `a` in one and `d` in the other",
        "reorder the columns: X[model.feature_names]",
    ),
    "other columns": (
        lambda: EigenspaceModel.fit(FRAME).project(FRAME.rename(columns={"b": "z"})),
        "the features differ: column 1 is `b` in one and `z` in the other",
        "reorder or select the columns so that both are the same",
    ),
    "a missing cell of a data frame": (
        lambda: IncrementalPCA().fit(HOLE),
        "row 7, column `c`: the value is NaN, expected a finite number",
        "drop row 7, leave out column `c`, or replace the value, for example with `fill_missing` of a model; "
        "IncrementalPCA and Accumulator skip such rows with missing='skip'",
    ),
    "a stack of images": (
        lambda: faces.train(PIXELS.reshape(8, 3, 4), PEOPLE),
        "invalid images: expected 2 dimensions (one row per observation), found 3",
        "pass images.reshape(len(images), -1), one row of pixels for each image",
    ),
    "a stack of rows": (
        lambda: EigenspaceModel.fit(ROWS[None]),
        "invalid X: expected 2 dimensions (one row per observation), found 3",
        "pass X.reshape(len(X), -1), one row for each image or observation",
    ),
    "scores of one row": (
        lambda: model(4).reconstruct(ROWS[0]),
        "invalid scores: expected 2 dimensions (one row per observation), found 1",
        "for a single row, pass scores.reshape(1, -1)",
    ),
    "scores of one row for an estimator": (
        lambda: fitted(4).inverse_transform(ROWS[0]),
        "invalid scores: expected 2 dimensions (one row per observation), found 1",
        "for a single row, pass scores.reshape(1, -1)",
    ),
    "missing cells in scores": (
        lambda: model(4).reconstruct(np.array([[0.0, 0.0], [0.0, np.nan]])),
        "row 1, column 1: the value is NaN, expected a finite number",
        "replace the value, or leave out row 1",
    ),
    "missing cells in images": (
        lambda: faces.train(np.where(np.arange(96).reshape(8, 12) == 29, np.nan, PIXELS), PEOPLE),
        "row 2, column 5: the value is NaN, expected a finite number",
        "replace the value, or leave out image 2",
    ),
    "metadata of another type": (
        lambda: model(4).with_metadata({"feature_names": list("abcd")}),
        "invalid metadata: expected a Metadata, found dict",
        "create one with eigenspace.Metadata",
    ),
    "a direction of length 0": (
        lambda: model(4).variance_along(np.zeros(4)),
        "the direction has length 0",
        "pass a direction with an entry that is not 0",
    ),
    "a forgetting rule": (
        lambda: IncrementalPCA(forgetting="half-life:x").fit(ROWS),
        "invalid forgetting rule `half-life:x`: expected `never`, `0.99` (for each row), `block:0.9` or "
        "`half-life:500`",
        "use, for example, 'half-life:500'",
    ),
    "a number of components as text": (
        lambda: PCA("3").fit(ROWS),
        "invalid n_components='3': expected an integer, an explained variance ratio such as 0.95, or None",
        "pass a number, for example n_components=3",
    ),
    "True for a number of components": (
        lambda: PCA(True).fit(ROWS),
        "invalid n_components=True: expected an integer, an explained variance ratio such as 0.95, or None",
        "pass a number, for example n_components=3",
    ),
    "a width of 0": (
        lambda: datasets.load_images(".", resize=(0, 5)),
        "invalid width 0 in resize=(0, 5): expected an integer of at least 1",
        "pass, for example, resize=(92, 112)",
    ),
    "images in memory to resize": (
        lambda: faces.train(PIXELS, PEOPLE, resize=(4, 4)),
        "cannot resize images that are already in memory",
        "resize them first, or pass files",
    ),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_an_error_says_what_is_wrong_and_what_to_do(what):
    call, words, hint = MESSAGES[what]
    assert raised(call) == (words, hint)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a"] * len(ROWS), "text"),
        (pd.Series(["a"] * len(ROWS), dtype="string"), "text"),
        (pd.date_range("2026-01-01", periods=len(ROWS)), "dates"),
        (pd.timedelta_range("1 day", periods=len(ROWS)), "durations"),
        (pd.Categorical(["a"] * len(ROWS)), "categories"),
        ([(1, 2)] * len(ROWS), "values of tuple"),
    ],
)
def test_a_column_that_does_not_hold_numbers_is_named(values, kind):
    frame = FRAME.assign(e=values)
    for call in (
        lambda: PCA().fit(frame),
        lambda: IncrementalPCA().partial_fit(frame),
        lambda: EigenspaceModel.fit(frame),
        lambda: EigenspaceModel.fit(frame[["e"]]),
        lambda: IncrementalPCA().fit(FRAME).transform(frame),
        lambda: model(4).project(frame),
    ):
        words, hint = raised(call)
        assert words == f"the column `e` holds {kind}, expected numbers"
        assert hint == "leave it out: X.drop(columns='e')"
    _, hint = raised(lambda: PCA().fit(frame.assign(f="text")))
    assert hint == "leave out all columns that are not numbers: X.select_dtypes('number')"
    whole = frame.assign(e=pd.Categorical([1, 2] * (len(ROWS) // 2)))
    assert PCA().fit(whole).n_features_in_ == 5


def test_a_cell_of_a_data_frame_is_named_by_its_column():
    words = "row 7, column `c`: the value is NaN"
    known, estimator = EigenspaceModel.fit(FRAME), IncrementalPCA().fit(FRAME)
    for call in (
        lambda: PCA().fit(HOLE),
        lambda: IncrementalPCA().partial_fit(HOLE),
        lambda: EigenspaceModel.fit(HOLE),
        lambda: known.update(HOLE),
        lambda: known.remove(HOLE),
        lambda: known.project(HOLE),
        lambda: known.hotelling(HOLE),
        lambda: known.refine(HOLE),
        lambda: estimator.transform(HOLE),
        lambda: estimator.score(HOLE),
    ):
        said, hint = raised(call)
        assert said.startswith(words)
        assert "leave out column `c`" in hint
    said, _ = raised(lambda: Accumulator(partition="p").absorb(HOLE))
    assert said.startswith(f"partition `p`: {words}")
    said, _ = raised(lambda: IncrementalPCA().fit(HOLE.to_numpy()))
    assert said.startswith("row 7, column 2: ")


def test_an_estimator_says_how_to_reorder_the_columns_and_to_reshape_rows():
    estimator = IncrementalPCA().fit(FRAME)
    assert raised(lambda: estimator.transform(FRAME[list("dcba")]))[1] == (
        "reorder the columns: X[estimator.feature_names_in_]"
    )
    assert raised(lambda: PCA().fit(ROWS[0]))[1] == "for a single row, pass X.reshape(1, -1)"
    assert raised(lambda: PCA().fit(ROWS[None]))[1].startswith("pass X.reshape(len(X), -1)")
    assert raised(lambda: reconstruction_error(ROWS, ROWS[None]))[1] == (
        "pass a table with one row for each observation"
    )


def test_filling_a_column_without_a_value_fails_in_fit_but_not_in_partial_fit():
    rows = ROWS.copy()
    rows[:, 1] = np.nan
    estimator = IncrementalPCA(2, missing="impute").fit(ROWS)
    state = estimator.model_.to_bytes()
    assert raised(lambda: estimator.fit(rows))[0].startswith("cannot fill column 1: ")
    assert estimator.model_.to_bytes() == state
    later = IncrementalPCA(2, missing="impute").partial_fit(rows).partial_fit(ROWS)
    assert later.n_samples_seen_ == 2 * len(ROWS)


def test_a_recognizer_says_what_is_wrong_with_its_arguments(recognizer):
    one = "pass one name, for example person='s1'"
    assert raised(lambda: recognizer.forget(["s1"])) == ("invalid person=['s1']: expected a string", one)
    assert raised(lambda: recognizer.enroll(PIXELS, person=3))[1] == one
    assert raised(lambda: recognizer.image("s1", 1))[1] == "pass one name, for example image='1.pgm'"
    assert raised(lambda: recognizer.enroll(PIXELS[:1] + 1, people=["a"], person="b")) == (
        "cannot use people together with person",
        "pass only one of them",
    )
    for call in (
        lambda: recognizer.recognize(PIXELS, resize=(4, 3)),
        lambda: recognizer.enroll(PIXELS, person="b", resize=(4, 3)),
        lambda: faces.evaluate(PIXELS, PEOPLE, resize=(4, 3)),
    ):
        assert raised(call) == ("cannot resize images that are already in memory", "resize them first, or pass files")
    image = PIXELS[0].reshape(3, 4)
    for call in (lambda: recognizer.recognize(image), lambda: recognizer.enroll(image, person="b")):
        assert raised(call) == (
            "invalid images: expected one row of 12 pixels for each image, found the shape (3, 4)",
            "for a single image, pass images.reshape(1, -1)",
        )
    assert raised(lambda: recognizer.recognize(image[None]))[1].startswith("pass images.reshape(len(images), -1)")


def test_pixels_that_seem_to_be_scaled_are_a_warning(recognizer):
    with pytest.warns(UserWarning, match=SCALED + "multiply by 255 if they are scaled"):
        recognizer.enroll(PIXELS[:1] / 255, person="b")
    with pytest.warns(UserWarning, match=SCALED):
        recognizer.recognize(PIXELS[:1] - 128)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recognizer.recognize(PIXELS)
        recognizer.recognize(np.zeros((1, 12)))
        recognizer.enroll(PIXELS[:1] + 1, person="b")
        # The values of images without files have no known range.
        faces.train(PIXELS / 255, PEOPLE).recognize(PIXELS / 255)


def test_images_of_different_sizes_say_how_to_resize_them(tmp_path):
    for name, shape in (("a", (10, 10)), ("b", (12, 10))):
        Image.fromarray(np.full(shape, 90, dtype=np.uint8)).save(tmp_path / f"{name}.pgm")
    _, hint = raised(lambda: datasets.load_images(tmp_path))
    assert hint == "resize all images to one size with resize=(10, 10)"
    assert len(datasets.load_images(tmp_path, resize=(10, 10))) == 2


def test_a_model_replaces_only_a_model(recognizer, tmp_path):
    path = tmp_path / "f.rec"
    recognizer.save(path)
    kept = path.read_bytes()
    words = f"cannot write a model to `{path}`: it is a recognizer, and its people would be lost"
    assert raised(lambda: model(4).save(path)) == (words, "choose another file name")
    assert path.read_bytes() == kept
    recognizer.save(path)
    path.write_text("a,b\n1,2\n")
    hint = "choose another file name, or delete this file first; nothing was changed"
    for save in (model(4).save, recognizer.save):
        words = f"cannot write a model to `{path}`: the file exists and is not a model"
        assert raised(lambda save=save: save(path)) == (words, hint)
    assert path.read_text() == "a,b\n1,2\n"
    path.write_bytes(b"")
    model(4).save(path)
    model(4).update(ROWS).save(path)
    recognizer.save(path)


def test_a_file_of_an_accumulator_is_named(tmp_path):
    (tmp_path / "part").write_bytes(Accumulator().absorb(ROWS).to_bytes())
    with pytest.raises(FormatError, match="as a model: it is an accumulator") as caught:
        EigenspaceModel.load(tmp_path / "part")
    assert caught.value.hint.endswith("Accumulator.from_bytes(data).finish()")


def test_one_of_something_is_in_the_singular():
    assert repr(EigenspaceModel.fit([[1.0]])).startswith("EigenspaceModel(1 row, 1 feature, rank 0, ")
    assert repr(EigenspaceModel(1)) == "EigenspaceModel(no rows, 1 feature)"
    assert repr(Accumulator().absorb([[1.0, 2.0]])) == "Accumulator(1 row, 2 features)"
    one = faces.train(PIXELS[:2], ["s1", "s1"], classifier="knn", unknown=None, not_a_face=None)
    assert repr(one).startswith("Recognizer(1 person, 2 images, ")
    assert re.match(r"Recognizer\(2 people, 3 images, ", repr(one.enroll(PIXELS[2:3], person="s2")))
