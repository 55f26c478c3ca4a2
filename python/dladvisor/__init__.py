# SPDX-License-Identifier: Apache-2.0
"""Says what makes a deep-learning run slow, why, and what fixing it would save.

    report = dladvisor.report("run.sqlite")     # of any profile that the program reads
    rows = dladvisor.query("run.sqlite", "SELECT * FROM gpu")
    assert dladvisor.gate("new.sqlite", baseline="main.digest")

The functions run the program `dladvisor`, which this package carries.
"""

from ._gate import Gate, Metric, RuleChange, gate
from ._program import Error, program, version
from ._query import Rows, query
from ._report import Figure, Finding, Report, Saving, Table, report

__version__ = "0.1.0"
__all__ = [
    "Error",
    "Figure",
    "Finding",
    "Gate",
    "Metric",
    "Report",
    "Rows",
    "RuleChange",
    "Saving",
    "Table",
    "gate",
    "program",
    "query",
    "report",
    "version",
]
