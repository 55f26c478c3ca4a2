// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/ranks_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxCohorts = 4, kMaxReasons = 4;

std::string Time(double ns) { return FormatValue(ns, Unit::kNanoseconds); }
// "549 µs of it in gaps between kernels and 21.6 µs in kernels"; with signs where some of it is made up for.
std::string CauseText(const ReportTable& jitter, size_t row) {
  std::vector<std::pair<double, const char*>> causes = {
      {CellNumber(jitter, row, "kernel_excess_ns"), "in kernels"},
      {CellNumber(jitter, row, "gap_excess_ns"), "in gaps between kernels"},
      {CellNumber(jitter, row, "start_excess_ns"), "before its first kernel"}};
  const double worst = CellNumber(jitter, row, "worst_ns");
  // What is a hundredth of it says nothing.
  std::erase_if(causes, [&](const auto& cause) { return std::abs(cause.first) < 0.01 * worst; });
  std::ranges::stable_sort(causes, std::ranges::greater{}, [](const auto& cause) { return cause.first; });
  const bool some_earlier = !causes.empty() && causes.back().first < 0;
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) {
    const auto& [ns, where] = causes[i];
    text +=
        fmt::format("{}{}{} {}",
                    i == 0                   ? ""
                    : i + 1 == causes.size() ? " and "
                                             : ", ",
                    some_earlier ? SignedTime(ns) : Time(ns), i == 0 && !some_earlier ? " of it" : "", where);
  }
  return text;
}

std::string JitterSentence(const ReportTable& jitter, size_t row) {
  const auto text = [&](const char* column, Unit unit) { return CellText(jitter, row, column, unit); };
  const std::string cause = CauseText(jitter, row);
  const Value node = CellOf(jitter, row, "max_node");
  std::string sentence = fmt::format(
      "Of {} GPUs that run the same {} kernels a step, that of rank {} (GPU {}{}) is the slowest in step {}: "
      "{} behind the mean of the others{}{}; that of rank {} is the fastest there.",
      text("peers", Unit::kCount), text("kernels_per_step", Unit::kCount), text("max_rank", Unit::kNone),
      text("max_device", Unit::kNone), IsNull(node) ? "" : ", node " + FormatValue(node, Unit::kNone),
      text("worst_step", Unit::kNone), text("worst_ns", Unit::kNanoseconds), cause.empty() ? "" : ", ", cause,
      text("min_rank", Unit::kNone));
  if (CellNumber(jitter, row, "steps") < 2) return sentence;
  sentence += fmt::format(" Over {} steps the slowest GPU of each is {} behind", text("steps", Unit::kCount),
                          text("magnitude_ns", Unit::kNanoseconds));
  if (!IsNull(CellOf(jitter, row, "magnitude_share")))
    sentence += fmt::format(", {} of a step", text("magnitude_share", Unit::kRatio));
  return sentence + ".";
}

// "2 of 8 GPUs are compared with no other: no other GPU runs the same kernels (ranks 1, 3)."
std::string NotComparedText(const ReportTable& left_out, const ReportTable& ranks) {
  std::string text;
  double count = 0;
  for (size_t row = 0; row < left_out.rows.rows.size(); ++row) {
    const double gpus = CellNumber(left_out, row, "gpus");
    count += gpus;
    if (row < kMaxReasons)
      text += fmt::format("{}{} (rank{} {}{})", row == 0 ? "" : "; ",
                          CellText(left_out, row, "not_compared", Unit::kText), gpus == 1 ? "" : "s",
                          CellText(left_out, row, "first_ranks", Unit::kText),
                          gpus > CellNumber(left_out, row, "listed") ? ", ..." : "");
  }
  if (!(count > 0)) return "";
  if (count == static_cast<double>(ranks.total_rows))
    return fmt::format("No GPU is compared with others: {}.", text);
  return fmt::format("{} of {} GPUs {} not compared with others: {}{}.",
                     WithThousands(static_cast<int64_t>(count)),
                     WithThousands(static_cast<int64_t>(ranks.total_rows)), count == 1 ? "is" : "are", text,
                     left_out.rows.rows.size() > kMaxReasons ? "; ..." : "");
}

}  // namespace

std::string SignedTime(double ns) { return (ns > 0 ? "+" : "") + Time(ns); }

bool HasTimesOfRanks(const ReportTable& ranks) {
  for (size_t row = 0; row < ranks.rows.rows.size(); ++row)
    if (!IsNull(CellOf(ranks, row, "own_ns"))) return true;
  return false;
}

std::vector<std::string> RankSentences(const ReportModel& model) {
  std::vector<std::string> sentences;
  const ReportTable* jitter = FindTable(model, "jitter");
  const size_t rows = jitter == nullptr ? 0 : jitter->rows.rows.size();
  for (size_t row = 0; row < std::min(rows, kMaxCohorts); ++row)
    sentences.push_back(JitterSentence(*jitter, row));
  if (rows > kMaxCohorts)
    sentences.push_back(fmt::format("{} smaller groups of GPUs that run the same kernels are not shown here.",
                                    jitter->total_rows - kMaxCohorts));
  const ReportTable *ranks = FindTable(model, "ranks"), *left_out = FindTable(model, "ranks_not_compared");
  if (ranks != nullptr && left_out != nullptr)
    if (const std::string text = NotComparedText(*left_out, *ranks); !text.empty()) sentences.push_back(text);
  return sentences;
}

}  // namespace dladvisor
