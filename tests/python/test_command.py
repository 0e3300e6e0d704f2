"""The command reads files written by other software: numpy, pyarrow, pillow and csv.

`EIGENSPACE` is the path of the command; `cargo xtask python` builds the command and sets it.
"""

import csv
import gzip
import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from PIL import Image
from safetensors.numpy import load_file

# Two correct decompositions of these rows differ by a few hundred rounding errors of their type.
CLOSE = {"f8": 1e-12, "f4": 2e-6}


def eigenspace(*arguments, **options) -> str:
    command = [os.environ["EIGENSPACE"], *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def rows(seed: int = 0, n: int = 60, d: int = 7) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) + 3.0


def check(model_file, x: np.ndarray, precision: str = "f8") -> None:
    """Compare a model file with numpy's decomposition."""
    model = load_file(model_file)
    x = np.asarray(x, dtype=np.float64)
    centered = x - x.mean(axis=0)
    _, s, v = np.linalg.svd(centered, full_matrices=False)
    rank = model["singular_values"].size
    assert model["count"] == len(x)
    np.testing.assert_allclose(model["mean"], x.mean(axis=0), atol=CLOSE[precision] * abs(x).max())
    np.testing.assert_allclose(model["singular_values"], s[:rank], atol=CLOSE[precision] * s[0])
    scatter = model["basis"].T @ np.diag(model["singular_values"] ** 2) @ model["basis"]
    np.testing.assert_allclose(
        scatter, centered.T @ centered, atol=10 * CLOSE[precision] * s[0] ** 2
    )
    assert v.shape[1] == model["basis"].shape[1]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "i1",
        "i2",
        ">i2",
        "i4",
        "i8",
        "u1",
        "u2",
        "u4",
        ">u4",
        "u8",
        "f2",
        "f4",
        ">f4",
        "f8",
        ">f8",
    ],
)
def test_arrays_of_every_type_and_order_are_read(tmp_path, dtype, order):
    x = rows() * 10
    x = (x > x.mean()) if dtype == "?" else abs(x).astype(dtype)
    np.save(tmp_path / "x.npy", np.asarray(x, order=order))
    eigenspace("fit", tmp_path / "x.npy", "-o", tmp_path / "m")
    check(tmp_path / "m", x, "f4" if dtype in ("f2", "f4", ">f4") else "f8")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz_files_are_read_stored_and_compressed(tmp_path, save, order):
    x = rows()
    save(tmp_path / "x.npz", wanted=np.asarray(x, order=order), other=x[:3])
    eigenspace("fit", tmp_path / "x.npz", "--key", "wanted", "-o", tmp_path / "m")
    check(tmp_path / "m", x)


def test_arrays_of_images_are_images(tmp_path):
    x = (rows(n=30, d=12) * 20).astype("u1").reshape(30, 3, 4)
    np.save(tmp_path / "x.npy", x)
    printed = eigenspace("fit", tmp_path / "x.npy", "-o", tmp_path / "m")
    assert "images of 4x3" in printed
    check(tmp_path / "m", x.reshape(30, 12))


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_read_from_standard_input(tmp_path, order):
    x = rows()
    np.save(tmp_path / "x.npy", np.asarray(x, order=order))
    data = (tmp_path / "x.npy").read_bytes()
    eigenspace("fit", "-", "-o", tmp_path / "m", input=data)
    check(tmp_path / "m", x)


def test_text_of_the_csv_module_is_read_plain_and_compressed(tmp_path):
    x = rows()
    for name, opened in [("x.csv", open), ("x.csv.gz", gzip.open)]:
        with opened(tmp_path / name, "wt", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"c, {i}" for i in range(7)), "who"])
            writer.writerows([*row, f'"{i}"'] for i, row in enumerate(x.tolist()))
        eigenspace("fit", tmp_path / name, "--label", "who", "-o", tmp_path / "m")
        check(tmp_path / "m", x)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_parquet_and_arrow_files_of_pyarrow_are_read(tmp_path, dtype):
    x = (rows() * 10).astype(dtype)
    table = pa.table({f"c{j}": x[:, j] for j in range(7)} | {"who": ["a", "b"] * 30})
    for compression in ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]:
        pa.parquet.write_table(table, tmp_path / "x.parquet", compression=compression)
        eigenspace("fit", tmp_path / "x.parquet", "--label", "who", "-o", tmp_path / "m")
        check(tmp_path / "m", x, "f4" if dtype == "f4" else "f8")
    for compression in ["uncompressed", "lz4", "zstd"]:
        name = tmp_path / "x.feather"
        pa.feather.write_feather(table, name, compression=compression, chunksize=17)
        eigenspace("fit", tmp_path / "x.feather", "--label", "who", "-o", tmp_path / "m")
        check(tmp_path / "m", x, "f4" if dtype == "f4" else "f8")
    with pa.ipc.new_stream(tmp_path / "x.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=13)
    eigenspace("fit", tmp_path / "x.arrow", "--label", "who", "-o", tmp_path / "m")
    check(tmp_path / "m", x, "f4" if dtype == "f4" else "f8")


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float64(), 7)])
def test_columns_of_vectors_are_read(tmp_path, kind):
    x = rows().astype("f4")
    table = pa.table({"id": range(60), "vector": pa.array(x.tolist(), type=kind)})
    pa.parquet.write_table(table, tmp_path / "x.parquet", row_group_size=23)
    eigenspace("fit", tmp_path / "x.parquet", "--columns", "vector", "-o", tmp_path / "m")
    check(tmp_path / "m", x, "f4")


