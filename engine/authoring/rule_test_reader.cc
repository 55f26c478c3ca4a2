// SPDX-License-Identifier: Apache-2.0
#include "engine/authoring/rule_test_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/sql/sql_type.h"

namespace dladvisor {
namespace {

// Reads one test file against the schemas.
class TestReader {
 public:
  // Of a rule or, where it is null, of a relation; or of one that is wrong, as are those of the names
  // `wrong`.
  TestReader(const YamlFile& yaml, const std::string& name, const Rule* rule, const DerivedRelation* relation,
             const std::set<std::string>& wrong, std::vector<const Schema*> schemas, Problems& problems)
      : yaml_(yaml),
        name_(name),
        rule_(rule),
        relation_(relation),
        wrong_(wrong),
        schemas_(std::move(schemas)),
        problems_(problems) {}

  TestFile Read() {
    TestFile file{name_, false, {}};
    YamlMap map(yaml_, yaml_.root(), name_, "a test file", problems_);
    if (!relation_ && map.Get("never_unknown").IsDefined())
      file.never_unknown = !map.RequiredText("never_unknown").empty();
    const YAML::Node tests = map.Get("tests");
    const bool is_list = tests.IsDefined() && tests.IsSequence();
    if (!is_list && !map.IsMisspelt("tests"))
      problems_.Add(map.place(), name_, "a test file lacks 'tests': a list");
    if (is_list)
      for (const YAML::Node& node : tests) {
        file.cases.push_back(ReadCase(node));
        const std::string& name = file.cases.back().name;
        if (std::ranges::count(file.cases, name, &TestCase::name) > 1 && !name.empty())
          problems_.Add(yaml_.PlaceOf(node), name_, fmt::format("there already is a test '{}'", name));
      }
    map.Finish();
    return file;
  }

 private:
  TestCase ReadCase(const YAML::Node& node) {
    TestCase test;
    YamlMap map(yaml_, node, name_, "a test", problems_);
    test.name = map.RequiredText("name");
    const YAML::Node given = map.Get("given");
    if (given.IsDefined() && given.IsMap())
      for (const auto& entry : given) ReadRows(entry.first, entry.second, test);
    else if (given.IsDefined())
      problems_.Add(yaml_.PlaceOf(given), name_, "'given' must be a mapping (relation: [rows])");
    else if (!map.IsMisspelt("given"))
      problems_.Add(map.place(), name_, "a test lacks 'given': rows by relation");
    const YAML::Node expect = map.Get("expect");
    if (expect.IsDefined() && expect.IsSequence())
      for (const YAML::Node& item : expect)
        test.expect.push_back(IsOfRule(item) ? ReadExpectation(item) : ReadExpectedRow(item));
    else if (expect.IsDefined())
      problems_.Add(yaml_.PlaceOf(expect), name_,
                    "'expect' must be a list: a finding per subject, or a row ([] for none)");
    else if (!map.IsMisspelt("expect"))
      problems_.Add(map.place(), name_,
                    "a test lacks 'expect': a finding per subject, or a row ([] for none)");
    map.Finish();
    return test;
  }

  // One that is wrong is either: findings have an outcome.
  bool IsOfRule(const YAML::Node& expected) const {
    return rule_ || (!relation_ && expected.IsMap() && expected["outcome"].IsDefined());
  }

  void ReadRows(const YAML::Node& key, const YAML::Node& rows, TestCase& test) {
    const std::string relation = key.IsScalar() ? key.Scalar() : "";
    std::vector<std::string> names;
    const Schema* schema = nullptr;
    for (const Schema* known : schemas_) {
      if (known->name == relation) schema = known;
      names.push_back(known->name);
    }
    if (!schema && wrong_.contains(relation)) return;
    if (!schema)
      return problems_.Add(yaml_.PlaceOf(key), name_,
                           fmt::format("no such relation: {}{}", relation, DidYouMean(relation, names)));
    if (!rows.IsSequence())
      return problems_.Add(yaml_.PlaceOf(rows), name_, fmt::format("'{}' must be a list of rows", relation));
    auto& table = test.rows[relation];
    std::set<std::string> keys;
    for (const YAML::Node& row : rows) {
      std::vector<Value> values(schema->columns.size());
      if (!row.IsMap()) {
        problems_.Add(yaml_.PlaceOf(row), name_, "a row must be a mapping (column: value)");
        continue;
      }
      for (const auto& cell : row) ReadCell(*schema, cell.first, cell.second, values);
      const std::string of_row = KeyOf(*schema, values);
      if (!of_row.empty() && !keys.insert(of_row).second)
        problems_.Add(yaml_.PlaceOf(row), name_,
                      fmt::format("there already is a row of {} with {}: they are its key, and name one row",
                                  relation, of_row));
      table.push_back(std::move(values));
    }
  }

