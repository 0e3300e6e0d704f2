"""Models of Dask collections, on a local cluster of two worker processes and with the scheduler of this process."""

import os
import signal
import time
from functools import partial

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask.callbacks import Callback
from dask.distributed import Client, LocalCluster, SchedulerPlugin

import eigenspace.dask
from eigenspace import PCA, Accumulator, EigenspaceError, EigenspaceModel, IncrementalPCA

NAMES = [f"c{number}" for number in range(12)]
X = np.random.default_rng(0).normal(size=(3000, 12)) * np.arange(1, 13)
WEIGHTS = np.random.default_rng(1).integers(0, 3, 3000).astype(float)
SITES = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 3000)]
TABLE = pd.DataFrame(X, columns=NAMES)
FULL = TABLE.assign(site=SITES, weight=WEIGHTS)


@pytest.fixture(scope="module")
def cluster():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def by_hand(parts, *arguments, **options):
    """Return the model of these parts, merged in the documented tree."""
    states = [Accumulator(*arguments, **options).absorb(part) for part in parts]
    while len(states) > 1:
        states = [sum(states[at : at + 8]) for at in range(0, len(states), 8)]
    return states[0].finish()


def numpy_variances(rows, weights=None):
    weights = np.ones(len(rows)) if weights is None else weights
    centered = rows - np.average(rows, axis=0, weights=weights)
    return np.linalg.eigvalsh((centered * weights[:, None]).T @ centered / (weights.sum() - 1))[::-1]


def test_the_model_is_that_of_numpy_and_the_tree_decides_every_bit(cluster):
    blocks = da.from_array(X, chunks=(250, 5))  # rows are divided too
    model = eigenspace.dask.fit(blocks, 4)
    assert model.certificate().is_exact
    assert np.allclose(model.explained_variance(), numpy_variances(X)[:4], rtol=1e-13, atol=0)
    assert model.to_bytes() == by_hand(np.split(X, 12), 4).to_bytes()
    with dask.config.set(scheduler="synchronous"):
        assert eigenspace.dask.fit(blocks, 4).to_bytes() == model.to_bytes()


def test_nothing_is_computed_before_it_is_asked_for(here):
    called = []

    def block(rows):
        called.append(len(rows))
        return rows

    rows = da.from_array(X, chunks=(1000, 12)).map_blocks(block, dtype=float, meta=np.empty((0, 0)))
    lazy = eigenspace.dask.fit(rows, 3, compute=False)
    scores = eigenspace.dask.transform(EigenspaceModel.fit(X), rows)
    assert called == []
    assert lazy.compute().count == 3000
    assert scores.chunks == ((1000,) * 3, (12,))
    assert sum(called) == 3000


@pytest.mark.parametrize("kind", ["array", "frame", "bag"])
def test_no_block_is_a_value_of_the_cluster(kind, here):
    collections = {
        "array": lambda: da.from_array(X, chunks=(250, 12)) * 2,
        "frame": lambda: dd.from_pandas(TABLE, npartitions=12) * 2,
        "bag": lambda: db.from_sequence(np.split(X, 12), npartitions=12).map(lambda rows: 2 * rows),
    }
    kept = []

    def seen(key, value, graph, state, worker):
        kept.extend(value if isinstance(value, list) else [value])

    with Callback(posttask=seen):
        assert eigenspace.dask.fit(collections[kind](), 3).count == 3000
    assert not [value for value in kept if isinstance(value, np.ndarray) and value.dtype == float]
    assert not [value for value in kept if isinstance(value, pd.DataFrame)]


BLOCK = 250 * 12 * 8
"""Bytes of a block."""


def read(number):
    return 2 * X[250 * number : 250 * (number + 1)]


def read_block(block_id=None):
    return read(block_id[0])


def read_frame(number):
    return pd.DataFrame(read(number), columns=NAMES)


class Sizes(SchedulerPlugin):
    """Records the size of every value that a worker keeps for other tasks."""

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.found = []

    def transition(self, key, start, finish, *arguments, **options):
        if finish == "memory":
            self.found.append(self.scheduler.tasks[key].nbytes)


@pytest.fixture
def sizes(cluster):
    plugin = Sizes(cluster.cluster.scheduler)
    plugin.scheduler.add_plugin(plugin, name="sizes")
    yield plugin.found
    plugin.scheduler.remove_plugin("sizes")


