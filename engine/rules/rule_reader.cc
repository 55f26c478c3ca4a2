// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/rule_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "engine/base/text.h"
#include "engine/sql/sql_text.h"
#include "engine/store/lookup_table.h"

namespace dladvisor {
namespace {

// "https://host/...", without blanks.
bool IsLink(std::string_view text) {
  if (!text.starts_with("https://") && !text.starts_with("http://")) return false;
  text.remove_prefix(text.find("://") + 3);
  return !text.empty() && text[0] != '/' && text.find_first_of(" \t\n<>") == std::string_view::npos;
}

class Reader {
 public:
  Reader(const RuleFile& file, const YamlFile& yaml, Problems& problems, Problems& warnings)
      : file_(file), yaml_(yaml), problems_(problems), warnings_(warnings) {}

  Rule Read() {
    const std::filesystem::path path(file_.path);
    const std::string stem = path.stem().string();
    Rule rule;
    rule.category = path.parent_path().filename().string();
    rule_ = stem;
    YamlMap map(yaml_, yaml_.root(), stem, "a rule", problems_);
    rule.place = map.place();
    rule.id = map.RequiredText("id");
    if (!rule.id.empty() && rule.id != stem)
      problems_.Add(map.PlaceOf(map.Get("id")), rule_,
                    fmt::format("id '{}' is not the file's name '{}'", rule.id, stem));
    rule.id = stem;
    rule.title = map.RequiredText("title");
    rule.doc = map.Text("doc").value_or("");
    while (!rule.doc.empty() && rule.doc.back() == '\n') rule.doc.pop_back();
    ReadSeverity(map, rule);
    rule.override = map.Flag("override");
    ReadSubject(map, rule);
    ReadParams(map.Get("params"), rule);
    ReadHelpers(map.Get("with"), rule);
    ReadLets(map.Get("let"), rule);
    const size_t before_when = problems_.size();
    for (auto& [sql, place] : map.TextList("when")) rule.when.push_back({sql, place, {}});
    if (rule.when.empty() && problems_.size() == before_when && !map.IsMisspelt("when"))
      problems_.Add(rule.place, rule_, "a rule lacks 'when': at least one condition");
    rule.given = References(map, "given");
    rule.unless = References(map, "unless");
    rule.causes = References(map, "causes");
    ReadSaves(map.Get("saves"), rule);
    rule.problem = {map.RequiredText("problem"), map.PlaceOf(map.Get("problem"))};
    while (!rule.problem.text.empty() && rule.problem.text.back() == '\n') rule.problem.text.pop_back();
    const size_t before = problems_.size();
    for (auto& [text, place] : map.TextList("recommendation")) rule.recommendation.push_back({text, place});
    if (rule.recommendation.empty() && problems_.size() == before && !map.IsMisspelt("recommendation"))
      problems_.Add(rule.place, rule_, "a rule lacks 'recommendation': what to change");
    if (map.Get("code").IsDefined()) rule.code = {map.RequiredText("code"), map.PlaceOf(map.Get("code"))};
    ReadEvidence(map.Get("evidence"), rule);
    for (auto& [text, place] : map.TextList("references")) {
      if (!IsLink(text))
        problems_.Add(place, rule_, fmt::format("'{}' is no link: references begin with https://", text));
      rule.references.push_back(text);
    }
    map.Finish();
    return rule;
  }

 private:
  template <class E>
  void Choice(YamlMap& map, const char* key, E& out, std::span<const E> values, std::string_view (*name)(E)) {
    const auto text = map.Text(key);
    if (!text) return;
    std::vector<std::string> names;
    for (const E value : values) {
      if (name(value) == *text) {
        out = value;
        return;
      }
      names.emplace_back(name(value));
    }
    problems_.Add(
        map.PlaceOf(map.Get(key)), rule_,
        fmt::format("{} '{}' is none of {}{}", key, *text, fmt::join(names, ", "), DidYouMean(*text, names)));
  }

  void ReadSeverity(YamlMap& map, Rule& rule) {
    static constexpr std::array kSeverities = {Severity::kError, Severity::kWarning, Severity::kInfo};
    static constexpr std::array kConfidences = {Confidence::kHigh, Confidence::kMedium, Confidence::kLow};
    Choice<Severity>(map, "severity", rule.severity, kSeverities, SeverityName);
    Choice<Confidence>(map, "confidence", rule.confidence, kConfidences, ConfidenceName);
  }

