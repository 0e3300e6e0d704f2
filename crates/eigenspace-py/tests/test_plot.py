"""The numbers in the plots, compared with numpy's decomposition."""

import subprocess
import sys
import textwrap
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.quiver import Quiver
from matplotlib.text import Text
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from eigenspace import PCA, EigenspaceError, EigenspaceModel, IncrementalPCA, Metadata, plot

mpl.use("Agg")

iris = load_iris(as_frame=True)
FRAME = iris.data
X = FRAME.to_numpy()
SPECIES = iris.target_names[iris.target]
HEIGHT, WIDTH = 6, 5


@pytest.fixture(autouse=True)
def _closed_figures_and_untouched_settings():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture
def pixels():
    """Return rows that are images, with well separated variances."""
    rng = np.random.default_rng(5)
    return 100 + rng.normal(size=(60, HEIGHT * WIDTH)) @ (rng.normal(size=(30, 30)) * np.geomspace(9, 0.1, 30)[:, None])


@pytest.fixture
def inexact():
    """Return a model that has dropped directions."""
    rng = np.random.default_rng(2)
    model = EigenspaceModel(20)
    for _ in range(6):
        model = model.update(rng.normal(size=(50, 20)) * np.geomspace(5, 1, 20), max_rank=6)
    assert not model.certificate().is_exact
    return model


def decomposed(rows):
    """Return mean, explained variance ratios, directions and centered rows, by numpy alone."""
    centered = rows - rows.mean(axis=0)
    _, values, directions = np.linalg.svd(centered, full_matrices=False)
    return rows.mean(axis=0), values**2 / np.sum(values**2), directions, centered


def standardized(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def clouds(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def offsets(ax):
    return np.vstack([np.asarray(c.get_offsets()) for c in clouds(ax)])


def tips(ax):
    return np.vstack([np.column_stack([q.U, q.V]) for q in ax.collections if isinstance(q, Quiver)])


def same_up_to_sign(found, expected):
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-9 * np.abs(expected).max())


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def looks(of):
    """Return the same rows as estimators and models of every kind."""
    return [PCA(2).fit(of), IncrementalPCA(2).fit(of), EigenspaceModel.fit(of).with_components(2)]


# Scree


def test_bars_are_explained_variance_ratios_and_the_curve_is_their_sum():
    _, shares, _, _ = decomposed(X)
    for model in [PCA().fit(X), IncrementalPCA().fit(X), EigenspaceModel.fit(X)]:
        ax = plot.scree(model)
        np.testing.assert_allclose([bar.get_height() for bar in ax.patches], shares, atol=1e-12)
        np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([range(1, 5), np.cumsum(shares)]))
        assert legend(ax) == ["cumulative", "component"]


def test_a_line_separates_the_components_from_the_other_directions():
    _, shares, _, _ = decomposed(X)
    ax = plot.scree(PCA(2).fit(X))
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], shares, atol=1e-12)
    assert f"k = 2: {100 * shares[:2].sum():.1f} %" in legend(ax)
    assert len(plot.scree(PCA().fit(X), n=3).patches) == 3
    assert len(plot.scree(PCA().fit(X), n=99).patches) == 4


def test_ratios_of_a_standardized_estimator_are_those_of_standardized_rows():
    _, shares, _, _ = decomposed(standardized(X))
    ax = plot.scree(PCA(standardize=True).fit(X))
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], shares, atol=1e-12)


def test_intervals_of_the_certificate_are_drawn_when_it_is_not_exact(inexact):
    ax = plot.scree(inexact)
    (bars,) = [c for c in ax.containers if type(c).__name__ == "ErrorbarContainer"]
    drawn = np.array([segment[:, 1] for segment in bars[2][0].get_segments()])
    bounds = inexact.certificate().eigenvalue_bounds() / inexact.feature_scatter.sum()
    np.testing.assert_allclose(drawn, np.clip(bounds, 0, 1), atol=1e-12)
    assert "bounds of the certificate (not exact)" in legend(ax)


def test_very_many_bars_are_one_outline():
    rows = np.random.default_rng(0).normal(size=(400, 350))
    ax = plot.scree(PCA().fit(rows))
    (outline,) = ax.patches
    np.testing.assert_allclose(outline.get_data().values, decomposed(rows)[1], atol=1e-12)


