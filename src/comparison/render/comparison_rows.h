// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison as rows that every format shows alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/comparison/compare_runs.h"

namespace dladvisor {

struct ComparisonRow {
  std::string name;   // short names of kernels
  std::string whole;  // the name where `name` is a shorter one; or ""
  std::string note;   // the other side's name and how the two were matched; or ""
  std::optional<double> before_ns, after_ns;
};

struct ComparisonTable {
  std::string id, title;
  std::vector<ComparisonRow> rows;  // that are worth a line, largest change first
};

// Time ledger, kinds of kernels, operators, operators by shapes, timers, kernels; those without a row are
// left out.
std::vector<ComparisonTable> TablesOf(const RunsCompared& compared);

// A figure of both runs as it is shown: "52.1 %", "–" where a run does not have it.
struct FigureRow {
  std::string title, before, after, change;
};
std::vector<FigureRow> FigureRows(const RunsCompared& compared);

// "Step" with the sides' figures beside it; "call", "analysed work".
std::string UnitTitle(const RunsCompared& compared);
// "+35.0 ms"; "new" or "gone" where one side has it alone.
std::string DifferenceText(const ComparisonRow& row);
// "+4.1 %", "84 times", or "".
std::string RelativeText(const ComparisonRow& row);
// "run.sqlite: 8 ranks, 50 steady steps".
std::string SideLine(const ComparedSide& side);
// "up to 3.1 ms per step (in A up to 1.2 ms)"; or "".
std::string SavingChange(const FindingChange& change);

}  // namespace dladvisor