def test_nulls_are_missing_cells(tmp_path):
    x = rows()
    columns = {f"c{j}": list(x[:, j]) for j in range(7)}
    columns["c2"][4] = None
    table = pa.table(columns)
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    eigenspace("fit", tmp_path / "x.parquet", "--missing", "skip", "-o", tmp_path / "m")
    check(tmp_path / "m", np.delete(x, 4, axis=0))


@pytest.mark.parametrize("ending", ["png", "pgm", "jpg"])
def test_directories_of_images_written_by_pillow_are_read(tmp_path, ending):
    pixels = (abs(rows(n=20, d=30)) * 20).astype("u1").reshape(20, 5, 6)
    for i, image in enumerate(pixels):
        directory = tmp_path / "faces" / f"s{i // 4 + 1}"
        directory.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(directory / f"{i % 4 + 1}.{ending}")
    names = [tmp_path / f"faces/s{i // 4 + 1}/{i % 4 + 1}.{ending}" for i in range(20)]
    seen = np.stack([np.asarray(Image.open(name)) for name in names])
    if ending != "jpg":
        np.testing.assert_array_equal(seen, pixels)
    eigenspace("fit", tmp_path / "faces", "-o", tmp_path / "m")
    model = load_file(tmp_path / "m")
    # Two JPEG decoders may round a pixel differently.
    tolerance = 1.0 if ending == "jpg" else 1e-10
    np.testing.assert_allclose(model["mean"], seen.reshape(20, 30).mean(axis=0), atol=tolerance)
    coordinates = eigenspace("project", tmp_path / "m", tmp_path / "faces", "-k", "1")
    labels = [line.split(",")[0] for line in coordinates.splitlines()[1:]]
    assert labels == [f"s{i // 4 + 1}" for i in range(20)]


def test_numpy_and_pyarrow_read_the_scores_and_rows_that_are_written(tmp_path):
    x = rows()
    np.save(tmp_path / "x.npy", x)
    eigenspace("fit", tmp_path / "x.npy", "-o", tmp_path / "m")
    model = load_file(tmp_path / "m")
    expected = (x - x.mean(axis=0)) @ model["basis"].T
    for name in ["z.npy", "z.csv", "z.parquet"]:
        eigenspace("project", tmp_path / "m", tmp_path / "x.npy", "-o", tmp_path / name)
    tables = [
        np.load(tmp_path / "z.npy"),
        np.loadtxt(tmp_path / "z.csv", delimiter=",", skiprows=1),
        np.stack(list(pa.parquet.read_table(tmp_path / "z.parquet").to_pydict().values()), axis=1),
    ]
    for table in tables:
        np.testing.assert_allclose(table, expected, atol=1e-12)
        np.testing.assert_array_equal(table, tables[0])
    for name in ["z.npy", "z.csv", "z.parquet"]:
        eigenspace("reconstruct", tmp_path / "m", tmp_path / name, "-o", tmp_path / "y.npy")
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), x, atol=1e-12)


def test_float32_rows_give_float32_scores(tmp_path):
    x = rows().astype("f4")
    np.save(tmp_path / "x.npy", x)
    eigenspace("fit", tmp_path / "x.npy", "-o", tmp_path / "m")
    eigenspace("project", tmp_path / "m", tmp_path / "x.npy", "-o", tmp_path / "z.npy")
    assert np.load(tmp_path / "z.npy").dtype == np.float32


def test_standardized_pca_is_pca_of_the_correlation_matrix(tmp_path):
    x = rows() * np.array([1, 10, 100, 1e-3, 5, 2, 7])
    np.save(tmp_path / "x.npy", x)
    eigenspace("fit", tmp_path / "x.npy", "--standardize", "-o", tmp_path / "m")
    eigenspace("project", tmp_path / "m", tmp_path / "x.npy", "-o", tmp_path / "z.npy")
    z = np.load(tmp_path / "z.npy")
    values = np.sort(np.linalg.eigvalsh(np.corrcoef(x.T)))[::-1]
    np.testing.assert_allclose(z.var(axis=0), values, atol=1e-12)


def test_weights_are_equivalent_to_repeated_rows(tmp_path):
    x, weights = rows(), np.arange(60) % 4
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", weights.astype(float))
    eigenspace("fit", tmp_path / "x.npy", "--weights", tmp_path / "w.npy", "-o", tmp_path / "m")
    model, repeated = load_file(tmp_path / "m"), np.repeat(x, weights, axis=0)
    centered = repeated - repeated.mean(axis=0)
    singular = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(model["singular_values"], singular[:7], atol=1e-12 * singular[0])
    np.testing.assert_allclose(model["mean"], repeated.mean(axis=0), atol=1e-12)
