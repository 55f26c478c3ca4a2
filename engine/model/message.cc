// SPDX-License-Identifier: Apache-2.0
#include "engine/model/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

// Stand for values while the message is rendered, and for the end of a sentence.
constexpr char kBefore = '\x01', kBehind = '\x02', kEnd = '\x03';

// Marks full stops of the message's own words: those of values are no ends of sentences.
std::string WithEnds(std::string_view mustache) {
  std::string marked;
  for (size_t at = 0; at < mustache.size(); ++at) {
    if (mustache.substr(at).starts_with("{{")) {
      const size_t end = std::min(mustache.find("}}", at), mustache.size() - 1);
      marked += mustache.substr(at, end - at);
      at = end;
    }
    marked += mustache[at];
    const std::string_view until = mustache.substr(0, at);
    if (mustache[at] == '.' && !until.ends_with("e.g") && !until.ends_with("i.e")) marked += kEnd;
  }
  return marked;
}

bool IsSpace(char c) { return c == ' ' || c == '\n'; }

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Puts values in the place of "\x01INDEX\x02".
class Placing {
 public:
  Placing(const std::vector<PlacedValue>& values, const std::vector<std::string>& texts,
          const Wording& wording)
      : values_(values), texts_(texts), wording_(wording) {}

  RenderedMessage Place(const std::string& rendered) {
    for (size_t at = 0; at < rendered.size(); ++at) {
      if (rendered[at] == kEnd) {
        size_t next = at + 1;
        while (next < rendered.size() && (IsSpace(rendered[next]) || rendered[next] == kEnd)) ++next;
        if (next > at + 1 && IsSpace(rendered[at + 1]) && next < rendered.size())
          message_.sentences.push_back(message_.text.size() + (next - at - 1));
        continue;
      }
      size_t index = 0;
      const char* const end = rendered.data() + rendered.size();
      if (rendered[at] == kBefore)
        if (const auto [rest, error] = std::from_chars(rendered.data() + at + 1, end, index);
            error == std::errc() && rest != end && *rest == kBehind && index < values_.size()) {
          Put(index, {rest + 1, end});
          at = static_cast<size_t>(rest - rendered.data());
          continue;
        }
      message_.text += rendered[at];
    }
    return std::move(message_);
  }

 private:
  void Put(size_t index, std::string_view rest) {
    const std::string& noun = values_[index].noun;
    if (const auto single = noun.empty() ? wording_.single.end() : wording_.single.find(Lower(noun));
        single != wording_.single.end()) {
      PutSingle(single->second, rest);
      return;
    }
    PlacedValue& placed = message_.values.emplace_back(values_[index]);
    placed.at = message_.text.size();
    if (!noun.empty()) message_.text += noun + " ";
    message_.text += texts_[index];
    // The first time of a period says that it is one.
    if (placed.per_period && !std::exchange(said_, true)) message_.text += " per step";
    placed.length = message_.text.size() - placed.at;
  }

  void PutSingle(const SingleNoun& noun, std::string_view rest) {
    std::string& text = message_.text;
    for (const std::string_view preposition : {" of ", " on "})
      if (noun.implied && text.ends_with(preposition) && !rest.starts_with("'s")) {
        text.resize(text.size() - preposition.size());
        return;
      }
    const bool begins =
        text.empty() || (!message_.sentences.empty() && message_.sentences.back() == text.size());
    const size_t at = text.size();
    text += noun.name;
    if (begins) text[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[at])));
  }

  const std::vector<PlacedValue>& values_;
  const std::vector<std::string>& texts_;
  const Wording& wording_;
  RenderedMessage message_;
  bool said_ = false;
};

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
    : impl_(std::make_unique<Impl>(Impl{Parse(WithEnds(mustache)), MessageNames(mustache)})) {
  if (!impl_->message.is_valid()) {
    const std::string& error = impl_->message.error_message();
    throw Error("message", error.starts_with("Unclosed tag") ? "opens {{ and does not close it" : error);
  }
  for (size_t at = mustache.find("{{"); at != std::string::npos; at = mustache.find("{{", at + 1))
    if (const size_t name = mustache.find_first_not_of(' ', at + 2);
        name != std::string::npos && mustache.compare(name, 2, "}}") == 0)
      throw Error("message", "has {{ }} without a name in it");
  impl_->message.set_custom_escape([](const std::string& text) { return text; });
}

MessageTemplate::~MessageTemplate() = default;
MessageTemplate::MessageTemplate(MessageTemplate&&) noexcept = default;

RenderedMessage MessageTemplate::Render(std::span<const NamedValue> scope, const Wording& wording) const {
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
    PlacedValue placed{0, 0, *found, false, name.noun};
    const auto whole = AsNumber(found->value);
    placed.per_period = name.per_period && whole && wording.periods.value_or(0) > 0;
    if (placed.per_period) placed.value.value = *whole / *wording.periods;
    data.set(name.tag, fmt::format("{}{}{}", kBefore, values.size(), kBehind));
    texts.push_back(FormatValue(placed.value.value, found->unit));
    values.push_back(std::move(placed));
  }
  return Placing(values, texts, wording).Place(impl_->message.render(data));
}

RenderedMessage RenderMessage(const std::string& mustache, std::span<const NamedValue> scope,
                              const Wording& wording) {
  return MessageTemplate(mustache).Render(scope, wording);
}

std::vector<MessageName> MessageNames(const std::string& mustache) {
  std::vector<MessageName> names;
  ForEachTag(mustache, [&](std::string_view tag, size_t offset) {
    MessageName name{std::string(tag), offset};
    name.tag = tag;
    if (std::string_view("#^/").find(name.name[0]) != std::string_view::npos) {
      name.name.erase(0, std::min(name.name.find_first_not_of(' ', 1), name.name.size()));
      name.section = true;
    } else {
      if (name.name.ends_with(kPerPeriod)) {
        name.name.resize(name.name.size() - kPerPeriod.size());
        name.per_period = true;
      }
      const bool is_plain = std::isalpha(static_cast<unsigned char>(name.name[0])) != 0;
      if (const size_t space = name.name.rfind(' '); is_plain && space != std::string::npos) {
        name.noun = name.name.substr(0, space);
        name.name.erase(0, space + 1);
      }
    }
    if (std::none_of(names.begin(), names.end(), [&](const MessageName& n) {
          return n.name == name.name && n.section == name.section && n.tag == name.tag;
        }))
      names.push_back(std::move(name));
  });
  return names;
}

}  // namespace dladvisor
