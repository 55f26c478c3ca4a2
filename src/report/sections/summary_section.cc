// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/summary_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/text.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

class SummaryCells {
 public:
  SummaryCells(const ReportTable& table, size_t row) : table_(table), row_(row) {}

  bool Has(const char* column) const { return !IsNull(CellOf(table_, row_, column)); }
  double Number(const char* column) const { return AsNumber(CellOf(table_, row_, column)).value_or(0); }
  std::string Text(const char* column, Unit unit) const {
    return Visible(FormatValue(CellOf(table_, row_, column), unit));
  }
  std::string Count(const char* column) const { return Text(column, Unit::kCount); }
  std::string Time(const char* column) const { return Text(column, Unit::kNanoseconds); }

 private:
  const ReportTable& table_;
  size_t row_;
};

// Of several profiles in one file, the one that takes longest.
size_t LongestOf(const ReportTable& table) {
  size_t longest = 0;
  for (size_t row = 1; row < table.rows.rows.size(); ++row)
    if (SummaryCells(table, row).Number("main_ns") > SummaryCells(table, longest).Number("main_ns"))
      longest = row;
  return longest;
}

std::string CutName(std::string name) {
  constexpr size_t kLongestName = 60;
  if (name.size() > kLongestName) name = name.substr(0, kLongestName) + "...";
  return name;
}

bool IsOneByOne(const SummaryCells& cells) {
  return cells.Has("one_by_one") && cells.Number("one_by_one") > 0;
}

// "14 launches of 4 kernels, measured one by one by Nsight Compute, so that idle time is unknown: saxpy takes
// 80.0 % of their 1.20 ms (3 of them)".
std::string OneByOneText(const SummaryCells& cells, size_t tables) {
  const std::string tool = cells.Text("tool", Unit::kText);
  const bool one = cells.Number("kernels") == 1, one_name = cells.Number("kernel_names") == 1;
  std::string text =
      one ? fmt::format("One launch of a kernel, measured alone by {}", tool)
          : fmt::format("{} launches of {} kernel{}, measured one by one by {}", cells.Count("kernels"),
                        cells.Count("kernel_names"), one_name ? "" : "s", tool);
  if (tables > 1) text = fmt::format("{} profiles, the longest: {}", tables, text);
  if (!cells.Has("main_share") || !cells.Has("device_ns")) return text + " without their times";
  const std::string name = CutName(cells.Text("main_name", Unit::kText));
  text += ", so that idle time is unknown: ";
  if (one_name) return text + fmt::format("{}, {}", name, cells.Time("device_ns"));
  return text + fmt::format("{} takes {} of their {} ({} of them)", name,
                            cells.Text("main_share", Unit::kRatio), cells.Time("device_ns"),
                            cells.Count("main_calls"));
}

std::string MostOfIt(const SummaryCells& cells) {
  if (!cells.Has("main_name")) return "it lists no time of work";
  const std::string kind = cells.Text("main_kind", Unit::kText);
  const std::string name = CutName(cells.Text("main_name", Unit::kText));
  const bool of_device = kind == "kernel" || kind == "copy" || kind == "set" || kind == "gpu-operator";
  const std::string share = cells.Has("main_share") ? cells.Text("main_share", Unit::kRatio) : "";
  const std::string calls =
      fmt::format("{} {}", cells.Count("main_calls"), cells.Number("main_calls") == 1 ? "call" : "calls");
  if (of_device && cells.Has("device_ns") && !share.empty())
    return fmt::format("{} takes {} of {} of work on the GPU ({})", name, share, cells.Time("device_ns"),
                       calls);
  if (!share.empty())
    return fmt::format("{} takes {} of the time that it lists {} ({})", name, share,
                       kind == "api" ? "of calls" : "on the host", calls);
  return fmt::format("{} takes {} in all ({})", name, cells.Time("main_ns"), calls);
}

// Where the GPU waits for most of a program's time, that says more than what it does in the rest.
bool IsMostlyIdle(const SummaryCells& cells) {
  constexpr double kMostlyIdle = 0.6;
  const double wall = cells.Number("wall_ns"), device = cells.Number("device_ns");
  return device > 0 && wall > 0 && device < kMostlyIdle * wall;
}

// The same of single operations, whose starts are known.
bool IdlesBetweenOperations(const SummaryCells& cells) {
  constexpr double kMostlyIdle = 0.6, kShortest = 1e7;
  const double span = cells.Number("span_ns"), device = cells.Number("device_ns");
  return device > 0 && span > kShortest && device < kMostlyIdle * span;
}

// Where much of what the host waits for is of CUDA graphs, whose kernels are not listed, as
// summary-hides-graphs has it.
bool HidesGraphs(const SummaryCells& cells) {
  constexpr double kFewest = 10, kLeastWaits = 0.5;
  return cells.Number("hides_graphs") > 0 && cells.Number("graph_launches") >= kFewest &&
         cells.Number("wait_ns") + cells.Number("copy_call_ns") >= kLeastWaits * cells.Number("device_ns");
}

// Without it nothing tells what the program's threads wait for.
bool IsWithoutCuda(const SummaryCells& cells) {
  return cells.Has("unrecorded") && cells.Text("unrecorded", Unit::kText) == "cuda";
}