# Scatter


def test_points_are_the_centered_rows_times_the_directions():
    _, shares, directions, centered = decomposed(X)
    for model in looks(X):
        ax = plot.scatter(model, X)
        same_up_to_sign(offsets(ax), centered @ directions[:2].T)
        assert ax.get_xlabel() == f"component 1 ({100 * shares[0]:.1f} %)"
        assert ax.get_ylabel() == f"component 2 ({100 * shares[1]:.1f} %)"
        assert ax.get_legend() is None


def test_points_of_standardized_sparse_and_framed_rows():
    expected = standardized(X) @ decomposed(standardized(X))[2][:2].T
    same_up_to_sign(offsets(plot.scatter(PCA(2, standardize=True).fit(FRAME), FRAME)), expected)
    _, _, directions, centered = decomposed(X)
    same_up_to_sign(offsets(plot.scatter(PCA(2).fit(X), sparse.csr_matrix(X))), centered @ directions[:2].T)


def test_components_are_chosen_by_number():
    _, _, directions, centered = decomposed(X)
    ax = plot.scatter(PCA().fit(X), X, components=(3, 1))
    same_up_to_sign(offsets(ax), centered @ directions[[3, 1]].T)
    assert ax.get_xlabel().startswith("component 4 (")


def test_each_class_has_its_points_and_its_place_in_the_legend():
    pca = PCA(2).fit(X)
    ax = plot.scatter(pca, X, SPECIES)
    assert legend(ax) == ["setosa", "versicolor", "virginica"]
    for cloud, name in zip(clouds(ax), legend(ax), strict=True):
        np.testing.assert_allclose(cloud.get_offsets(), pca.transform(X[name == SPECIES]))
    assert len({to_hex(cloud.get_facecolor()[0]) for cloud in clouds(ax)}) == 3


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.arange(150) % 4, ["0", "1", "2", "3"]),
        ((np.arange(150) % 2).astype(float), ["0", "1"]),
        (np.arange(150) % 2 == 0, ["False", "True"]),
        ([f"s{i % 12}" for i in range(150)], [f"s{i}" for i in range(12)]),
        (pd.Series(["a", "b", None] * 50), ["a", "b", "no label"]),
        (pd.Series([0, 1, None] * 50, dtype="Int64"), ["0", "1", "no label"]),
        (pd.Categorical(["x", "y", "z"] * 50), ["x", "y", "z"]),
    ],
)
def test_what_is_a_class(labels, names):
    ax = plot.scatter(PCA(2).fit(X), X, labels)
    assert legend(ax) == names
    assert sum(len(cloud.get_offsets()) for cloud in clouds(ax)) == 150


def test_only_the_largest_classes_are_colored_and_the_plot_says_so():
    labels = [f"s{i % 25}" for i in range(150)]
    labels[:30] = ["s24"] * 30  # the last in the list, and now the largest
    ax = plot.scatter(PCA(2).fit(X), X, labels)
    assert len(legend(ax)) == 21
    assert "s24" in legend(ax)
    assert legend(ax)[-1] == "5 other classes"
    assert "25 classes: the 20 largest are colored, the others are gray" in texts(ax)
    assert sum(len(cloud.get_offsets()) for cloud in clouds(ax)) == 150


@pytest.mark.parametrize("count", [9, 10, 20])
def test_classes_that_share_a_color_differ_in_form(count):
    ax = plot.scatter(PCA(2).fit(X), X, [f"s{i % count}" for i in range(150)])
    looks = {(to_hex(cloud.get_facecolor()[0]), cloud.get_paths()[0].vertices.tobytes()) for cloud in clouds(ax)}
    assert len(looks) == count


@pytest.mark.parametrize("stretch", [1.0, 30.0])
def test_a_unit_is_as_long_across_as_upwards(stretch):
    rows = X * [stretch, 1.0, 1.0, 1.0]
    for ax in (plot.scatter(PCA(2).fit(rows), rows), plot.biplot(PCA(2).fit(rows), rows)):
        ax.figure.canvas.draw()
        (left, low), (right, high) = ax.transData.transform([(0.0, 0.0), (1.0, 1.0)])
        # Fitting the axes into the layout may still move it by a pixel.
        np.testing.assert_allclose(right - left, high - low, rtol=0.01)


