"""The face recognizer compared with scikit-learn, on the same splits of the ORL faces.

`EIGENSPACE` is the path of the command and `EIGENSPACE_ORL` the directory of the faces;
`cargo xtask python` sets both.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

K = 40
SEED = 3


def eigenspace(*arguments) -> str:
    command = [os.environ["EIGENSPACE"], *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture(scope="module")
def faces() -> dict[str, np.ndarray]:
    """Return pixels by `person/image`, read without the library."""
    directory = Path(os.environ["EIGENSPACE_ORL"])
    read = {}
    for path in sorted(directory.glob("s*/*.pgm")):
        data = path.read_bytes()
        assert data.startswith(b"P5\n92 112\n255\n")
        pixels = np.frombuffer(data[-92 * 112 :], dtype=np.uint8)
        read[f"{path.parent.name}/{path.name}"] = pixels.astype(float)
    assert len(read) == 400
    return read


@pytest.fixture(scope="module")
def evaluation() -> dict[str, dict]:
    names = "knn svm svm-rbf perceptron"
    protocols = "first-5,random-5,random-9"
    options = ["--protocol", protocols, "--classifier", names, "--metric", "euclidean", "-k", K]
    options += ["--seed", SEED]
    orl = os.environ["EIGENSPACE_ORL"]
    printed = eigenspace("faces", "evaluate", orl, *options, "--json", "--quiet")
    return {protocol["protocol"]: protocol for protocol in json.loads(printed)["protocols"]}


def peer(name: str):
    """Return scikit-learn's classifier of the same kind."""
    averaged = {"loss": "perceptron", "average": True, "learning_rate": "constant", "eta0": 1.0}
    return {
        "knn": KNeighborsClassifier(1),
        "svm": SVC(kernel="linear"),
        "svm-rbf": SVC(kernel="rbf", C=10.0),
        "perceptron": SGDClassifier(**averaged, random_state=0),
    }[name]


@pytest.fixture(scope="module")
def coordinates(faces, evaluation) -> dict[str, list]:
    """Return (x, y, z, w) for every split: scores and people of the training and test images.

    The scores are from scikit-learn's PCA of the raw pixels of the training images.
    """

    def of(split: dict) -> tuple:
        train, test = split["train"], split["test"]
        assert not set(train) & set(test)
        people = [[name.split("/")[0] for name in names] for names in (train, test)]
        pca = PCA(K, svd_solver="full").fit(np.array([faces[name] for name in train]))
        x, z = (pca.transform(np.array([faces[name] for name in names])) for names in (train, test))
        return x, people[0], z, people[1]

    return {name: [of(split) for split in found["splits"]] for name, found in evaluation.items()}


@pytest.mark.parametrize("protocol", ["first-5", "random-5", "random-9"])
@pytest.mark.parametrize("name", ["knn", "svm", "svm-rbf", "perceptron"])
def test_accuracy_is_within_one_deviation_of_the_peer_or_above(
    coordinates, evaluation, protocol, name
):
    found = evaluation[protocol]
    ours = next(setting for setting in found["settings"] if setting["classifier"] == name)
    theirs = [peer(name).fit(x, y).score(z, w) for x, y, z, w in coordinates[protocol]]
    trials = [trial["accuracy"] for trial in ours["trials"]]
    assert np.isclose(np.mean(trials), ours["accuracy"])
    # A single split has no standard deviation; allow one image to be classified differently.
    allowed = np.std(theirs) if len(theirs) > 1 else 1 / len(found["splits"][0]["test"])
    assert ours["accuracy"] >= np.mean(theirs) - allowed, (np.mean(theirs), allowed)
    if name == "knn":
        # This classifier has no free choices, so every image must be classified the same way.
        np.testing.assert_allclose(trials, theirs, atol=1e-12)


def test_a_recognizer_is_a_model_file_with_the_scores_of_all_images(faces, tmp_path):
    from safetensors.numpy import load_file

    path = tmp_path / "faces.safetensors"
    eigenspace("faces", "train", os.environ["EIGENSPACE_ORL"], "-k", K, "-o", path, "--quiet")
    tensors = load_file(path)
    z, v, mean = tensors["faces.scores"], tensors["basis"], tensors["mean"]
    order = sorted(faces, key=lambda name: [int(part.strip("s.pgm")) for part in name.split("/")])
    x = np.array([faces[name] for name in order])
    np.testing.assert_allclose(mean + z @ v, x, atol=1e-8)
    # A forgotten person leaves no trace in the file.
    rest = tmp_path / "rest.safetensors"
    eigenspace("faces", "forget", path, "s7", "s23", "-o", rest, "--quiet")
    tensors = load_file(rest)
    left = np.array([faces[name] for name in order if name.split("/")[0] not in ("s7", "s23")])
    centered = left - left.mean(axis=0)
    s = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(tensors["mean"], left.mean(axis=0), atol=1e-10)
    found = tensors["singular_values"]
    np.testing.assert_allclose(found, s[: found.size], atol=1e-8 * s[0])
    z = tensors["faces.scores"]
    np.testing.assert_allclose(z @ z.T, centered @ centered.T, atol=1e-8 * s[0] ** 2)
