"""Warnings about settings without effect and about missing components, and no other warnings."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from eigenspace import PCA, EigenspaceModel, IncrementalPCA
from eigenspace._core import Stream
from eigenspace._settings import settings

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 12)) * np.arange(1, 13)
WIDE = RNG.normal(size=(40, 1100))


@pytest.fixture(autouse=True)
def _no_other_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"max_rank": 5}, "max_rank=5 has no effect"),
        ({"truncation": "energy:0.9"}, "truncation='energy:0.9' has no effect"),
        ({"max_rank": 5, "truncation": "fd:7"}, "max_rank=5 and truncation='fd:7' have no effect"),
    ],
)
def test_settings_that_the_scatter_engine_ignores_raise_a_warning(params, named):
    for verb in ("fit", "partial_fit"):
        with pytest.warns(UserWarning, match=f"{named}: .*engine='factor'") as caught:
            pca = getattr(IncrementalPCA(2, **params), verb)(X)
        assert caught[0].filename == __file__
        pca.partial_fit(X)  # warns only once
    with pytest.warns(UserWarning, match=named):
        IncrementalPCA.from_model(EigenspaceModel.fit(X), n_components=2, **params)
    with pytest.warns(UserWarning, match=named):
        IncrementalPCA(2).fit(X).set_params(**params).partial_fit(X)


def test_settings_with_an_effect_raise_no_warning():
    kept = IncrementalPCA(2, max_rank=5, engine="factor")
    for block in np.split(X, 50):
        kept.partial_fit(block)
    IncrementalPCA(2, max_rank="all").fit(X)
    IncrementalPCA(2, max_rank=12).fit(X)
    IncrementalPCA(2, max_rank=5).fit(WIDE)


def test_the_engine_is_a_parameter():
    assert IncrementalPCA().get_params()["engine"] == "auto"
    assert clone(IncrementalPCA(engine="scatter")).engine == "scatter"
    truth = np.linalg.svd(WIDE - WIDE.mean(axis=0), compute_uv=False)[:3]
    for engine in ("auto", "scatter", "factor"):
        pca = IncrementalPCA(3, engine=engine).fit(WIDE)
        np.testing.assert_allclose(pca.singular_values_, truth, rtol=1e-10)
    # The scatter engine never drops a direction; the factor engine must, with so small a rank.
    rows = RNG.normal(size=(3000, 60))
    assert IncrementalPCA(2, engine="scatter").fit(rows).certificate_.is_exact
    assert not IncrementalPCA(2, max_rank=4, engine="factor").fit(rows).certificate_.is_exact
    with pytest.raises(ValueError, match="engine"):
        IncrementalPCA(engine="best").fit(X)


LINE = np.outer(np.arange(30.0), [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("kind", [PCA, IncrementalPCA])
def test_fewer_components_than_requested_raise_a_warning(kind):
    words = r"requested 3 components, found only 1: .*the 30 rows vary"
    with pytest.warns(UserWarning, match=words) as caught:
        coordinates = kind(3).fit(LINE).transform(LINE)  # one warning, although both read the components
    assert [warning.filename for warning in caught] == [__file__]
    assert coordinates.shape == (30, 3)
    assert np.abs(coordinates[:, 1:]).max() < 1e-12
    with pytest.warns(UserWarning, match=r"requested 9 components, found only 4: 5 rows vary in at most"):
        kind(9).fit(X[:5]).transform(X)


@pytest.mark.parametrize("kind", [PCA, IncrementalPCA])
@pytest.mark.parametrize("asked", [None, 0.5, 1])
def test_as_many_components_as_requested_raise_no_warning(kind, asked):
    assert kind(asked).fit(LINE).transform(LINE).shape[0] == 30
    kind(12).fit(X).transform(X)


def test_the_warning_says_if_directions_were_dropped():
    kept = EigenspaceModel.fit(X).truncate(3)
    words = "requested 8 components, found only 3: no more directions were kept"
    with pytest.warns(UserWarning, match=words):
        assert len(IncrementalPCA.from_model(kept, n_components=8).components_) == 8


def test_truncate_takes_a_rule_or_a_rank():
    model = EigenspaceModel.fit(X)
    assert model.truncate(truncation="rank:3") == model.truncate(truncation=np.int64(3)) == model.truncate(3)
    assert model.truncate(truncation="none") == model
    with pytest.raises(TypeError, match="invalid truncation=None: expected a truncation rule or a rank"):
        model.truncate(None)


def test_a_model_that_keeps_fewer_directions_raises_a_warning():
    model = EigenspaceModel.fit(LINE)
    words = "requested 3 components, found only 1: the model keeps no more"
    with pytest.warns(UserWarning, match=words):
        assert model.with_components(3).n_components == 1
    assert model.with_components(1).n_components == 1


def test_a_ratio_that_the_kept_directions_do_not_reach_raises_a_warning():
    words = "requested an explained variance ratio of 0.99, reached only 0\\.[0-9]+ with all [0-9]+ directions"
    kept = IncrementalPCA(0.99, truncation="rank:3", engine="factor")
    for block in np.split(X, 4):
        kept.partial_fit(block)
    with pytest.warns(UserWarning, match=words) as caught:
        reached = kept.explained_variance_ratio_.sum()
    assert caught[0].filename == __file__
    assert reached < 0.99
    assert kept.n_components_ < 12  # no second warning
    model = EigenspaceModel.fit(X, max_rank=3)
    with pytest.warns(UserWarning, match=words):
        model.with_components(0.99)
    model.with_components(0.3)
    PCA(0.99).fit(X)
    assert IncrementalPCA(1.0).fit(X).n_components_ == 12


WEIGHTS = RNG.uniform(0.1, 1, size=len(X))


def variances(**params):
    return IncrementalPCA(2, **params).fit(X, sample_weight=WEIGHTS).explained_variance_


def test_the_kind_of_weights_can_be_changed_later():
    frequency, reliability = variances(), variances(weight_kind="reliability")
    assert not np.allclose(frequency, reliability, rtol=1e-3)
    nothing = np.empty((0, X.shape[1]))
    pca = IncrementalPCA(2).fit(X, sample_weight=WEIGHTS).set_params(weight_kind="reliability")
    np.testing.assert_allclose(pca.partial_fit(nothing).explained_variance_, reliability, rtol=1e-10)
    pca.set_params(weight_kind="frequency")
    np.testing.assert_allclose(pca.partial_fit(nothing).explained_variance_, frequency, rtol=1e-10)


def test_an_estimator_from_a_model_has_its_kind_of_weights():
    model = IncrementalPCA(2, weight_kind="reliability").fit(X, sample_weight=WEIGHTS).model_
    assert model.weight_kind == "reliability"
    pca = IncrementalPCA.from_model(model)
    assert pca.weight_kind == "reliability"
    np.testing.assert_allclose(pca.explained_variance_, variances(weight_kind="reliability"), rtol=1e-10)
    pca = IncrementalPCA.from_model(model, weight_kind="frequency")
    np.testing.assert_allclose(pca.explained_variance_, variances(), rtol=1e-10)


def test_an_estimator_continues_from_a_model_that_is_not_centered():
    stream = Stream(X.shape[1], settings() | {"centered": False})
    stream.update(X[:100])
    pca = IncrementalPCA.from_model(EigenspaceModel._of(stream.model()), n_components=3)
    pca.partial_fit(X[100:]).set_params(n_components=4).partial_fit(X[:0])
    assert not pca.model_.is_centered
    np.testing.assert_array_equal(pca.mean_, 0)
    np.testing.assert_allclose(pca.singular_values_, np.linalg.svd(X, compute_uv=False)[:4], rtol=1e-10)
    centered = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(pca.fit(X).singular_values_, centered[:4], rtol=1e-10)
