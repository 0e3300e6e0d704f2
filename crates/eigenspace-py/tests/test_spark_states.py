"""Rows of Spark as a worker absorbs them, tested without Spark."""

import numpy as np
import pyarrow as pa
import pytest

from eigenspace import EigenspaceError
from eigenspace._spark_states import Fit, Reader


@pytest.mark.parametrize(("names", "column"), [(["height", "weight"], "`weight`"), (None, "1")])
@pytest.mark.parametrize(("cell", "words"), [(None, "null"), (np.nan, "NaN")])
def test_a_null_and_a_nan_name_the_same_column(names, column, cell, words):
    lists = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, cell]], pa.list_(pa.float64()))
    batch = pa.record_batch({"rows": lists})
    fit = Fit(1, {}, names, None, 1)
    with pytest.raises(EigenspaceError) as caught:
        fit._absorb(batch, {}, Reader("partition `4`", names=names), 4)
    text = f"partition `4`: row 2, column {column}: the value is {words}, expected a finite number"
    assert str(caught.value) == text
