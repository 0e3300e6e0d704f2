"""Certificates with the same bounds are equal, and pickling and copying preserve them."""

import copy
import pickle

import numpy as np
import pytest

from eigenspace import EigenspaceModel, FormatError, IncrementalPCA

X = np.random.default_rng(0).normal(size=(80, 12)) * np.arange(1, 13)
MODELS = {
    "exact": EigenspaceModel.fit(X),
    "truncated": EigenspaceModel.fit(X).truncate(5),
    "split": EigenspaceModel.fit(X).truncate(9) - EigenspaceModel.fit(X[:20]),
    "of no rows": EigenspaceModel(12),
    "of float32": IncrementalPCA(3, engine="factor", max_rank=5).fit(np.tile(X, (20, 1)).astype(np.float32)).model_,
}


def numbers(certificate):
    """Return all bounds of a certificate."""
    bounds = [(certificate.angle_bound(k), certificate.captured_bounds(k)) for k in range(15)]
    scalars = [getattr(certificate, name) for name in ("error_bound", "relative_error_bound", "lost", "surplus")]
    return certificate.is_exact, scalars, certificate.eigenvalue_bounds().tolist(), bounds


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_certificate_is_equal(kind, protocol):
    certificate = MODELS[kind].certificate()
    twin = pickle.loads(pickle.dumps(certificate, protocol))
    assert twin == certificate
    assert numbers(twin) == numbers(certificate)
    assert repr(twin) == repr(certificate)


@pytest.mark.parametrize("kind", MODELS)
def test_a_copied_certificate_is_equal(kind):
    certificate = MODELS[kind].certificate()
    for twin in (copy.copy(certificate), copy.deepcopy(certificate), copy.deepcopy({"kept": certificate})["kept"]):
        assert twin == certificate


def test_certificates_of_other_models_differ():
    found = [model.certificate() for model in MODELS.values()]
    assert [[one == two for two in found] for one in found] == np.eye(len(found), dtype=bool).tolist()
    assert found[0] != "exact"


def test_invalid_bytes_are_rejected():
    make, (data,) = MODELS["truncated"].certificate().__reduce__()
    for bad in (b"", data[:-1], b"\xff" * 40):
        with pytest.raises(FormatError, match="cannot read the pickled certificate"):
            make(bad)