def test_very_many_rows_are_drawn_as_cells_and_none_is_lost():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(30_000, 3)) * [3.0, 2.0, 1.0]
    rows[7] = [60.0, 40.0, 0.0]
    ax = plot.scatter(PCA(2).fit(rows), rows, ["a", "b"] * 15_000)
    assert sum(len(cloud.get_offsets()) for cloud in clouds(ax)) == 0
    cells = [mesh.get_array() for mesh in ax.collections if isinstance(mesh, QuadMesh)]
    assert sum(float(cell.sum()) for cell in cells) == 30_000
    assert any("30,000 points in cells" in text for text in texts(ax))
    assert legend(ax) == ["a", "b"]


def test_continuous_labels_have_a_color_bar():
    petal = FRAME["petal length (cm)"].copy()
    ax = plot.scatter(PCA(2).fit(X), X, petal)
    (cloud,) = clouds(ax)
    np.testing.assert_array_equal(cloud.get_array(), petal)
    assert cloud.colorbar.ax.get_ylabel() == "petal length (cm)"
    petal[:10] = np.nan
    missing, rest = clouds(plot.scatter(PCA(2).fit(X), X, petal))
    assert (len(missing.get_offsets()), len(rest.get_offsets())) == (10, 140)


def test_three_components_make_a_3d_plot():
    _, _, directions, centered = decomposed(X)
    ax = plot.scatter(PCA().fit(X), X, components=(0, 1, 2))
    assert ax.name == "3d"
    same_up_to_sign(np.column_stack(clouds(ax)[0]._offsets3d), centered @ directions[:3].T)
    assert ax.get_zlabel().startswith("component 3 (")
    with pytest.raises(EigenspaceError, match="projection='3d'"):
        plot.scatter(PCA().fit(X), X, components=(0, 1, 2), ax=plt.figure().add_subplot())
    with pytest.raises(EigenspaceError, match="three components"):
        plot.scatter(PCA().fit(X), X, ax=ax)


# Images


def test_images_of_the_mean_and_the_components(pixels):
    mean, shares, directions, _ = decomposed(pixels)
    axes = plot.components(PCA(9).fit(pixels), (HEIGHT, WIDTH), n=6)
    assert axes.shape == (6,)
    np.testing.assert_allclose(axes[0].images[0].get_array(), mean.reshape(HEIGHT, WIDTH))
    assert axes[0].images[0].get_cmap().name == "gray"
    for i, ax in enumerate(axes[1:]):
        (image,) = ax.images
        drawn = np.asarray(image.get_array())
        same_up_to_sign(drawn.reshape(-1, 1), directions[i].reshape(-1, 1))
        assert image.get_clim() == pytest.approx((-np.abs(drawn).max(), np.abs(drawn).max()))
        assert ax.get_xlabel() == f"{i + 1} ({100 * shares[i]:.1f} %)"
    assert len(plot.components(PCA(3).fit(pixels), (HEIGHT, WIDTH))) == 4


