// SPDX-License-Identifier: Apache-2.0
#include "engine/authoring/rule_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "engine/authoring/rule_test_reader.h"
#include "engine/inference/explanation.h"
#include "engine/inference/inference.h"
#include "engine/model/subject.h"

namespace dladvisor {
namespace {

std::string Plain(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return FormatValue(value, Unit::kNone);
}

// The rule, and those that its outcome depends on.
void CollectRules(const KnowledgeBase& knowledge, const Rule& rule, std::map<std::string, Rule>& out) {
  if (!out.emplace(rule.id, rule).second) return;
  for (const auto* list : {&rule.given, &rule.unless})
    for (const RuleReference& reference : *list)
      if (const Rule* other = knowledge.Find(reference.id)) CollectRules(knowledge, *other, out);
}

void CompareValue(const std::string& what, const std::string& want, const Value& got, std::string& diff) {
  const auto expected = RangeOf(want);
  const auto actual = AsNumber(got);
  const bool equal = expected && actual ? expected->Holds(*actual) : want == Plain(got);
  if (equal) return;
  const char* hint = actual && !expected ? " (a number, or a range such as 0.3..0.4, would fit it)" : "";
  diff += fmt::format("  {}:\n  - expected {}{}\n  + actual   {}\n", what, want, hint, Plain(got));
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
  if (expected.problem && actual.problem.text.find(*expected.problem) == std::string::npos)
    differ("problem", *expected.problem, actual.problem);
  if (expected.recommendation &&
      std::none_of(actual.recommendation.begin(), actual.recommendation.end(), [&](const std::string& text) {
        return text.find(*expected.recommendation) != std::string::npos;
      }))
    differ("recommendation", *expected.recommendation,
           fmt::format("{}", fmt::join(std::vector<std::string>(actual.recommendation.begin(),
                                                                actual.recommendation.end()),
                                       " | ")));
  const auto compare_number = [&](const char* what, const std::optional<std::string>& want,
                                  std::optional<double> got) {
    if (!want) return;
    const bool holds = *want == kNoSaving ? !got : got && RangeOf(*want)->Holds(*got);
    if (!holds) differ(what, *want, got ? fmt::format("{}", *got) : std::string(kNoSaving));
  };
  compare_number("saves_low", expected.saves_low, actual.saves ? actual.saves->low_ns : std::nullopt);
  compare_number("saves_high", expected.saves_high, actual.saves ? actual.saves->high_ns : std::nullopt);
  for (const auto& [let, want] : expected.values) {  // a rule that failed has none
    const auto value = std::ranges::find(actual.lets, let, &NamedValue::name);
    if (value != actual.lets.end()) CompareValue(let, want, value->value, diff);
  }
  if (!actual.error.empty() && actual.outcome != Outcome::kFailed) differ("error", "none", actual.error);
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

// The given rows as relations. Derived relations and findings follow from the others, unless the test gives
// their rows.
void AddGiven(const KnowledgeBase& knowledge, const TestCase& test, Database& database) {
  const auto& base = knowledge.base_schemas();
  for (const Schema* schema : knowledge.schemas()) {
    const auto rows = test.rows.find(schema->name);
    if (rows == test.rows.end() && std::ranges::find(base, schema) == base.end()) continue;
    auto table = std::make_unique<Table>(*schema);
    if (rows != test.rows.end())
      for (const auto& row : rows->second) table->AddRow(row);
    database.Add(std::unique_ptr<const Relation>(std::move(table)));
  }
}

std::string CountDiff(const char* what, size_t expected, size_t actual) {
  return expected == actual
             ? ""
             : fmt::format("  {}:\n  - expected {}\n  + actual   {}\n", what, expected, actual);
}

RuleTestResult RunRuleCase(const Rule& rule, const KnowledgeBase& needed, const TestCase& test) {
  Database database;
  AddGiven(needed, test, database);
  const Advice advice = Infer(needed, database, {.keep_clear = rule.id});
  std::vector<const Finding*> actual;
  for (const Finding& finding : advice.findings)
    if (finding.rule == rule.id) actual.push_back(&finding);
  RuleTestResult result{
      {rule.id, test.name}, false, CountDiff("subjects", test.expect.size(), actual.size())};
  for (size_t i = 0; i < std::min(actual.size(), test.expect.size()); ++i)
    Compare(test.expect[i], *actual[i], result.diff);
  result.passed = result.diff.empty();
  return result;
}

RuleTestResult RunRelationCase(const DerivedRelation& relation, const KnowledgeBase& knowledge,
                               const TestCase& test) {
  const KnowledgeBase relations = knowledge.Subset({}, {relation.schema.name});
  Database database;
  AddGiven(relations, test, database);
  const auto errors = Infer(relations, database).relation_errors;
  RuleTestResult result{{relation.schema.name, test.name}, false, ""};
  if (const auto error = errors.find(relation.schema.name); error != errors.end()) {
    result.diff = fmt::format("  error:\n  - expected none\n  + actual   {}\n", error->second);
    return result;
  }
  const ResultSet rows = database.Query("SELECT * FROM \"" + relation.schema.name + "\"");
  result.diff = CountDiff("rows", test.expect.size(), rows.rows.size());
  for (size_t i = 0; i < std::min(rows.rows.size(), test.expect.size()); ++i)
    for (const auto& [column, want] : test.expect[i].values)
      CompareValue(fmt::format("row {} {}", i + 1, column), want, rows.rows[i][*relation.schema.Find(column)],
                   result.diff);
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

// Outcomes that no test expects of a rule that can have them.
std::vector<std::string> Untested(const KnowledgeBase& knowledge,
                                  const std::map<std::string, std::set<std::string>>& tested) {
  std::vector<std::string> untested;
  EmptyRelations empty(knowledge.schemas());
  for (const Rule& rule : knowledge.rules()) {
    const auto found = tested.find(rule.id);
    std::vector<std::string> lacking;
    for (const char* outcome : {"fired", "clear", "unknown"})
      if ((found == tested.end() || !found->second.contains(outcome)) &&
          (outcome != std::string_view("unknown") || ReadsNullable(rule, empty.database())))
        lacking.push_back(outcome);
    if (!lacking.empty())
      untested.push_back(fmt::format("{}:{}:{}: {}: no test expects {}", rule.place.file, rule.place.line,
                                     rule.place.column, rule.id, fmt::join(lacking, ", ")));
  }
  for (const auto& relation : knowledge.relations())
    if (!tested.contains(relation->schema.name))
      untested.push_back(fmt::format("{}:{}:{}: {}: has no test", relation->place.file, relation->place.line,
                                     relation->place.column, relation->schema.name));
  return untested;
}

struct SoundTests {
  std::vector<TestFile> files;
  std::vector<std::string> untested, problems;
};

SoundTests ReadTestFiles(const KnowledgeBase& knowledge, std::span<const RuleFile> test_files) {
  SoundTests sound;
  Problems problems;
  std::map<std::string, std::set<std::string>> tested;  // rule -> outcomes expected
  for (const RuleFile& file : test_files) {
    auto tests = ReadTestFile(file, knowledge, problems);
    if (!tests) continue;
    auto& outcomes = tested[tests->rule];
    if (tests->never_unknown) outcomes.insert("unknown");
    for (const TestCase& test : tests->cases) {
      for (const Expectation& expectation : test.expect) outcomes.insert(expectation.outcome.value_or(""));
      if (test.expect.empty()) outcomes.insert("clear");
    }
    sound.files.push_back(std::move(*tests));
  }
  sound.problems = problems.Lines();
  sound.untested = Untested(knowledge, tested);
  return sound;
}

}  // namespace

RuleTestList ReadRuleTests(const KnowledgeBase& knowledge, std::span<const RuleFile> test_files) {
  SoundTests sound = ReadTestFiles(knowledge, test_files);
  RuleTestList list{{}, std::move(sound.untested), std::move(sound.problems)};
  for (const TestFile& file : sound.files)
    for (const TestCase& test : file.cases) list.tests.push_back({file.rule, test.name});
  return list;
}

RuleTestReport RunRuleTests(const KnowledgeBase& knowledge, std::span<const RuleFile> test_files,
                            const std::string& filter) {
  SoundTests sound = ReadTestFiles(knowledge, test_files);
  RuleTestReport report{{}, std::move(sound.untested), std::move(sound.problems)};
  for (const TestFile& tests : sound.files) {
    std::vector<const TestCase*> wanted;
    for (const TestCase& test : tests.cases)
      if (fmt::format("{}: {}", tests.rule, test.name).find(filter) != std::string::npos)
        wanted.push_back(&test);
    if (wanted.empty()) continue;
    const Rule* rule = knowledge.Find(tests.rule);
    std::map<std::string, Rule> needed;
    if (rule) CollectRules(knowledge, *rule, needed);
    const KnowledgeBase subset = knowledge.Subset(needed);
    for (const TestCase* test : wanted)
      report.results.push_back(rule ? RunRuleCase(*rule, subset, *test)
                                    : RunRelationCase(*knowledge.FindRelation(tests.rule), knowledge, *test));
  }
  return report;
}

}  // namespace dladvisor