  // "rank 0, device 1"; or "" where the row does not give all of its key.
  static std::string KeyOf(const Schema& schema, const std::vector<Value>& row) {
    std::string text;
    for (const std::string& key : schema.key) {
      const auto index = schema.Find(key);
      if (!index || std::holds_alternative<std::monostate>(row[*index])) return "";
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, FormatValue(row[*index], Unit::kNone));
    }
    return text;
  }

  void ReadCell(const Schema& schema, const YAML::Node& key, const YAML::Node& cell,
                std::vector<Value>& values) {
    const std::string name = key.IsScalar() ? key.Scalar() : "";
    const auto index = schema.Find(name);
    if (!index) {
      std::vector<std::string> names;
      for (const Column& column : schema.columns) names.push_back(column.name);
      return problems_.Add(
          yaml_.PlaceOf(key), name_,
          fmt::format("no column {}.{}{}", schema.name, name,
                      RangeOf(name) ? "; a number has a point, not a comma: 0.5" : DidYouMean(name, names)));
    }
    if (cell.IsNull()) return;
    const Column& column = schema.columns[*index];
    const std::string text = cell.IsScalar() ? cell.Scalar() : "";
    const auto number = NumberOf(text);
    if (column.type != Type::kText && number && cell.Tag() == "!")
      return problems_.Add(yaml_.PlaceOf(cell), name_,
                           fmt::format("{}.{} is a number and '{}' in quotes is a text: leave the quotes out",
                                       schema.name, name, text));
    if (number && (*number < 0 || *number > 1) && TypeOfColumn(column.name, column.type, column.unit).share)
      return problems_.Add(
          yaml_.PlaceOf(cell), name_,
          fmt::format("{}.{} is a share, which lies between 0 and 1: 15 % is 0.15", schema.name, name));
    if (column.type == Type::kText && cell.IsScalar())
      values[*index] = text;
    else if (column.type == Type::kReal && number)
      values[*index] = *number;
    else if (column.type == Type::kInteger && number && *number == std::floor(*number) &&
             std::abs(*number) < 9e18)
      values[*index] = static_cast<int64_t>(*number);
    else
      problems_.Add(yaml_.PlaceOf(cell), name_,
                    fmt::format("{}.{} is of type {}{}", schema.name, name, TypeName(column.type),
                                HintForNumber(text, column.unit)));
  }

  // What to write in place of a text that is no number; or "".
  static std::string HintForNumber(const std::string& text, Unit unit) {
    for (const char* word : {"unknown", "none", "None", "nan", ".nan", "NaN", ".NaN", "nil", "N/A", "-"})
      if (text == word) return "; a value that is unknown is left out, or null";
    if (text == "true" || text == "false") return text == "true" ? ": 1" : ": 0";
    const size_t digits = text.find_first_not_of("0123456789.+-");
    const auto number = NumberOf(text.substr(0, digits));
    if (!number || digits == std::string::npos) return "";
    if (text.ends_with('%')) return fmt::format(": {} is {:g}", text, *number / 100);
    return unit == Unit::kNanoseconds ? "; times are in ns: 5 ms is 5.0e+6"
           : unit == Unit::kBytes     ? "; sizes are in bytes: 5 MB is 5.0e+6"
                                      : "";
  }

