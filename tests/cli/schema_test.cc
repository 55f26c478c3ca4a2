// SPDX-License-Identifier: Apache-2.0
// The schemas for editors against the program: what it reads they know, and what it refuses they reject, as
// far as a schema can.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string Read(const std::string& path) { return test::ReadFile(test::SourceDir() / path); }

// Which folders of tests/cases/typos hold what a schema cannot know: SQL, messages, names of others, places.
const std::set<std::string> kBeyondASchema = {"aggregate",
                                              "causes-cycle",
                                              "chained-comparison",
                                              "column",
                                              "column-in-sub-query",
                                              "cycle",
                                              "double-quoted-text",
                                              "function",
                                              "id",
                                              "integer-division",
                                              "key-twice",
                                              "let-unused",
                                              "message-name",
                                              "not-a-query",
                                              "param",
                                              "param-unused",
                                              "param-without-colon",
                                              "parenthesis",
                                              "percent",
                                              "percent-as-text",
                                              "percent-in-condition",
                                              "project-param",
                                              "project-percent",
                                              "project-rule",
                                              "relation",
                                              "relation-column",
                                              "relation-in-sub-query",
                                              "relation-unit",
                                              "rule",
                                              "sql-syntax",
                                              "taken-id",
                                              "test-of-no-rule",
                                              "test-relation",
                                              "test-subject",
                                              "unit-of-let",
                                              "unit-of-saving",
                                              "units-added",
                                              "units-compared"};

TEST(Schemas, RejectWhatRulesCheckRefuses) {
  struct Kind {
    std::string schema;
    std::vector<std::string> documents, names;
  };
  Kind rules{Read("rules/rule.schema.json"), {}, {}}, tests{Read("rules/rule-test.schema.json"), {}, {}},
      projects{Read("rules/project.schema.json"), {}, {}};
  std::set<std::string> cases, rejected;
  const fs::path folder = test::SourceDir() / "tests/cases/typos";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".yaml")) continue;
    const std::string name = fs::relative(entry.path(), folder).begin()->string(),
                      text = test::ReadFile(path);
    cases.insert(name);
    try {
      if (!YAML::Load(text).IsMap()) continue;
    } catch (const YAML::Exception&) {
      rejected.insert(name);  // editors say so by themselves
      continue;
    }
    Kind& kind = path.ends_with("dladvisor.yaml") ? projects : path.ends_with(".test.yaml") ? tests : rules;
    kind.documents.push_back(text);
    kind.names.push_back(name);
  }
  for (const Kind* kind : {&rules, &tests, &projects}) {
    const auto problems = test::SchemaProblems(kind->schema, kind->documents);
    if (!problems) GTEST_SKIP() << "python3-jsonschema is not installed";
    ASSERT_EQ(problems->size(), kind->documents.size());
    for (size_t i = 0; i < problems->size(); ++i)
      if (!(*problems)[i].empty()) rejected.insert(kind->names[i]);
  }
  std::set<std::string> accepted;
  std::ranges::set_difference(cases, rejected, std::inserter(accepted, accepted.end()));
  EXPECT_EQ(accepted, kBeyondASchema);
}

