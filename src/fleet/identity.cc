// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/identity.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace dladvisor {
namespace {

// Larger numbers in names are times, process ids or sizes.
constexpr int64_t kLargestRank = 1'000'000;
constexpr int64_t kMostOnNode = 64;

struct NameLabels {
  std::optional<int64_t> rank, node, local_rank;
};

NameLabels LabelsIn(const std::string& name) {
  static const RE2 rank(R"((?i)(?:^|[^a-z])(?:rank|worker|proc|procid)[-_=.]?(\d{1,6})(?:\D|$))");
  static const RE2 node(R"((?i)(?:^|[^a-z])(?:node|host)[-_=.]?(\d{1,6})(?:\D|$))");
  static const RE2 local(
      R"((?i)(?:^|[^a-z])(?:local|localrank|local_rank|gpu|dev|device)[-_=.]?(\d{1,4})(?:\D|$))");
  NameLabels labels;
  int64_t number = 0;
  if (RE2::PartialMatch(name, local, &number)) labels.local_rank = number;
  if (RE2::PartialMatch(name, node, &number)) labels.node = number;
  // "local_rank_3" is not a rank.
  static const RE2 local_rank(R"((?i)local[-_]?rank)");
  if (!RE2::PartialMatch(name, local_rank) && RE2::PartialMatch(name, rank, &number)) labels.rank = number;
  return labels;
}

// The numbers of a name, and the name with each replaced by '#'.
std::pair<std::string, std::vector<int64_t>> Split(std::string_view name) {
  std::string shape;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < name.size();) {
    if (name[i] < '0' || name[i] > '9') {
      shape += name[i++];
      continue;
    }
    size_t end = i;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    int64_t number = kLargestRank;
    if (end - i <= 6) std::from_chars(name.data() + i, name.data() + end, number);
    numbers.push_back(number);
    shape += '#';
    i = end;
  }
  return {shape, numbers};
}

// What names that differ only in numbers mean: nothing where several readings are possible.
std::vector<NameLabels> NumbersIn(const std::vector<std::string>& names) {
  std::vector<NameLabels> labels(names.size());
  std::vector<std::vector<int64_t>> numbers;
  std::set<std::string> shapes;
  for (const std::string& name : names) {
    auto [shape, of_name] = Split(name);
    shapes.insert(shape);
    numbers.push_back(std::move(of_name));
  }
  if (names.size() < 2 || shapes.size() != 1) return labels;
  std::vector<size_t> varying;
  for (size_t n = 0; n < numbers[0].size(); ++n) {
    std::set<int64_t> values;
    int64_t largest = 0;
    for (const auto& of_name : numbers) {
      values.insert(of_name[n]);
      largest = std::max(largest, of_name[n]);
    }
    if (values.size() > 1 && largest < kLargestRank) varying.push_back(n);
  }
  const auto distinct = [&](auto value) {
    std::set<decltype(value(numbers[0]))> values;
    for (const auto& of_name : numbers) values.insert(value(of_name));
    return values.size() == numbers.size();
  };
  if (varying.size() == 1 && distinct([&](const auto& n) { return n[varying[0]]; })) {
    for (size_t i = 0; i < labels.size(); ++i) labels[i].rank = numbers[i][varying[0]];
  } else if (varying.size() == 2 &&
             distinct([&](const auto& n) { return std::pair(n[varying[0]], n[varying[1]]); }) &&
             std::ranges::all_of(numbers, [&](const auto& n) { return n[varying[1]] < kMostOnNode; })) {
    for (size_t i = 0; i < labels.size(); ++i) {
      labels[i].node = numbers[i][varying[0]];
      labels[i].local_rank = numbers[i][varying[1]];
    }
  }
  return labels;
}

// Names without the folders that all share.
std::vector<std::string> NamesOf(const std::vector<ProfileHints>& profiles) {
  size_t common = profiles.empty() ? 0 : profiles[0].path.size();
  for (const ProfileHints& profile : profiles) {
    const auto [a, b] = std::ranges::mismatch(profiles[0].path, profile.path);
    common = std::min(common, static_cast<size_t>(a - profiles[0].path.begin()));
  }
  if (!profiles.empty()) common = profiles[0].path.rfind('/', common == 0 ? 0 : common - 1);
  std::vector<std::string> names;
  for (const ProfileHints& profile : profiles)
    names.push_back(profile.path.substr(common == std::string::npos ? 0 : common + 1));
  return names;
}

