"""Accumulators: rows in partitions, merged in any tree, moved as bytes, are the rows of one model."""

import copy
import functools
import operator
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from eigenspace import Accumulator, EigenspaceError, EigenspaceModel, FormatError, subspace_distance

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 12)) * np.arange(1, 13) + 5.0

KINDS = [{}, {"engine": "scatter"}, {"engine": "factor"}, {"n_components": 3, "engine": "factor", "max_rank": 5}]


def oracle(X):
    """Return mean and sorted eigenvalues of the scatter, by numpy."""
    centered = X - X.mean(axis=0)
    return X.mean(axis=0), np.linalg.eigvalsh(centered.T @ centered)[::-1]


def tree(parts, choose):
    """Merge random pairs until one is left."""
    parts = list(parts)
    while len(parts) > 1:
        other = parts.pop(choose.randrange(len(parts)))
        at = choose.randrange(len(parts))
        parts[at] = parts[at] + other
    return parts[0]


@pytest.mark.parametrize("kind", KINDS[:3])
@pytest.mark.parametrize("seed", range(5))
def test_any_partitions_in_any_tree_give_batch_pca(kind, seed):
    choose = random.Random(seed)
    places = sorted(choose.randrange(len(X) + 1) for _ in range(6))
    parts = [Accumulator(**kind).absorb(rows) for rows in np.split(X, places)]
    model = tree([pickle.loads(pickle.dumps(part)) for part in parts], choose).finish()
    mean, values = oracle(X)
    np.testing.assert_allclose(model.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(model.singular_values**2, values, rtol=1e-11)
    assert model.count == 1500
    assert model.certificate().is_exact
    assert subspace_distance(model.with_components(4), EigenspaceModel.fit(X).with_components(4)) < 1e-10


def test_what_is_dropped_is_in_the_certificate():
    parts = [Accumulator(**KINDS[3]).absorb(rows) for rows in np.array_split(X, 5)]
    certificate = functools.reduce(operator.add, parts).finish().certificate()
    _, values = oracle(X)
    assert not certificate.is_exact
    for (low, high), value in zip(certificate.eigenvalue_bounds(), values, strict=False):
        assert low * (1 - 1e-12) <= value <= high * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_and_pickles_are_the_same_state(kind):
    for rows in ([], X[:7], X):
        part = Accumulator(**kind)
        if len(rows):
            part.absorb(rows, weights=np.arange(len(rows)) % 3)
        data = part.to_bytes()
        again = Accumulator.from_bytes(bytearray(data))
        assert again.to_bytes() == data == pickle.loads(pickle.dumps(part)).to_bytes() == copy.deepcopy(part).to_bytes()
        assert again.absorb(X[:50]).to_bytes() == part.absorb(X[:50]).to_bytes()
        assert again.finish() == part.finish()


@pytest.mark.parametrize("kind", KINDS)
def test_the_tree_decides_the_bits_and_the_blocks_do_not(kind):
    def merged(block, choose):
        parts = []
        for rows in np.array_split(X, 6):
            part = Accumulator(**kind)
            for start in range(0, len(rows), block):
                part.absorb(rows[start : start + block])
            parts.append(part)
        return tree(parts, choose).to_bytes()

    assert merged(7, random.Random(1)) == merged(100, random.Random(1)) == merged(1500, random.Random(1))


def test_empty_partitions_are_neutral():
    full = Accumulator(3).absorb(X)
    empty = Accumulator(3).absorb(np.empty((0, 99))).absorb(np.empty((0, 0)))
    assert (empty.count, empty.n_features, repr(empty)) == (0, None, "Accumulator(no rows)")
    assert (full + empty).to_bytes() == full.to_bytes() == (empty + full).to_bytes()
    assert Accumulator().merge(full).to_bytes() == full.to_bytes()
    with pytest.raises(EigenspaceError, match="it has absorbed no rows"):
        (empty + empty).finish()


def test_a_bad_cell_is_named_by_partition_row_and_column():
    bad = X.copy()
    bad[1203, 7] = np.nan
    part = Accumulator(partition="day=3/part-0007").absorb(bad[:1000])
    before = part.to_bytes()
    with pytest.raises(
        EigenspaceError, match=r"^partition `day=3/part-0007`: row 1203, column 7: the value is NaN"
    ) as e:
        part.absorb(bad[1000:])
    assert e.value.hint.startswith("drop row 1203")
    assert part.to_bytes() == before
    # In pieces, too: nothing of the rows before the bad one stays.
    wide = np.zeros((2100, 2000), dtype=np.float32)
    wide[2099, 1999] = np.inf
    part = Accumulator(2, partition="w")
    with pytest.raises(EigenspaceError, match="partition `w`: row 2099, column 1999: the value is inf"):
        part.absorb(wide)
    assert part.count == 0
    assert part.n_features is None
    assert Accumulator(missing="skip").absorb(bad).count == 1499


def test_options_that_depend_on_the_order_are_refused():
    with pytest.raises(EigenspaceError, match="depend on the order of all rows") as e:
        Accumulator(missing="impute")
    assert "IncrementalPCA" in e.value.hint
    with pytest.raises(TypeError):
        Accumulator(forgetting=0.9)


def test_accumulators_that_do_not_fit_together_are_refused():
    part = Accumulator(3).absorb(X)
    before = part.to_bytes()
    with pytest.raises(EigenspaceError, match="12 and 5"):
        part.merge(Accumulator(3).absorb(X[:, :5]))
    with pytest.raises(EigenspaceError, match="different options"):
        part.merge(Accumulator(4).absorb(X))
    for other in (EigenspaceModel.fit(X), 0, None):
        with pytest.raises(TypeError):
            part + other
        with pytest.raises(TypeError):
            part.merge(other)
    with pytest.raises(EigenspaceError, match="the rows have 5 columns"):
        part.absorb(X[:, :5])
    assert part.to_bytes() == before


def test_columns_are_compared_by_name():
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    part = Accumulator().absorb(frame[:700])
    with pytest.raises(EigenspaceError, match="column 0 is `c0` in one and `c11` in the other"):
        part.absorb(frame[700:][frame.columns[::-1]])
    other = Accumulator().absorb(frame[700:][frame.columns[::-1]])
    with pytest.raises(EigenspaceError, match="column 0 is `c0` in one and `c11` in the other"):
        part + other
    assert (part + Accumulator().absorb(frame[700:])).finish().feature_names == list(frame.columns)
    assert pickle.loads(pickle.dumps(part)).finish().feature_names == list(frame.columns)


def test_other_rows_weights_and_settings():
    sparse = scipy.sparse.random_array((800, 30), density=0.1, rng=rng, format="csr")
    parts = [Accumulator().absorb(sparse[:500]), Accumulator().absorb(sparse[500:].tocoo())]
    np.testing.assert_allclose((parts[0] + parts[1]).finish().mean, sparse.toarray().mean(axis=0), atol=1e-14)
    single = X.astype(np.float32)
    assert Accumulator().absorb(single).to_bytes() == Accumulator().absorb(single.astype(np.float64)).to_bytes()
    twice = Accumulator().absorb(X, weights=np.full(1500, 2.0)).finish()
    np.testing.assert_allclose(
        twice.singular_values, (Accumulator().absorb(X) + Accumulator().absorb(X)).finish().singular_values
    )
    model = Accumulator(3, standardize=True).absorb(X).finish()
    assert model.metadata.standardize
    assert model.n_components == 3
    assert Accumulator().absorb(X).finish(n_components=5).n_components == 5
    assert Accumulator().absorb(X).finish(0.9).explained_variance_ratio().sum() >= 0.9


def test_merging_changes_only_the_left_side():
    one, two = Accumulator().absorb(X[:900]), Accumulator().absorb(X[900:])
    kept, right = one.to_bytes(), two.to_bytes()
    both = one + two
    assert (one.to_bytes(), two.to_bytes(), both.count) == (kept, right, 1500)
    assert sum([one, two]).to_bytes() == both.to_bytes()
    same = one
    one += two
    assert one is same
    assert one.to_bytes() == both.to_bytes()
    assert two.to_bytes() == right
    assert one.merge(one).count == 3000
    twin = copy.copy(two)
    twin.absorb(X[:1])
    assert (twin.count, two.count, repr(two)) == (601, 600, "Accumulator(600 rows, 12 features)")


def test_damaged_bytes_are_a_format_error():
    data = Accumulator(3).absorb(X).to_bytes()
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    for bad in (b"", data[:-1], data + b"x", flipped, EigenspaceModel.fit(X).to_bytes()):
        with pytest.raises(FormatError, match="not a valid accumulator") as e:
            Accumulator.from_bytes(bad)
        assert e.value.hint


def absorbed(number):
    """Absorb one partition, in another process."""
    return Accumulator(3, partition=f"part-{number}").absorb(np.array_split(X, 4)[number])


def test_states_come_from_other_processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(absorbed, range(4)))
    here = [absorbed(number) for number in range(4)]
    both = [functools.reduce(operator.add, some).to_bytes() for some in (parts, here)]
    assert both[0] == both[1]


