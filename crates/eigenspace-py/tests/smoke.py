"""A smoke test of an installed package, with nothing but numpy: fit, merge, split, save, load, recognize."""

import tempfile
from importlib.metadata import files
from pathlib import Path

import numpy as np

import eigenspace
from eigenspace import EigenspaceModel, faces

X = np.random.default_rng(0).normal(size=(200, 30)) * np.arange(1, 31)
whole = EigenspaceModel.fit(X[:120]) + EigenspaceModel.fit(X[120:])
_, s, v = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
assert np.allclose(whole.singular_values, s)
assert eigenspace.subspace_distance(whole.with_components(5), v[:5]) < 1e-9
assert np.allclose((whole - EigenspaceModel.fit(X[120:])).mean, X[:120].mean(axis=0))
with tempfile.TemporaryDirectory() as directory:
    path = Path(directory) / "m.safetensors"
    whole.save(path)
    assert EigenspaceModel.load(path) == whole
people = faces.train(np.vstack([X[:3], X[:3] + 99]), ["a"] * 3 + ["b"] * 3, unknown=None, not_a_face=None)
assert [one.person for one in people.recognize(X[3:4] + 99)] == ["b"]
shipped = [str(file) for file in files("eigenspace") or []]
assert any(file.endswith("py.typed") for file in shipped), "the types are missing"
assert any(file.endswith("/LICENSE") for file in shipped), "the license is missing"
assert any("THIRD-PARTY-LICENSES" in file for file in shipped), "the licenses of dependencies are missing"
print(f"eigenspace {eigenspace.__version__} works")