  void ReadSubject(YamlMap& map, Rule& rule) {
    const YAML::Node node = map.Get("for");
    if (!node.IsDefined() || node.IsNull() || (node.IsScalar() && node.Scalar().empty()))
      return problems_.Add(rule.place, rule_, "a rule lacks 'for': the relation whose rows it judges");
    rule.subject_place = map.PlaceOf(node);
    if (node.IsScalar()) {
      rule.subject_relation = node.Scalar();
      return;
    }
    if (!node.IsMap())
      return problems_.Add(rule.subject_place, rule_,
                           "'for' is the name of one relation, or {sql: SELECT ..., key: [COLUMN]}");
    YamlMap query(yaml_, node, rule_, "'for'", problems_);
    rule.subject_sql = query.RequiredText("sql");
    rule.subject_place = query.PlaceOf(query.Get("sql"));
    if (!query.Get("key").IsDefined())
      problems_.Add(query.place(), rule_,
                    "'for' lacks 'key': the columns that name a subject ([] where there is one)");
    for (auto& [column, place] : query.TextList("key")) rule.subject_key.push_back(column);
    query.Finish();
  }

  // Calls `read(name, node)` for each entry of a mapping of names.
  template <class Read>
  void Named(const YAML::Node& node, const char* what, Read read) {
    if (!node.IsDefined() || node.IsNull()) return;
    if (!node.IsMap())
      return problems_.Add(yaml_.PlaceOf(node), rule_,
                           fmt::format("'{}' must be a mapping (name: ...)", what));
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!IsName(name))
        problems_.Add(yaml_.PlaceOf(entry.first), rule_,
                      fmt::format("'{}' is not a valid name: use letters, digits and _", name));
      else
        read(name, entry.first, entry.second);
    }
  }

  void ReadParams(const YAML::Node& node, Rule& rule) {
    Named(node, "params", [&](const std::string& name, const YAML::Node& key, const YAML::Node& value) {
      Param param{name, {}, Unit::kNone, "", yaml_.PlaceOf(key), ""};
      if (value.IsScalar()) {
        param.value = ReadScalar(value);
      } else {
        YamlMap map(yaml_, value, rule_, fmt::format("param '{}'", name), problems_);
        const YAML::Node fallback = map.Get("default"), table = map.Get("table");
        if (table.IsDefined())
          ReadTable(table, fallback, param);
        else if (fallback.IsDefined() && fallback.IsScalar())
          param.value = ReadScalar(fallback);
        else
          problems_.Add(map.place(), rule_,
                        fmt::format("param '{}' lacks 'default': a number or text", name));
        param.unit = map.ReadUnit("unit");
        if (param.unit != Unit::kNone && param.unit != Unit::kText && !param.is_table &&
            std::holds_alternative<std::string>(param.value)) {
          problems_.Add(yaml_.PlaceOf(fallback), rule_,
                        fmt::format("'{}' is a text, and its unit is {}: write a number{}", fallback.Scalar(),
                                    UnitName(param.unit), param.unit == Unit::kRatio ? ", 10 % as 0.1" : ""));
          param.value = 0.0;
        }
        param.doc = map.Text("doc").value_or("");
        map.Finish();
      }
      rule.params.push_back(std::move(param));
    });
  }

  // A number that readers of YAML 1.1, as editors and Python have them, take for a text is said to be one.
  Value ReadScalar(const YAML::Node& node) {
    if (const std::string number = NumberForAllReaders(node); !number.empty())
      warnings_.Add(yaml_.PlaceOf(node), rule_,
                    fmt::format("{} is a text to readers of YAML 1.1: write {}", node.Scalar(), number));
    return ScalarValue(node);
  }

  // Numbers by pattern of a name, e.g. of the GPU's; the default is what fits all.
  void ReadTable(const YAML::Node& node, const YAML::Node& fallback, Param& param) {
    param.is_table = true;
    if (!node.IsMap() || node.size() == 0)
      return problems_.Add(
          yaml_.PlaceOf(node), rule_,
          fmt::format("the table of param '{}' must be a mapping (pattern: number)", param.name));
    LookupTable table;
    for (const auto& entry : node) ReadEntry(entry.first, entry.second, param.name, table);
    if (fallback.IsDefined()) ReadEntry(YAML::Node("*"), fallback, param.name, table);
    param.value = table.Text();
  }

