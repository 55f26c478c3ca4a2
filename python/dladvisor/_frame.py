# SPDX-License-Identifier: Apache-2.0
"""Data frames of pandas, where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._program import Error

if TYPE_CHECKING:
    import pandas


def data_frame(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> pandas.DataFrame:
    """Of types that have a NULL, so that integers, times in nanoseconds above all, keep every digit."""
    try:
        import pandas
    except ImportError as error:
        raise Error("pandas is not installed: pip install pandas, or take the rows as they are", 3) from error
    cells = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    return pandas.DataFrame({name: pandas.array(values, dtype=_type_of(values)) for name, values in cells.items()})


def _type_of(values: Sequence[Any]) -> str:
    types = {type(value) for value in values if value is not None}
    if types == {int}:
        return "Int64"
    if types and types <= {int, float}:
        return "Float64"
    return "string" if types == {str} else "object"
