// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/change_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "src/render/bucket_words.h"

namespace dladvisor {
namespace {

// Changes below this are told as none.
constexpr double kNoChange = 0.01;
// A reason has at least this part of the largest one, and of the unit's time.
constexpr double kLeastOfLargest = 0.1, kLeastOfUnit = 0.005;
constexpr size_t kMostReasons = 4, kMostKinds = 3, kMostFigures = 3;
// Of all changes of kinds, what one is named from.
constexpr double kLeastOfKinds = 0.15;

using Words = std::pair<std::string_view, std::string_view>;

std::string_view WordsOf(std::span<const Words> words, std::string_view name) {
  const auto found = std::ranges::find(words, name, &Words::first);
  return found == words.end() ? name : found->second;
}

std::string Time(double ns) { return FormatValue(ns, Unit::kNanoseconds); }

std::string Capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

bool IsComputing(std::string_view bucket) { return bucket.starts_with("compute/"); }

double GrowthOf(const WorkPair& pair) {
  return (pair.after ? pair.after->ns : 0) - (pair.before ? pair.before->ns : 0);
}

// " (attention 3.1 ms more, matrix products 0.9 ms less)" of the kernels' own durations; or "".
std::string KindsText(const RunsCompared& compared) {
  double all = 0;
  for (const WorkPair& kind : compared.kinds)
    if (kind.kind != "communication") all += std::abs(GrowthOf(kind));
  std::vector<std::string> texts;
  for (const WorkPair& kind : compared.kinds) {
    const double change = GrowthOf(kind);
    if (kind.kind == "communication" || std::abs(change) < kLeastOfKinds * all || texts.size() == kMostKinds)
      continue;
    texts.push_back(fmt::format("{} {}", KindWords(kind.kind), MoreOrLess(change)));
  }
  return texts.empty() || !(all > 0) ? "" : fmt::format(" ({})", fmt::join(texts, ", "));
}

std::string PerUnit(const RunsCompared& compared) {
  return compared.unit == ComparedUnit::kStep ? " per step" : "";
}

void DescribeLedger(RunsCompared& compared) {
  struct Part {
    std::string name;
    double change = 0;
  };
  std::vector<Part> parts = {{"computing", 0}};
  for (const BucketChange& bucket : compared.ledger) {
    const double change = bucket.after_ns - bucket.before_ns;
    if (IsComputing(bucket.bucket))
      parts[0].change += change;
    else
      parts.push_back({std::string(BucketWords(bucket.bucket)), change});
  }
  std::ranges::stable_sort(parts, std::greater(), [](const Part& part) { return std::abs(part.change); });
  const double least = std::max(kLeastOfLargest * std::abs(parts[0].change),
                                kLeastOfUnit * compared.before.unit_ns.value_or(0));
  for (const Part& part : parts) {
    if (!(std::abs(part.change) > least) || compared.reasons.size() == kMostReasons) break;
    compared.reasons.push_back(fmt::format("{} takes {}{}{}.", Capital(part.name), MoreOrLess(part.change),
                                           PerUnit(compared),
                                           part.name == "computing" ? KindsText(compared) : ""));
  }
}

// Of calls: the operators whose calls weigh most.
void DescribeCalls(RunsCompared& compared) {
  for (const WorkPair& pair : compared.operators) {
    if (!pair.before || !pair.after || compared.reasons.size() == kMostReasons) continue;
    const double change = pair.before->ns > 0 ? GrowthOf(pair) / pair.before->ns : 0;
    if (std::abs(change) < kNoChange) continue;
    compared.reasons.push_back(fmt::format("A call of {} takes {} GPU time ({} instead of {}).",
                                           pair.before_name, MoreOrLessShare(change), Time(pair.after->ns),
                                           Time(pair.before->ns)));
  }
}

// Of logs: what their timers measure; those that hold others where there are no parts.
void DescribeTimers(RunsCompared& compared) {
  const bool has_parts = std::ranges::any_of(compared.timers, [](const WorkPair& timer) {
    return timer.before && timer.after && timer.kind != "all";
  });
  for (const WorkPair& timer : compared.timers) {
    if (!timer.before || !timer.after || (has_parts && timer.kind == "all") ||
        compared.reasons.size() == kMostReasons)
      continue;
    const double change = GrowthOf(timer);
    if (std::abs(change) < kLeastOfUnit * compared.before.unit_ns.value_or(0)) break;
    compared.reasons.push_back(
        fmt::format("The timer {} takes {}{}.", timer.before_name, MoreOrLess(change), PerUnit(compared)));
  }
}

bool MayBeChance(const RunsCompared& compared) {
  const auto error = [](const ComparedSide& side) {
    return side.stddev_ns && side.steps > 1
               ? *side.stddev_ns * *side.stddev_ns / static_cast<double>(side.steps)
               : 0;
  };
  const double change = compared.after.unit_ns.value_or(0) - compared.before.unit_ns.value_or(0);
  return std::abs(change) < 2 * std::sqrt(error(compared.before) + error(compared.after));
}

// Of runs whose times cannot be compared: what else both recorded.
std::string WithoutCommonWork(const RunsCompared& compared) {
  std::vector<std::string> figures;
  for (const FigureChange& figure : compared.figures)
    if (figure.before && figure.after && figures.size() < kMostFigures)
      figures.push_back(fmt::format("{} {} instead of {}", WithinSentence(figure.title),
                                    FormatValue(*figure.after, figure.unit),
                                    FormatValue(*figure.before, figure.unit)));
  if (compared.operators.empty() && !figures.empty())
    return fmt::format("Neither run has work on a GPU whose time could be compared; in B {}.",
                       fmt::join(figures, ", "));
  if (compared.common_share)
    return fmt::format(
        "The runs cannot be compared: operators that both run are {:.0f} % of A's GPU time and {:.0f} % of "
        "B's; the rest ran in other places. Give two recordings of one program, with the same ranges.",
        100 * *compared.common_share, 100 * compared.common_share_after.value_or(0));
  return compared.operators.empty()
             ? "The runs cannot be compared: neither recorded work on a GPU, or steps. Record both with a "
               "profiler that traces the GPU."
             : "The runs cannot be compared: no operator ran in the same place of both programs. Give two "
               "recordings of one program.";
}

std::string Headline(const RunsCompared& compared) {
  if (compared.unit == ComparedUnit::kCall) {
    if (!compared.change) return WithoutCommonWork(compared);
    const std::string what = fmt::format("operators that both run, which are {:.0f} % of A's GPU time,",
                                         100 * compared.common_share.value_or(0));
    if (std::abs(*compared.change) < kNoChange)
      return fmt::format("Call by call, the {} take as long in B as in A.", what);
    return fmt::format("Call by call, the {} take {} GPU time in B.", what,
                       MoreOrLessShare(*compared.change));
  }
  const bool step = compared.unit == ComparedUnit::kStep;
  const std::string before = Time(compared.before.unit_ns.value_or(0)),
                    after = Time(compared.after.unit_ns.value_or(0));
  if (std::abs(compared.change.value_or(0)) < kNoChange)
    return fmt::format("{} as long in B as in A: {} and {}.",
                       step ? "A step takes" : "The analysed work takes", after, before);
  return fmt::format("B takes {} time{}: {} instead of {}{}.", MoreOrLessShare(*compared.change),
                     step ? " per step" : " for the analysed work", after, before,
                     step && MayBeChance(compared) ? "; steps vary so much that this may be chance" : "");
}

}  // namespace

std::string_view KindWords(std::string_view kind) {
  static constexpr std::array<Words, 8> words = {{{"matrix", "matrix products"},
                                                  {"convolution", "convolutions"},
                                                  {"element-wise", "element-wise kernels"},
                                                  {"reduction", "reductions"},
                                                  {"embedding", "embeddings"},
                                                  {"layout", "changes of layout"},
                                                  {"sort", "sorting"},
                                                  {"other", "other kernels"}}};
  return WordsOf(words, kind);
}

std::string MoreOrLess(double change_ns) {
  return fmt::format("{} {}", Time(std::abs(change_ns)), change_ns < 0 ? "less" : "more");
}

std::string MoreOrLessShare(double change) {
  if (change > 1) return fmt::format("{:.2f} times the", 1 + change);
  return fmt::format("{:.1f} % {}", 100 * std::abs(change), change < 0 ? "less" : "more");
}

void DescribeChange(RunsCompared& compared) {
  compared.headline = Headline(compared);
  if (compared.unit == ComparedUnit::kCall) {
    if (compared.change) DescribeCalls(compared);
  } else if (!compared.ledger.empty()) {
    DescribeLedger(compared);
  } else {
    DescribeTimers(compared);
  }
}

}  // namespace dladvisor
