// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "src/report/sections/day_saving.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/headline.h"

namespace dladvisor {
namespace {

// A number in a text with the literal text before it, e.g. {"is idle ", "70.4", " %"}.
struct Slot {
  std::string before, digits, unit;
  double value = 0;  // in the smallest unit of its kind
};
struct Parsed {
  std::vector<Slot> slots;
  std::string rest;  // after the last number
};

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (static_cast<unsigned char>(c) & 0x80);
}

// Units as FormatValue writes them.
constexpr std::pair<std::string_view, double> kUnits[] = {{" ns", 1},
                                                          {" µs", 1e3},
                                                          {" ms", 1e6},
                                                          {" s", 1e9},
                                                          {" min", 60e9},
                                                          {" %", 1},
                                                          {" B", 1},
                                                          {" KiB", 1024},
                                                          {" MiB", 1024.0 * 1024},
                                                          {" GiB", 1073741824},
                                                          {" TiB", 1099511627776},
                                                          {" B/s", 1},
                                                          {" kB/s", 1e3},
                                                          {" KB/s", 1e3},
                                                          {" MB/s", 1e6},
                                                          {" GB/s", 1e9},
                                                          {" TB/s", 1e12}};

// The end of the number that begins at `at`, or `at` where that is part of a word or a version.
size_t NumberEnd(std::string_view text, size_t at) {
  if (at > 0 && (IsWordPart(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '-')) return at;
  size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) {
    ++end;
    if (end + 1 < text.size() && (text[end] == ',' || text[end] == '.') &&
        std::isdigit(static_cast<unsigned char>(text[end + 1])))
      ++end;
  }
  return end < text.size() && IsWordPart(text[end]) ? at : end;
}

Parsed Parse(std::string_view text) {
  Parsed parsed;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = NumberEnd(text, at);
    if (end == at) {
      ++at;
      continue;
    }
    Slot slot{std::string(text.substr(done, at - done)), std::string(text.substr(at, end - at)), "", 0};
    std::string plain = slot.digits;
    std::erase(plain, ',');
    std::from_chars(plain.data(), plain.data() + plain.size(), slot.value);
    at = done = end;
    for (const auto& [unit, factor] : kUnits) {
      const size_t after = end + unit.size();
      if (text.substr(end).starts_with(unit) &&
          (after == text.size() || (!IsWordPart(text[after]) && text[after] != '/'))) {
        slot.unit = unit;
        slot.value *= factor;
        at = done = after;
        break;
      }
    }
    parsed.slots.push_back(std::move(slot));
  }
  parsed.rest = text.substr(done);
  return parsed;
}

// {0, 1, 2, 5} -> "0–2, 5"; of many only the first: "0–2, 5, ... (540 in all)".
std::string Listed(const std::set<int64_t>& numbers) {
  constexpr int kMostShown = 12;
  std::string text;
  int shown = 0;
  for (auto first = numbers.begin(); first != numbers.end();) {
    if (++shown > kMostShown) return text + fmt::format(", ... ({} in all)", numbers.size());
    auto last = first;
    while (std::next(last) != numbers.end() && *std::next(last) == *last + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", *first);
    if (last != first) text += fmt::format("–{}", *last);
    first = std::next(last);
  }
  return text;
}

// "On GPU " -> "On each of GPUs ", in place; false where the text does not end with a subject's word.
bool ReplaceByPlural(std::string& before, bool after_another) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"GPU ", "GPUs "}, {"device ", "devices "}, {"rank ", "ranks "}, {"Rank ", "ranks "}};
  for (const auto& [one, many] : kWords) {
    if (!before.ends_with(one)) continue;
    before.resize(before.size() - one.size());
    if (!before.empty() && IsWordPart(before.back())) return false;
    const bool begins = before.empty() || before.ends_with(". ");
    if (!after_another || before != " of ") before += begins ? "Each of " : "each of ";
    before += many;
    return true;
  }
  return false;
}

bool IsPlace(const NamedValue& key) { return key.name == "rank" || key.name == "device"; }

// "GPU 1", "rank 0", "op aten::mm".
std::string KeyText(const std::string& name, const std::string& value) {
  std::string words = name == "device" ? "GPU" : name;
  std::ranges::replace(words, '_', ' ');
  return fmt::format("{} {}", words, value);
}

bool ContainsWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWordPart(text[at - 1])) && (end == text.size() || !IsWordPart(text[end]))) return true;
  }
  return false;
}

bool MentionsKey(const std::string& problem, const NamedValue& key) {
  const std::string value = FormatValue(key.value, key.unit);
  if (!AsNumber(key.value)) return ContainsWord(problem, value);
  return ContainsWord(problem, KeyText(key.name, value)) || ContainsWord(problem, key.name + " " + value) ||
         (key.name == "rank" && ContainsWord(problem, "Rank " + value)) ||
         (key.name.ends_with("_step") &&
          (ContainsWord(problem, "step " + value) || ContainsWord(problem, "steps " + value)));
}

// What the members' problems do not say; a rank, GPU or profile that is the only one needs no saying.
std::string SubjectOf(const ReportModel& model, const std::vector<const Finding*>& members) {
  std::string text;
  const std::vector<NamedValue>& keys = members[0]->subject;
  const ReportTable* profiles = FindTable(model, "profiles");
  for (size_t k = 0; k < keys.size(); ++k) {
    const bool only = (keys[k].name == "rank" && FigureNumber(model, "ranks") == 1.0) ||
                      (keys[k].name == "device" && FigureNumber(model, "gpus") == 1.0) ||
                      (keys[k].name == "profile" && profiles != nullptr && profiles->total_rows == 1);
    if (only || MentionsKey(members[0]->problem, keys[k])) continue;
    std::set<int64_t> numbers;
    for (const Finding* member : members)
      if (const auto* number = std::get_if<int64_t>(&member->subject[k].value)) numbers.insert(*number);
    if (!text.empty()) text += ", ";
    text += numbers.size() > 1 ? KeyText(keys[k].name, "")
                               : KeyText(keys[k].name, FormatValue(keys[k].value, keys[k].unit));
    if (numbers.size() > 1) text.replace(text.size() - 1, 1, "s " + Listed(numbers));
  }
  return text;
}