def test_color_images_are_scaled_to_the_displayable_range(pixels):
    axes = plot.components(PCA(3).fit(pixels), (5, 2))
    for ax in axes:
        drawn = np.asarray(ax.images[0].get_array())
        assert drawn.shape == (5, 2, 3)
        assert drawn.min() >= 0
        assert drawn.max() <= 1
    assert plot.components(PCA(3).fit(pixels), (5, 2, 3))[1].images[0].get_array().shape == (5, 2, 3)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_reconstructions_use_the_first_components(pixels, standardize, whiten):
    scale = pixels.std(axis=0) if standardize else np.ones(pixels.shape[1])
    mean = pixels.mean(axis=0)
    _, _, directions, centered = decomposed(pixels / scale)
    axes = plot.reconstructions(
        PCA(12, standardize=standardize, whiten=whiten).fit(pixels), pixels[[3, 8]], (HEIGHT, WIDTH), k=(0, 2, 7, 99)
    )
    assert axes.shape == (2, 2, 5)
    assert [ax.get_title() for ax in axes[0, 0]] == ["original", "k = 0", "k = 2", "k = 7", "k = 12"]
    for i, row in enumerate([3, 8]):
        np.testing.assert_array_equal(np.ravel(axes[i, 0, 0].images[0].get_array()), pixels[row])
        for j, k in enumerate([0, 2, 7, 12], 1):
            again = mean + (centered[row] @ directions[:k].T @ directions[:k]) * scale
            np.testing.assert_allclose(np.ravel(axes[i, 0, j].images[0].get_array()), again)
            residual = np.ravel(axes[i, 1, j].images[0].get_array())
            np.testing.assert_allclose(residual, pixels[row] - again, atol=1e-9)
            error = np.sqrt(np.mean((pixels[row] - again) ** 2))
            assert axes[i, 0, j].get_xlabel() == f"rmse {error:.3g}"
            assert axes[i, 1, j].images[0].get_clim() == axes[i, 1, 1].images[0].get_clim()


def test_reconstructions_of_a_model(pixels):
    model = EigenspaceModel.fit(pixels)
    axes = plot.reconstructions(model, pixels[:1], (HEIGHT, WIDTH), k=4)
    again = model.reconstruct(model.project(pixels[:1])[:, :4])
    np.testing.assert_allclose(np.ravel(axes[0, 0, 1].images[0].get_array()), again[0])


def test_galleries_can_be_drawn_into_part_of_a_figure(pixels):
    left, right = plt.figure(layout="constrained").subfigures(1, 2)
    known = plt.get_fignums()
    pca = PCA(5).fit(pixels)
    assert plot.components(pca, (HEIGHT, WIDTH), figure=left)[0].figure is left
    assert plot.reconstructions(pca, pixels[:1], (HEIGHT, WIDTH), figure=right)[0, 0, 0].figure is right
    assert plt.get_fignums() == known


# Arrows


def test_arrows_of_a_biplot_are_loadings_stretched_together():
    _, _, directions, centered = decomposed(X)
    loadings = (directions[:2] * np.sqrt(np.sum((centered @ directions[:2].T) ** 2, axis=0) / 150)[:, None]).T
    ax = plot.biplot(PCA(2).fit(FRAME), FRAME, labels=SPECIES)
    (factor,) = [float(text.split("× ")[1]) for text in texts(ax) if text.startswith("arrows × ")]
    room, reach = np.abs(centered @ directions[:2].T).max(axis=0), np.abs(loadings).max(axis=0)
    stretch = np.min(0.8 * room / reach)
    assert factor == pytest.approx(stretch, rel=1e-2)
    order = np.argsort(-np.hypot(*loadings.T))
    same_up_to_sign(tips(ax), stretch * loadings[order])
    order = np.concatenate([np.flatnonzero(name == SPECIES) for name in iris.target_names])
    same_up_to_sign(offsets(ax), (centered @ directions[:2].T)[order])
    assert set(FRAME.columns) <= set(texts(ax))


def test_a_biplot_without_rows_has_the_loadings_themselves():
    _, _, directions, centered = decomposed(X)
    loadings = (directions[:2] * np.sqrt(np.sum((centered @ directions[:2].T) ** 2, axis=0) / 150)[:, None]).T
    ax = plot.biplot(EigenspaceModel.fit(X), n=2)
    longest = np.argsort(-np.hypot(*loadings.T))[:2]
    same_up_to_sign(tips(ax), loadings[longest])
    assert texts(ax) == [f"c{j}" for j in longest]


@pytest.mark.parametrize("standardize", [False, True])
def test_arrows_of_the_circle_are_correlations(standardize):
    rows = standardized(X) if standardize else X
    scores = (rows - rows.mean(axis=0)) @ decomposed(rows)[2][:2].T
    expected = np.array([[np.corrcoef(X[:, j], scores[:, i])[0, 1] for i in range(2)] for j in range(4)])
    ax = plot.circle(PCA(2, standardize=standardize).fit(X), names=list("abcd"))
    order = np.argsort(-np.hypot(*expected.T))
    same_up_to_sign(tips(ax), expected[order])
    assert texts(ax) == ["abcd"[j] for j in order]
    assert ax.patches[0].radius == 1