def blocks_read():
    return da.map_blocks(read_block, chunks=((250,) * 12, (12,)), dtype=float, meta=np.empty((0, 0)))


@pytest.mark.parametrize("kind", ["array", "frame", "bag"])
def test_no_block_is_sent_between_worker_processes(kind, cluster, sizes):
    collections = {
        "array": blocks_read,
        "frame": lambda: dd.from_map(read_frame, range(12), meta=TABLE[:0]),
        "bag": lambda: db.from_sequence(range(12), npartitions=12).map(read),
    }
    assert eigenspace.dask.fit(collections[kind](), 3).count == 3000
    assert len(sizes) >= 12
    assert max(sizes) < BLOCK / 10


def test_parts_of_rows_are_sent_if_columns_are_divided(cluster, sizes):
    # The exception that the documentation names, and a proof that the record of sizes has blocks.
    assert eigenspace.dask.fit(blocks_read().rechunk({1: 6}), 3).count == 3000
    assert max(sizes) >= BLOCK / 2
    sizes.clear()
    cluster.gather(cluster.compute(blocks_read().to_delayed().ravel().tolist()))
    assert sizes.count(BLOCK) == 12


def test_weights_of_arrays_and_frames(here):
    expected = numpy_variances(X, WEIGHTS)[:5]
    array = eigenspace.dask.fit(da.from_array(X, chunks=(500, 12)), 5, weights=da.from_array(WEIGHTS, chunks=777))
    frame = eigenspace.dask.fit(dd.from_pandas(FULL, npartitions=5), 5, columns=NAMES, weights="weight")
    for model in (array, frame):
        assert model.weight == WEIGHTS.sum()
        assert np.allclose(model.explained_variance(), expected, rtol=1e-13, atol=0)
    assert frame.metadata.feature_names == NAMES


def test_one_model_for_each_group(cluster):
    models = eigenspace.dask.fit_by(dd.from_pandas(FULL, npartitions=7), "site", 3, weights="weight")
    assert list(models) == ["a", "b", "c"]
    for site, model in models.items():
        rows = np.equal(SITES, site)
        expected = numpy_variances(X[rows], WEIGHTS[rows])[:3]
        assert np.allclose(model.explained_variance(), expected, rtol=1e-13, atol=0)
        assert model.metadata.feature_names == NAMES


def test_bags_sparse_blocks_and_empty_partitions(here):
    expected = numpy_variances(X)[:3]
    bag = db.from_sequence([X[:10], X[10:10], X[10:2000], X[2000:]], npartitions=2)
    assert np.allclose(eigenspace.dask.fit(bag, 3).explained_variance(), expected, rtol=1e-13, atol=0)
    frame = dd.from_pandas(FULL, npartitions=6)
    kept = frame[frame.site == "b"]
    assert eigenspace.dask.fit(kept[NAMES], 3).count == (SITES == "b").sum()
    with pytest.raises(EigenspaceError, match="it has absorbed no rows"):
        eigenspace.dask.fit(kept[kept.c0 > 1e9][NAMES], 3)
    sparse = np.where(np.abs(X) > np.abs(X).mean(axis=0), X, 0)
    blocks = da.from_array(sparse, chunks=(700, 12)).map_blocks(scipy.sparse.csr_matrix, dtype=float)
    model = eigenspace.dask.fit(blocks, 3)
    assert np.allclose(model.explained_variance(), numpy_variances(sparse)[:3], rtol=1e-13, atol=0)


def test_rows_of_unknown_number(here):
    blocks = da.from_array(X, chunks=(1000, 12))
    some = blocks[blocks[:, 0] > 0]
    assert eigenspace.dask.fit(some, 3).count == (X[:, 0] > 0).sum()
    scores = eigenspace.dask.transform(eigenspace.dask.fit(some, 3), some)
    assert scores.compute().shape == ((X[:, 0] > 0).sum(), 3)


def test_scores_are_those_of_one_machine(cluster):
    model = EigenspaceModel.fit(TABLE).with_components(4)
    blocks = da.from_array(X, chunks=(250, 5))
    assert np.array_equal(
        eigenspace.dask.transform(model, blocks).compute(),
        np.vstack([model.project(rows) for rows in np.split(X, 12)]),
    )
    frame = dd.from_pandas(FULL[["site", *reversed(NAMES)]], npartitions=3)
    scores = eigenspace.dask.transform(model, frame, 2)
    assert list(scores.columns) == ["PC1", "PC2"]
    found = scores.compute()
    assert found.index.equals(FULL.index)
    assert np.allclose(found, model.project(TABLE)[:, :2], rtol=0, atol=1e-12)