  void ReadEntry(const YAML::Node& key, const YAML::Node& value, const std::string& param,
                 LookupTable& table) {
    const std::string why =
        !key.IsScalar() || !value.IsScalar() ? "must be numbers" : table.Add(key.Scalar(), ReadScalar(value));
    if (!why.empty())
      problems_.Add(yaml_.PlaceOf(value), rule_,
                    fmt::format("entries of the table of param '{}' {}", param, why));
  }

  void ReadHelpers(const YAML::Node& node, Rule& rule) {
    Named(node, "with", [&](const std::string& name, const YAML::Node& key, const YAML::Node& value) {
      if (!value.IsScalar() || value.Scalar().empty())
        return problems_.Add(yaml_.PlaceOf(key), rule_, fmt::format("'{}' in 'with' must be a SELECT", name));
      rule.helpers.push_back({name, value.Scalar(), yaml_.PlaceOf(value)});
    });
  }

  void ReadLets(const YAML::Node& node, Rule& rule) {
    Named(node, "let", [&](const std::string& name, const YAML::Node&, const YAML::Node& value) {
      if (value.IsScalar()) {
        if (value.Scalar().empty())
          problems_.Add(yaml_.PlaceOf(value), rule_, fmt::format("let '{}' is empty", name));
        return rule.lets.push_back({name, value.Scalar(), Unit::kNone, yaml_.PlaceOf(value), false});
      }
      YamlMap map(yaml_, value, rule_, fmt::format("let '{}'", name), problems_);
      Let let{name, map.RequiredText("sql"), map.ReadUnit("unit"), {}, false};
      let.place = map.PlaceOf(map.Get("sql"));
      map.Finish();
      rule.lets.push_back(std::move(let));
    });
  }

  std::vector<RuleReference> References(YamlMap& map, const char* key) {
    std::vector<RuleReference> references;
    for (auto& [id, place] : map.TextList(key)) references.push_back({id, place});
    return references;
  }

  void ReadSaves(const YAML::Node& node, Rule& rule) {
    if (!node.IsDefined()) return;
    YamlMap map(yaml_, node, rule_, "'saves'", problems_);
    Saves saves;
    saves.from = map.RequiredText("from");
    saves.from_place = map.PlaceOf(map.Get("from"));
    saves.high = {map.RequiredText("high"), map.PlaceOf(map.Get("high")), {}};
    if (map.Get("low").IsDefined())
      saves.low = Condition{map.RequiredText("low"), map.PlaceOf(map.Get("low")), {}};
    if (map.Get("now").IsDefined())
      saves.now = Condition{map.RequiredText("now"), map.PlaceOf(map.Get("now")), {}};
    map.Finish();
    rule.saves = std::move(saves);
  }

  void ReadEvidence(const YAML::Node& node, Rule& rule) {
    if (!node.IsDefined()) return;
    if (node.IsScalar()) {
      if (node.Scalar().empty()) problems_.Add(yaml_.PlaceOf(node), rule_, "'evidence' is empty");
      rule.evidence = Condition{node.Scalar(), yaml_.PlaceOf(node), {}};
      return;
    }
    YamlMap map(yaml_, node, rule_, "'evidence'", problems_);
    rule.evidence = Condition{map.RequiredText("sql"), map.PlaceOf(map.Get("sql")), {}};
    map.Finish();
  }

  const RuleFile& file_;
  const YamlFile& yaml_;
  Problems& problems_;
  Problems& warnings_;
  std::string rule_;
};

}  // namespace

std::variant<std::monostate, Rule, DerivedRelation> ReadRuleFile(const RuleFile& file, Problems& problems,
                                                                 Problems& warnings) {
  const auto yaml = YamlFile::Parse(file.path, file.content, problems);
  if (!yaml) return {};
  if (!yaml->root().IsMap()) {
    problems.Add({file.path, 1, 1, false}, "",
                 "holds no rule: a mapping with id, title, for, when, problem, ...");
    return {};
  }
  const std::filesystem::path path(file.path);
  const std::string stem = path.stem().string();
  if (!yaml->root()["relation"].IsDefined()) return Reader(file, *yaml, problems, warnings).Read();
  DerivedRelation relation = ReadDerivedRelation(*yaml, stem, problems);
  relation.category = path.parent_path().filename().string();
  return relation;
}

}  // namespace dladvisor
