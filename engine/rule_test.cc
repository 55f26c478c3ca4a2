#include "engine/rule_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "engine/inference.h"
#include "engine/rule_checker.h"
#include "engine/subject.h"
#include "engine/yaml_reader.h"

namespace dladvisor {
namespace {

struct Expectation {
  std::vector<std::pair<std::string, std::string>> subject;  // column and value as text
  std::optional<std::string> outcome, problem, recommendation, suppressed_by;
  std::optional<double> saves_low, saves_high;
  std::optional<std::vector<std::string>> missing;
};

struct TestCase {
  std::string name;
  std::map<std::string, std::vector<std::vector<Value>>> rows;  // by relation, a value per column
  std::vector<Expectation> expect;
};

std::optional<double> Number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string Plain(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return FormatValue(value, Unit::kNone);
}

// Reads one test file against the schemas.
class TestReader {
 public:
  TestReader(const YamlFile& yaml, const Rule& rule, const std::vector<const Schema*>& schemas,
             Problems& problems)
      : yaml_(yaml), rule_(rule), schemas_(schemas), problems_(problems) {}

  std::vector<TestCase> Read(bool& never_unknown) {
    std::vector<TestCase> cases;
    YamlMap map(yaml_, yaml_.root(), rule_.id, "a test file", problems_);
    never_unknown = map.Text("never_unknown").has_value();
    const YAML::Node tests = map.Get("tests");
    if (!tests.IsDefined() || !tests.IsSequence())
      problems_.Add(map.place(), rule_.id, "a test file lacks 'tests': a list");
    else
      for (const YAML::Node& node : tests) cases.push_back(ReadCase(node));
    map.Finish();
    return cases;
  }

 private:
  TestCase ReadCase(const YAML::Node& node) {
    TestCase test;
    YamlMap map(yaml_, node, rule_.id, "a test", problems_);
    test.name = map.RequiredText("name");
    const YAML::Node given = map.Get("given");
    if (given.IsDefined() && given.IsMap())
      for (const auto& entry : given) ReadRows(entry.first, entry.second, test);
    else
      problems_.Add(map.place(), rule_.id, "a test lacks 'given': rows by relation");
    const YAML::Node expect = map.Get("expect");
    if (expect.IsDefined() && expect.IsSequence())
      for (const YAML::Node& item : expect) test.expect.push_back(ReadExpectation(item));
    else
      problems_.Add(map.place(), rule_.id, "a test lacks 'expect': a finding per subject ([] for none)");
    map.Finish();
    return test;
  }

  void ReadRows(const YAML::Node& key, const YAML::Node& rows, TestCase& test) {
    const std::string relation = key.IsScalar() ? key.Scalar() : "";
    std::vector<std::string> names;
    const Schema* schema = nullptr;
    for (const Schema* known : schemas_) {
      if (known->name == relation) schema = known;
      names.push_back(known->name);
    }
    if (!schema)
      return problems_.Add(yaml_.PlaceOf(key), rule_.id,
                           fmt::format("no such relation: {}{}", relation, DidYouMean(relation, names)));
    if (!rows.IsSequence())
      return problems_.Add(yaml_.PlaceOf(rows), rule_.id,
                           fmt::format("'{}' must be a list of rows", relation));
    auto& table = test.rows[relation];
    for (const YAML::Node& row : rows) {
      std::vector<Value> values(schema->columns.size());
      if (!row.IsMap()) {
        problems_.Add(yaml_.PlaceOf(row), rule_.id, "a row must be a mapping (column: value)");
        continue;
      }
      for (const auto& cell : row) ReadCell(*schema, cell.first, cell.second, values);
      table.push_back(std::move(values));
    }
  }

  void ReadCell(const Schema& schema, const YAML::Node& key, const YAML::Node& cell,
                std::vector<Value>& values) {
    const std::string name = key.IsScalar() ? key.Scalar() : "";
    const auto index = schema.Find(name);
    if (!index) {
      std::vector<std::string> names;
      for (const Column& column : schema.columns) names.push_back(column.name);
      return problems_.Add(yaml_.PlaceOf(key), rule_.id,
                           fmt::format("no column {}.{}{}", schema.name, name, DidYouMean(name, names)));
    }
    if (cell.IsNull()) return;
    const Column& column = schema.columns[*index];
    const std::string text = cell.IsScalar() ? cell.Scalar() : "";
    const auto number = Number(text);
    if (column.type == Type::kText && cell.IsScalar())
      values[*index] = text;
    else if (column.type == Type::kReal && number)
      values[*index] = *number;
    else if (column.type == Type::kInteger && number && *number == std::floor(*number) &&
             std::abs(*number) < 9e18)
      values[*index] = static_cast<int64_t>(*number);
    else
      problems_.Add(yaml_.PlaceOf(cell), rule_.id,
                    fmt::format("{}.{} is of type {}", schema.name, name, TypeName(column.type)));
  }

