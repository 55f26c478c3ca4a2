// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <tuple>
#include <utility>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

const std::string kNoAliases =
    "aliases (*name) are not allowed: write the value out; a text that begins with * needs quotes";

// Sees the events of a document before it is built: an alias is refused where it stands, so that no bomb
// unfolds.
class AliasFinder final : public YAML::EventHandler {
 public:
  std::optional<YAML::Mark> alias;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    if (!alias) alias = mark;
  }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
};

Place At(const std::string& path, const YAML::Mark& mark) {
  return {path, mark.line + 1, mark.column + 1, false};
}

// What most often is behind a YAML error in this line or above it.
std::string YamlHint(const std::string& content, int line, const std::string& message) {
  std::istringstream in(content);
  std::string text;
  for (int i = 0; i <= line && std::getline(in, text); ++i)
    if (const size_t first = text.find_first_not_of(' '); first != std::string::npos && text[first] == '\t')
      return fmt::format("; line {} begins with a tab, and YAML indents with spaces", i + 1);
  if (text.find("- !") != std::string::npos || text.find(": !") != std::string::npos)
    return "; a text that begins with ! needs quotes";
  if (text.find(": {{") != std::string::npos || text.find("- {{") != std::string::npos)
    return "; a text that begins with {{ needs quotes";
  if (message == YAML::ErrorMsg::END_OF_SEQ_FLOW) return "; a [ is not closed";
  if (message == YAML::ErrorMsg::END_OF_MAP_FLOW) return "; a { is not closed";
  if (message == YAML::ErrorMsg::END_OF_MAP &&
      (text.find(": [") != std::string::npos || text.find("- [") != std::string::npos))
    return "; a text that begins with [ needs quotes";
  const size_t key = text.find(": ");
  const size_t item =
      key == std::string::npos ? text.find_first_not_of("- ") : text.find_first_not_of(' ', key + 2);
  if (item != std::string::npos && item > 0 && (text[item] == '"' || text[item] == '\'') &&
      text.find_last_not_of(' ') != text.find(text[item], item + 1))
    return "; a text that begins with a quote ends with it: put all of it into the other quotes";
  if (message == YAML::ErrorMsg::CHAR_IN_BLOCK) return "; a text that begins with > or | needs quotes";
  const size_t colon = text.find(": ");
  if (colon != std::string::npos && text.find(": ", colon + 2) != std::string::npos &&
      text.find_first_of("\"'{[>|", colon + 2) != colon + 2)
    return "; a text that holds ': ' needs quotes";
  return "";
}

// What an author may write in place of a unit; or "".
std::string_view UnitMeant(const std::string& unit) {
  const std::set<std::string> times = {"us",      "µs",           "ms",          "s",   "sec",
                                       "seconds", "milliseconds", "nanoseconds", "time"},
                              sizes = {"B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB", "byte"},
                              shares = {"%", "percent", "pct", "share", "fraction"};
  if (times.contains(unit)) return "times are in ns, and messages choose ms or s themselves";
  if (sizes.contains(unit)) return "sizes are in bytes, and messages choose MiB or GiB themselves";
  if (shares.contains(unit)) return "shares are a ratio, of which 15 % is 0.15";
  return "";
}

// Keys that other tools have in place of ours; or "".
std::string_view KeyMeant(std::string_view as_written, const std::vector<std::string>& known) {
  std::string key(as_written);
  std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
  if (const auto same = std::ranges::find(known, key); same != known.end()) return *same;
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {{"if", "when"},
                                                                     {"condition", "when"},
                                                                     {"conditions", "when"},
                                                                     {"message", "problem"},
                                                                     {"msg", "problem"},
                                                                     {"description", "doc"},
                                                                     {"level", "severity"},
                                                                     {"fix", "recommendation"},
                                                                     {"advice", "recommendation"},
                                                                     {"variables", "let"},
                                                                     {"threshold", "params"},
                                                                     {"thresholds", "params"},
                                                                     {"relation", "for"},
                                                                     {"links", "references"},
                                                                     {"value", "default"},
                                                                     {"input", "given"},
                                                                     {"inputs", "given"},
                                                                     {"expected", "expect"},
                                                                     {"fired", "outcome"},
                                                                     {"fires", "outcome"},
                                                                     {"result", "outcome"},
                                                                     {"tolerance", "regression"},
                                                                     {"threshold", "regression"},
                                                                     {"limit", "max"},
                                                                     {"budget", "max"},
                                                                     {"noise", "run_to_run"}};
  for (const auto& [other, ours] : kKeys)
    if (key == other && std::ranges::find(known, ours) != known.end()) return ours;
  return "";
}