  Expectation ReadExpectation(const YAML::Node& node) {
    Expectation e;
    YamlMap map(yaml_, node, name_, "an expectation", problems_);
    if (const YAML::Node subject = map.Get("subject"); subject.IsDefined()) ReadSubject(subject, e);
    e.outcome = map.RequiredText("outcome");
    static const std::vector<std::string> kOutcomes = {"fired", "clear", "unknown", "suppressed", "failed"};
    if (!e.outcome->empty() && std::find(kOutcomes.begin(), kOutcomes.end(), *e.outcome) == kOutcomes.end())
      problems_.Add(map.PlaceOf(map.Get("outcome")), name_,
                    fmt::format("outcome '{}' is none of {}{}", *e.outcome, fmt::join(kOutcomes, ", "),
                                DidYouMean(*e.outcome, kOutcomes)));
    e.problem = map.Text("problem");
    e.recommendation = map.Text("recommendation");
    for (const auto& [key, text] :
         {std::pair("problem", &e.problem), std::pair("recommendation", &e.recommendation)})
      if (*text && (*text)->empty())
        problems_.Add(map.PlaceOf(map.Get(key)), name_,
                      fmt::format("'{}' is empty, which is part of any text", key));
    e.suppressed_by = map.Text("suppressed_by");
    if (rule_ && e.suppressed_by && !e.suppressed_by->empty()) {
      std::vector<std::string> names;
      for (const RuleReference& unless : rule_->unless) names.push_back(unless.id);
      if (std::ranges::find(names, *e.suppressed_by) == names.end())
        problems_.Add(map.PlaceOf(map.Get("suppressed_by")), name_,
                      fmt::format("'{}' is no rule of 'unless'{}", *e.suppressed_by,
                                  DidYouMean(*e.suppressed_by, names)));
    }
    e.saves_low = ReadSaving(map, "saves_low");
    e.saves_high = ReadSaving(map, "saves_high");
    if (const YAML::Node values = map.Get("values"); values.IsDefined()) ReadValues(values, e);
    if (map.Get("missing").IsDefined()) {
      e.missing.emplace();
      for (auto& [fact, place] : map.TextList("missing")) {
        CheckFact(fact, place);
        e.missing->push_back(fact);
      }
    }
    map.Finish();
    return e;
  }

  // A column with its relation, or a relation that a profile alone has.
  void CheckFact(const std::string& fact, const Place& place) {
    const std::string relation = fact.substr(0, fact.find('.'));
    if (wrong_.contains(relation)) return;
    std::vector<std::string> relations, columns, facts;
    for (const Schema* schema : schemas_) {
      relations.push_back(schema->name);
      for (const Column& column : schema->columns) {
        if (schema->name == relation) columns.push_back(column.name);
        if (column.name == fact) facts.push_back(schema->name + "." + fact);
      }
    }
    const bool is_relation = std::ranges::count(relations, relation) > 0;
    if (is_relation && relation == fact) return;
    const std::string column = fact.substr(std::min(relation.size() + 1, fact.size()));
    if (is_relation && std::ranges::count(columns, column) > 0) return;
    const std::string own = rule_ ? rule_->subject_relation + "." + fact : "";
    problems_.Add(place, name_,
                  is_relation ? fmt::format("no column {}{}", fact, DidYouMean(column, columns))
                  : !facts.empty()
                      ? fmt::format("'{}' is a column without its relation, as in {}", fact,
                                    std::ranges::count(facts, own) > 0 ? own : facts[0])
                      : fmt::format("no such relation: {}{}", relation, DidYouMean(relation, relations)));
  }

  Expectation ReadExpectedRow(const YAML::Node& node) {
    Expectation e;
    if (!relation_) return e;
    std::vector<std::string> columns;
    for (const Column& column : relation_->schema.columns) columns.push_back(column.name);
    if (!node.IsMap())
      problems_.Add(yaml_.PlaceOf(node), name_, "a row must be a mapping (column: value)");
    else
      ReadNamed(node, columns, "column", e);
    return e;
  }

  void ReadValues(const YAML::Node& node, Expectation& e) {
    if (!rule_) return;
    std::vector<std::string> lets;
    for (const Let& let : rule_->lets) lets.push_back(let.name);
    if (!node.IsMap())
      problems_.Add(yaml_.PlaceOf(node), name_, "'values' must be a mapping (let: value)");
    else
      ReadNamed(node, lets, "let", e);
  }