def test_scores_of_a_standardized_model_are_standardized(here):
    frame = dd.from_pandas(TABLE, npartitions=3)
    model = eigenspace.dask.fit(frame, 3, standardize=True)
    scores = eigenspace.dask.transform(model, frame[frame.c0 > frame.c0.min() - 1]).compute()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    directions = np.linalg.svd(scaled, full_matrices=False)[2][:3]
    assert np.allclose(np.abs(scores), np.abs(scaled @ directions.T), rtol=0, atol=1e-10)
    none = eigenspace.dask.transform(model, frame[frame.c0 > 1e9]).compute()
    assert none.shape == (0, 3)


def test_more_features_than_a_scatter_matrix_holds(here):
    wide = np.random.default_rng(3).normal(size=(900, 6)) @ np.random.default_rng(4).normal(size=(6, 1100))
    wide += 1e-3 * np.random.default_rng(5).normal(size=wide.shape)
    model = eigenspace.dask.fit(da.from_array(wide, chunks=(150, 1100)), 6)
    exact = np.linalg.svd(wide - wide.mean(axis=0), full_matrices=False)[2][:6]
    sine = np.linalg.norm(exact - exact @ model.components.T @ model.components, 2)
    assert sine <= model.certificate().angle_bound(6) + 1e-12
    assert sine < 1e-3


def test_an_error_names_the_partition_the_row_and_the_column(cluster):
    wrong = X.copy()
    wrong[1777, 3] = np.nan
    with pytest.raises(EigenspaceError, match="partition `7`: row 27, column 3: the value is NaN"):
        eigenspace.dask.fit(da.from_array(wrong, chunks=(250, 12)), 3)
    frame = dd.from_pandas(pd.DataFrame(wrong, columns=NAMES), npartitions=12)
    with pytest.raises(EigenspaceError, match="partition `7`: row 27, column `c3`: the value is NaN"):
        eigenspace.dask.fit(frame, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: eigenspace.dask.fit(X, 3), "expected a Dask array, data frame or bag, found numpy.ndarray"),
        (lambda: eigenspace.dask.fit(da.ones((3, 3, 3)), 3), "expected two dimensions, found 3"),
        (lambda: eigenspace.dask.fit(da.ones((9, 3)), 0), "n_components|components"),
        (lambda: eigenspace.dask.fit(da.ones((9, 3)), 1, missing="impute"), "missing|impute"),
        (lambda: eigenspace.dask.fit(da.ones((9, 3)), 1, columns=["a"]), "columns is not available for an array"),
        (lambda: eigenspace.dask.fit(da.ones((9, 3)), 1, weights=da.ones(8)), r"expected shape \(9,\), found \(8,\)"),
        (lambda: eigenspace.dask.fit(dd.from_pandas(FULL), 1, columns=["z"]), "no column 'z'"),
        (lambda: eigenspace.dask.fit_by(da.ones((9, 3)), "a"), "expected a Dask data frame"),
        (lambda: eigenspace.dask.transform(EigenspaceModel.fit(X), X), "expected a Dask array or data frame"),
        (lambda: eigenspace.dask.transform(EigenspaceModel.fit(TABLE), dd.from_pandas(FULL[["c1"]])), "no column 'c0'"),
        (lambda: eigenspace.dask.fit(da.ones((9, 3)), 1, forgetting=0.9), "forgetting is not available on a cluster"),
        (lambda: eigenspace.dask.fit(dd.from_pandas(FULL), 1, columns="c0"), "invalid columns='c0': expected a list"),
        (lambda: eigenspace.dask.fit(dd.from_pandas(FULL), 1, weights=WEIGHTS), "expected the name of a column"),
        (
            lambda: eigenspace.dask.fit(dd.from_pandas(FULL), 1, weights=dd.from_pandas(FULL["weight"])),
            "expected the name of a column, found Series",
        ),
        (lambda: eigenspace.dask.fit_by(dd.from_pandas(FULL), ["site"]), "invalid by: expected the name of a column"),
        (lambda: eigenspace.dask.transform(EigenspaceModel.fit(X), da.ones(12)), "expected two dimensions, found 1"),
        (
            lambda: eigenspace.dask.transform(EigenspaceModel.fit(X), da.ones((9, 3))),
            "the rows have 3 columns, but the model has 12 features",
        ),
    ],
)
def test_invalid_arguments_are_refused_before_anything_is_computed(call, words):
    with pytest.raises(EigenspaceError, match=words):
        call()


