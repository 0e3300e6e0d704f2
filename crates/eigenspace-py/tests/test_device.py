"""Fits on a card: refused where there is none, equal to the CPU where there is one (EIGENSPACE_TEST_DEVICE=cuda)."""

import os

import numpy as np
import pytest

from eigenspace import PCA, Accumulator, EigenspaceError, EigenspaceModel, IncrementalPCA, subspace_distance

CARD = os.environ.get("EIGENSPACE_TEST_DEVICE")
X = np.random.default_rng(0).normal(size=(300, 1200)) * np.linspace(10, 1, 1200)


class OnCard:
    """An array as PyTorch and CuPy describe it, at an address that no card knows."""

    def __init__(self, **described):
        self.__cuda_array_interface__ = {
            "shape": (3, 1200),
            "typestr": "<f8",
            "data": (4096, False),
            "version": 3,
        } | described


def refused(work):
    with pytest.raises(EigenspaceError) as found:
        work()
    assert found.value.hint
    return str(found.value)


def test_an_unknown_device_is_refused():
    words = refused(lambda: IncrementalPCA(2, device="gpu").fit(X))
    assert words == "invalid device `gpu`: expected `cpu`, `cuda`, `cuda:N` or `auto`"


def test_a_card_that_is_not_there_is_refused_and_the_estimator_is_not_fitted():
    pca = IncrementalPCA(2, device="cuda:99")
    words = refused(lambda: pca.fit(X))
    assert words.startswith(("no CUDA device: ", "cannot load lib")), words
    assert not hasattr(pca, "n_features_in_")


def test_rows_on_a_card_need_a_device():
    assert refused(lambda: IncrementalPCA(2).fit(OnCard())) == "the rows are on a CUDA device, but device='cpu'"


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({"shape": (1200,)}, "invalid X: expected 2 dimensions (one row per observation), found 1"),
        ({"typestr": "<i4"}, "X has the type <i4 on the CUDA device, expected float64 or float32"),
        ({"strides": (8, 24)}, "X is not contiguous on the CUDA device"),
    ],
)
def test_rows_on_a_card_that_cannot_be_read_are_refused(described, words):
    assert refused(lambda: IncrementalPCA(2, device="auto").partial_fit(OnCard(**described))) == words


def test_without_a_card_auto_is_the_cpu():
    if CARD is None:
        np.testing.assert_array_equal(
            IncrementalPCA(3, device="auto").fit(X).components_, IncrementalPCA(3).fit(X).components_
        )


@pytest.mark.skipif(CARD is None, reason="EIGENSPACE_TEST_DEVICE names no card")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_on_the_card_give_what_rows_on_the_host_give(dtype):
    torch = pytest.importorskip("torch")
    rows = X.astype(dtype)
    host = IncrementalPCA(5, device=CARD, engine="factor").partial_fit(rows[:100]).partial_fit(rows[100:])
    card = IncrementalPCA(5, device=CARD, engine="factor")
    for block in (rows[:100], rows[100:]):
        card.partial_fit(torch.from_numpy(block).cuda())
    np.testing.assert_array_equal(host.components_, card.components_)
    cpu = IncrementalPCA(5, engine="factor").fit(rows)
    assert subspace_distance(cpu.components_, card.components_) < 1e-9
    bad = torch.from_numpy(rows).cuda()
    bad[7, 11] = float("nan")
    words = refused(lambda: card.partial_fit(bad))
    assert words.startswith("row 7, column 11: "), words
    assert card.n_samples_seen_ == 300


def test_everything_but_incremental_pca_needs_rows_on_the_host():
    pca = PCA(2).fit(X)
    for work in (PCA(2).fit, pca.transform, pca.score_samples, Accumulator(2).absorb, EigenspaceModel.fit):
        words = refused(lambda work=work: work(OnCard()))
        assert words == "X is on a CUDA device, where only fit, partial_fit and transform of IncrementalPCA can read it"


def test_scores_of_rows_on_a_card_need_a_device():
    pca = IncrementalPCA(2).fit(X)
    assert refused(lambda: pca.transform(OnCard())) == "the rows are on a CUDA device, but device='cpu'"


@pytest.mark.skipif(CARD is None, reason="EIGENSPACE_TEST_DEVICE names no card")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("whiten", [False, True])
def test_scores_and_reconstructed_rows_of_a_card_are_those_of_the_cpu(dtype, whiten):
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    scales = np.linspace(9, 1, 150)
    rows = random.normal(size=(2500, 150)) * scales @ random.normal(size=(150, 2000)) + 40
    rows = rows.astype(dtype)
    cpu = IncrementalPCA(100, engine="factor", whiten=whiten).fit(rows)
    card = IncrementalPCA.from_model(cpu.model_, n_components=100, device=CARD, whiten=whiten)
    Z, tolerance = cpu.transform(rows), 1e-12 if dtype == np.float64 else 1e-5
    for found in (card.transform(rows), card.transform(torch.from_numpy(rows).cuda())):
        assert found.dtype == Z.dtype
        np.testing.assert_allclose(found, Z, rtol=0, atol=tolerance * np.abs(Z).max())
    back = cpu.inverse_transform(Z)
    np.testing.assert_allclose(card.inverse_transform(Z), back, rtol=0, atol=tolerance * np.abs(back).max())