std::string MainText(const SummaryCells& cells) {
  if (IsWithoutCuda(cells)) return "the profile that it is of holds no calls, kernels or copies of CUDA";
  if (HidesGraphs(cells))
    return fmt::format(
        "it lists {} of work on the GPU, and none of the kernels within {} CUDA graph launches",
        cells.Time("device_ns"), cells.Count("graph_launches"));
  if (IdlesBetweenOperations(cells))
    return fmt::format(
        "the GPU works for {} of the {} from its first operation to its last, {} at most; {}",
        cells.Time("device_ns"), cells.Time("span_ns"),
        Visible(FormatValue(cells.Number("device_ns") / cells.Number("span_ns"), Unit::kRatio)),
        MostOfIt(cells));
  if (!IsMostlyIdle(cells)) return MostOfIt(cells);
  const double wall = cells.Number("wall_ns"), device = cells.Number("device_ns");
  return fmt::format("the GPU works for {} of the {} that the program takes on the host, {} at most",
                     cells.Time("device_ns"), cells.Time("wall_ns"),
                     Visible(FormatValue(device / wall, Unit::kRatio)));
}

}  // namespace

const ReportTable* SummaryAlone(const ReportModel& model) {
  const ReportTable* summary = HasGpuWork(model) ? nullptr : FindTable(model, "summary_tables");
  return summary == nullptr || summary->rows.rows.empty() ? nullptr : summary;
}

std::string SummaryText(const ReportTable& summary) {
  const SummaryCells cells(summary, LongestOf(summary));
  if (IsOneByOne(cells)) return OneByOneText(cells, summary.total_rows);
  std::string text = fmt::format("A summary by {}, not a trace", cells.Text("tool", Unit::kText));
  if (summary.total_rows > 1) {
    text = fmt::format("{} summaries by {}, no trace; the longest", summary.total_rows,
                       cells.Text("tool", Unit::kText));
    if (cells.Has("title")) text += fmt::format(" (\"{}\")", CutName(cells.Text("title", Unit::kText)));
  }
  return fmt::format("{}: {}", text, MainText(cells));
}

bool IsOnMostOf(const ReportTable& summary, const Finding& finding) {
  const SummaryCells cells(summary, LongestOf(summary));
  if (HidesGraphs(cells)) return finding.rule == "summary-hides-graphs";
  const auto of = std::ranges::find(finding.subject, "summary", &NamedValue::name);
  if (of != finding.subject.end() && AsNumber(of->value) != cells.Number("summary")) return false;
  if (IdlesBetweenOperations(cells)) return finding.rule == "summary-gpu-idles";
  if (IsMostlyIdle(cells)) return finding.rule == "summary-host-exceeds-gpu";
  if (!cells.Has("main_name")) return false;
  if (finding.problem.text.find(cells.Text("main_name", Unit::kText)) != std::string::npos) return true;
  const double share = cells.Number("main_share");
  return std::ranges::any_of(finding.problem.values, [&](const PlacedValue& placed) {
    return placed.value.unit == Unit::kRatio &&
           std::abs(AsNumber(placed.value.value).value_or(0) - share) < 0.0005;
  });
}

std::vector<std::pair<std::string, std::string>> SummaryOfTotals(const ReportModel& model) {
  const ReportTable* summary = FindTable(model, "summary_tables");
  if (summary == nullptr || summary->rows.rows.size() != 1) return {};
  const SummaryCells cells(*summary, 0);
  std::vector<std::pair<std::string, std::string>> labels;
  const auto add = [&](const char* label, const char* column, const char* count) {
    if (!cells.Has(column)) return;
    std::string value = cells.Time(column);
    if (count != nullptr && cells.Has(count)) value += fmt::format(" ({})", cells.Count(count));
    labels.emplace_back(label, std::move(value));
  };
  labels.emplace_back("Printed By", cells.Text("tool", Unit::kText));
  if (cells.Has("title")) labels.emplace_back("Of", cells.Text("title", Unit::kText));
  labels.emplace_back("Most of It", MostOfIt(cells));
  add("Work on the GPU", "device_ns", nullptr);
  add("Kernels", "kernel_ns", "kernels");
  add("Collectives", "communication_ns", nullptr);
  add("Copies to the GPU", "to_device_ns", nullptr);
  add("Copies to the Host", "to_host_ns", nullptr);
  add("Managed Memory", "migration_ns", nullptr);
  add("Operators on the Host", "host_ns", nullptr);
  add("Launches on the Host", "launch_ns", "launches");
  add("Waits for the GPU", "wait_ns", "waits");
  add("Allocations", "allocation_ns", "allocations");
  std::string unknown = cells.Has("span_ns") ? "what the host does, steps, and what overlaps"
                                             : "idle time, steps, and what overlaps: totals have no timeline";
  if (IsOneByOne(cells)) {
    unknown = "idle time, copies, and what overlaps: each kernel was measured alone";
    if (cells.Text("tool", Unit::kText) == "Nsight Compute") unknown += ", at clocks that the profiler set";
  }
  labels.emplace_back("Unknown", std::move(unknown));
  return labels;
}

}  // namespace dladvisor