def test_columns_of_the_same_name_are_refused(here):
    table = pd.DataFrame(X[:, :3], columns=["a", "a", "b"])
    with pytest.raises(EigenspaceError, match="several columns have the name 'a'") as caught:
        eigenspace.dask.fit(dd.from_pandas(table, npartitions=2), 1)
    assert caught.value.hint
    assert eigenspace.dask.fit(dd.from_pandas(table, npartitions=2), 1, columns=["b"]).n_features == 1


def test_what_is_not_an_option_or_not_a_model_is_named():
    with pytest.raises(TypeError, match="invalid option 'solver': expected one of max_rank, "):
        eigenspace.dask.fit(da.ones((9, 3)), 1, solver="full")
    for wrong in (None, PCA(2).fit(X)):
        with pytest.raises(TypeError, match="invalid model: expected an EigenspaceModel"):
            eigenspace.dask.transform(wrong, da.ones((9, 12)))


def test_blocks_of_every_kind_are_right_or_an_error_that_names_the_partition(here):
    blocks = da.from_array(X, chunks=((0, 1000, 0, 1500, 500, 0), (12,)))
    assert blocks.chunks[0][0] == 0
    assert np.allclose(eigenspace.dask.fit(blocks, 3).explained_variance(), numpy_variances(X)[:3], rtol=1e-13, atol=0)
    scores = eigenspace.dask.transform(EigenspaceModel.fit(X), blocks).compute()
    assert np.allclose(scores, EigenspaceModel.fit(X).project(X), rtol=0, atol=1e-12)
    whole = np.round(X)
    for kind in ("f4", "f2", "i1", "u8", "g", ">f8", object):
        rows = np.abs(whole) if kind == "u8" else whole
        model = eigenspace.dask.fit(da.from_array(rows.astype(kind), chunks=(700, 5)), 3)
        assert np.allclose(model.explained_variance(), numpy_variances(rows)[:3], rtol=1e-12, atol=0), kind
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    masked[1777, 3] = np.ma.masked
    lacking = da.from_array(masked, chunks=(250, 12))
    kept = numpy_variances(np.delete(X, 1777, axis=0))[:3]
    assert np.allclose(eigenspace.dask.fit(lacking, 3, missing="skip").explained_variance(), kept, rtol=1e-13, atol=0)
    model = EigenspaceModel.fit(X)
    words = X.astype(object)
    words[1777, 3] = "x"
    table = dd.from_pandas(TABLE.assign(w="x"), npartitions=2)
    parts = [dask.delayed(TABLE[:1000]), dask.delayed(TABLE[1000:].drop(columns="c3"))]
    narrow = dd.from_delayed(parts, meta=TABLE[:0], verify_meta=False)
    for call, expected in [
        (lambda: eigenspace.dask.fit(lacking, 3), "partition `7`: row 27, column 3: the value is NaN"),
        (lambda: eigenspace.dask.transform(model, lacking).compute(), "partition `7`: row 27, column 3: the value is"),
        (lambda: eigenspace.dask.fit(da.from_array(words, chunks=(250, 12)), 3), "partition `7`: X contains a value"),
        (lambda: eigenspace.dask.fit(table, 3, weights="w"), "partition `[01]`: sample_weight contains a value"),
        (lambda: eigenspace.dask.fit(narrow, 3), "partition `1`: no column 'c3'"),
        (lambda: eigenspace.dask.fit(db.from_sequence([X, X[:, :9]], npartitions=1), 3), "partition `0`: the rows"),
        (lambda: eigenspace.dask.fit(db.from_sequence([X, X[:, :9]], npartitions=2), 3), "12 and 9"),
        (
            lambda: eigenspace.dask.fit(db.from_sequence([TABLE, TABLE.rename(columns={"c3": "d"})], npartitions=2)),
            "column 3 is `c3` in one and `d` in the other",
        ),
    ]:
        with pytest.raises(EigenspaceError, match=expected) as caught:
            call()
        assert caught.value.hint


def test_groups_are_in_their_own_order(here):
    numbered = dd.from_pandas(TABLE.assign(group=np.arange(3000) % 12), npartitions=3)
    assert list(eigenspace.dask.fit_by(numbered, "group", 2)) == list(range(12))


