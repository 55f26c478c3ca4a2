# SPDX-License-Identifier: Apache-2.0
"""The verdict on runs against a baseline."""

from __future__ import annotations

import html
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from ._program import PathLike, Paths, common_options, paths_of, positionals, profile_options, run


@dataclass(frozen=True)
class Metric:
    """`change` is of the baseline: 0.05 is 5 % more, within `low` to `high`."""

    metric: str
    title: str
    unit: str
    verdict: str
    level: str
    baseline: Optional[float]
    candidate: Optional[float]
    change: Optional[float]
    low: Optional[float]
    high: Optional[float]
    why: str


@dataclass(frozen=True)
class RuleChange:
    rule: str
    title: str
    severity: str
    change: str
    verdict: str
    level: str
    problem: str


@dataclass(frozen=True)
class Gate:
    """True where the gate passed, so that a test may `assert dladvisor.gate(...)`; it prints its headline."""

    verdict: str  # "pass", "improved", "inconclusive", "regressed", "not comparable"
    exit_status: int
    headline: str
    next_step: str
    metrics: list[Metric]
    rules: list[RuleChange]
    data: dict[str, Any] = field(repr=False)  # the whole, as docs/schemas/gate.schema.json describes it

    def __bool__(self) -> bool:
        return self.exit_status == 0

    def __str__(self) -> str:
        return self.headline

    def __repr__(self) -> str:  # what pytest shows of a failed assertion
        return f"<Gate {self.verdict}: {self.headline}>"

    def _repr_html_(self) -> str:
        def cell(value: object) -> str:
            return f"<td>{html.escape(str(value))}</td>"

        rows = "".join(
            "<tr>"
            + cell(metric.title)
            + cell("" if metric.change is None else f"{metric.change:+.1%}")
            + cell(metric.verdict)
            + "</tr>"
            for metric in self.metrics
        )
        head = "<tr><th>Metric</th><th>Change</th><th>Verdict</th></tr>"
        return f"<p><b>{html.escape(self.headline)}</b></p><table>{head}{rows}</table>"


def gate(
    paths: Paths,
    baseline: Paths,
    *,
    history: Optional[PathLike] = None,
    label: Optional[str] = None,
    steps: Optional[str] = None,
    step_range: Optional[str] = None,
    pipeline: Optional[str] = None,
    config: Optional[PathLike] = None,
    rules: Paths = (),
) -> Gate:
    """Judges runs against a baseline, as `dladvisor gate` does. Raises Error where nothing can be read."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "gate.json"
        words = [*common_options(config, rules), "gate", "--json", str(output)]
        for path in paths_of(baseline):
            words += ["--baseline", path]
        if history is not None:
            words += ["--history", str(history)]
        if label is not None:
            words += ["--label", label]
        words += profile_options(steps, step_range, pipeline)
        run([*words, *positionals(*paths_of(paths))], (0, 1, 2))
        data = json.loads(output.read_text(encoding="utf-8"))
    names = Metric.__dataclass_fields__
    changes = RuleChange.__dataclass_fields__
    return Gate(
        verdict=data["verdict"],
        exit_status=data["exit_status"],
        headline=data["headline"],
        next_step=data["next_step"],
        metrics=[Metric(**{name: metric[name] for name in names}) for metric in data["metrics"]],
        rules=[RuleChange(**{name: rule[name] for name in changes}) for rule in data["rules"]],
        data=data,
    )
