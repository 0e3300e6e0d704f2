"""The command reads model files written by Python, and the other way round.

EIGENSPACE is the path of the command; `cargo xtask python` sets it.
"""

import json
import os
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_iris

from eigenspace import EigenspaceError, EigenspaceModel, IncrementalPCA

frame = load_iris(as_frame=True).data


def command(*arguments):
    program = os.environ.get("EIGENSPACE")
    assert program, "set EIGENSPACE to the path of the command, for example target/debug/eigenspace"
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("standardize", [False, True])
def test_the_command_reads_models_saved_by_python(tmp_path, standardize):
    pca = IncrementalPCA(2, standardize=standardize).fit(frame)
    pca.model_.save(tmp_path / "iris.safetensors")
    seen = json.loads(command("inspect", tmp_path / "iris.safetensors", "--json"))
    assert (seen["count"], seen["features"], seen["standardize"]) == (150, 4, standardize)
    assert seen["feature_names"] == list(frame.columns)
    np.testing.assert_allclose(seen["explained_variance_ratio"], pca.explained_variance_ratio_, rtol=1e-12)
    np.save(tmp_path / "rows.npy", frame.to_numpy())
    command("project", tmp_path / "iris.safetensors", tmp_path / "rows.npy", "-o", tmp_path / "coordinates.npy")
    np.testing.assert_allclose(np.load(tmp_path / "coordinates.npy"), pca.transform(frame), atol=1e-12)


@pytest.mark.parametrize("options", [[], ["--standardize"]])
def test_python_continues_from_models_saved_by_the_command(tmp_path, options):
    frame[:100].to_csv(tmp_path / "first.csv", index=False)
    command("fit", tmp_path / "first.csv", "-k", 2, "-o", tmp_path / "first.safetensors", *options)
    model = EigenspaceModel.load(tmp_path / "first.safetensors")
    assert model.feature_names == list(frame.columns)
    pca = IncrementalPCA.from_model(model).partial_fit(frame[100:])
    whole = IncrementalPCA(2, standardize=bool(options)).fit(frame)
    assert pca.standardize == whole.standardize
    np.testing.assert_allclose(pca.components_, whole.components_, atol=1e-12)
    np.testing.assert_allclose(pca.transform(frame), whole.transform(frame), atol=1e-11)


@pytest.mark.parametrize("max_rank", [None, 2])
def test_the_command_and_python_use_the_same_names(tmp_path, max_rank):
    model = EigenspaceModel.fit(frame, max_rank).with_components(2)
    model.save(tmp_path / "iris.safetensors")
    seen = json.loads(command("inspect", tmp_path / "iris.safetensors", "--json", "--loadings"))
    del seen["file"]
    certificate = seen.pop("certificate")
    assert certificate["exact"] == (max_rank is None)
    # The conventions of Python: n_… for a number, is_… for what is true or false.
    ours = {"features": "n_features", "centered": "is_centered", "exact": "is_exact", "proven": "is_proven"}
    for values, sources in ((seen, (model, model.metadata)), (certificate, (model.certificate(),))):
        for key, value in values.items():
            name = ours.get(key, key)
            source = next(source for source in sources if hasattr(source, name))
            found = getattr(source, name)
            if callable(found):
                found = found(model.n_components) if key == "angle_bound" else found()
            if isinstance(value, float) or (isinstance(value, list) and value and not isinstance(value[0], str)):
                np.testing.assert_allclose(found, value, rtol=1e-12, err_msg=key)
            else:
                assert found == value, key


def test_models_with_different_columns_cannot_be_merged():
    one = IncrementalPCA(2).fit(frame).model_
    other = IncrementalPCA(2).fit(frame[frame.columns[::-1]]).model_
    for join in (lambda: one + other, lambda: one - other, lambda: EigenspaceModel.merge_all([one, other])):
        with pytest.raises(EigenspaceError, match=r"column 0 is `sepal length \(cm\)` in one and `petal width"):
            join()
    assert (one + one).feature_names == list(frame.columns)


def test_frames_with_different_columns_are_rejected_by_a_model():
    model = EigenspaceModel.fit(frame[:100])
    assert model.feature_names == list(frame.columns)
    other = frame[100:][frame.columns[::-1]]
    verbs = [model.update, model.remove, model.project, model.hotelling, model.squared_distance, model.fill_missing]
    for verb in [*verbs, lambda rows: model + EigenspaceModel.fit(rows)]:
        with pytest.raises(EigenspaceError, match=r"column 0 is `sepal length \(cm\)` in one and `petal width"):
            verb(other)
        verb(frame[:50] if verb == model.remove else frame[100:])