// The place behind the quote that closes the one at `at`, or npos.
size_t EndOfQuoted(std::string_view content, size_t at) {
  const char quote = content[at];
  for (++at; at < content.size(); ++at) {
    if (content[at] == '\\' && quote == '"') {
      ++at;
    } else if (content[at] == quote) {
      if (quote == '"' || at + 1 >= content.size() || content[at + 1] != quote) return at + 1;
      ++at;  // a quote within
    }
  }
  return std::string_view::npos;
}

// yaml-cpp takes the end of the file for the end of a text in quotes.
void FindOpenQuotes(const YamlFile& file, const std::string& content, const YAML::Node& node,
                    Problems& problems) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      FindOpenQuotes(file, content, entry.first, problems);
      FindOpenQuotes(file, content, entry.second, problems);
    }
  } else if (node.IsSequence()) {
    for (const YAML::Node& item : node) FindOpenQuotes(file, content, item, problems);
  } else if (node.IsScalar() && node.Tag() == "!" && node.Mark().pos >= 0) {
    const auto at = static_cast<size_t>(node.Mark().pos);
    if (at < content.size() && (content[at] == '"' || content[at] == '\'') &&
        EndOfQuoted(content, at) == std::string_view::npos) {
      Place place = file.PlaceOf(node);
      place.column = node.Mark().column + 1;
      problems.Add(place, "", "YAML: opens a quote and does not close it");
    }
  }
}

bool IsOfGate(std::string_view key) {
  constexpr std::string_view kKeys[] = {"metrics", "waivers", "mode", "trend", "aggregate", "allow"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

void FindDuplicateKeys(const YamlFile& file, const YAML::Node& node, Problems& problems) {
  if (node.IsMap()) {
    std::set<std::string> keys;
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && !keys.insert(entry.first.Scalar()).second)
        problems.Add(file.PlaceOf(entry.first), "",
                     fmt::format("key '{}' stands twice", entry.first.Scalar()));
      FindDuplicateKeys(file, entry.second, problems);
    }
  } else if (node.IsSequence()) {
    for (const YAML::Node& item : node) FindDuplicateKeys(file, item, problems);
  }
}

}  // namespace

void Problems::Add(const Place& place, const std::string& rule, const std::string& reason) {
  problems_.emplace_back(place, rule.empty() ? reason : rule + ": " + reason);
}

std::vector<std::string> Problems::Lines() const {
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.file, a.first.line, a.first.column) <
           std::tie(b.first.file, b.first.line, b.first.column);
  });
  std::vector<std::string> lines;
  for (const auto& [place, text] : sorted)
    lines.push_back(fmt::format("{}:{}:{}: {}", place.file, place.line, place.column, text));
  return lines;
}

std::vector<std::string> Problems::Reasons() const {
  std::vector<std::string> reasons;
  for (const auto& [place, text] : problems_) reasons.push_back(text);
  return reasons;
}

void Problems::AddInText(const Place& start, const std::string& rule, const std::string& reason,
                         const std::string& text, int offset) {
  if (offset < 0 || static_cast<size_t>(offset) > text.size()) return Add(start, rule, reason);
  const auto at = static_cast<size_t>(offset);
  if (start.exact) {
    Place place = start;
    place.column += offset;
    return Add(place, rule, reason);
  }
  const size_t line_start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const size_t from = at - line_start > 50 ? at - 50 : line_start;
  const std::string excerpt = text.substr(from, std::min(text.find('\n', at), at + 30) - from);
  Add(start, rule, fmt::format("{}\n    {}\n    {:>{}}", reason, excerpt, "^", at - from + 1));
}

