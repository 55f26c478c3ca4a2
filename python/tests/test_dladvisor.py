# SPDX-License-Identifier: Apache-2.0
"""The module against the real program, on generated runs: `megatron-gpt` and `data-parallel` on PATH."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dladvisor


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    subprocess.run(["megatron-gpt", "naive", "-o", "gpt3_750m_naive.sqlite"], cwd=folder, check=True)
    job = ["data-parallel", "--nodes", "1", "--gpus", "2", "--program", "1"]
    for run in range(1, 4):
        subprocess.run([*job, "--seed", str(run), "-o", f"job/{run}"], cwd=folder, check=True)
    for run in range(4, 7):
        slow = ["--seed", str(run), "--plant", "launches", "--rank", "1", "-o", f"job/{run}"]
        subprocess.run([*job, *slow], cwd=folder, check=True)
    return folder


@pytest.fixture(autouse=True)
def working_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture(scope="session")
def report(folder):
    return dladvisor.report(folder / "gpt3_750m_naive.sqlite")


def test_findings_are_plain_data(report):
    first = report.findings[0]
    assert first.rule == "cpu-launch-starvation"
    assert first.outcome == "fired"
    assert first.saves.high_ns > 1e8
    assert first.id.startswith("cpu-launch-starvation/")
    assert first.subject == {"rank": 0, "device": 0}
    assert len(report.all_findings()) > len(report.findings)
    assert str(report) == report.headline


def test_figures_and_tables_have_their_queries(report, folder):
    figure = report.figures["gpu_utilization"]
    rows = dladvisor.query(folder / "gpt3_750m_naive.sqlite", figure.sql)
    assert list(rows[0].values()) == [figure.value]
    ops = report.tables["top_ops"]
    assert ops.records()[0]["gpu_ns"] == ops.rows[0][ops.columns.index("gpu_ns")]


def test_unknown_is_not_no(report):
    assert report.undecided
    assert all(finding.outcome == "unknown" for finding in report.undecided)
    assert any("--cpuctxsw" in flag for flag in report.capture_flags)


def test_a_notebook_shows_headline_and_findings(report):
    shown = report._repr_html_()
    assert "are lost" in shown and "cpu-launch-starvation" in shown
    hostile = dladvisor.Report("<b>", "<script>", "", [], [], {}, {}, [], {}, {})
    assert "<script>" not in hostile._repr_html_()


def test_html_is_the_program_s(report, folder):
    page = report.to_html()
    assert page == report.to_html(folder / "page.html")
    assert page.startswith("<!doctype html>")


def test_options_reach_the_program(folder):
    with pytest.raises(dladvisor.Error, match="is not a range of steps") as error:
        dladvisor.report("gpt3_750m_naive.sqlite", steps="x")
    assert error.value.status == 3
    config = Path("own.yaml")
    config.write_text("rules: {cpu-launch-starvation: off}\n")
    silenced = dladvisor.report("gpt3_750m_naive.sqlite", config=config)
    assert "cpu-launch-starvation" not in [finding.rule for finding in silenced.all_findings()]


def test_what_begins_like_an_option_is_none(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    Path("--quiet.sqlite").symlink_to(folder / "gpt3_750m_naive.sqlite")
    assert dladvisor.query("--quiet.sqlite", "--note\nSELECT 1 AS a") == [{"a": 1}]
    report = dladvisor.report(Path("--quiet.sqlite"))
    assert report.to_html() == report.to_html("-page.html")
    assert dladvisor.gate("--quiet.sqlite", baseline="--quiet.sqlite").verdict == "pass"


def test_messages_need_not_be_utf_8():
    with pytest.raises(dladvisor.Error, match="\ufffd"):
        dladvisor.report(os.fsdecode(b"none\xff.sqlite"))


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(dladvisor.Error, match="none.sqlite"):
        dladvisor.report("none.sqlite")
    with pytest.raises(dladvisor.Error, match="did you mean gpu"):
        dladvisor.query("gpt3_750m_naive.sqlite", "gpus")


def test_several_profiles_are_a_job():
    assert "2 profiles" in dladvisor.report("job/1").title
    files = sorted(Path("job/1").iterdir())
    assert "2 profiles" in dladvisor.report(files).title


def test_a_query_gives_values_of_their_types():
    rows = dladvisor.query("gpt3_750m_naive.sqlite", "SELECT 1 AS a, 0.5 AS b, 'x' AS c, NULL AS d")
    assert rows == [{"a": 1, "b": 0.5, "c": "x", "d": None}]
    assert "<td>0.5</td>" in rows._repr_html_()


def test_a_query_without_rows_has_columns():
    rows = dladvisor.query("gpt3_750m_naive.sqlite", 'SELECT name, 1 AS "a,b" FROM gpu WHERE 0')
    assert rows == [] and rows.columns == ["name", "a,b"]
    assert "<th>a,b</th>" in rows._repr_html_()


def test_rows_make_a_data_frame():
    pandas = pytest.importorskip("pandas")
    big = 2**53 + 1  # a real number would lose its last digit
    sql = f"SELECT {big} AS ns, 'a' AS name, 0.5 AS share UNION ALL SELECT NULL, NULL, NULL"
    frame = dladvisor.query("gpt3_750m_naive.sqlite", sql, frame=True)
    assert isinstance(frame, pandas.DataFrame)
    assert frame.ns[0] == big and str(frame.ns.dtype) == "Int64"
    assert frame.share[0] == 0.5 and frame.isna().iloc[1].all()
    assert frame.equals(dladvisor.query("gpt3_750m_naive.sqlite", sql).to_pandas())
    assert list(dladvisor.query("gpt3_750m_naive.sqlite", "SELECT name FROM gpu WHERE 0", frame=True)) == ["name"]


def test_tables_make_data_frames(report):
    pytest.importorskip("pandas")
    ops = report.tables["top_ops"]
    frame = ops.to_pandas()
    assert list(frame.columns) == ops.columns and len(frame) == len(ops.rows)


def test_what_needs_pandas_says_so_without_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dladvisor.Error, match="pip install pandas"):
        dladvisor.query("gpt3_750m_naive.sqlite", "gpu", frame=True)


def test_a_gate_can_be_asserted():
    same = dladvisor.gate("job/3", baseline=["job/1", "job/2"])
    assert same
    assert same.verdict in ("pass", "improved", "inconclusive")
    slower = dladvisor.gate(["job/4", "job/5", "job/6"], baseline=["job/1", "job/2", "job/3"])
    assert not slower
    assert slower.exit_status == 1
    assert any(metric.metric == "step.time" and metric.change > 0.01 for metric in slower.metrics)
    assert any(rule.rule == "slow-host" for rule in slower.rules)
    assert slower.headline in repr(slower)
    assert "regressed" in slower._repr_html_()
    nothing = dladvisor.gate("job/4", baseline="none")
    assert not nothing and nothing.exit_status == 2


def test_the_program_is_found(monkeypatch):
    assert os.access(dladvisor.program(), os.X_OK)
    assert dladvisor.version() == dladvisor.__version__
    monkeypatch.setenv("DLADVISOR", "/nowhere/dladvisor")
    assert dladvisor.program() == "/nowhere/dladvisor"


def test_the_module_is_the_program():
    done = subprocess.run([sys.executable, "-m", "dladvisor", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("dladvisor ")


def test_the_examples_of_the_readme_run(folder):
    readme = Path(os.environ.get("DLADVISOR_PYTHON_README", Path(__file__).parent.parent / "README.md"))
    results = doctest.testfile(str(readme), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0
