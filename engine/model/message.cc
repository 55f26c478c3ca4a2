// SPDX-License-Identifier: Apache-2.0
#include "engine/model/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <kainjow/mustache.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/base/error.h"

namespace dladvisor {

namespace {

// The parser calls itself for every section within a section.
constexpr int kMostSections = 16;

// Calls visit(name, offset) for each {{name}}, with the sigil where it has one, and its offset in the text.
template <class Visit>
void ForEachTag(std::string_view mustache, Visit visit) {
  for (size_t open = mustache.find("{{"); open != std::string::npos; open = mustache.find("{{", open + 2)) {
    const size_t close = mustache.find("}}", open);
    if (close == std::string::npos) break;
    const size_t first = mustache.find_first_not_of(" {&", open + 2);
    if (first >= close) continue;
    const size_t last = mustache.find_last_not_of(" }", close - 1);
    visit(mustache.substr(first, last - first + 1), first);
  }
}

kainjow::mustache::mustache Parse(const std::string& text) {
  int sections = 0;
  ForEachTag(text, [&](std::string_view name, size_t) {
    if (name[0] == '#' || name[0] == '^') ++sections;
    if (name[0] == '/') --sections;
    if (sections > kMostSections)
      throw Error("message", fmt::format("has sections nested deeper than {}", kMostSections));
  });
  return kainjow::mustache::mustache(text);
}

constexpr std::string_view kPerPeriod = "/step";

// Stand for values while the message is rendered.
constexpr char kBefore = '\x01', kBehind = '\x02';

// Puts values in the place of "\x01INDEX\x02"; the first time of a period says that it is one.
RenderedMessage Placed(const std::string& rendered, const std::vector<PlacedValue>& values,
                       const std::vector<std::string>& texts) {
  RenderedMessage message;
  bool said = false;
  for (size_t at = 0; at < rendered.size(); ++at) {
    size_t index = 0;
    const char* const end = rendered.data() + rendered.size();
    if (rendered[at] == kBefore)
      if (const auto [rest, error] = std::from_chars(rendered.data() + at + 1, end, index);
          error == std::errc() && rest != end && *rest == kBehind && index < values.size()) {
        PlacedValue& placed = message.values.emplace_back(values[index]);
        placed.at = message.text.size();
        message.text += texts[index];
        if (placed.per_period && !std::exchange(said, true)) message.text += " per step";
        placed.length = message.text.size() - placed.at;
        at = static_cast<size_t>(rest - rendered.data());
        continue;
      }
    message.text += rendered[at];
  }
  return message;
}

bool IsTrue(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  return AsNumber(value).value_or(0) != 0;
}

}  // namespace

struct MessageTemplate::Impl {
  kainjow::mustache::mustache message;
  std::vector<MessageName> names;
};

MessageTemplate::MessageTemplate(const std::string& mustache)
    : impl_(std::make_unique<Impl>(Impl{Parse(mustache), MessageNames(mustache)})) {
  if (!impl_->message.is_valid()) throw Error("message", impl_->message.error_message());
  impl_->message.set_custom_escape([](const std::string& text) { return text; });
}

MessageTemplate::~MessageTemplate() = default;
MessageTemplate::MessageTemplate(MessageTemplate&&) noexcept = default;

RenderedMessage MessageTemplate::Render(std::span<const NamedValue> scope,
                                        std::optional<double> periods) const {
  kainjow::mustache::data data;
  std::vector<PlacedValue> values;
  std::vector<std::string> texts;
  for (const MessageName& name : impl_->names) {
    const auto found = std::ranges::find(scope, name.name, &NamedValue::name);
    if (found == scope.end()) throw Error("message", "no value named '" + name.name + "'");
    if (name.section) {
      data.set(name.name, IsTrue(found->value));
      continue;
    }
    PlacedValue placed{0, 0, *found, false};
    const auto whole = AsNumber(found->value);
    placed.per_period = name.per_period && whole && periods.value_or(0) > 0;
    if (placed.per_period) placed.value.value = *whole / *periods;
    data.set(name.per_period ? name.name + std::string(kPerPeriod) : name.name,
             fmt::format("{}{}{}", kBefore, values.size(), kBehind));
    texts.push_back(FormatValue(placed.value.value, found->unit));
    values.push_back(std::move(placed));
  }
  return Placed(impl_->message.render(data), values, texts);
}

RenderedMessage RenderMessage(const std::string& mustache, std::span<const NamedValue> scope,
                              std::optional<double> periods) {
  return MessageTemplate(mustache).Render(scope, periods);
}

std::vector<MessageName> MessageNames(const std::string& mustache) {
  std::vector<MessageName> names;
  ForEachTag(mustache, [&](std::string_view tag, size_t offset) {
    MessageName name{std::string(tag), offset};
    if (std::string_view("#^/").find(name.name[0]) != std::string_view::npos) {
      name.name.erase(0, std::min(name.name.find_first_not_of(' ', 1), name.name.size()));
      name.section = true;
    } else if (name.name.ends_with(kPerPeriod)) {
      name.name.resize(name.name.size() - kPerPeriod.size());
      name.per_period = true;
    }
    if (std::none_of(names.begin(), names.end(), [&](const MessageName& n) {
          return n.name == name.name && n.section == name.section && n.per_period == name.per_period;
        }))
      names.push_back(std::move(name));
  });
  return names;
}

}  // namespace dladvisor
