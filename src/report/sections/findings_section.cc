// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/findings_section.h"

#include <fmt/format.h>

#include <functional>

#include "src/report/sections/day_saving.h"

namespace dladvisor {

// What others save of the same time, from which it is worth saying: texts of findings have the whole.
constexpr double kMuchMore = 1.5;
// The part of a saving below which it is next to nothing.
constexpr double kHardly = 0.01;

std::string CoverageText(const Advice& advice) {
  const Coverage& coverage = advice.coverage;
  std::string text = fmt::format("{} of {} rule{} could look", coverage.decided, coverage.rules,
                                 coverage.rules == 1 ? "" : "s");
  if (coverage.idle > 0)
    text += fmt::format(", {} {} in the profile", coverage.idle,
                        coverage.idle == 1 ? "has nothing of its kind" : "have nothing of their kind");
  return text;
}

std::string SavingText(const ReportModel& model, const Finding& finding) {
  if (!finding.saves || !finding.saves->high_ns || !(*finding.saves->high_ns > 0)) return "";
  const std::string high = FormatValue(*finding.saves->high_ns, Unit::kNanoseconds);
  const double low = finding.saves->low_ns.value_or(0);
  if (high == "unknown") return "";
  const std::string low_text = FormatValue(low, Unit::kNanoseconds);
  // Without steps nothing shows that loading and compiling code recurs.
  const std::string per = FigureNumber(model, "step_time")              ? " per step"
                          : finding.saves->bucket == "idle/compilation" ? " of start-up"
                                                                        : "";
  if (!(low > 0)) return "up to " + high + per;
  if (low_text == high) return high + per;
  return low_text + " – " + high + per;
}

namespace {

std::string BesideOthers(const ReportModel& model, const Finding& finding) {
  const std::string saving = SavingText(model, finding);
  if (!finding.saves || !finding.saves->high_ns || !finding.saves->alone_ns) return saving;
  if (!(*finding.saves->alone_ns > kMuchMore * *finding.saves->high_ns)) return saving;
  return fmt::format("{} beside the others, up to {} alone", saving.empty() ? "nothing" : saving,
                     FormatValue(*finding.saves->alone_ns, Unit::kNanoseconds));
}

}  // namespace

bool IsBehindLosses(const SavingClaim& saves) {
  return saves.now_ns && saves.high_ns.value_or(0) > kMuchMore * *saves.now_ns;
}

std::string SavingBesideOthersText(const ReportModel& model, const Finding& finding) {
  const std::string saving = BesideOthers(model, finding);
  if (saving.empty() || !IsBehindLosses(*finding.saves)) return saving;
  const double limit = *finding.saves->now_ns;
  const double high = finding.saves->high_ns.value_or(0);
  const std::string now =
      limit > kHardly * high ? "up to " + FormatValue(limit, Unit::kNanoseconds) : "next to nothing";
  return fmt::format("{} now, {} without idle time", now, saving);
}

std::string TotalSavingText(const ReportModel& model) {
  double low = 0, high = 0;
  for (const BucketSaving& saving : model.advice->savings) {
    low += saving.low_ns;
    high += saving.high_ns;
  }
  if (!(high > 0)) return "";
  const std::string least = FormatValue(low, Unit::kNanoseconds),
                    most = FormatValue(high, Unit::kNanoseconds);
  const std::string day = TotalDayText(model);
  return fmt::format("Together they save {}{}{}{}: what one frees is not counted again for another.",
                     !(low > 0)      ? "up to "
                     : least == most ? ""
                                     : least + " – ",
                     most, FigureNumber(model, "step_time") ? " per step" : "",
                     day.empty() ? "" : ", " + day);
}

std::vector<std::pair<size_t, size_t>> FindingTree(const Advice& advice) {
  std::vector<std::pair<size_t, size_t>> tree;
  std::vector<bool> seen(advice.findings.size());
  const std::function<void(size_t, size_t)> visit = [&](size_t index, size_t depth) {
    if (index >= seen.size() || seen[index]) return;
    seen[index] = true;
    tree.emplace_back(index, depth);
    for (const size_t child : advice.findings[index].causes) visit(child, depth + 1);
  };
  for (const size_t root : advice.Roots()) visit(root, 0);
  for (size_t i = 0; i < advice.findings.size(); ++i)
    if (advice.findings[i].outcome == Outcome::kFired) visit(i, 0);
  return tree;
}

}  // namespace dladvisor
