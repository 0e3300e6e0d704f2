"""The estimators on Dask collections: nothing is loaded into this process, and the results are those of one array."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from eigenspace import PCA, EigenspaceError, EigenspaceModel, IncrementalPCA
from eigenspace._core import Stream
from eigenspace._settings import settings

NAMES = [f"c{number}" for number in range(12)]
X = np.random.default_rng(0).normal(size=(3000, 12)) * np.arange(1, 13)
WEIGHTS = np.random.default_rng(1).integers(0, 3, 3000).astype(float)
TABLE = pd.DataFrame(X, columns=NAMES)


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def wide(rows, features):
    """Return rows whose variance is spread over all directions, so that every dropped direction is noticed."""
    return np.random.default_rng(3).normal(size=(rows, features))


@pytest.mark.parametrize("n_components", [3, 0.2, None])
def test_batch_pca_drops_nothing_with_more_than_1024_features(n_components):
    rows = wide(700, 1100)
    fitted = PCA(n_components).fit(da.from_array(rows, chunks=(300, 400)))
    _, s, V = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    k = fitted.n_components_
    assert k == {3: 3, None: 700}.get(n_components, np.searchsorted(np.cumsum(s**2) / (s @ s), 0.2) + 1)
    assert fitted.certificate_.is_exact
    assert fitted.model_.rank == 699
    # Squared singular values are computed to about D ε times the largest.
    allowed = 1100 * np.finfo(float).eps * s[0] ** 2
    assert np.allclose(fitted.singular_values_[: min(k, 699)] ** 2, s[: min(k, 699)] ** 2, rtol=0, atol=allowed)
    # Subspaces are as accurate as the gap after the third value allows.
    sine = np.linalg.norm(V[:3] - V[:3] @ fitted.components_[:3].T @ fitted.components_[:3], 2)
    assert sine <= 2 * allowed / (s[2] ** 2 - s[3] ** 2)
    # The same rows with the setting of IncrementalPCA: directions are dropped, and it says so.
    assert not IncrementalPCA(3).fit(da.from_array(rows, chunks=(600, 1100))).certificate_.is_exact


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"weight_kind": "reliability"}])
def test_partial_fit_absorbs_blocks_where_they_are(options):
    expected = IncrementalPCA(3, **options).fit(X, sample_weight=WEIGHTS)
    blocks, weights = da.from_array(X, chunks=(300, 5)), da.from_array(WEIGHTS, chunks=400)
    fitted = IncrementalPCA(3, **options)
    for part in (slice(0, 1000), slice(1000, 2500)):
        fitted.partial_fit(blocks[part], sample_weight=weights[part])
    fitted.partial_fit(X[2500:], sample_weight=WEIGHTS[2500:])
    assert fitted.n_samples_seen_ == expected.n_samples_seen_
    assert np.allclose(fitted.mean_, expected.mean_, rtol=0, atol=1e-12)
    assert np.allclose(fitted.explained_variance_, expected.explained_variance_, rtol=1e-12, atol=0)
    assert fitted.certificate_.is_exact


def test_partial_fit_after_rows_in_memory_and_with_names():
    fitted = IncrementalPCA(3).partial_fit(TABLE[:1000]).partial_fit(dd.from_pandas(TABLE[1000:], npartitions=3))
    expected = IncrementalPCA(3).fit(TABLE)
    assert np.allclose(fitted.explained_variance_, expected.explained_variance_, rtol=1e-12, atol=0)
    assert fitted.model_.feature_names == NAMES
    before = fitted.model_.to_bytes()
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.partial_fit(dd.from_pandas(TABLE[NAMES[::-1]], npartitions=3))
    wrong = TABLE.copy()
    wrong.iloc[7, 3] = np.nan
    with pytest.raises(EigenspaceError, match="partition `0`: row 7, column `c3`"):
        fitted.partial_fit(dd.from_pandas(wrong, npartitions=3))
    assert fitted.model_.to_bytes() == before


def test_partial_fit_with_dropped_directions_stays_within_the_certificate():
    rows = wide(1500, 1030) * np.concatenate([[9, 8, 7], np.ones(1027)])
    blocks = da.from_array(rows, chunks=(250, 1030))
    fitted = IncrementalPCA(3).partial_fit(blocks[:750]).partial_fit(blocks[750:])
    certificate = fitted.certificate_
    assert not certificate.is_exact
    _, s, V = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    assert abs(fitted.singular_values_**2 - s[:3] ** 2).max() <= certificate.error_bound
    sine = np.linalg.norm(V[:3] - V[:3] @ fitted.components_.T @ fitted.components_, 2)
    assert 1e-6 < sine <= certificate.angle_bound(3) < 1


def test_partial_fit_refuses_what_blocks_cannot_do():
    blocks = da.from_array(X, chunks=(300, 12))
    with pytest.raises(EigenspaceError, match="forgetting is not available"):
        IncrementalPCA(3, forgetting=0.9).fit(X).partial_fit(blocks)
    with pytest.raises(EigenspaceError, match="impute"):
        IncrementalPCA(3, missing="impute").fit(X).partial_fit(blocks)
    stream = Stream(12, settings() | {"centered": False})
    stream.update(X)
    about_origin = IncrementalPCA.from_model(EigenspaceModel._of(stream.model()), n_components=3)
    with pytest.raises(EigenspaceError, match="a model that is not centered"):
        about_origin.partial_fit(blocks)
    assert about_origin.n_samples_seen_ == 3000


METHODS = ["transform", "left_singular_vectors", "inverse_transform", "score_samples", "hotelling", "squared_distance"]


@pytest.mark.parametrize("kind", [IncrementalPCA, PCA])
@pytest.mark.parametrize("options", [{}, {"whiten": True}, {"standardize": True}])
@pytest.mark.parametrize("method", METHODS)
def test_results_for_rows_are_lazy_and_those_of_one_array(kind, options, method):
    called = []

    def block(rows):
        called.append(len(rows))
        return rows

    fitted = kind(3, **options).fit(X)
    rows = fitted.transform(X) if method == "inverse_transform" else X
    expected = getattr(fitted, method)(rows)
    blocks = da.from_array(rows, chunks=((0, 1000, 1500, 500), (2, rows.shape[1] - 2)))
    lazy = getattr(fitted, method)(blocks.map_blocks(block, dtype=float, meta=np.empty((0, 0))))
    assert called == []
    assert (lazy.shape, lazy.chunks[0]) == (expected.shape, (0, 1000, 1500, 500))
    scale = np.abs(expected).max()
    assert np.allclose(lazy.compute(), expected, rtol=0, atol=1e-12 * scale)
    some = blocks[blocks[:, 0] > 0]  # Dask does not know how many
    assert np.allclose(getattr(fitted, method)(some).compute(), expected[rows[:, 0] > 0], rtol=0, atol=1e-12 * scale)

    names = NAMES if rows is X else ["a", "b", "c"]
    table = pd.DataFrame(rows, columns=names, index=np.arange(3000)[::-1])
    fitted = kind(3, **options).fit(TABLE)
    lazy = getattr(fitted, method)(dd.from_pandas(table, npartitions=4, sort=False))
    assert dask.is_dask_collection(lazy)
    found = lazy.compute()
    assert found.index.equals(table.index)
    assert np.allclose(found, expected, rtol=0, atol=1e-12 * scale)
    if method == "inverse_transform":
        assert list(found.columns) == list(lazy.columns) == NAMES


def test_the_score_is_the_mean_of_all_blocks():
    holes = X.copy()
    holes[[5, 1700], [3, 4]] = np.nan
    fitted = IncrementalPCA(3, missing="skip").fit(holes)
    expected = fitted.score(holes)
    assert np.isfinite(expected)
    for rows in (da.from_array(holes, chunks=(700, 5)), dd.from_pandas(pd.DataFrame(holes), npartitions=3)):
        found = fitted.score(rows)
        assert isinstance(found, float)
        assert np.isclose(found, expected, rtol=1e-12, atol=0)


def test_an_error_in_a_block_names_it():
    holes = X.copy()
    holes[1777, 3] = np.nan
    fitted = PCA(3).fit(X)
    blocks = da.from_array(holes, chunks=(250, 12))
    for method in ("score_samples", "hotelling", "squared_distance", "left_singular_vectors"):
        with pytest.raises(EigenspaceError, match="partition `7`: ") as caught:
            getattr(fitted, method)(blocks).compute()
        assert caught.value.hint
    with pytest.raises(EigenspaceError, match=r"partition `\d+`: cannot reconstruct rows: .* 12 columns"):
        fitted.inverse_transform(blocks).compute()
    with pytest.raises(EigenspaceError, match="expected two dimensions, found 1"):
        fitted.score_samples(blocks[:, 0])
    for method in ("score_samples", "score", "hotelling", "inverse_transform"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(PCA(3), method)(blocks)


def test_an_array_in_memory_with_the_methods_of_dask_is_an_array():
    class Labeled:  # as xarray.DataArray is, if its values are not lazy
        shape = X.shape

        def __array__(self, dtype=None, copy=None):
            return X

        def __dask_graph__(self):
            return None

    assert EigenspaceModel.fit(Labeled()) == EigenspaceModel.fit(X)
    assert np.array_equal(PCA(3).fit(Labeled()).components_, PCA(3).fit(X).components_)