def test_threads_share_an_accumulator():
    part, other = Accumulator(), Accumulator()
    blocks = np.array_split(X, 30)

    def work(blocks, own, their):
        for rows in blocks:
            own.absorb(rows)
            own + their
            their + own

    threads = [threading.Thread(target=work, args=(blocks[i::3], part, other)) for i in range(3)]
    threads += [threading.Thread(target=work, args=(blocks[i::3], other, part)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert part.count == other.count == 1500


def test_it_needs_numpy_alone():
    script = (
        "import sys, pickle, eigenspace; a = eigenspace.Accumulator().absorb([[1.0, 2.0], [3.0, 5.0]]); "
        "pickle.loads(pickle.dumps(a + a)).finish(); "
        "print([name for name in ('sklearn', 'scipy', 'pandas') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert said.stdout == "[]\n", said.stderr


@pytest.mark.parametrize(("rows", "features", "kept"), [(600, 784, 784), (5000, 50, 50), (600, 4096, 132)])
def test_states_have_the_documented_size(rows, features, kept):
    """docs/SCALE.md: 8 D (D + p + 8) bytes, or 8 D (r + p + 8), with p rows since the last full block of 512."""
    state = Accumulator(50).absorb(np.random.default_rng(7).normal(size=(rows, features)))
    expected = 8 * features * (kept + rows % 512 + 8)
    assert abs(len(state.to_bytes()) - expected) <= 8 * features + 4096


@pytest.mark.parametrize("array", [np.ones(12), np.empty((0, 12)), np.float64(1.0), X])
def test_an_array_is_no_accumulator(array):
    accumulator, model = Accumulator().absorb(X), EigenspaceModel.fit(X)
    for left, right in [(accumulator, array), (array, accumulator), (model, array), (array, model)]:
        with pytest.raises(TypeError, match=r"cannot merge|unsupported operand|does not support ufuncs") as caught:
            left + right
        if isinstance(array, np.ndarray):
            assert caught.value.__notes__[0].startswith("hint: use ")
    with pytest.raises(TypeError, match=r"cannot merge|unsupported operand|does not support ufuncs"):
        accumulator += array
    assert accumulator.count == len(X)
    assert sum([accumulator, accumulator]).count == 2 * len(X)