  Expectation ReadExpectation(const YAML::Node& node) {
    Expectation e;
    YamlMap map(yaml_, node, rule_.id, "an expectation", problems_);
    if (const YAML::Node subject = map.Get("subject"); subject.IsDefined()) ReadSubject(subject, e);
    e.outcome = map.RequiredText("outcome");
    static const std::vector<std::string> kOutcomes = {"fired", "clear", "unknown", "suppressed", "failed"};
    if (!e.outcome->empty() && std::find(kOutcomes.begin(), kOutcomes.end(), *e.outcome) == kOutcomes.end())
      problems_.Add(map.PlaceOf(map.Get("outcome")), rule_.id,
                    fmt::format("outcome '{}' is none of {}{}", *e.outcome, fmt::join(kOutcomes, ", "),
                                DidYouMean(*e.outcome, kOutcomes)));
    e.problem = map.Text("problem");
    e.recommendation = map.Text("recommendation");
    e.suppressed_by = map.Text("suppressed_by");
    e.saves_low = ReadNumber(map, "saves_low");
    e.saves_high = ReadNumber(map, "saves_high");
    if (map.Get("missing").IsDefined()) {
      e.missing.emplace();
      for (auto& [fact, place] : map.TextList("missing")) e.missing->push_back(fact);
    }
    map.Finish();
    return e;
  }

  void ReadSubject(const YAML::Node& node, Expectation& e) {
    if (!node.IsMap())
      return problems_.Add(yaml_.PlaceOf(node), rule_.id, "'subject' must be a mapping (key column: value)");
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto& keys = rule_.subject_key;
      if (std::find(keys.begin(), keys.end(), name) == keys.end())
        problems_.Add(yaml_.PlaceOf(entry.first), rule_.id,
                      fmt::format("'{}' is no key of a subject{}", name, DidYouMean(name, keys)));
      else if (!entry.second.IsScalar())
        problems_.Add(yaml_.PlaceOf(entry.second), rule_.id, fmt::format("'{}' must be a value", name));
      else
        e.subject.emplace_back(name, entry.second.Scalar());
    }
  }

  std::optional<double> ReadNumber(YamlMap& map, const char* key) {
    const auto text = map.Text(key);
    if (!text) return std::nullopt;
    const auto number = Number(*text);
    if (!number)
      problems_.Add(map.PlaceOf(map.Get(key)), rule_.id, fmt::format("'{}' must be a number", key));
    return number;
  }