  void ReadNamed(const YAML::Node& node, const std::vector<std::string>& names, const char* what,
                 Expectation& e) {
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (std::ranges::find(names, name) == names.end())
        problems_.Add(yaml_.PlaceOf(entry.first), name_,
                      fmt::format("there is no {} '{}'{}", what, name, DidYouMean(name, names)));
      else if (!entry.second.IsScalar() && !entry.second.IsNull())
        problems_.Add(yaml_.PlaceOf(entry.second), name_, fmt::format("'{}' must be a value", name));
      else
        e.values.emplace_back(name, entry.second.IsNull() ? "unknown" : entry.second.Scalar());
    }
  }

  void ReadSubject(const YAML::Node& node, Expectation& e) {
    if (!rule_) return;
    if (!node.IsMap())
      return problems_.Add(yaml_.PlaceOf(node), name_, "'subject' must be a mapping (key column: value)");
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto& keys = rule_->subject_key;
      if (std::find(keys.begin(), keys.end(), name) == keys.end())
        problems_.Add(yaml_.PlaceOf(entry.first), name_,
                      fmt::format("'{}' is not a key of a subject{}", name, DidYouMean(name, keys)));
      else if (!entry.second.IsScalar())
        problems_.Add(yaml_.PlaceOf(entry.second), name_, fmt::format("'{}' must be a value", name));
      else
        e.subject.emplace_back(name, entry.second.Scalar());
    }
  }

  std::optional<std::string> ReadSaving(YamlMap& map, const char* key) {
    const auto text = map.Text(key);
    if (text && *text != kNoSaving && !RangeOf(*text))
      problems_.Add(map.PlaceOf(map.Get(key)), name_,
                    fmt::format("'{}' must be a number, a range such as 0.3..0.4, or {}", key, kNoSaving));
    return text;
  }

  const YamlFile& yaml_;
  const std::string& name_;
  const Rule* rule_;
  const DerivedRelation* relation_;
  const std::set<std::string>& wrong_;
  std::vector<const Schema*> schemas_;
  Problems& problems_;
};

}  // namespace

std::optional<double> NumberOf(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool NumberRange::Holds(double number) const {
  const double slack = 1e-9 * std::max({std::abs(low), std::abs(high), std::abs(number)});
  return number >= low - slack && number <= high + slack;
}

std::optional<NumberRange> RangeOf(const std::string& text) {
  const size_t dots = text.find("..");
  const auto low = NumberOf(text.substr(0, dots)),
             high = dots == std::string::npos ? low : NumberOf(text.substr(dots + 2));
  if (!low || !high || *low > *high) return std::nullopt;
  return NumberRange{*low, *high};
}

std::optional<TestFile> ReadTestFile(const RuleFile& file, const KnowledgeBase& knowledge,
                                     Problems& problems) {
  const std::string name = std::filesystem::path(file.path).stem().stem().string();
  const Rule* rule = knowledge.Find(name);
  const DerivedRelation* relation = knowledge.FindRelation(name);
  if (!rule && !relation) {
    std::vector<std::string> names;
    for (const Rule& known : knowledge.rules()) names.push_back(known.id);
    for (const auto& known : knowledge.relations()) names.push_back(known->schema.name);
    problems.Add({file.path, 1, 1, false}, "",
                 fmt::format("no rule '{}' to test{}", name, DidYouMean(name, names)));
    return std::nullopt;
  }
  const std::filesystem::path beside = rule ? rule->place.file : relation->place.file;
  if (const auto folder = std::filesystem::path(file.path).parent_path(); folder != beside.parent_path()) {
    problems.Add({file.path, 1, 1, false}, name,
                 fmt::format("lies in another folder than the rule: move it beside {}", beside.string()));
    return std::nullopt;
  }
  const auto yaml = YamlFile::Parse(file.path, file.content, problems);
  if (!yaml) return std::nullopt;
  const size_t before = problems.size();
  TestFile tests = TestReader(*yaml, name, rule, relation, {}, knowledge.schemas(), problems).Read();
  return problems.size() > before ? std::nullopt : std::optional(std::move(tests));
}

void CheckTestFile(const RuleFile& file, const std::set<std::string>& wrong, const KnowledgeBase& knowledge,
                   Problems& problems) {
  const std::string name = std::filesystem::path(file.path).stem().stem().string();
  if (const auto yaml = YamlFile::Parse(file.path, file.content, problems))
    TestReader(*yaml, name, nullptr, nullptr, wrong, knowledge.schemas(), problems).Read();
}

}  // namespace dladvisor
