// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/pipeline_section.h"

#include <fmt/format.h>

#include <algorithm>

namespace dladvisor {
namespace {

constexpr size_t kMaxSentences = 4, kMaxStages = 64;

std::string PipelineSentence(const ReportTable& table, size_t row) {
  const auto known = [&](const char* column) { return !IsNull(CellOf(table, row, column)); };
  const auto text = [&](const char* column, Unit unit) { return CellText(table, row, column, unit); };
  const auto count = [&](const char* column, const char* one, const char* several) {
    const std::string number = text(column, Unit::kCount);
    return fmt::format("{} {}", number, number == "1" ? one : several);
  };
  std::string sentence =
      fmt::format("Pipeline {}: {} with {} and {}", text("pipeline", Unit::kNone),
                  known("schedule") ? text("schedule", Unit::kText) : "a schedule that is not known",
                  count("stages", "stage", "stages"), count("micro_batches", "micro-batch", "micro-batches"));
  if (CellNumber(table, row, "missing_stages") > 0)
    sentence += fmt::format(" ({} more not in the profile)", text("missing_stages", Unit::kCount));
  sentence += fmt::format("; {} of its {} is bubble", text("bubble_share", Unit::kRatio),
                          text("cost_ns", Unit::kNanoseconds));
  if (known("ideal_share")) sentence += fmt::format(", ideally {}", text("ideal_share", Unit::kRatio));
  if (known("warmup_bubble_ns"))
    sentence += fmt::format(
        " (warm-up {}, steady {}, cool-down {})", text("warmup_bubble_ns", Unit::kNanoseconds),
        text("steady_bubble_ns", Unit::kNanoseconds), text("cooldown_bubble_ns", Unit::kNanoseconds));
  if (CellNumber(table, row, "imbalance_share") >= 0.01)
    sentence += fmt::format("; stage {} (rank {}) is the slowest, {} above the mean",
                            text("slowest_stage", Unit::kNone), text("slowest_rank", Unit::kNone),
                            text("imbalance_share", Unit::kRatio));
  return sentence + ".";
}

}  // namespace

std::vector<std::string> PipelineSentences(const ReportModel& model) {
  std::vector<std::string> sentences;
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const size_t rows = pipelines == nullptr ? 0 : pipelines->rows.rows.size();
  for (size_t row = 0; row < std::min(rows, kMaxSentences); ++row)
    sentences.push_back(PipelineSentence(*pipelines, row));
  if (rows > kMaxSentences)
    sentences.push_back(fmt::format("{} more have shorter bubbles.", pipelines->total_rows - kMaxSentences));
  return sentences;
}

std::vector<size_t> DrawnStages(const ReportModel& model) {
  std::vector<size_t> rows;
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const ReportTable* stages = FindTable(model, "pipeline_stages");
  if (pipelines == nullptr || stages == nullptr || pipelines->rows.rows.empty()) return rows;
  const Value drawn = CellOf(*pipelines, 0, "pipeline");
  for (size_t row = 0; row < stages->rows.rows.size() && rows.size() < kMaxStages; ++row)
    if (CellOf(*stages, row, "pipeline") == drawn) rows.push_back(row);
  return rows;
}

std::string StagesLeftOutText(const ReportModel& model) {
  const ReportTable* pipelines = FindTable(model, "pipelines");
  const size_t shown = DrawnStages(model).size();
  if (shown == 0 || !(AsNumber(CellOf(*pipelines, 0, "stages")).value_or(0) > static_cast<double>(shown)))
    return "";
  return fmt::format("{} of {} stages shown", shown, CellText(*pipelines, 0, "stages", Unit::kCount));
}

}  // namespace dladvisor