def test_a_column_that_does_not_vary_has_no_correlation():
    ax = plot.circle(PCA(2).fit(np.column_stack([X, np.full(150, 3.0)])))
    assert np.isfinite(tips(ax)).all()
    assert np.hypot(*tips(ax).T).min() == 0


def test_with_many_features_all_have_arrows_and_the_longest_have_names(pixels):
    ax = plot.biplot(PCA(2).fit(pixels), pixels)
    assert len(tips(ax)) == 30
    assert len([text for text in texts(ax) if text.startswith("c")]) <= 12


def test_names_cover_neither_each_other_nor_points_nor_arrows():
    wide = np.random.default_rng(8).normal(size=(150, 9)) * np.geomspace(3, 1, 9)
    called = [f"a feature with the number {j}" for j in range(9)]
    for ax in (
        plot.circle(PCA(2, standardize=True).fit(FRAME)),
        plot.biplot(PCA(2).fit(FRAME), FRAME),
        plot.biplot(PCA(2).fit(wide), wide, names=called),
    ):
        ax.figure.canvas.draw()
        # Use the box of the letters only: the box of a text with a line includes the line.
        named = [text for text in ax.texts if text.get_gid() != "remark"]
        boxes = [Text.get_window_extent(text) for text in named]
        assert len(boxes) >= 4
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        points = [ax.transData.transform(cloud.get_offsets()) for cloud in clouds(ax)]
        arrows = [ax.transData.transform(np.linspace(0, 1, 100)[:, None] * tip) for tip in tips(ax)]
        for box in boxes:
            for x, y in np.vstack([*points, *arrows]):
                assert not (box.x0 < x < box.x1 and box.y0 < y < box.y1)


def test_bars_are_labeled_with_their_values():
    ax = plot.scree(PCA().fit(X))
    shares = decomposed(X)[1]
    assert {f"{100 * share:.1f} %" for share in shares} <= set(texts(ax))


# Monitor


@pytest.mark.parametrize("standardize", [False, True])
def test_rows_beyond_a_limit_are_marked(standardize):
    rows = standardized(X) if standardize else X
    _, _, directions, centered = decomposed(rows)
    scores = centered @ directions[:2].T
    hotelling = np.sum(scores**2 / scores.var(axis=0, ddof=1), axis=1)
    distance = np.sum((centered - scores @ directions[:2]) ** 2, axis=1)
    pca = PCA(2, standardize=standardize).fit(X)
    ax = plot.monitor(pca, X, confidence=0.9)
    everything, beyond = clouds(ax)
    np.testing.assert_allclose(everything.get_offsets(), np.column_stack([hotelling, distance]), rtol=1e-6)
    model = EigenspaceModel.fit(rows).with_components(2)
    limits = np.array([line.get_xydata()[0, i] for i, line in enumerate(ax.lines)])
    np.testing.assert_allclose(limits, model.limits(0.9))
    out = np.flatnonzero((hotelling > limits[0]) | (distance > limits[1]))
    assert 0 < len(out) == len(beyond.get_offsets())
    assert legend(ax) == [f"beyond: {len(out)} of 150"]
    named = [int(text.split()[1]) for text in texts(ax) if text.startswith("row ")]
    assert named
    assert set(named) <= set(out)
    assert {"T² limit 90 %", "Q limit 90 %"} <= set(texts(ax))


def test_names_of_close_rows_have_lines_to_their_points():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(400, 5)) * [3, 2, 1, 0.5, 0.3]
    pca = PCA(2).fit(rows)
    far = np.vstack([rows, [30.0, 20.0, 9.0, 4.0, 3.0] + 0.1 * rng.normal(size=(8, 5))])
    ax = plot.monitor(pca, far)
    ax.figure.canvas.draw()
    named = [text for text in ax.texts if text.get_text().startswith("row ")]
    assert len(named) == 8
    assert sum(text.arrow_patch is not None for text in named) >= 4
    everything = np.column_stack([pca.hotelling(far), pca.squared_distance(far)])
    for text in named:
        np.testing.assert_allclose(text.xy, everything[int(text.get_text().split()[1])], rtol=1e-6)