  const YamlFile& yaml_;
  const Rule& rule_;
  std::vector<const Schema*> schemas_;
  Problems& problems_;
};

// The rule, and those that its outcome depends on.
void CollectRules(const KnowledgeBase& knowledge, const Rule& rule, std::map<std::string, Rule>& out) {
  if (!out.emplace(rule.id, rule).second) return;
  for (const auto* list : {&rule.given, &rule.unless})
    for (const RuleReference& reference : *list)
      if (const Rule* other = knowledge.Find(reference.id)) CollectRules(knowledge, *other, out);
}

void Compare(const Expectation& expected, const Finding& actual, std::string& diff) {
  const auto differ = [&](const char* what, const std::string& want, const std::string& got) {
    diff += fmt::format("  {}:\n  - expected {}\n  + actual   {}\n", what, want, got);
  };
  for (const auto& [column, want] : expected.subject) {
    const auto found = std::find_if(actual.subject.begin(), actual.subject.end(),
                                    [&, &name = column](const NamedValue& v) { return v.name == name; });
    const std::string got = found == actual.subject.end() ? "(no such key)" : Plain(found->value);
    if (got != want) differ(("subject " + column).c_str(), want, got);
  }
  if (*expected.outcome != OutcomeName(actual.outcome)) {
    std::string got(OutcomeName(actual.outcome));
    if (!actual.error.empty()) got += " (" + actual.error + ")";
    for (const ConditionTrace& condition : actual.why) {
      got += fmt::format("\n      {} is {}", condition.sql,
                         !condition.holds   ? "unknown"
                         : *condition.holds ? "true"
                                            : "false");
      for (const NamedValue& fact : condition.facts)
        got += fmt::format(", {} = {}", fact.name, Plain(fact.value));
    }
    differ("outcome", *expected.outcome, got);
  }
  if (expected.problem && actual.problem.find(*expected.problem) == std::string::npos)
    differ("problem", *expected.problem, actual.problem);
  if (expected.recommendation &&
      std::none_of(actual.recommendation.begin(), actual.recommendation.end(), [&](const std::string& text) {
        return text.find(*expected.recommendation) != std::string::npos;
      }))
    differ("recommendation", *expected.recommendation,
           fmt::format("{}", fmt::join(actual.recommendation, " | ")));
  const auto compare_number = [&](const char* what, std::optional<double> want, std::optional<double> got) {
    if (want && (!got || std::abs(*want - *got) > 1e-9 * std::max(std::abs(*want), std::abs(*got))))
      differ(what, fmt::format("{}", *want), got ? fmt::format("{}", *got) : "nothing");
  };
  compare_number("saves_low", expected.saves_low, actual.saves ? actual.saves->low_ns : std::nullopt);
  compare_number("saves_high", expected.saves_high, actual.saves ? actual.saves->high_ns : std::nullopt);
  if (expected.missing) {
    std::vector<std::string> want = *expected.missing;
    std::sort(want.begin(), want.end());
    if (want != actual.missing)
      differ("missing", fmt::format("{}", fmt::join(want, ", ")),
             fmt::format("{}", fmt::join(actual.missing, ", ")));
  }
  if (expected.suppressed_by && *expected.suppressed_by != actual.suppressed_by)
    differ("suppressed_by", *expected.suppressed_by, actual.suppressed_by);
}

RuleTestResult RunCase(const Rule& rule, const KnowledgeBase& needed, const TestCase& test) {
  std::vector<Table> tables;
  tables.reserve(needed.schemas().size());
  for (const Schema* schema : needed.schemas()) {
    const auto rows = test.rows.find(schema->name);
    const auto& base = needed.base_schemas();
    // Derived relations and findings follow from the others, unless the test gives their rows.
    if (rows == test.rows.end() && std::ranges::find(base, schema) == base.end()) continue;
    Table& table = tables.emplace_back(*schema);
    if (rows != test.rows.end())
      for (const auto& row : rows->second) table.AddRow(row);
  }
  Database database;
  for (const Table& table : tables) database.Add(table);
  const Advice advice = Infer(needed, database, {.keep_clear = true});
  std::vector<const Finding*> actual;
  for (const Finding& finding : advice.findings)
    if (finding.rule == rule.id) actual.push_back(&finding);
  RuleTestResult result{rule.id, test.name, false, ""};
  if (actual.size() != test.expect.size())
    result.diff =
        fmt::format("  subjects:\n  - expected {}\n  + actual   {}\n", test.expect.size(), actual.size());
  for (size_t i = 0; i < std::min(actual.size(), test.expect.size()); ++i)
    Compare(test.expect[i], *actual[i], result.diff);
  result.passed = result.diff.empty();
  return result;
}

bool ReadsNullable(const Rule& rule, const Database& empty) {
  for (const Condition& condition : rule.when)
    for (const ColumnRead& read : ExpressionReads(rule, empty, rule.lets.size(), condition.sql)) {
      const Schema* schema = empty.FindRelation(read.relation);
      const auto column = schema ? schema->Find(read.column) : std::nullopt;
      if (column && schema->columns[*column].nullable) return true;
    }
  return false;
}

}  // namespace

RuleTestReport RunRuleTests(const KnowledgeBase& knowledge, std::span<const RuleFile> test_files) {
  RuleTestReport report;
  Problems problems;
  std::map<std::string, std::set<std::string>> tested;  // rule -> outcomes expected
  for (const RuleFile& file : test_files) {
    std::string id = std::filesystem::path(file.path).stem().stem().string();
    const Rule* rule = knowledge.Find(id);
    if (!rule) {
      std::vector<std::string> ids;
      for (const Rule& known : knowledge.rules()) ids.push_back(known.id);
      problems.Add({file.path, 1, 1, false}, "",
                   fmt::format("no rule '{}' to test{}", id, DidYouMean(id, ids)));
      continue;
    }
    const auto yaml = YamlFile::Parse(file.path, file.content, problems);
    if (!yaml) continue;
    bool never_unknown = false;
    const size_t before = problems.size();
    const std::vector<TestCase> cases =
        TestReader(*yaml, *rule, knowledge.schemas(), problems).Read(never_unknown);
    if (problems.size() > before) continue;
    std::map<std::string, Rule> needed;
    CollectRules(knowledge, *rule, needed);
    const KnowledgeBase subset = knowledge.Subset(needed);
    if (never_unknown) tested[id].insert("unknown");
    for (const TestCase& test : cases) {
      for (const Expectation& expectation : test.expect) tested[id].insert(*expectation.outcome);
      if (test.expect.empty()) tested[id].insert("clear");
      report.results.push_back(RunCase(*rule, subset, test));
    }
  }
  if (!problems.empty()) throw RuleErrors(problems.Lines());
  const EmptyRelations empty(knowledge.schemas());
  for (const Rule& rule : knowledge.rules()) {
    std::vector<std::string> lacking;
    for (const char* outcome : {"fired", "clear", "unknown"})
      if (!tested[rule.id].contains(outcome) &&
          (outcome != std::string_view("unknown") || ReadsNullable(rule, empty.database())))
        lacking.push_back(outcome);
    if (!lacking.empty())
      report.untested.push_back(fmt::format("{}: no test expects {}", rule.id, fmt::join(lacking, ", ")));
  }
  return report;
}

}  // namespace dladvisor
