# SPDX-License-Identifier: Apache-2.0
"""SQL over a profile's facts and events."""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

from ._frame import data_frame
from ._program import PathLike, Paths, common_options, paths_of, positionals, profile_options, run
from ._report import Value

if TYPE_CHECKING:
    import pandas


class Rows(list[dict[str, Value]]):
    """Rows of a query, each a dict by column; `columns` has their names also where there is no row."""

    def __init__(self, rows: Iterable[dict[str, Value]] = (), columns: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.columns = list(columns) or (list(self[0]) if self else [])

    def to_pandas(self) -> pandas.DataFrame:
        """NULL is <NA>, and does not make reals of a column of integers."""
        return data_frame([list(row.values()) for row in self], self.columns)

    def _repr_html_(self) -> str:
        shown = 100

        def line(cells: list[Any], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        head = line(self.columns, "th")
        rows = "".join(line(list(row.values()), "td") for row in self[:shown])
        more = f"<p>{len(self) - shown} more rows</p>" if len(self) > shown else ""
        return f"<table>{head}{rows}</table>{more}"


@overload
def query(
    paths: Paths,
    sql: str,
    *,
    frame: Literal[False] = False,
    steps: Optional[str] = None,
    step_range: Optional[str] = None,
    pipeline: Optional[str] = None,
    config: Optional[PathLike] = None,
    rules: Paths = (),
) -> Rows: ...


@overload
def query(
    paths: Paths,
    sql: str,
    *,
    frame: Literal[True],
    steps: Optional[str] = None,
    step_range: Optional[str] = None,
    pipeline: Optional[str] = None,
    config: Optional[PathLike] = None,
    rules: Paths = (),
) -> pandas.DataFrame: ...


def query(
    paths: Paths,
    sql: str,
    *,
    frame: bool = False,
    steps: Optional[str] = None,
    step_range: Optional[str] = None,
    pipeline: Optional[str] = None,
    config: Optional[PathLike] = None,
    rules: Paths = (),
) -> Union[Rows, pandas.DataFrame]:
    """Rows of a SELECT, or of the relation that `sql` names; `dladvisor facts` lists them. NULL, which is None,
    means that something was not recorded. With `frame` a data frame of pandas; `.to_pandas()` of the rows makes
    the same."""

    def rows_as(format: str) -> str:
        options = [*common_options(config, rules), "query", *profile_options(steps, step_range, pipeline)]
        return run([*options, "--format", format, *positionals(*paths_of(paths), sql)])

    rows = Rows(json.loads(rows_as("json")))
    if not rows:  # JSON has no columns then
        rows.columns = next(csv.reader(rows_as("csv").splitlines()))
    return rows.to_pandas() if frame else rows