def test_of_thousands_of_rows_beyond_a_limit_only_the_furthest_are_outlined():
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(3_000, 5)) * [3, 2, 1, 0.5, 0.3]
    ax = plot.monitor(PCA(2).fit(rows), 2.0 * rows)
    rims = [len(cloud.get_offsets()) for cloud in clouds(ax) if cloud.get_linewidths()[0] == 1.0]
    assert rims == [8]


def test_monitored_rows_can_have_labels_and_names_and_be_sparse():
    model = EigenspaceModel.fit(X).with_components(2)
    ax = plot.monitor(model, sparse.csr_matrix(X), 0.95, labels=SPECIES, names=[f"flower {i}" for i in range(150)])
    assert legend(ax)[:3] == ["setosa", "versicolor", "virginica"]
    assert legend(ax)[3].startswith("beyond: ")
    assert any(text.startswith("flower ") for text in texts(ax))
    every = np.column_stack([model.hotelling(X), model.squared_distance(X)])
    drawn = np.vstack([np.asarray(cloud.get_offsets()) for cloud in clouds(ax)[:3]])
    np.testing.assert_allclose(drawn, every)


def test_rows_with_missing_cells_follow_the_setting_of_the_estimator():
    holed = X.copy()
    holed[:5, 0] = np.nan
    skipping = plot.monitor(IncrementalPCA(2, missing="skip").fit(X), holed)
    assert np.isfinite(np.ma.filled(clouds(skipping)[0].get_offsets(), np.nan)).all(axis=1).sum() == 145
    filling = plot.monitor(IncrementalPCA(2, missing="impute").fit(X), holed)
    assert np.isfinite(offsets(filling)).all()
    with pytest.raises(EigenspaceError):
        plot.monitor(IncrementalPCA(2).fit(X), holed)


def test_monitoring_a_model_with_all_components_raises_a_warning():
    with pytest.warns(UserWarning, match="every direction is a component"):
        plot.monitor(PCA().fit(X), X)


# All of them


DRAW = {
    "scree": lambda model, **ax: plot.scree(model, **ax),
    "scatter": lambda model, **ax: plot.scatter(model, X, SPECIES, **ax),
    "biplot": lambda model, **ax: plot.biplot(model, X, labels=X[:, 0], **ax),
    "circle": lambda model, **ax: plot.circle(model, **ax),
    "monitor": lambda model, **ax: plot.monitor(model, X, **ax),
}
GALLERIES = {
    "components": lambda model: plot.components(model, (2, 2)),
    "reconstructions": lambda model: plot.reconstructions(model, X[:1], (2, 2)),
}


@pytest.mark.parametrize("kind", DRAW)
def test_given_axes_are_drawn_into_and_no_figure_is_made(kind):
    figure = mpl.figure.Figure()
    ax = figure.add_subplot()
    assert DRAW[kind](PCA(2).fit(X), ax=ax) is ax
    assert plt.get_fignums() == []
    with pytest.raises(EigenspaceError, match="expected the Axes"):
        DRAW[kind](PCA(2).fit(X), ax=[ax])