// Where no name of the logs, or of the others, has a label, by the numbers in which these differ.
void NumberUnlabelled(const std::vector<ProfileHints>& profiles, const std::vector<std::string>& names,
                      bool logs, std::vector<NameLabels>& labels) {
  std::vector<size_t> chosen;
  std::vector<std::string> of_chosen;
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].is_log != logs) continue;
    if (labels[i].rank || labels[i].node || labels[i].local_rank) return;
    chosen.push_back(i);
    of_chosen.push_back(names[i]);
  }
  const std::vector<NameLabels> numbered = NumbersIn(of_chosen);
  for (size_t i = 0; i < chosen.size(); ++i) {
    labels[chosen[i]] = numbered[i];
    if (logs && numbered[i].rank) labels[chosen[i]].node = numbered[i].rank;
  }
}

}  // namespace

std::vector<ProfileRanks> IdentifyRanks(const std::vector<ProfileHints>& profiles) {
  const std::vector<std::string> names = NamesOf(profiles);
  std::vector<NameLabels> labels;
  for (const std::string& name : names)
    labels.push_back(names.size() > 1 ? LabelsIn(name) : NameLabels{});  // a single one needs no number
  for (const bool logs : {false, true}) NumberUnlabelled(profiles, names, logs, labels);
  int64_t on_node = 1;
  for (size_t i = 0; i < profiles.size(); ++i)
    if (!profiles[i].is_log)
      on_node = std::max({on_node, profiles[i].processes, labels[i].local_rank.value_or(0) + 1});

  std::vector<ProfileRanks> result(profiles.size());
  std::map<int64_t, size_t> taken;  // rank, by which profile
  std::vector<size_t> unknown;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const ProfileHints& profile = profiles[i];
    ProfileRanks& ranks = result[i];
    ranks.node = profile.node ? profile.node : labels[i].node;
    ranks.local_rank = profile.local_rank ? profile.local_rank : labels[i].local_rank;
    if (profile.processes == 0) continue;
    std::optional<int64_t> first;
    if (profile.processes == 1 && profile.rank) {
      first = profile.rank;
      ranks.source = profile.by;
    } else if (profile.processes == 1 && labels[i].rank) {
      first = labels[i].rank;
      ranks.source = "file name";
    } else if (labels[i].node && (profile.processes > 1 || labels[i].local_rank)) {
      first = *labels[i].node * on_node + (profile.processes > 1 ? 0 : *labels[i].local_rank);
      ranks.source = "file name";
    }
    if (!first) {
      unknown.push_back(i);
      continue;
    }
    ranks.first = *first;
    for (int64_t r = *first; r < *first + profile.processes; ++r)
      if (const auto [entry, is_new] = taken.emplace(r, i); !is_new) ranks.duplicate_of = entry->second;
  }
  int64_t next = 0;
  for (const size_t i : unknown) {
    const auto is_free = [&](int64_t first) {
      for (int64_t r = first; r < first + profiles[i].processes; ++r)
        if (taken.contains(r)) return false;
      return true;
    };
    while (!is_free(next)) ++next;
    result[i].first = next;
    result[i].source = profiles.size() > 1 ? "order of files" : "the only file";
    for (int64_t r = next; r < next + profiles[i].processes; ++r) taken.emplace(r, i);
  }
  // Nodes by the name of the machine where nothing numbers them.
  bool numbered = false;
  for (size_t i = 0; i < profiles.size(); ++i) numbered |= !profiles[i].is_log && result[i].node.has_value();
  if (!numbered) {
    std::map<std::string, int64_t> numbers;
    for (size_t i = 0; i < profiles.size(); ++i)
      if (profiles[i].host)
        result[i].node =
            numbers.emplace(*profiles[i].host, static_cast<int64_t>(numbers.size())).first->second;
  }
  return result;
}

}  // namespace dladvisor
