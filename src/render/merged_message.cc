// SPDX-License-Identifier: Apache-2.0
#include "src/render/merged_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace dladvisor {
namespace {

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "On GPU " -> "On each of GPUs ", in place; false where the text does not end with what has numbers.
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

// "62.5 – 70.1 %", "900 µs – 1.20 ms": what both end with is said once.
std::string RangeText(std::string_view low, std::string_view high) {
  for (size_t space = high.find(' '); space != std::string_view::npos; space = high.find(' ', space + 1))
    if (low.ends_with(high.substr(space))) {
      low.remove_suffix(high.size() - space);
      break;
    }
  return fmt::format("{} – {}", low, high);
}

}  // namespace

std::string ShapeOf(const RenderedMessage& message) {
  std::string shape;
  size_t done = 0;
  for (const PlacedValue& placed : message.values) {
    shape += message.text.substr(done, placed.at - done) + "{" + placed.value.name;
    if (!AsNumber(placed.value.value)) shape += "=" + message.text.substr(placed.at, placed.length);
    shape += "}";
    done = placed.at + placed.length;
  }
  return shape + message.text.substr(done);
}

std::string Merged(const std::vector<const RenderedMessage*>& messages) {
  const RenderedMessage& first = *messages[0];
  std::string merged;
  size_t done = 0;
  bool after_another = false;
  for (size_t i = 0; i < first.values.size(); ++i) {
    if (!AsNumber(first.values[i].value.value)) continue;
    const auto number = [i](const RenderedMessage* m) { return *AsNumber(m->values[i].value.value); };
    const auto text = [i](const RenderedMessage* m) {
      return std::string_view(m->text).substr(m->values[i].at, m->values[i].length);
    };
    const auto [least, most] = std::ranges::minmax(messages, {}, number);
    std::string before = first.text.substr(done, first.values[i].at - done);
    done = first.values[i].at + first.values[i].length;
    if (text(least) == text(most)) {
      merged += before;
      merged += text(least);
      after_another = false;
    } else if (first.values[i].value.unit == Unit::kNone && ReplaceByPlural(before, after_another)) {
      std::set<int64_t> numbers;
      for (const RenderedMessage* message : messages) numbers.insert(static_cast<int64_t>(number(message)));
      merged += before + Listed(numbers);
      after_another = true;
    } else {
      merged += before + RangeText(text(least), text(most));
      after_another = false;
    }
  }
  return merged + first.text.substr(done);
}

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

}  // namespace dladvisor
