"""Importing the package does not import scikit-learn, which is slow; using an estimator does."""

import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest


def run(script):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_models_need_numpy_alone():
    said = run("""
        import sys
        import eigenspace

        model = eigenspace.EigenspaceModel.fit([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
        eigenspace.EigenspaceModel.from_bytes((model + model).to_bytes()).certificate()
        eigenspace.subspace_distance(model, model)
        print([name for name in ("sklearn", "scipy", "joblib", "pandas", "matplotlib") if name in sys.modules])
    """)
    assert said == "[]\n"


def test_estimators_derive_from_scikit_learns_classes():
    said = run("""
        import sys
        import eigenspace

        assert "PCA" in dir(eigenspace) and "sklearn" not in sys.modules
        estimator = eigenspace.PCA(2)
        from eigenspace import IncrementalPCA, PCA
        from sklearn.base import BaseEstimator, TransformerMixin, clone

        print(PCA is eigenspace.PCA, isinstance(estimator, BaseEstimator), isinstance(clone(estimator), PCA))
        print(issubclass(IncrementalPCA, TransformerMixin))
    """)
    assert said == "True True True\nTrue\n"


def test_unpickling_imports_what_it_needs():
    said = run("""
        import pickle, subprocess, sys
        import numpy as np
        from eigenspace import IncrementalPCA

        data = pickle.dumps(IncrementalPCA(2).fit(np.eye(5)))
        script = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).n_samples_seen_)"
        print(subprocess.run([sys.executable, "-c", script], input=data, capture_output=True).stdout.decode().strip())
    """)
    assert said == "5\n"


def test_an_unknown_name_is_an_attribute_error():
    said = run("""
        import eigenspace

        try:
            eigenspace.KernelPCA
        except AttributeError as error:
            print(error)
        print(eigenspace.__version__.count("."))
    """)
    assert said == "module 'eigenspace' has no attribute 'KernelPCA'\n2\n"


@pytest.mark.parametrize(
    ("module", "package", "words"),
    [
        ("dask", "dask", 'Dask: {clone}, or pip install "dask[array,dataframe,distributed]"'),
        ("spark", "pyspark", 'pyspark: {clone}, or pip install "pyspark>=4.1" pyarrow "pandas<3"'),
    ],
)
def test_modules_say_what_to_install(module, package, words):
    said = run(f"""
        import sys

        sys.modules["{package}"] = None  # as if it were not installed
        try:
            import eigenspace.{module}
        except ImportError as error:
            print(error)
    """)
    clone = f'pip install "./crates/eigenspace-py[{module}]" in a clone of eigenspace'
    assert said == f"eigenspace.{module} needs {words.format(clone=clone)}\n"


def test_the_extras_that_errors_name_exist():
    described = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert {"dask", "spark"} <= described["project"]["optional-dependencies"].keys()
