"""Integration with scikit-learn's tools, data frames, joblib and Dask."""

import copy
import pickle

import dask.array
import joblib
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenspace import PCA, EigenspaceModel, IncrementalPCA, subspace_distance

iris = load_iris()


def test_a_pipeline_classifies():
    pipeline = make_pipeline(StandardScaler(), IncrementalPCA(n_components=2), LogisticRegression())
    assert pipeline.fit(iris.data, iris.target).score(iris.data, iris.target) > 0.9
    theirs = make_pipeline(StandardScaler(), PCA(n_components=2), LogisticRegression()).fit(iris.data, iris.target)
    assert np.array_equal(pipeline.predict(iris.data), theirs.predict(iris.data))


def test_a_grid_is_searched():
    search = GridSearchCV(
        make_pipeline(IncrementalPCA(), LogisticRegression(max_iter=1000)),
        {"incrementalpca__n_components": [1, 2, 0.99], "incrementalpca__standardize": [True, False]},
        n_jobs=2,
    )
    search.fit(iris.data, iris.target)
    assert search.best_score_ > 0.9


def test_the_number_of_components_can_be_chosen_by_likelihood():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 10)) * 3 + rng.normal(size=(500, 10))
    search = GridSearchCV(IncrementalPCA(), {"n_components": [1, 2, 3, 4, 5, 7]}).fit(X)
    assert search.best_params_ == {"n_components": 3}


def test_the_likelihood_is_that_of_a_normal_distribution():
    from scipy.stats import multivariate_normal

    for estimator in [PCA(2), IncrementalPCA(3), PCA()]:
        estimator.fit(iris.data)
        normal = multivariate_normal(estimator.mean_, estimator.get_covariance())
        np.testing.assert_allclose(estimator.score_samples(iris.data), normal.logpdf(iris.data), rtol=1e-10)


def test_a_clone_has_the_parameters_and_nothing_learned():
    fitted = IncrementalPCA(2, max_rank=7, forgetting="half-life:30").fit(iris.data)
    twin = clone(fitted)
    assert twin.get_params() == fitted.get_params()
    assert not hasattr(twin, "components_")


@pytest.mark.parametrize("carry", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
@pytest.mark.parametrize("estimator", [IncrementalPCA(2), IncrementalPCA(2, standardize=True), PCA(2)])
def test_a_copy_continues_from_the_state_of_the_original(estimator, carry):
    fitted = clone(estimator).fit(iris.data[:100])
    twin = carry(fitted)
    if isinstance(estimator, IncrementalPCA):
        for one in (fitted, twin):
            one.partial_fit(iris.data[100:])
        assert twin.n_samples_seen_ == 150
    assert np.array_equal(twin.components_, fitted.components_)
    assert np.array_equal(twin.transform(iris.data), fitted.transform(iris.data))
    assert twin.model_ == fitted.model_


def test_joblib_dumps_and_works_in_processes(tmp_path):
    fitted = IncrementalPCA(3).fit(iris.data)
    joblib.dump(fitted, tmp_path / "pca.joblib")
    assert joblib.load(tmp_path / "pca.joblib").model_ == fitted.model_
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(EigenspaceModel.fit)(part) for part in _thirds())
    assert subspace_distance(sum(parts).with_components(3), fitted) < 1e-12


def test_dask_arrays_are_fitted_block_by_block():
    X = load_digits().data
    blocks = dask.array.from_array(X, chunks=(250, 64))
    pca = IncrementalPCA(n_components=10)
    for block in blocks.blocks:
        pca.partial_fit(block.compute())
    coordinates = blocks.map_blocks(pca.transform, dtype=float, chunks=(blocks.chunks[0], (10,))).compute()
    batch = PCA(n_components=10).fit(X)
    np.testing.assert_allclose(coordinates, batch.transform(X), atol=1e-9)


