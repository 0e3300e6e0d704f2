"""Without scikit-learn, SciPy, pandas and matplotlib the package still fits and transforms."""

import subprocess
import sys
import textwrap


def test_the_estimators_work_with_numpy_alone():
    script = """
        import sys

        for name in ("sklearn", "scipy", "pandas", "matplotlib"):
            sys.modules[name] = None  # as if it were not installed

        import pickle
        import numpy as np
        from eigenspace import PCA, EigenspaceModel, IncrementalPCA, subspace_distance

        X = np.random.default_rng(0).normal(size=(200, 12)) * np.arange(1, 13)
        U, s, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        pca = IncrementalPCA(n_components=3)
        for block in np.array_split(X, 9):
            pca.partial_fit(block)
        for one in (pca, PCA(n_components=3).fit(X), pickle.loads(pickle.dumps(pca))):
            np.testing.assert_allclose(one.singular_values_, s[:3], rtol=1e-12)
            assert subspace_distance(one, V[:3]) < 1e-7
            Z = one.transform(X)
            np.testing.assert_allclose(np.abs(Z), np.abs((X - X.mean(axis=0)) @ V[:3].T), atol=1e-9)
            assert one.inverse_transform(Z).shape == X.shape
        np.testing.assert_allclose(PCA(2).fit_transform(X), PCA(2).fit(X).transform(X))
        assert list(pca.get_feature_names_out()) == ["incrementalpca0", "incrementalpca1", "incrementalpca2"]
        assert pca.set_params(n_components=2).get_params()["n_components"] == 2
        assert repr(pca) == "IncrementalPCA(n_components=2)"
        for bad in (X[:, :5], [["a"]], np.zeros((0, 12), dtype=complex)):
            try:
                pca.partial_fit(bad)
            except ValueError as error:
                assert str(error)
            else:
                raise AssertionError("invalid rows were accepted")
        try:
            IncrementalPCA().components_
        except AttributeError as error:
            assert "not fitted" in str(error)
        print("fits")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "fits\n", done.stderr