// Lines of tests/cases/schemas, each a document: a whole one, or keys of a rule.
std::vector<std::string> Lines(const std::string& name) {
  std::istringstream in(Read("tests/cases/schemas/" + name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A sound rule, of which the line "KEY: VALUE ;; KEY: VALUE" says some keys otherwise.
std::string RuleWith(std::string line) {
  std::vector<std::string> keys = {"id: x",
                                   "title: T",
                                   "for: kernel_name",
                                   "params: {m: 3}",
                                   "let: {s: total_ns}",
                                   "when: [instances > :m]",
                                   "problem: N {{instances}} {{s}}",
                                   "recommendation: [Do it.]"};
  line += " ;; ";
  for (size_t end; (end = line.find(" ;; ")) != std::string::npos; line.erase(0, end + 4)) {
    const std::string key = line.substr(0, end), name = key.substr(0, key.find(':') + 1);
    std::erase_if(keys, [&](const std::string& other) { return other.starts_with(name); });
    keys.push_back(key);
  }
  std::string text;
  for (const std::string& key : keys) text += key + "\n";
  return text;
}

// What no other file decides is the same to the schema and to the program.
TEST(Schemas, AgreeWithRulesCheck) {
  const test::ScratchDir folder;
  test::WriteFile(folder.path() / "rules/c/x.yaml", RuleWith("title: T"));
  for (const std::string kind : {"rule", "test", "project"})
    for (const std::string is : {"good", "bad"}) {
      std::vector<std::string> documents;
      for (const std::string& line : Lines(kind + "." + is))
        documents.push_back(kind == "rule"   ? RuleWith(line)
                            : kind == "test" ? "{" + line + "}\n"
                                             : line + "\n");
      ASSERT_GT(documents.size(), is == "good" ? 8u : 30u);
      const auto problems = test::SchemaProblems(
          Read(kind == "test" ? "rules/rule-test.schema.json" : "rules/" + kind + ".schema.json"), documents);
      if (!problems) GTEST_SKIP() << "python3-jsonschema is not installed";
      for (size_t i = 0; i < documents.size(); ++i) {
        const std::string file = kind == "rule"   ? "rules/c/x.yaml"
                                 : kind == "test" ? "rules/c/x.test.yaml"
                                                  : "dladvisor.yaml";
        test::WriteFile(folder.path() / file, documents[i]);
        const test::RunResult checked = test::Run(
            fmt::format("cd '{}' && '{}' {} rules check {}", folder.path().string(),
                        test::ProgramPath().string(), kind == "project" ? "" : "--rules rules", file));
        EXPECT_EQ((*problems)[i].empty(), is == "good") << documents[i] << (*problems)[i];
        EXPECT_EQ(checked.status == 0, is == "good") << documents[i] << checked.out << checked.err;
      }
      test::WriteFile(folder.path() / "rules/c/x.yaml", RuleWith("title: T"));
    }
}

TEST(Schemas, AcceptEveryRuleAndTestOfTheProgram) {
  std::vector<std::string> rules, tests;
  for (const char* folder : {"rules", "examples/team-rules/rules"})
    for (const auto& entry : fs::recursive_directory_iterator(test::SourceDir() / folder))
      if (const std::string path = entry.path().string();
          path.ends_with(".yaml") && !path.ends_with("hardware.yaml"))
        (path.ends_with(".test.yaml") ? tests : rules).push_back(test::ReadFile(path));
  for (const auto& [schema, documents] :
       {std::pair("rules/rule.schema.json", &rules), std::pair("rules/rule-test.schema.json", &tests)}) {
    ASSERT_GT(documents->size(), 150u);
    const auto problems = test::SchemaProblems(Read(schema), *documents);
    if (!problems) GTEST_SKIP() << "python3-jsonschema is not installed";
    EXPECT_THAT(*problems, testing::Each("")) << schema;
  }
}

// Something that the schema of a key accepts.
std::string SampleOf(const Json& schema) {
  if (schema.contains("enum")) return schema["enum"][0];
  if (schema.contains("oneOf")) return SampleOf(schema["oneOf"][0]);
  const Json type = schema.value("type", Json("string"));
  if (type == "array") return "[" + SampleOf(schema["items"]) + "]";
  if (type == "object") return "{}";
  if (type == "boolean") return "true";
  if (type == "integer") return "12";
  return schema.contains("pattern") ? "2026-06-01" : "3 %";
}

std::string WhatCheckSays(const std::string& project) {
  const test::ScratchDir folder;
  test::WriteFile(folder.path() / "dladvisor.yaml", project);
  return test::Run("cd '" + folder.path().string() + "' && '" + test::ProgramPath().string() +
                   "' rules check")
      .err;
}

TEST(ProjectSchema, HasNoKeyThatTheProgramDoesNotKnow) {
  const Json document = Json::parse(Read("rules/project.schema.json")), file = document["properties"],
             gate = file["gate"]["properties"],
             metric = document["definitions"]["less_ns"]["oneOf"][1]["properties"],
             waiver = gate["waivers"]["items"]["properties"];
  // All keys at once, and one that is none, so that silence means something.
  const auto unknown = [](const Json& keys, const std::string& before, const std::string& after) {
    std::string text = before + "nonsense: 1";
    for (const auto& [key, schema] : keys.items()) text += ", " + key + ": " + SampleOf(schema);
    const std::string said = WhatCheckSays(text + after);
    static const std::regex pattern("no key '(\\w+)'");
    std::vector<std::string> found;
    for (std::sregex_iterator at(said.begin(), said.end(), pattern), end; at != end; ++at)
      found.push_back((*at)[1]);
    return found;
  };
  using testing::ElementsAre;
  EXPECT_THAT(unknown(file, "{", "}\n"), ElementsAre("nonsense"));
  EXPECT_THAT(unknown(gate, "gate: {", "}\n"), ElementsAre("nonsense"));
  EXPECT_THAT(unknown(metric, "gate: {metrics: {step.time: {", "}}}\n"), ElementsAre("nonsense"));
  EXPECT_THAT(unknown(waiver, "gate: {waivers: [{", "}]}\n"), ElementsAre("nonsense"));
}

// The keys that a reader asks a YamlMap for.
std::set<std::string> KeysOf(const std::string& source) {
  static const std::regex pattern(
      R"x((?:Get|Text|TextList|RequiredText|Flag|Choice<\w+>|Quantity)\((?:\w+, )?"(\w+)")x");
  const std::string text = Read(source);
  std::set<std::string> keys;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    keys.insert((*at)[1]);
  return keys;
}

void CollectKeys(const Json& schema, std::set<std::string>& keys) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object())
    for (const auto& [key, value] : schema["properties"].items()) keys.insert(key);
  if (schema.is_structured())
    for (const Json& inner : schema) CollectKeys(inner, keys);
}

TEST(ProjectSchema, HasEveryKeyThatTheProgramAsksFor) {
  std::set<std::string> known, asked = KeysOf("src/cli/project.cc");
  CollectKeys(Json::parse(Read("rules/project.schema.json")), known);
  asked.merge(KeysOf("src/gate/judge/policy.cc"));
  ASSERT_GT(asked.size(), 20u);
  std::set<std::string> unknown;
  std::ranges::set_difference(asked, known, std::inserter(unknown, unknown.end()));
  EXPECT_THAT(unknown, testing::IsEmpty());
}

}  // namespace
}  // namespace dladvisor