// Findings with the same text here are of one group.
std::string GroupKey(const Finding& finding, size_t index) {
  std::string key = finding.rule;
  bool in_place = false;
  for (const NamedValue& value : finding.subject) {
    in_place = in_place || IsPlace(value);
    key += '\n' + value.name;
    if (!IsPlace(value)) key += '=' + FormatValue(value.value, value.unit);
  }
  if (!in_place) return fmt::format("{}", index);
  key += '\n' + WithoutNumbers(finding.problem);
  for (const std::string& text : finding.recommendation) key += '\n' + WithoutNumbers(text);
  return key;
}

FindingGroup MakeGroup(const ReportModel& model, const std::vector<size_t>& indices, size_t depth) {
  std::vector<const Finding*> members;
  for (const size_t index : indices) members.push_back(&model.advice->findings[index]);
  FindingGroup group{indices, depth, "", {}, SubjectOf(model, members), "", ""};
  std::vector<std::string> texts;
  for (const Finding* member : members) texts.push_back(member->problem);
  group.problem = MergeTexts(texts);
  for (size_t i = 0; i < members[0]->recommendation.size(); ++i) {
    texts.clear();
    for (const Finding* member : members) texts.push_back(member->recommendation[i]);
    group.recommendation.push_back(MergeTexts(texts));
  }
  const auto high = [](const Finding* f) { return f->saves ? f->saves->high_ns.value_or(-1) : -1; };
  const Finding& most = **std::ranges::max_element(members, {}, high);
  group.saving = SavingText(model, most);
  if (most.saves) group.per_day = DayText(model, *most.saves);
  return group;
}

// What the headline speaks of, then by the middle of what the finding saves, or what it explains; what saves
// nothing last, in order of severity.
std::vector<size_t> RootsByImpact(const ReportModel& model) {
  const Advice& advice = *model.advice;
  const std::function<double(size_t)> expected = [&](size_t index) {
    const Finding& finding = advice.findings[index];
    if (finding.saves && finding.saves->high_ns)
      return (finding.saves->low_ns.value_or(0) + *finding.saves->high_ns) / 2;
    double most = 0;
    for (const size_t below : finding.causes) most = std::max(most, expected(below));
    return most;
  };
  const auto first = DoFirst(model);
  std::vector<size_t> roots = advice.Roots();
  std::ranges::stable_sort(roots, {}, [&](size_t root) { return std::pair(root != first, -expected(root)); });
  return roots;
}

}  // namespace

std::string WithoutNumbers(const std::string& text) {
  const Parsed parsed = Parse(text);
  std::string left;
  for (const Slot& slot : parsed.slots) left += slot.before + '#';
  return left + parsed.rest;
}

std::string MergeTexts(const std::vector<std::string>& texts) {
  std::vector<Parsed> all;
  for (const std::string& text : texts) all.push_back(Parse(text));
  std::string merged;
  bool after_another = false;
  for (size_t i = 0; i < all[0].slots.size(); ++i) {
    Slot least = all[0].slots[i], most = least;
    std::set<int64_t> numbers;
    for (const Parsed& parsed : all) {
      const Slot& slot = parsed.slots[i];
      if (slot.value < least.value) least = slot;
      if (slot.value > most.value) most = slot;
      numbers.insert(static_cast<int64_t>(slot.value));
    }
    std::string before = least.before;
    const bool differ = least.digits != most.digits || least.unit != most.unit;
    if (differ && least.unit.empty() && ReplaceByPlural(before, after_another)) {
      merged += before + Listed(numbers);
      after_another = true;
      continue;
    }
    after_another = false;
    merged += before + least.digits;
    if (differ) merged += (least.unit == most.unit ? "" : least.unit) + " – " + most.digits;
    merged += most.unit;
  }
  return merged + all[0].rest;
}

std::vector<FindingGroup> GroupFindings(const ReportModel& model) {
  const Advice& advice = *model.advice;
  std::vector<FindingGroup> groups;
  std::vector<bool> seen(advice.findings.size());
  const std::function<void(const std::vector<size_t>&, size_t)> visit = [&](const auto& siblings,
                                                                            size_t depth) {
    std::vector<std::pair<std::string, std::vector<size_t>>> alike;  // in order of their first member
    for (const size_t index : siblings) {
      if (index >= seen.size() || seen[index]) continue;
      seen[index] = true;
      const std::string key = GroupKey(advice.findings[index], index);
      auto found = std::ranges::find(alike, key, [](const auto& entry) { return entry.first; });
      if (found == alike.end()) found = alike.insert(alike.end(), {key, {}});
      found->second.push_back(index);
    }
    for (const auto& [key, members] : alike) {
      groups.push_back(MakeGroup(model, members, depth));
      std::vector<size_t> below;
      for (const size_t index : members)
        below.insert(below.end(), advice.findings[index].causes.begin(), advice.findings[index].causes.end());
      visit(below, depth + 1);
    }
  };
  visit(RootsByImpact(model), 0);
  for (size_t i = 0; i < advice.findings.size(); ++i)
    if (advice.findings[i].outcome == Outcome::kFired) visit({i}, 0);
  return groups;
}

}  // namespace dladvisor
