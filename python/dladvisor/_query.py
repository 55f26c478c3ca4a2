# SPDX-License-Identifier: Apache-2.0
"""SQL over a profile's facts and events."""

from __future__ import annotations

import html
import json
from typing import Any, Optional

from ._program import PathLike, Paths, common_options, paths_of, positionals, profile_options, run
from ._report import Value


class Rows(list[dict[str, Value]]):
    """Rows of a query, each a dict by column."""

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        shown = 100

        def line(cells: list[Any], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        head = line(list(self[0]), "th") if self else ""
        rows = "".join(line(list(row.values()), "td") for row in self[:shown])
        more = f"<p>{len(self) - shown} more rows</p>" if len(self) > shown else ""
        return f"<table>{head}{rows}</table>{more}"


def query(
    paths: Paths,
    sql: str,
    *,
    steps: Optional[str] = None,
    step_range: Optional[str] = None,
    pipeline: Optional[str] = None,
    config: Optional[PathLike] = None,
    rules: Paths = (),
) -> Rows:
    """Rows of a SELECT, or of the relation that `sql` names; `dladvisor facts` lists them. NULL, which is None,
    means that something was not recorded. `.to_pandas()` makes a data frame of them."""
    words = [
        *common_options(config, rules),
        "query",
        *profile_options(steps, step_range, pipeline),
        "--format",
        "json",
        *positionals(*paths_of(paths), sql),
    ]
    return Rows(json.loads(run(words)))