def test_a_number_of_components_of_any_size(here):
    blocks = da.from_array(X, chunks=(1000, 12))
    assert eigenspace.dask.fit(blocks, 2**70).n_components == 12
    assert eigenspace.dask.fit(blocks, 0.9).explained_variance_ratio().sum() >= 0.9


@pytest.mark.parametrize("kind", [IncrementalPCA, PCA])
@pytest.mark.parametrize("options", [{}, {"whiten": True}, {"standardize": True}])
def test_estimators_accept_dask_collections(kind, options, here):
    expected = kind(3, **options).fit(TABLE)
    scores = expected.transform(TABLE)
    blocks, frame = da.from_array(X, chunks=(300, 5)), dd.from_pandas(TABLE, npartitions=4)
    for rows in (blocks, frame):
        fitted = kind(3, **options).fit(rows)
        assert fitted.n_features_in_ == 12
        lazy = fitted.transform(rows)
        assert dask.is_dask_collection(lazy)
        assert np.allclose(lazy.compute(), scores, rtol=0, atol=1e-11)
        assert np.allclose(fitted.transform(rows.compute()), scores, rtol=0, atol=1e-11)
    assert list(fitted.feature_names_in_) == NAMES
    weighted = kind(3, **options).fit(blocks, sample_weight=da.from_array(WEIGHTS, chunks=400))
    exact = kind(3, **options).fit(X, sample_weight=WEIGHTS)
    assert np.allclose(weighted.explained_variance_, exact.explained_variance_, rtol=1e-12, atol=0)


def test_an_incremental_estimator_continues_after_dask_blocks(here):
    fitted = IncrementalPCA(3).fit(da.from_array(X[:2000], chunks=(300, 12))).partial_fit(X[2000:])
    assert fitted.n_samples_seen_ == 3000
    assert np.allclose(fitted.explained_variance_, numpy_variances(X)[:3], rtol=1e-12, atol=0)


def test_settings_that_depend_on_the_order_of_rows_are_refused(here):
    blocks = da.from_array(X, chunks=(300, 12))
    with pytest.raises(EigenspaceError, match="forgetting is not available"):
        IncrementalPCA(3, forgetting=0.9).fit(blocks)
    with pytest.raises(EigenspaceError, match="impute"):
        IncrementalPCA(3, missing="impute").fit(blocks)


def test_a_worker_process_uses_as_many_threads_as_dask_gives_it(cluster):
    before = eigenspace.threads()
    eigenspace.dask.fit(da.from_array(X, chunks=(100, 12)), 4)
    assert set(cluster.run(eigenspace.threads).values()) == {1}
    assert eigenspace.threads() == before


def slow(rows):
    time.sleep(0.2)
    return rows


def test_a_worker_that_is_killed_changes_no_bit(cluster):
    blocks = da.from_array(X, chunks=(100, 12))
    expected = eigenspace.dask.fit(blocks, 4).to_bytes()
    lazy = eigenspace.dask.fit(blocks.map_blocks(slow, dtype=float, meta=np.empty((0, 0))), 4, compute=False)
    future = cluster.compute(lazy)
    time.sleep(1.0)
    processes = cluster.run(os.getpid)
    assert len(processes) == 2
    assert not future.done()
    os.kill(next(iter(processes.values())), signal.SIGKILL)
    assert future.result(timeout=120).to_bytes() == expected
    assert next(iter(processes.values())) not in cluster.run(os.getpid).values()


def slowly_merged(states, mark):
    mark.write_text(str(os.getpid()))
    time.sleep(0.5)
    return eigenspace.dask._merged(states)


def test_a_worker_that_is_killed_while_it_merges_changes_no_bit(cluster, tmp_path):
    blocks = da.from_array(X, chunks=(100, 12))
    expected = eigenspace.dask.fit(blocks, 4).to_bytes()
    mark = tmp_path / "merging"
    states = eigenspace.dask._of_array(blocks, None, 4, {})
    merged = eigenspace.dask._tree(states, partial(slowly_merged, mark=mark))
    future = cluster.compute(dask.delayed(eigenspace.dask._finished)(merged))
    start = time.monotonic()
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < start + 60
        time.sleep(0.01)
    merging = int(mark.read_text())
    assert merging in cluster.run(os.getpid).values()
    assert not future.done()
    os.kill(merging, signal.SIGKILL)
    assert future.result(timeout=120).to_bytes() == expected
