# SPDX-License-Identifier: Apache-2.0
"""The report of a profile as plain data."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

from ._frame import data_frame
from ._program import PathLike, Paths, common_options, paths_of, positionals, profile_options, run

if TYPE_CHECKING:
    import pandas

Value = Union[int, float, str, None]


@dataclass(frozen=True)
class Saving:
    """Nanoseconds per step, or of the analysed time where there are no steps."""

    low_ns: Optional[float]
    high_ns: Optional[float]
    bucket: str


@dataclass(frozen=True)
class Table:
    title: str
    columns: list[str]
    rows: list[list[Value]]
    total_rows: int
    sql: str = ""
    note: str = ""

    def records(self) -> list[dict[str, Value]]:
        return [dict(zip(self.columns, row)) for row in self.rows]

    def to_pandas(self) -> pandas.DataFrame:
        return data_frame(self.rows, self.columns)


@dataclass(frozen=True)
class Figure:
    label: str
    value: Value
    unit: str
    sql: str
    unknown_because: str


@dataclass(frozen=True)
class Finding:
    """`outcome` is "fired", or "unknown", "suppressed" or "failed"."""

    id: str
    rule: str
    title: str
    severity: str
    confidence: str
    outcome: str
    subject: dict[str, Value]
    problem: str
    recommendation: list[str]
    saves: Optional[Saving]
    evidence: Table
    capture: list[str]
    children: list[Finding]

    @staticmethod
    def _of(data: dict[str, Any]) -> Finding:
        evidence = data["evidence"]
        columns = [column["name"] for column in evidence["columns"]]
        table = Table(data["title"], columns, evidence["rows"], len(evidence["rows"]), data["evidence_sql"])
        return Finding(
            id=data["id"],
            rule=data["rule"],
            title=data["title"],
            severity=data["severity"],
            confidence=data["confidence"],
            outcome=data["outcome"],
            subject=data["subject"],
            problem=data["problem"],
            recommendation=data["recommendation"],
            saves=Saving(**data["saves"]) if data["saves"] else None,
            evidence=table,
            capture=data["capture"],
            children=[Finding._of(child) for child in data["children"]],
        )

    def with_children(self) -> Iterator[Finding]:
        """Itself, then what it explains."""
        yield self
        for child in self.children:
            yield from child.with_children()


@dataclass(frozen=True)
class Report:
    """`findings` are those that fired, most important first, what one explains among its children; `undecided`
    those that cannot tell, which is neither yes nor no."""

    title: str
    headline: str
    banner: str
    findings: list[Finding]
    undecided: list[Finding]
    figures: dict[str, Figure]
    tables: dict[str, Table]
    capture_flags: list[str]
    coverage: dict[str, int]
    data: dict[str, Any] = field(repr=False)  # the whole, as docs/schemas/report.schema.json describes it
    _options: list[str] = field(repr=False, default_factory=list)
    _paths: list[str] = field(repr=False, default_factory=list)

    def to_html(self, path: Optional[PathLike] = None) -> str:
        """The HTML report, whole; written to `path` where one is given."""
        arguments = [*self._options, "--format", "html"]
        files = positionals(*self._paths)
        if path is None:
            return run([*arguments, *files])
        run([*arguments, "-o", str(path), *files])
        with open(path, encoding="utf-8") as file:
            return file.read()

    def all_findings(self) -> list[Finding]:
        """Those that fired, each before what it explains."""
        return [finding for root in self.findings for finding in root.with_children()]

    def __str__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        def row(finding: Finding, depth: int) -> str:
            first = finding.recommendation[0] if finding.recommendation else ""
            cells = (finding.severity, "↳ " * depth + finding.problem, first, finding.rule)
            line = "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in cells)
            return f"<tr>{line}</tr>" + "".join(row(child, depth + 1) for child in finding.children)

        names = "".join(f"<th>{name}</th>" for name in ("Severity", "Problem", "Recommendation", "Rule"))
        rows = "".join(row(finding, 0) for finding in self.findings)
        banner = f"<p>{html.escape(self.banner)}</p>" if self.banner else ""
        table = f"<table><tr>{names}</tr>{rows}</table>" if rows else "<p>No rule fired.</p>"
        return f"<h4>{html.escape(self.title)}</h4>{banner}<p><b>{html.escape(self.headline)}</b></p>{table}"


def report(
    paths: Paths,
    *,
    steps: Optional[str] = None,
    step_range: Optional[str] = None,
    pipeline: Optional[str] = None,
    config: Optional[PathLike] = None,
    rules: Paths = (),
) -> Report:
    """The report of a profile, or of a job's ranks: files, folders or patterns. Options are those of
    `dladvisor report`. Raises Error where nothing can be read."""
    options = [*common_options(config, rules), "report", *profile_options(steps, step_range, pipeline)]
    files = paths_of(paths)
    data = json.loads(run([*options, "--format", "json", *positionals(*files)]))
    findings = [Finding._of(finding) for finding in data["findings"]]
    tables = {
        table["id"]: Table(
            table["title"],
            [column["name"] for column in table["columns"]],
            table["rows"],
            table["total_rows"],
            table["sql"],
            table["note"],
        )
        for table in data["tables"]
    }
    figures = {
        figure["id"]: Figure(
            figure["label"], figure["value"], figure["unit"], figure["sql"], figure["unknown_because"]
        )
        for figure in data["figures"]
    }
    summary = data["summary"]
    return Report(
        title=summary["title"],
        headline=summary["headline"],
        banner=summary["banner"],
        findings=[finding for finding in findings if finding.outcome == "fired"],
        undecided=[finding for finding in findings if finding.outcome == "unknown"],
        figures=figures,
        tables=tables,
        capture_flags=summary["capture_flags"],
        coverage=data["coverage"],
        data=data,
        _options=options,
        _paths=files,
    )