@pytest.mark.parametrize("kind", [*DRAW, *GALLERIES])
def test_images_are_drawn_without_a_warning(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = ({**DRAW, **GALLERIES})[kind](PCA(2).fit(X))
        np.ravel(np.array(drawn, dtype=object))[0].figure.canvas.draw()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("kind", [*DRAW, *GALLERIES])
def test_an_invalid_model_raises_an_error_and_leaves_no_figure(kind):
    draw = {**DRAW, **GALLERIES}[kind]
    for wrong, error, why in [
        (PCA(2), NotFittedError, "Call `fit` first"),
        (IncrementalPCA(), NotFittedError, "Call `fit` first"),
        (EigenspaceModel(4), EigenspaceError, "cannot draw a model without rows"),
        (EigenspaceModel.fit(np.ones((3, 4))), EigenspaceError, "do not vary"),
        (X, EigenspaceError, "cannot draw ndarray"),
        (PCA, EigenspaceError, "cannot draw PCA"),
    ]:
        with pytest.raises(error, match=why):
            draw(wrong)
    assert plt.get_fignums() == []


PCA4 = PCA().fit(X)


@pytest.mark.parametrize(
    ("draw", "why"),
    [
        (lambda: plot.scree(PCA4, n=0), "invalid n=0: expected at least 1"),
        (lambda: plot.scree(PCA4, n=2.5), "invalid n=2.5: expected an integer"),
        (lambda: plot.scatter(PCA4, X[:, :3]), "X has 3 columns, but the model has 4 features"),
        (lambda: plot.scatter(PCA4, X[0]), "for a single row, pass X.reshape"),
        (lambda: plot.scatter(PCA4, X[:0]), "X has no rows"),
        (lambda: plot.scatter(PCA4, X, SPECIES[:9]), "expected 150 labels, one for each row; found 9"),
        (lambda: plot.scatter(PCA4, X, X), "2 dimensions, expected one label"),
        (lambda: plot.scatter(PCA4, X, components=(0, 4)), "invalid component 4: the model has 4"),
        (lambda: plot.scatter(PCA4, X, components=(-1, 0)), "invalid component -1: the model has 4"),
        (lambda: plot.scatter(PCA4, X, components=(0,)), "expected 2 or 3 components"),
        (lambda: plot.scatter(PCA4, X, components=(0, 0.5)), "expected indices of components"),
        (lambda: plot.biplot(PCA4, X, components=(0, 1, 2)), "expected 2 components, found 3"),
        (lambda: plot.biplot(PCA4, X, names=["a", "b"]), "expected 4 names, one for each feature; found 2"),
        (lambda: plot.biplot(PCA4, X, names="abcd"), "expected a list with a name for each feature"),
        (lambda: plot.biplot(PCA4, labels=SPECIES), "pass X as well"),
        (lambda: plot.circle(PCA4, names=["a"]), "expected 4 names, one for each feature; found 1"),
        (lambda: plot.circle(PCA(1).fit(X)), "invalid component 1: the model has 1"),
        (lambda: plot.monitor(PCA4, X, names=["a"]), "expected 150 names, one for each row; found 1"),
        (lambda: plot.monitor(PCA(2).fit(X), X, confidence=99), "confidence"),
        (lambda: plot.components(PCA4, (3, 2)), "invalid shape of 3 × 2: the model has 4 features"),
        (lambda: plot.components(PCA4, (-2, -2)), "invalid shape of -2 × -2"),
        (lambda: plot.components(PCA4, 4), r"invalid shape=4: expected \(height, width\)"),
        (lambda: plot.components(PCA4, (2, 2), figure=1), "expected the Figure"),
        (lambda: plot.reconstructions(PCA4, X, (2, 2)), "expected at most 20\nhint: pass a selection"),
        (lambda: plot.reconstructions(PCA4, X[:1], (2, 2), k=()), "numbers of components"),
        (lambda: plot.reconstructions(PCA4, X[:1], (2, 2), k=(-1,)), "numbers of components"),
    ],
)
def test_invalid_input_raises_an_error_before_a_figure_is_made(draw, why):
    with pytest.raises(EigenspaceError, match=why) as caught:
        draw()
    assert caught.value.hint
    assert plt.get_fignums() == []


def test_names_of_columns_are_read_from_a_model_file():
    model = EigenspaceModel.fit(X).with_metadata(Metadata(["a", "b", "c", "d"]))
    assert sorted(texts(plot.circle(model))) == ["a", "b", "c", "d"]


def run(script):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)


def test_without_matplotlib_the_package_works_and_plots_raise_an_error():
    result = run("""
        import sys
        sys.modules["matplotlib"] = None
        import eigenspace
        eigenspace.PCA().fit([[1.0, 2.0], [3.0, 5.0]])
        try:
            import eigenspace.plot
        except ImportError as error:
            print(error)
    """)
    assert result.returncode == 0, result.stderr
    assert "pip install matplotlib" in result.stdout


def test_importing_the_package_does_not_import_matplotlib():
    result = run("import sys, eigenspace; print('matplotlib' in sys.modules)")
    assert result.stdout.strip() == "False", result.stderr