std::optional<YamlFile> YamlFile::Parse(const std::string& path, const std::string& content,
                                        Problems& problems) {
  YamlFile file;
  file.path_ = path;
  file.content_ = content;
  try {
    std::istringstream stream(content);
    YAML::Parser parser(stream);
    AliasFinder finder;
    const bool any = parser.HandleNextDocument(finder);
    if (finder.alias) {
      problems.Add(At(path, *finder.alias), "", kNoAliases);
      return std::nullopt;
    }
    AliasFinder second;
    if (any && parser.HandleNextDocument(second)) {
      problems.Add({path, 1, 1, false}, "", "holds several YAML documents; write one per file");
      return std::nullopt;
    }
    file.root_ = YAML::Load(content);
  } catch (const YAML::Exception& error) {
    problems.Add(At(path, error.mark.is_null() ? YAML::Mark() : error.mark), "",
                 error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR
                     ? kNoAliases
                     : "YAML: " + error.msg + YamlHint(content, error.mark.line, error.msg));
    return std::nullopt;
  }
  if (!file.root_.IsDefined() || file.root_.IsNull()) {
    problems.Add({path, 1, 1, false}, "", "is empty");
    return std::nullopt;
  }
  const size_t before = problems.size();
  FindDuplicateKeys(file, file.root_, problems);
  FindOpenQuotes(file, content, file.root_, problems);
  if (problems.size() > before) return std::nullopt;
  return file;
}

Place YamlFile::PlaceOf(const YAML::Node& node) const {
  const YAML::Mark mark = node.Mark();
  Place place{path_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1, false};
  if (!node.IsScalar() || mark.pos < 0 || static_cast<size_t>(mark.pos) >= content_.size()) return place;
  const auto start = static_cast<size_t>(mark.pos);
  const std::string& text = node.Scalar();
  const bool quoted = content_[start] == '"' || content_[start] == '\'';
  if (content_.compare(start + (quoted ? 1 : 0), text.size(), text) == 0 &&
      text.find('\n') == std::string::npos) {
    place.exact = true;
    if (quoted) ++place.column;
  }
  return place;
}

Value ScalarValue(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "true" || text == "false") return int64_t{text == "true"};
  const char *begin = text.data(), *end = begin + text.size();
  int64_t integer = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, integer);
      error == std::errc() && stop == end && !text.empty())
    return integer;
  double real = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, real);
      error == std::errc() && stop == end && !text.empty() && std::isfinite(real))
    return real;
  return text;
}

std::string NumberForAllReaders(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  const size_t exponent = text.find_first_of("eE");
  if (text.find_first_not_of("0123456789.+-eE") != std::string::npos) return "";  // such as true
  if (node.Tag() == "!" || exponent == std::string::npos || !AsNumber(ScalarValue(node))) return "";
  // YAML 1.1 wants a point before the exponent, and a sign in it.
  std::string number = text.substr(0, exponent), power = text.substr(exponent + 1);
  if (number.find('.') != std::string::npos && (power[0] == '-' || power[0] == '+')) return "";
  if (number.find('.') == std::string::npos) number += ".0";
  if (power[0] != '-' && power[0] != '+') power.insert(0, "+");
  return number + "e" + power;
}

YamlMap::YamlMap(const YamlFile& file, const YAML::Node& node, std::string rule, std::string what,
                 Problems& problems)
    : file_(file),
      node_(node),
      is_mapping_(node.IsMap()),
      rule_(std::move(rule)),
      what_(std::move(what)),
      problems_(problems),
      place_(file.PlaceOf(node)) {
  if (!is_mapping_) {
    problems_.Add(place_, rule_, what_ + " must be a mapping (key: value)");
    node_ = YAML::Node(YAML::NodeType::Map);
  }
}

YAML::Node YamlMap::Get(const std::string& key) {
  asked_.push_back(key);
  const YAML::Node& constant = node_;
  return constant[key];
}

std::string YamlMap::RequiredText(const std::string& key) {
  const std::optional<std::string> text = Text(key);
  if (!text && is_mapping_ && !Get(key).IsDefined() && !IsMisspelt(key))
    problems_.Add(place_, rule_, fmt::format("{} lacks '{}'", what_, key));
  if (text && text->find_first_not_of(" \t\n") == std::string::npos)
    problems_.Add(PlaceOf(Get(key)), rule_, fmt::format("'{}' is empty", key));
  return text.value_or("");
}

