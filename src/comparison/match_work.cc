// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/match_work.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <functional>
#include <map>
#include <utility>

namespace dladvisor {
namespace {

using Works = std::vector<const RecordedWork*>;
using KeyOf = std::function<std::string(const RecordedWork&)>;  // "" for what has no partner

constexpr const char* kOtherKind = "other";

Works PointersTo(std::span<const RecordedWork> works) {
  Works pointers;
  for (const RecordedWork& work : works) pointers.push_back(&work);
  return pointers;
}

// Works are in order of time: the first one names a group.
std::string NameOf(const Works& works) { return works.empty() ? "" : works[0]->name; }
size_t OthersOf(const Works& works) { return works.empty() ? 0 : works.size() - 1; }

std::optional<WorkAmount> AmountOf(const Works& works) {
  if (works.empty()) return std::nullopt;
  WorkAmount amount;
  double attainable = 0;
  bool known = true;
  for (const RecordedWork* work : works) {
    amount.calls += work->calls;
    amount.ns += work->ns;
    known = known && work->attained_share.has_value();
    attainable += work->attained_share.value_or(0) * work->ns;
  }
  if (known && amount.ns > 0) amount.attained_share = attainable / amount.ns;
  return amount;
}

WorkPair Pair(const Works& before, const Works& after, MatchedBy matched) {
  const RecordedWork& first = before.empty() ? *after[0] : *before[0];
  return {NameOf(before), NameOf(after), OthersOf(before), OthersOf(after),
          first.kind,     matched,       AmountOf(before), AmountOf(after)};
}

// Pairs what has the same key on both sides, as one row for each key; the others stay in the two lists.
void PairByKey(Works& before, Works& after, const KeyOf& key_of, MatchedBy matched,
               std::vector<WorkPair>& pairs) {
  std::map<std::string, Works> after_by_key;
  for (const RecordedWork* work : after)
    if (std::string key = key_of(*work); !key.empty()) after_by_key[std::move(key)].push_back(work);
  std::map<std::string, Works> before_by_key;
  std::vector<std::string> keys;  // in order of time
  for (const RecordedWork* work : before) {
    std::string key = key_of(*work);
    if (!after_by_key.contains(key)) continue;
    Works& works = before_by_key[key];
    if (works.empty()) keys.push_back(key);
    works.push_back(work);
  }
  for (const std::string& key : keys)
    pairs.push_back(Pair(before_by_key.at(key), after_by_key.at(key), matched));
  const auto is_paired = [&](const RecordedWork* work) { return before_by_key.contains(key_of(*work)); };
  std::erase_if(before, is_paired);
  std::erase_if(after, is_paired);
}

void AddAlone(const Works& before, const Works& after, std::vector<WorkPair>& pairs) {
  for (const RecordedWork* work : before) pairs.push_back(Pair({work}, {}, MatchedBy::kNothing));
  for (const RecordedWork* work : after) pairs.push_back(Pair({}, {work}, MatchedBy::kNothing));
}

// What a kernel computes is not known where its kind is not.
bool HasKind(const RecordedWork& work) { return !work.kind.empty() && work.kind != kOtherKind; }

// PyTorch names some operators by the library that does the work, cudnn_convolution and miopen_convolution,
// _scaled_dot_product_flash_attention and ..._efficient_attention, or by what it adds: mm and addmm.
std::string CommonName(std::string name) {
  static const RE2 library(R"(\b_?(?:cudnn|miopen|mkldnn)_)"),
      kernel(R"(_(?:flash|efficient|cudnn|fused)_attention)"), sum(R"(\b(?:addmm|_addmm_activation)\b)"),
      batched_sum(R"(\bbaddbmm\b)");
  RE2::GlobalReplace(&name, sum, "mm");
  RE2::GlobalReplace(&name, batched_sum, "bmm");
  RE2::GlobalReplace(&name, kernel, "_attention");
  RE2::GlobalReplace(&name, library, "");
  return name;
}

std::string KindWithinOperator(const RecordedWork& work) {
  const std::string_view op = work.op;
  if (!HasKind(work) || op.empty()) return "";
  return fmt::format("{}\n{}", CommonName(std::string(op.substr(op.rfind('/') + 1))), work.kind);
}

}  // namespace

std::string_view MatchedByName(MatchedBy matched) {
  switch (matched) {
    case MatchedBy::kName:
      return "name";
    case MatchedBy::kOperator:
      return "operator";
    case MatchedBy::kKind:
      return "kind";
    case MatchedBy::kNothing:
      break;
  }
  return "";
}

std::vector<WorkPair> MatchByName(std::span<const RecordedWork> before, std::span<const RecordedWork> after) {
  Works left = PointersTo(before), right = PointersTo(after);
  std::vector<WorkPair> pairs;
  PairByKey(left, right, &RecordedWork::name, MatchedBy::kName, pairs);
  AddAlone(left, right, pairs);
  return pairs;
}

std::vector<WorkPair> MatchOperators(std::span<const RecordedWork> before,
                                     std::span<const RecordedWork> after) {
  Works left = PointersTo(before), right = PointersTo(after);
  std::vector<WorkPair> pairs;
  PairByKey(left, right, &RecordedWork::name, MatchedBy::kName, pairs);
  const KeyOf key = [](const RecordedWork& work) { return CommonName(work.name); };
  PairByKey(left, right, key, MatchedBy::kOperator, pairs);
  AddAlone(left, right, pairs);
  return pairs;
}

std::vector<WorkPair> MatchShapes(std::span<const RecordedWork> before, std::span<const RecordedWork> after) {
  Works left = PointersTo(before), right = PointersTo(after);
  std::vector<WorkPair> pairs;
  PairByKey(left, right, &RecordedWork::name, MatchedBy::kName, pairs);
  const KeyOf key = [](const RecordedWork& work) { return CommonName(work.op); };
  PairByKey(left, right, key, MatchedBy::kOperator, pairs);
  AddAlone(left, right, pairs);
  return pairs;
}

std::vector<WorkPair> MatchKernels(std::span<const RecordedWork> before,
                                   std::span<const RecordedWork> after) {
  Works left = PointersTo(before), right = PointersTo(after);
  std::vector<WorkPair> pairs;
  PairByKey(left, right, &RecordedWork::name, MatchedBy::kName, pairs);
  PairByKey(left, right, KindWithinOperator, MatchedBy::kOperator, pairs);
  const KeyOf kind = [](const RecordedWork& work) { return HasKind(work) ? work.kind : std::string(); };
  PairByKey(left, right, kind, MatchedBy::kKind, pairs);
  AddAlone(left, right, pairs);
  return pairs;
}

std::vector<WorkPair> SumByKind(std::span<const RecordedWork> before, std::span<const RecordedWork> after) {
  const auto sum = [](std::span<const RecordedWork> works) {
    std::map<std::string, RecordedWork> kinds;
    for (const RecordedWork& work : works) {
      RecordedWork& kind = kinds[work.kind.empty() ? kOtherKind : work.kind];
      kind.calls += work.calls;
      kind.ns += work.ns;
    }
    std::vector<RecordedWork> sums;
    for (auto& [name, kind] : kinds) {
      kind.name = kind.kind = name;
      sums.push_back(std::move(kind));
    }
    return sums;
  };
  return MatchByName(sum(before), sum(after));
}

}  // namespace dladvisor
