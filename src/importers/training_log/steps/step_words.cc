// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/step_words.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>

namespace dladvisor::training_log {
namespace {

constexpr double kMostNumber = 1e12;  // what no number of a step reaches

}  // namespace

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool Ends(std::string_view name, std::initializer_list<std::string_view> names) {
  return !name.empty() && std::ranges::any_of(names, [&](std::string_view word) {
    return name == word || (name.ends_with(word) && name[name.size() - word.size() - 1] == ' ');
  });
}

bool Counts(const Value& value) {
  return value.whole && value.unit == Unit::kNone && value.number >= 0 && value.number < kMostNumber;
}

bool IsBatch(const Value& value) {
  return Counts(value) && Ends(value.name, {"batch", "batch id", "batch idx"});
}

bool IsStep(const Value& value) {
  return Counts(value) && Ends(value.name, {"step", "steps", "iter", "iters", "iteration", "iterations", "it",
                                            "update", "updates", "step index", "iteration index"});
}

bool IsEpoch(const Value& value) {
  return value.whole && value.unit == Unit::kNone && value.number >= 0 && value.number < 1e7 &&
         Ends(value.name, {"epoch", "ep"});
}

bool NamesEvaluation(std::string_view line) {
  static const RE2 words(
      R"re((?i)(?:^|[^\w.])(?:val|valid|validation|validating|test|testing|eval|evaluation|evaluating|inference|predict\w*)\b[^.]{0,40}?\d)re");
  static const RE2 setting(
      R"re((?i)(?:val|eval|test)\w*[ _-](?:every|interval|freq))re");  // "eval every 500"
  const std::string_view head = line.substr(0, std::min<size_t>(line.size(), 160));
  // "Iter: 100, Train Loss: 0.4, Val Loss: 0.36": of the training.
  static const RE2 training(R"re((?i)^.*?\b(?:train\w*[ _-]loss|loss[ _-]train)\b.*?\b(?:val|test|eval))re");
  return RE2::PartialMatch(head, words) && !RE2::PartialMatch(head, setting) &&
         !RE2::PartialMatch(head, training);
}

bool LosesItself(std::string_view line) {
  static const RE2 loss(
      R"re((?i)((?:[a-z]+[ _/-])?)loss\w*["')]{0,2} {0,2}[:=]? {0,2}["'(]{0,2}[+-]?nan\b)re"),
      other("(?i)^(?:val|eval|test)"), letter(R"((?:^|[\s,|])L ?[:=] ?[+-]?(?i:nan)\b)");
  if (RE2::PartialMatch(line, letter)) return true;
  std::string before;
  re2::StringPiece rest(line.data(), line.size());
  while (RE2::FindAndConsume(&rest, loss, &before))
    if (!RE2::PartialMatch(before, other)) return true;
  return false;
}

bool IsRateInWords(const std::string& name, const char* counted) {
  if (name.find(" per s") == std::string::npos) return false;
  return RE2::PartialMatch(name, std::string("(?:^| )") + counted +
                                     " per s(?:ec(?:ond)?)?(?: (?:per|each) (?:gpu|device|rank))?$");
}

std::optional<double> InstantOf(const Value& value) {
  constexpr double kLeast = 1e9, kMost = 2e9, kMsOf = 1e3;
  if (value.unit != Unit::kNone ||
      !Ends(value.name, {"timestamp", "time", "ts", "wall time", "unix time", "created", "created at"}))
    return std::nullopt;
  if (value.number >= kLeast && value.number < kMost) return value.number;
  if (value.number >= kLeast * kMsOf && value.number < kMost * kMsOf) return value.number / kMsOf;
  return std::nullopt;
}

}  // namespace dladvisor::training_log
