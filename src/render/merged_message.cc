// SPDX-License-Identifier: Apache-2.0
#include "src/render/merged_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

namespace dladvisor {
namespace {

// "ranks" of "Rank", "GPUs" of "GPU".
std::string PluralOf(std::string noun) {
  const bool is_name = noun.size() > 1 && std::isupper(static_cast<unsigned char>(noun[1]));
  if (!is_name) noun[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(noun[0])));
  return noun + "s";
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

RenderedMessage Merged(const std::vector<const RenderedMessage*>& messages) {
  const RenderedMessage& first = *messages[0];
  RenderedMessage merged;
  size_t done = 0;
  bool after_another = false;
  const auto add_words = [&](size_t until) {
    for (const size_t sentence : first.sentences)
      if (sentence > done && sentence <= until)
        merged.sentences.push_back(merged.text.size() + (sentence - done));
    merged.text += first.text.substr(done, until - done);
  };
  for (size_t i = 0; i < first.values.size(); ++i) {
    const PlacedValue& placed = first.values[i];
    if (!AsNumber(placed.value.value)) continue;
    const auto number = [i](const RenderedMessage* m) { return *AsNumber(m->values[i].value.value); };
    const auto text = [i](const RenderedMessage* m) {
      return std::string_view(m->text).substr(m->values[i].at, m->values[i].length);
    };
    const auto [least, most] = std::ranges::minmax(messages, {}, number);
    add_words(placed.at);
    done = placed.at + placed.length;
    const bool differ = text(least) != text(most), listed = differ && !placed.noun.empty();
    if (listed) {
      std::set<int64_t> numbers;
      for (const RenderedMessage* message : messages) numbers.insert(static_cast<int64_t>(number(message)));
      if (!after_another) merged.text += first.BeginsSentence(placed.at) ? "Each of " : "each of ";
      merged.text += PluralOf(placed.noun) + " " + Listed(numbers);
    } else {
      merged.text += differ ? RangeText(text(least), text(most)) : std::string(text(least));
    }
    after_another = listed;
  }
  add_words(first.text.size());
  return merged;
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
