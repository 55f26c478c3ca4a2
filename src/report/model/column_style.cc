// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/column_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

struct Known {
  std::string_view name;
  const char* label;
  Unit unit;
  ColumnKind kind;
};

constexpr auto kNs = Unit::kNanoseconds;
constexpr auto kNumber = ColumnKind::kNumber;

// Columns whose label or kind does not follow from the name and unit.
constexpr Known kColumns[] = {
    {"gpu_ns", "GPU Time", kNs, kNumber},
    {"cpu_ns", "CPU Time", kNs, kNumber},
    {"ns", "Time", kNs, kNumber},
    {"ns_per_step", "Per Step", kNs, kNumber},
    {"total_ns", "Total Time", kNs, kNumber},
    {"avg_gpu_ns", "Avg", kNs, kNumber},
    {"min_gpu_ns", "Min", kNs, kNumber},
    {"max_gpu_ns", "Max", kNs, kNumber},
    {"avg_ns", "Avg", kNs, kNumber},
    {"median_ns", "Median", kNs, kNumber},
    {"min_ns", "Min", kNs, kNumber},
    {"max_ns", "Max", kNs, kNumber},
    {"stddev_ns", "StdDev", kNs, kNumber},
    {"avg_api_ns", "Avg API", kNs, kNumber},
    {"tensor_core_ns", "TC Time", kNs, kNumber},
    {"kernel_ns", "Kernel Time", kNs, kNumber},
    {"gpu_idle_ns", "GPU Idle", kNs, kNumber},
    {"own_ns", "Local", kNs, kNumber},
    {"op", "Op Name", Unit::kText, ColumnKind::kName},
    {"op_group", "Group", Unit::kText, ColumnKind::kName},
    {"kernel", "Kernel Name", Unit::kText, ColumnKind::kName},
    {"site", "Site", Unit::kText, ColumnKind::kName},
    {"path", "Path", Unit::kText, ColumnKind::kName},
    {"name", "Name", Unit::kText, ColumnKind::kName},
    {"gpu_names", "GPU Name(s)", Unit::kText, ColumnKind::kName},
    {"cpu_model", "CPU Model", Unit::kText, ColumnKind::kText},
    {"command", "Command", Unit::kText, ColumnKind::kName},
    {"text", "Message", Unit::kText, ColumnKind::kName},
    {"notes", "Notes", Unit::kText, ColumnKind::kName},
    {"ended_by", "Ended By", Unit::kText, ColumnKind::kName},
    {"range", "Range", Unit::kText, ColumnKind::kName},
    {"op_type", "Op Type", Unit::kText, ColumnKind::kText},
    {"os", "OS", Unit::kText, ColumnKind::kText},
    {"step", "Iteration", Unit::kNone, kNumber},
    {"ops", "Ops", Unit::kCount, kNumber},
    {"calls", "Calls", Unit::kCount, kNumber},
    {"instances", "Instances", Unit::kCount, kNumber},
    {"eligible_ops", "TC Eligible Ops", Unit::kCount, kNumber},
    {"tensor_core_ops", "TC Ops", Unit::kCount, kNumber},
    {"tensor_core_eligible", "TC Eligible", Unit::kNone, ColumnKind::kBoolean},
    {"uses_tensor_cores", "Using TC", Unit::kNone, ColumnKind::kBoolean},
    {"eligible", "TC Eligible", Unit::kNone, ColumnKind::kBoolean},
    {"slow", "Slow", Unit::kNone, ColumnKind::kBoolean},
    {"elapsed_ns", "Iteration", kNs, kNumber},
    {"tflops_per_gpu", "TFLOP/s per GPU", Unit::kNone, kNumber},
    {"nan", "NaN", Unit::kCount, kNumber},
    {"covers", "Covers", Unit::kCount, kNumber},
    {"skipped", "Skipped", Unit::kCount, kNumber},
    {"warmup", "Warm-up", Unit::kNone, ColumnKind::kBoolean},
    {"pageable_async", "Async on Pageable", Unit::kCount, kNumber},
    {"gpu_utilization", "GPU Utilization", Unit::kRatio, ColumnKind::kShare},
    {"tensor_core_efficiency", "TC Efficiency", Unit::kRatio, ColumnKind::kShare},
    {"bytes", "Bytes", Unit::kBytes, kNumber},
    {"imbalance_share", "Imbalance", Unit::kRatio, ColumnKind::kShare},
    {"micro_batches", "Micro-batches", Unit::kCount, kNumber},
    {"forward_ns", "F", kNs, kNumber},
    {"backward_ns", "B", kNs, kNumber},
    {"weight_ns", "W", kNs, kNumber},
    {"warmup_bubble_ns", "Warm-up Bubble", kNs, kNumber},
    {"cooldown_bubble_ns", "Cool-down Bubble", kNs, kNumber},
    {"start_s", "Start (s)", Unit::kNone, ColumnKind::kSeconds},
    {"end_s", "End (s)", Unit::kNone, ColumnKind::kSeconds},
    {"pace", "In That Step", Unit::kText, ColumnKind::kText},
    {"not_compared", "Not Compared", Unit::kText, ColumnKind::kText},
    {"mean_power", "Mean Power", Unit::kWatts, kNumber},
    {"power_limit", "Power Limit", Unit::kWatts, kNumber},
    {"highest_temperature", "Highest Temperature", Unit::kCelsius, kNumber},
    {"mean_sm_clock", "Mean SM Clock", Unit::kHertz, kNumber},
    {"bytes_per_s", "Throughput", Unit::kBytesPerSecond, kNumber},
    {"flops", "FLOPs", Unit::kFlops, kNumber},
    {"flops_per_s", "FLOP Rate", Unit::kFlopsPerSecond, kNumber},
    {"achievable_flops_per_s", "Achievable FLOP Rate", Unit::kFlopsPerSecond, kNumber},
    {"memory_bytes_per_s", "Memory Bandwidth", Unit::kBytesPerSecond, kNumber},
    {"achievable_memory_bytes_per_s", "Achievable Bandwidth", Unit::kBytesPerSecond, kNumber},
    {"compute_share", "Of Peak FLOP Rate", Unit::kRatio, ColumnKind::kShare},
    {"memory_share", "Of Peak Bandwidth", Unit::kRatio, ColumnKind::kShare},
    {"intensity", "FLOP per Byte", Unit::kCount, kNumber},
    {"shapes", "Shapes", Unit::kText, ColumnKind::kName},
    {"chain", "Operators", Unit::kText, ColumnKind::kName},
    {"score_ns", "On Scores", kNs, kNumber},
    {"fused_ns", "Fused, at Least", kNs, kNumber},
    {"probability", "Chance of Coincidence", Unit::kNone, kNumber},
    {"excess_share", "Excess Share of Step", Unit::kRatio, ColumnKind::kShare},
    {"tiny_share", "Share of Tiny Kernels", Unit::kRatio, ColumnKind::kShare},
    {"mean_blocks_per_sm", "Mean Blocks per SM", Unit::kCount, kNumber},
    {"grid_avg", "Avg Grid", Unit::kNone, kNumber},
    {"block_avg", "Avg Block", Unit::kNone, kNumber},
};

