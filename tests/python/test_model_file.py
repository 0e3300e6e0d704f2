"""A model file can be read without this library, with safetensors, numpy and hashlib.

The format is specified in `docs/FORMAT.md`. The golden file contains
the batch model of the rows returned by `rows()` below, truncated to rank 3.
"""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

GOLDEN = Path(__file__).parents[2] / "crates/eigenspace/tests/golden/model-v4.safetensors"
ROWS, FEATURES, RANK = 12, 5, 3
# The rows are of order one and well conditioned (asserted below), so two correct decompositions
# differ by a few tens of rounding errors of 2e-16.
CLOSE = 1e-12


def rows() -> np.ndarray:
    i, j = np.indices((ROWS, FEATURES))
    return (i * i * (j + 2) + 3 * i + 7 * j) % 11 - 5.0 + 0.25 * j


@pytest.fixture(scope="module")
def model() -> dict[str, np.ndarray]:
    return load_file(GOLDEN)


@pytest.fixture(scope="module")
def metadata() -> dict[str, str]:
    with safe_open(GOLDEN, framework="numpy") as file:
        return file.metadata()


@pytest.fixture(scope="module")
def exact() -> SimpleNamespace:
    """Return numpy's results for the same rows."""
    mean = rows().mean(axis=0)
    centered = rows() - mean
    _, singular_values, basis = np.linalg.svd(centered, full_matrices=False)
    return SimpleNamespace(
        mean=mean,
        feature_scatter=(centered**2).sum(axis=0),
        singular_values=singular_values,
        basis=basis,
    )


def projector(basis: np.ndarray) -> np.ndarray:
    return basis.T @ basis


def test_the_tensors_have_the_documented_names_types_and_shapes(model):
    found = {name: (tensor.dtype.str, tensor.shape) for name, tensor in model.items()}
    assert found == {
        "basis": ("<f8", (RANK, FEATURES)),
        "count": ("<u8", ()),
        "feature_noise": ("<f8", (FEATURES,)),
        "feature_scatter": ("<f8", (FEATURES,)),
        "imputed": ("<u8", ()),
        "lost": ("<f8", (FEATURES,)),
        "mean": ("<f8", (FEATURES,)),
        "mean_low": ("<f8", (FEATURES,)),
        "mean_noise": ("<f8", (FEATURES,)),
        "scatter_noise": ("<f8", (FEATURES,)),
        "singular_values": ("<f8", (RANK,)),
        "noise": ("<f8", ()),
        "squared_weight": ("<f8", ()),
        "surplus": ("<f8", (FEATURES,)),
        "weight": ("<f8", ()),
        "weight_low": ("<f8", ()),
    }


def test_both_readers_of_safetensors_give_the_same_tensors(model):
    with safe_open(GOLDEN, framework="numpy") as file:
        assert sorted(file.keys()) == sorted(model)
        for name in model:
            np.testing.assert_array_equal(file.get_tensor(name), model[name], strict=True)


def test_the_count_is_an_exact_unsigned_integer(model):
    assert np.issubdtype(model["count"].dtype, np.unsignedinteger)
    assert model["count"].item() == ROWS
    assert isinstance(model["count"].item(), int)
    assert model["weight"].item() == float(ROWS)


def test_the_metadata_is_one_key_with_the_settings_the_checksum_and_the_version(metadata):
    assert list(metadata) == ["eigenspace"]
    settings = json.loads(metadata["eigenspace"])
    names = "centered components metadata sha256 version weight_kind"
    assert sorted(settings) == names.split()
    assert settings["centered"] is True
    assert settings["components"] == "2"
    assert settings["version"] == 4
    assert settings["weight_kind"] == "frequency"


def test_the_checksum_can_be_computed_from_its_description(model, metadata):
    header = metadata["eigenspace"]
    checksum = json.loads(header)["sha256"]
    digest = hashlib.sha256(header.replace(checksum, "0" * 64).encode())
    for name in sorted(model):
        tensor = model[name]
        digest.update(f"\n{name} {list(tensor.shape)}\n".encode())
        digest.update(tensor.tobytes())
    assert digest.hexdigest() == checksum


def test_the_header_describes_the_rows(metadata):
    assert json.loads(metadata["eigenspace"])["metadata"] == {
        "component_labels": ["size", "form"],
        "feature_names": ["a", "größe", '"c"', "d e", "0"],
        "image": {"channels": 1, "depth": 8, "height": 1, "width": 5},
        "standardize": True,
        "values": {"unit": "mm"},
    }


def test_the_basis_is_orthonormal(model):
    gram = model["basis"] @ model["basis"].T
    np.testing.assert_allclose(gram, np.eye(RANK), rtol=0, atol=CLOSE)


def test_the_rows_are_well_conditioned_enough_for_the_tolerance(exact):
    squares = exact.singular_values**2
    assert squares[0] / squares[-1] < 100
    assert (squares[RANK - 1] - squares[RANK]) / squares[0] > 0.01


def test_the_moments_are_those_of_the_rows(model, exact):
    np.testing.assert_allclose(model["mean"], exact.mean, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(model["feature_scatter"], exact.feature_scatter, rtol=CLOSE)


def test_the_singular_values_are_the_largest_ones_of_numpy(model, exact):
    np.testing.assert_allclose(model["singular_values"], exact.singular_values[:RANK], rtol=CLOSE)


def test_the_basis_spans_the_same_space_as_the_one_of_numpy(model, exact):
    difference = projector(model["basis"]) - projector(exact.basis[:RANK])
    assert np.linalg.norm(difference, ord=2) <= CLOSE


def test_each_singular_value_belongs_to_its_direction(model):
    # Also fails if the vectors are in the wrong order, which comparing spaces does not detect.
    lengths = np.linalg.norm((rows() - model["mean"]) @ model["basis"].T, axis=0)
    np.testing.assert_allclose(lengths, model["singular_values"], rtol=CLOSE)


def test_lost_is_the_largest_dropped_eigenvalue(model, exact):
    np.testing.assert_allclose(model["lost"], exact.singular_values[RANK] ** 2, rtol=CLOSE)
    assert not model["surplus"].any()