// Where a value should stand that is not there: the reader of YAML takes it for behind the line.
Place YamlMap::PlaceOfKey(const std::string& key) const {
  for (const auto& entry : node_)
    if (entry.first.IsScalar() && entry.first.Scalar() == key) return file_.PlaceOf(entry.first);
  return place_;
}

std::optional<std::string> YamlMap::Text(const std::string& key) {
  const YAML::Node node = Get(key);
  if (!node.IsDefined()) return std::nullopt;
  if (!node.IsScalar()) {
    problems_.Add(node.IsNull() ? PlaceOfKey(key) : PlaceOf(node), rule_,
                  fmt::format("'{}' must be a text", key));
    return std::nullopt;
  }
  return node.Scalar();
}

std::vector<std::pair<std::string, Place>> YamlMap::TextList(const std::string& key) {
  std::vector<std::pair<std::string, Place>> items;
  const YAML::Node node = Get(key);
  if (!node.IsDefined() || node.IsNull()) return items;
  const bool names_each_once = key == "given" || key == "unless" || key == "causes" || key == "references";
  const auto is_there = [&](const std::string& text) {
    return names_each_once &&
           std::ranges::any_of(items, [&](const auto& item) { return item.first == text; });
  };
  const auto add = [&](const YAML::Node& item) {
    if (item.IsScalar() && is_there(item.Scalar()))
      problems_.Add(PlaceOf(item), rule_, fmt::format("an item of '{}' stands twice", key));
    else if (item.IsScalar() && item.Scalar().find_first_not_of(" \t\n") != std::string::npos)
      items.emplace_back(item.Scalar(), PlaceOf(item));
    else if (item.IsScalar())
      problems_.Add(PlaceOf(item), rule_, fmt::format("an item of '{}' is empty", key));
    else
      problems_.Add(
          PlaceOf(item), rule_,
          fmt::format("an item of '{}' must be a text; quote it if it holds ': ' or begins with [ or {{",
                      key));
  };
  if (node.IsSequence())
    for (const YAML::Node& item : node) add(item);
  else
    add(node);
  return items;
}

bool YamlMap::Flag(const std::string& key) {
  const auto text = Text(key);
  if (!text || *text == "false") return false;
  if (*text != "true")
    problems_.Add(PlaceOf(Get(key)), rule_, fmt::format("'{}' must be true or false", key));
  return true;
}

Unit YamlMap::ReadUnit(const std::string& key) {
  const auto text = Text(key);
  if (!text) return Unit::kNone;
  const auto unit = ParseUnit(*text);
  if (!unit && !UnitMeant(*text).empty())
    problems_.Add(PlaceOf(Get(key)), rule_, fmt::format("no unit '{}': {}", *text, UnitMeant(*text)));
  else if (!unit)
    problems_.Add(
        PlaceOf(Get(key)), rule_,
        fmt::format("no unit '{}'; units: ns, bytes, ratio, count, count/step, bytes/s, flops, flops/s, "
                    "celsius, watts, hertz, text",
                    *text));
  return unit.value_or(Unit::kNone);
}

bool YamlMap::IsMisspelt(const std::string& key) const {
  const std::vector<std::string> wanted = {key};
  return std::any_of(node_.begin(), node_.end(), [&](const auto& entry) {
    const std::string other = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (std::ranges::find(asked_, other) != asked_.end()) return false;
    return !DidYouMean(other, wanted).empty() || !KeyMeant(other, wanted).empty();
  });
}

void YamlMap::Finish() {
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    // {doc: Most, really}
    const bool is_text = entry.second.IsNull() && node_.Style() == YAML::EmitterStyle::Flow;
    std::string hint = is_text ? "; a text with a comma stands in quotes" : DidYouMean(key, asked_);
    if (const std::string_view meant = KeyMeant(key, asked_); !meant.empty())
      hint = fmt::format(" (did you mean {}?)", meant);
    if (what_ == "a project file" && IsOfGate(key)) hint = "; it stands under 'gate'";
    if (what_ == "a rule" && (key == "enabled" || key == "disabled"))
      hint = "; dladvisor.yaml turns rules off: `rules: {ID: off}`";
    problems_.Add(PlaceOf(entry.first), rule_, fmt::format("{} has no key '{}'{}", what_, key, hint));
  }
}

}  // namespace dladvisor