// "idle_starved_ns" -> "Idle Starved".
std::string Titled(std::string_view name) {
  std::string label;
  for (const char c : name) {
    if (c == '_')
      label += ' ';
    else
      label += label.empty() || label.back() == ' '
                   ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                   : c;
  }
  for (const auto& [from, to] : {std::pair{"Gpu", "GPU"},
                                 {"Cpu", "CPU"},
                                 {"Api", "API"},
                                 {"Cuda", "CUDA"},
                                 {"Os ", "OS "},
                                 {"Tf32", "TF32"},
                                 {"Mfu", "MFU"},
                                 {"Sm ", "SM "}})
    if (const size_t at = label.find(from); at != std::string::npos) label.replace(at, std::strlen(from), to);
  return label;
}

}  // namespace

ColumnStyle StyleOf(const ResultColumn& column) {
  for (const Known& known : kColumns)
    if (known.name == column.name) return {known.label, known.unit, known.kind};
  Unit unit = column.unit;
  std::string_view name = column.name;
  if (name.ends_with("_ns")) {
    unit = Unit::kNanoseconds;
    name.remove_suffix(3);
    return {Titled(name), unit, kNumber};
  }
  if (name.ends_with("_share")) return {Titled(name), Unit::kRatio, ColumnKind::kShare};
  if (name == "share") return {"Share", Unit::kRatio, ColumnKind::kShare};
  if (name.ends_with("_bytes")) unit = Unit::kBytes;
  return {Titled(name), unit, unit == Unit::kNone || unit == Unit::kText ? ColumnKind::kText : kNumber};
}

std::string CellText(const Value& value, const ColumnStyle& style) {
  if (style.kind == ColumnKind::kBoolean) {
    const auto* flag = std::get_if<int64_t>(&value);
    return flag == nullptr ? "?" : *flag != 0 ? "✓" : "✗";
  }
  if (IsNull(value)) return "–";
  const auto number = AsNumber(value);
  if (!number) return std::get<std::string>(value);
  if (!std::isfinite(*number)) return "–";
  if (style.kind == ColumnKind::kSeconds) return fmt::format("{:.6f}", *number);
  return FormatValue(value, style.unit);
}

std::vector<size_t> ShownColumns(const ReportModel& model, const ReportTable& table) {
  const auto& columns = table.rows.columns;
  const bool one_rank = FigureNumber(model, "ranks") == 1.0;
  const bool one_gpu = FigureNumber(model, "gpus") == 1.0;
  std::vector<size_t> shown;
  for (size_t c = 0; c < columns.size(); ++c) {
    const auto is_blank = [&](std::string_view name) {
      if (columns[c].name != name || table.rows.rows.empty()) return false;
      const auto* text = std::get_if<std::string>(&table.rows.rows[0][c]);
      return IsNull(table.rows.rows[0][c]) || (text != nullptr && text->empty());
    };
    const bool redundant =
        is_blank("data_type") || is_blank("layout") || is_blank("unknown_reason") ||
        (columns[c].name == "rank" && one_rank) || (columns[c].name == "device" && one_gpu) ||
        (columns[c].name == "not_compared" && !table.rows.rows.empty() && IsNull(table.rows.rows[0][c]));
    if (!redundant || !std::all_of(table.rows.rows.begin(), table.rows.rows.end(),
                                   [&](const auto& row) { return row[c] == table.rows.rows[0][c]; }))
      shown.push_back(c);
  }
  return shown;
}

}  // namespace dladvisor
