// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/rank_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "src/importers/training_log/lines/line_values.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/step_forms.h"
#include "src/importers/training_log/steps/step_words.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRankLine = 1024, kMostTimesOfRanks = 1'000'000;
constexpr int64_t kMostRanks = 100'000, kStepsOfEpoch = 1'000'000'000;
// Fewer steps of which all ranks tell show no course.
constexpr size_t kLeastStepsOfRanks = 5;

// "[rank5]: ", "[default5]:" of torchrun, "5: " of srun --label, "[1,5]<stdout>:" of mpirun.
std::optional<int64_t> RankOf(std::string_view line) {
  static const RE2 named(
      R"re((?i)^[^=:%]{0,48}?\b(?:global_?|local_?)?(?:rank|gpu)[ _]?[ :=#]{0,2}(\d{1,6})\b)re"),
      prefix(R"re(^(?:\s{0,4}(\d{1,5}): \D|\[[a-z]+(\d{1,6})\]: ?|\[\d+,(\d{1,6})\]<std\w+>:))re");
  std::string rank, of_torchrun, of_mpirun;
  if (!RE2::PartialMatch(line, named, &rank) &&
      !RE2::PartialMatch(line, prefix, &rank, &of_torchrun, &of_mpirun))
    return std::nullopt;
  const auto number = Integer(!rank.empty() ? rank : !of_torchrun.empty() ? of_torchrun : of_mpirun);
  return number && *number < kMostRanks ? number : std::nullopt;
}

// While it waits for others, the slowest rank takes least.
bool WaitsForOthers(std::string_view name) {
  static const RE2 waits(
      R"((?i)all ?reduce|all ?gather|reduce ?scatter|broadcast|\bcomm|nccl|\bwait|\bsync|barrier)");
  return RE2::PartialMatch(name, waits);
}

bool IsWhole(std::string_view name) {
  static const RE2 whole(
      R"((?i)^(?:.* )?(?:total|step|iter(?:ation)?|batch|time|took|elapsed|dt)(?: time)?$)"),
      part(R"((?i)data|load|fwd|bwd|forward|backward|comput|optim|fetch)");
  return name.empty() || (RE2::PartialMatch(name, whole) && !RE2::PartialMatch(name, part));
}

bool IsNoTimeOfStep(std::string_view name) {
  static const RE2 other(R"((?i)\beta\b|remain|left|loss|since|start)");
  return RE2::PartialMatch(name, other);
}

}  // namespace

void RankLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestRankLine || kept_ >= kMostTimesOfRanks) return;
  const auto rank = RankOf(line);
  if (!rank || NamesEvaluation(line)) return;
  const std::vector<Value> values = ValuesOf(line);
  auto step = std::ranges::find_if(values, IsStep);
  if (step == values.end()) step = std::ranges::find_if(values, IsBatch);
  if (step == values.end()) return;
  const auto epoch = std::ranges::find_if(values, IsEpoch);
  double parts = 0, waits = 0;
  std::optional<double> whole;
  for (const Value& value : values) {
    if (value.unit != Unit::kSeconds || value.clock || !(value.number > 0) || IsNoTimeOfStep(value.name))
      continue;
    const double seconds = value.number * value.scale;
    if (WaitsForOthers(value.name))
      waits += seconds;
    else if (IsWhole(value.name))
      whole = seconds;
    else
      parts += seconds;
  }
  const double own = parts > 0 ? parts : whole.value_or(0);
  if (!(own > 0)) return;
  const int64_t number = (epoch == values.end() ? 0 : static_cast<int64_t>(epoch->number) * kStepsOfEpoch) +
                         static_cast<int64_t>(step->number);
  Step& ranks = steps_[number];
  ranks_.insert(*rank);
  ranks.own.try_emplace(*rank, own);  // not what a later start tells
  ranks.all.try_emplace(*rank, whole.value_or(parts + waits));
  ++kept_;
}

size_t RankLinesReader::StepsOfAll() const {
  if (ranks_.size() < 2) return 0;
  return static_cast<size_t>(
      std::ranges::count_if(steps_, [&](const auto& step) { return ToldByAll(step.second); }));
}

TrainingLog RankLinesReader::Finish() const {
  TrainingLog log;
  if (StepsOfAll() < kLeastStepsOfRanks) return log;
  for (const auto& [number, step] : steps_) {
    if (!ToldByAll(step)) continue;
    TrainingIteration row;
    row.iteration = static_cast<int64_t>(log.iterations.size()) + 1;
    row.covers = 1;
    row.elapsed_ns =
        std::ranges::max_element(step.all, {}, [](const auto& rank) { return rank.second; })->second *
        kNsPerSecond;
    log.iterations.push_back(row);
  }
  // "Epoch 3 | Steps: 64 | Time 7.41 s": how many an epoch has.
  const auto same = [&](const auto& step) {
    return step.first / kStepsOfEpoch > 0 &&
           step.first % kStepsOfEpoch == steps_.rbegin()->first % kStepsOfEpoch;
  };
  log.of_epochs = std::ranges::all_of(std::next(steps_.begin()), steps_.end(), same);
  log.program = log.of_epochs ? kEpochs : kStepsAlone;
  return log;
}

void RankLinesReader::AddTo(TrainingLog& log) const {
  if (log.iterations.empty() || log.of_epochs || !log.extremes.empty() || StepsOfAll() < kLeastStepsOfRanks)
    return;
  std::vector<const Step*> in_order;
  for (const auto& [number, step] : steps_)
    if (ToldByAll(step)) in_order.push_back(&step);
  log.settings.try_emplace("world_size", std::to_string(ranks_.size()));
  const bool row_each = in_order.size() == log.iterations.size();
  for (size_t i = 0; i < log.iterations.size(); ++i) {
    TrainingIteration& row = log.iterations[i];
    const Step* step = row_each ? in_order[i] : nullptr;
    // Steps that count from 0 are numbered from 1.
    if (const auto found = steps_.find(row.iteration - (steps_.contains(0) ? 1 : 0));
        step == nullptr && found != steps_.end() && row.attempt == 0)
      step = &found->second;
    if (step == nullptr || !ToldByAll(*step)) continue;
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [fastest, slowest] = std::ranges::minmax_element(step->own, by_time);
    if (!row.elapsed_ns) row.elapsed_ns = std::ranges::max_element(step->all, by_time)->second * kNsPerSecond;
    log.extremes.push_back(
        {i, "Etpt", "1/s", 1 / slowest->second, 1 / fastest->second, slowest->first, fastest->first});
  }
}

}  // namespace dladvisor::training_log
