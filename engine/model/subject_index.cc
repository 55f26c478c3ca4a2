// SPDX-License-Identifier: Apache-2.0
#include "engine/model/subject_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace dladvisor {
namespace {

std::string ValueText(const Value& value) {
  if (IsNull(value)) return "null";
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("{}:{}", text->size(), *text);
  if (const auto* real = std::get_if<double>(&value)) {
    if (*real == std::floor(*real) && std::abs(*real) < 9e15)
      return fmt::format("{}", static_cast<int64_t>(*real));
    return fmt::format("{}", *real);
  }
  return fmt::format("{}", std::get<int64_t>(value));
}

std::vector<NamedValue> Restricted(const std::vector<NamedValue>& subject,
                                   const std::vector<std::string>& names) {
  std::vector<NamedValue> part;
  for (const std::string& name : names) part.push_back(*std::ranges::find(subject, name, &NamedValue::name));
  return part;
}

}  // namespace

std::string SubjectText(std::span<const NamedValue> subject) {
  std::string text;
  for (const NamedValue& key : subject) text += fmt::format("{}={};", key.name, ValueText(key.value));
  return text;
}

void SubjectIndex::Add(size_t finding, const std::vector<NamedValue>& subject) {
  findings_.emplace_back(finding, subject);
  shared_.clear();
}

std::vector<size_t> SubjectIndex::All() const {
  std::vector<size_t> all;
  for (const auto& [finding, subject] : findings_) all.push_back(finding);
  return all;
}

const std::vector<size_t>& SubjectIndex::Matching(const std::vector<NamedValue>& subject) const {
  static const std::vector<size_t> kNone;
  if (findings_.empty()) return kNone;
  std::vector<std::string> names;
  for (const NamedValue& key : findings_[0].second)
    if (std::ranges::find(subject, key.name, &NamedValue::name) != subject.end()) names.push_back(key.name);
  auto [entry, is_new] = shared_.try_emplace(names);
  if (is_new)
    for (const auto& [finding, own] : findings_)
      entry->second[SubjectText(Restricted(own, names))].push_back(finding);
  const auto found = entry->second.find(SubjectText(Restricted(subject, names)));
  return found == entry->second.end() ? kNone : found->second;
}

}  // namespace dladvisor