def test_models_of_dask_blocks_are_merged_as_a_tree():
    X = load_digits().data
    models = [dask.delayed(EigenspaceModel.fit)(block) for block in np.array_split(X, 7)]
    whole = dask.delayed(EigenspaceModel.merge_all)(models).compute()
    assert whole.count == len(X)
    assert subspace_distance(whole.with_components(10), PCA(n_components=10).fit(X)) < 1e-10


def test_frames_keep_the_names_of_their_columns():
    frame = load_iris(as_frame=True).data
    pca = IncrementalPCA(2).fit(frame)
    assert list(pca.feature_names_in_) == list(frame.columns)
    assert np.array_equal(pca.components_, IncrementalPCA(2).fit(iris.data).components_)
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="feature names"):
        pca.transform(iris.data)


def test_scores_are_frames_with_set_output():
    frame = load_iris(as_frame=True).data
    pandas_out = IncrementalPCA(2).set_output(transform="pandas").fit_transform(frame)
    assert isinstance(pandas_out, pandas.DataFrame)
    assert list(pandas_out.columns) == ["incrementalpca0", "incrementalpca1"]
    polars_out = PCA(2).set_output(transform="polars").fit_transform(polars.from_pandas(frame))
    assert isinstance(polars_out, polars.DataFrame)
    assert polars_out.columns == ["pca0", "pca1"]
    np.testing.assert_allclose(polars_out.to_numpy(), pandas_out.to_numpy(), atol=1e-12)


def test_memory_mapped_rows_are_read_in_pieces(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 30)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    monkeypatch.setattr("eigenspace._rows.CELLS", 1000)
    pca = IncrementalPCA(5).fit(mapped)
    whole = IncrementalPCA(5).fit(X)
    assert pca.model_ == whole.model_
    assert pca.components_.dtype == pca.transform(mapped).dtype == np.float32
    np.testing.assert_allclose(pca.transform(mapped), whole.transform(X), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_do_not_depend_on_the_pieces(monkeypatch, dtype):
    X = np.random.default_rng(3).normal(size=(5000, 30)).astype(dtype)
    pca = IncrementalPCA(5).fit(X)
    whole = pca.transform(X)
    reversed_columns = np.asfortranarray(X)
    bad = X.copy()
    bad[4321, 7] = np.nan
    monkeypatch.setattr("eigenspace._rows.IN_PLACE_CELLS", 30 * 700)
    for rows in (X, reversed_columns):
        # One rounding for each of 30 features.
        np.testing.assert_allclose(pca.transform(rows), whole, atol=30 * np.finfo(dtype).eps * abs(whole).max())
    with pytest.raises(ValueError, match="row 4321, column 7"):
        pca.transform(bad)


def test_integers_are_worked_on_as_scikit_learn_does():
    X = load_digits().data.astype(np.uint8)
    ours = IncrementalPCA(5).fit(X)
    assert ours.transform(X).dtype == np.float64
    assert ours.certificate_.is_exact
    assert ours.model_ == IncrementalPCA(5).fit(X.astype(np.float64)).model_


def test_sparse_rows_are_never_made_dense(monkeypatch):
    X = scipy.sparse.random(500, 1200, density=0.02, format="csr", random_state=0)
    dense = X.toarray()

    def refuse(*_):
        raise AssertionError("made dense")

    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    for standardize in (False, True):
        fitted = IncrementalPCA(5, max_rank="all", standardize=standardize).fit(X)
        streamed = IncrementalPCA(5, max_rank="all", standardize=standardize)
        for start in range(0, 500, 90):
            streamed.partial_fit(X[start : start + 90])
        whole = IncrementalPCA(5, max_rank="all", standardize=standardize).fit(dense)
        for one in (fitted, streamed):
            assert one.n_samples_seen_ == 500
            np.testing.assert_allclose(one.transform(X), whole.transform(dense), atol=1e-8)


def _thirds():
    return np.array_split(iris.data, 3)
