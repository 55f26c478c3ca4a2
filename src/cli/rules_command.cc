// SPDX-License-Identifier: Apache-2.0
#include "src/cli/rules_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/authoring/rule_docs.h"
#include "engine/authoring/rule_schema.h"
#include "engine/authoring/rule_template.h"
#include "engine/authoring/rule_test.h"
#include "engine/authoring/rule_test_reader.h"
#include "engine/base/output_file.h"
#include "engine/base/text.h"
#include "engine/rules/yaml_reader.h"
#include "src/analysis/families.h"
#include "src/cli/project_schema.h"
#include "src/events/event_relations.h"
#include "src/fleet/earlier_run.h"
#include "src/hardware/hardware_reader.h"
#include "src/hardware/table/built_in_hardware.h"
#include "src/importers/words/importer_words.h"

namespace dladvisor {
namespace {

// The file of a rule as it is written; what the project sets is printed before it.
std::string FileText(const CommonOptions& common, const Project& project, const KnowledgeBase& knowledge,
                     const std::string& id) {
  const DerivedRelation* relation = knowledge.FindRelation(id);
  const std::string path = relation ? relation->place.file : FindRule(knowledge, id).place.file;
  std::string out = fmt::format("# {}\n", path);
  if (const Rule* rule = knowledge.Find(id)) {
    if (!rule->set_by.empty())
      out += fmt::format("# severity: {}, set in {}\n", SeverityName(rule->severity), rule->set_by);
    for (const Param& param : rule->params)
      if (!param.set_by.empty())
        out += fmt::format("# {}: {}, set in {}\n", param.name, FormatValue(param.value, param.unit),
                           param.set_by);
    if (!rule->reads.empty()) out += fmt::format("# reads: {}\n", fmt::join(rule->reads, ", "));
  }
  std::vector<RuleFile> files = BuiltInRuleFiles();
  for (const std::string& folder : RuleFolders(common, project))
    for (RuleFile& file : ReadRuleFolder(folder)) files.push_back(std::move(file));
  const auto file = std::ranges::find(files, path, &RuleFile::path);
  return file == files.end() ? out : out + file->content;
}

void Print(const CommonOptions& common, const std::string& id) {
  const Project project = LoadProject(common.config);
  fmt::print("{}", RulesText(common, project, LoadConfiguredRules(common, project), id));
}

// Reads tests of rules that are there; throws RuleErrors where tests are wrong.
RuleTestList ReadSoundTests(const KnowledgeBase& knowledge, std::span<const RuleFile> files) {
  RuleTestList tests = ReadRuleTests(knowledge, files);
  if (!tests.problems.empty()) throw RuleErrors(tests.problems);
  return tests;
}

bool IsTestFile(const std::string& path) { return path.ends_with(".test.yaml"); }

bool IsSame(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

// Whether a file is a table of GPU models, as rules/hardware.yaml is one, and that it is sound.
bool IsSoundHardware(const RuleFile& file) {
  Problems problems;
  const auto yaml = YamlFile::Parse(file.path, file.content, problems);
  if (!yaml || !yaml->root().IsMap() || (!yaml->root()["gpus"] && !yaml->root()["architectures"]))
    return false;
  // One with architectures of its own is complete; others add to what is known.
  ReadHardware(*yaml, yaml->root(), yaml->root()["architectures"] ? Hardware() : BuiltInHardware(), problems);
  if (!problems.empty()) throw RuleErrors(problems.Lines());
  return true;
}

// Adds the mistakes in the tests of rules that are wrong themselves, so that both are mended at once.
void AddTestsOfWrongRules(std::span<const RuleFile> tests, SoundRules& sound) {
  Problems problems;
  for (const RuleFile& file : tests)
    if (sound.left_out.contains(std::filesystem::path(file.path).stem().stem().string()))
      CheckTestFile(file, sound.left_out, sound.knowledge, problems);
  const std::vector<std::string> lines = problems.Lines();
  sound.problems.insert(sound.problems.end(), lines.begin(), lines.end());
}

// The file itself and its tests, or the rule that they test, whatever is wrong with others.
void CheckFile(const CommonOptions& common, const Project& project, const std::string& path) {
  const std::string rule_path =
      IsTestFile(path) ? path.substr(0, path.size() - std::string_view(".test.yaml").size()) + ".yaml" : path;
  const RuleFile file{rule_path, ReadWhole(rule_path)};
  if (IsSoundHardware(file)) {
    fmt::print("{} is well formed\n", path);
    return;
  }
  const std::filesystem::path beside = std::filesystem::path(rule_path).replace_extension(".test.yaml");
  SoundRules sound = LoadSoundRules(common, project);
  const std::string id = std::filesystem::path(path).stem().stem().string();
  std::erase_if(sound.problems, [&](const std::string& problem) {
    return !IsSame(problem.substr(0, problem.find(':')), rule_path);
  });
  const Rule* known = sound.knowledge.Find(id);
  const DerivedRelation* relation = sound.knowledge.FindRelation(id);
  const std::string known_path = known ? known->place.file : relation ? relation->place.file : "";
  if (sound.problems.empty() && !IsSame(known_path, rule_path)) {
    try {
      sound.knowledge.AddLayer(std::vector<RuleFile>{file});
    } catch (const RuleErrors& errors) {  // of a file that is in no folder of rules yet
      sound.problems = errors.problems();
      sound.left_out.insert(id);
    }
  }
  if (!sound.problems.empty()) {
    if (std::filesystem::exists(beside))
      AddTestsOfWrongRules(std::vector<RuleFile>{{beside.string(), ReadWhole(beside)}}, sound);
    throw RuleErrors(sound.problems);
  }
  std::vector<RuleFile> tests;
  if (std::filesystem::exists(beside)) {
    known = sound.knowledge.Find(id);
    relation = sound.knowledge.FindRelation(id);
    const std::filesystem::path place = known ? known->place.file : relation->place.file;
    tests.push_back({(place.parent_path() / beside.filename()).string(), ReadWhole(beside)});
  }
  const RuleTestList list = ReadSoundTests(sound.knowledge, tests);
  for (const std::string& warning : sound.knowledge.warnings())
    if (warning.find(id) != std::string::npos) fmt::print(stderr, "warning: {}\n", warning);
  for (const std::string& rule : list.untested)
    if (rule.find(": " + id + ": ") != std::string::npos) fmt::print(stderr, "warning: {}\n", rule);
  fmt::print("{} is well formed\n", path);
}

// Of what a project may set, but hardly means to.
void WarnOfProject(const Project& project) {
  for (const std::string& warning : project.gate.warnings) fmt::print(stderr, "warning: {}\n", warning);
  Problems expired;
  for (const auto& waiver : project.gate.waivers)
    if (waiver.until < Today())
      expired.Add(waiver.place, "",
                  fmt::format("the waiver of '{}{}' expired on {} and counts no longer", waiver.rule,
                              waiver.metric, waiver.until));
  for (const std::string& line : expired.Lines()) fmt::print(stderr, "warning: {}\n", line);
}

void Check(const CommonOptions& common, const std::string& file) {
  const bool is_project = IsProjectFile(file);
  const Project project = LoadProject(is_project ? file : common.config);
  if (std::error_code none; std::filesystem::is_directory(file, none))
    throw Error(
        file, "is a folder, and this checks one file",
        fmt::format("`dladvisor rules check --rules {}` checks all of its rules, with the others.", file));
  if (!file.empty() && !is_project) return CheckFile(common, project, file);
  ProfileOptions().ToAnalysisOptions(project);  // refuse what the project sets wrong
  if (SoundRules sound = LoadSoundRules(common, project); !sound.problems.empty()) {
    AddTestsOfWrongRules(LoadRuleTests(common, project), sound);
    throw RuleErrors(sound.problems);
  }
  const KnowledgeBase configured = LoadConfiguredRules(common, project);
  const KnowledgeBase knowledge = LoadRules(common, project);
  for (const std::string& warning : configured.warnings()) fmt::print(stderr, "warning: {}\n", warning);
  WarnOfProject(project);
  if (is_project) return fmt::print("{} is well formed\n", file);
  for (const std::string& rule : ReadSoundTests(knowledge, LoadRuleTests(common, project)).untested)
    fmt::print(stderr, "warning: {}\n", rule);
  fmt::print("{} rules are well formed\n", knowledge.rules().size());
}

struct TestOptions {
  std::string filter;
  bool json = false;
};

void PrintJson(const RuleTestReport& report, size_t failed) {
  nlohmann::ordered_json tests = nlohmann::ordered_json::array();
  for (const RuleTestResult& result : report.results)
    tests.push_back({{"rule", result.rule},
                     {"test", ValidUtf8(result.test)},
                     {"passed", result.passed},
                     {"diff", ValidUtf8(result.diff)}});
  const nlohmann::ordered_json document = {{"passed", report.results.size() - failed},
                                           {"failed", failed},
                                           {"tests", std::move(tests)},
                                           {"untested", report.untested}};
  fmt::print("{}\n", document.dump(2));
}

// With the thresholds that the rules were written with, whatever the project sets.
void Test(const CommonOptions& common, const TestOptions& options) {
  const Project project = LoadProject(common.config);
  SoundRules sound = LoadSoundRules(common, project);
  std::vector<RuleFile> tests = LoadRuleTests(common, project);
  AddTestsOfWrongRules(tests, sound);
  std::erase_if(tests, [&](const RuleFile& file) {
    return sound.left_out.contains(std::filesystem::path(file.path).stem().stem().string());
  });
  const RuleTestReport report = RunRuleTests(sound.knowledge, tests, options.filter);
  sound.problems.insert(sound.problems.end(), report.problems.begin(), report.problems.end());
  const auto failed = static_cast<size_t>(std::ranges::count(report.results, false, &RuleTestResult::passed));
  if (report.results.empty() && !options.filter.empty() && sound.problems.empty())
    throw Error("--filter " + options.filter, "no test has this in its rule or name",
                "`dladvisor rules test --json` lists all tests.");
  if (options.json) {
    PrintJson(report, failed);
  } else {
    for (const RuleTestResult& result : report.results)
      if (!result.passed) fmt::print("FAILED {}: {}\n{}\n", result.rule, result.test, result.diff);
    fmt::print("{} rule tests passed, {} failed\n", report.results.size() - failed, failed);
  }
  if (!sound.problems.empty()) throw RuleErrors(sound.problems);
  if (failed > 0) throw CLI::RuntimeError(1);
}

// What somebody else wrote under the name of a generated file.
void RefuseToReplace(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  const std::string content = ReadWhole(path);
  const bool is_ours = path.extension() == ".json"
                           ? content.find("\"title\": \"dladvisor ") != std::string::npos
                           : content.starts_with("<!-- Generated by `dladvisor");
  if (!is_ours)
    throw Error(path.string(), "was not written by `dladvisor rules docs`, and is not replaced",
                "Give another folder to -o, or move the file.");
}

// Derived relations and findings have rows wherever what they read has.
std::string WhereHeldOf(const Schema& schema) {
  if (const Family* family = FindFamily(schema.name)) {
    if (family->on_demand)
      return "Of one profile that is read itself; unknown on digests and on several profiles together.";
    return family->IsAcrossRanks() ? "Of several profiles together, and kept by their digest."
                                   : "Of profiles, several together, and digests.";
  }
  for (const Schema* events : EventSchemas())
    if (events->name == schema.name)
      return "Events, of one profile that is read itself; unknown on digests and on several profiles "
             "together.";
  for (const Schema* of_gate : EarlierRunSchemas())
    if (of_gate->name == schema.name)
      return "Of a gate, when it judges the runs that it was given; unknown elsewhere.";
  return "Where the relations that it reads are.";
}

struct DocsOptions {
  std::string folder;
  bool check = false;
};

void Docs(const CommonOptions& common, const DocsOptions& options) {
  const Project project = LoadProject(common.config);
  const KnowledgeBase knowledge = LoadRules(common, project);
  const auto tests = ReadSoundTests(knowledge, LoadRuleTests(common, project)).tests;
  std::vector<DocFile> files = RuleDocs(knowledge, tests, HowToRecord, WhereHeldOf);
  files.push_back({"PROJECT.md", ProjectDocs()});
  files.push_back({"project.schema.json", ProjectSchema()});
  if (options.folder.empty()) {
    if (options.check) throw Error("--check", "needs the folder to compare with", "Give it with -o FOLDER.");
    for (size_t i = 0; files[i].name != kFactsFile; ++i)
      fmt::print("{}{}", i > 0 ? "\n" : "", files[i].content);
    return;
  }
  std::error_code error;
  if (!options.check) std::filesystem::create_directories(options.folder, error);  // writing reports it
  std::vector<std::string> stale;
  std::vector<DocFile> write;
  for (const DocFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(options.folder) / file.name;
    if (!options.check)
      write.push_back({path.string(), file.content});
    else if (ReadWhole(path) != file.content)
      stale.push_back(path.string());
  }
  for (const DocFile& file : write) RefuseToReplace(file.name);
  for (const DocFile& file : write) WriteFileWhole(file.name, file.content);
  if (stale.empty()) return;
  fmt::print(stderr, "out of date: {}\n  Write anew with: dladvisor rules docs -o {}\n",
             fmt::join(stale, ", "), options.folder);
  throw CLI::RuntimeError(1);
}

struct NewOptions {
  std::string name, relation = "gpu", folder = ".";
};

// Whether it is the folder that the built-in rules come from, which they would duplicate with --rules.
bool HoldsBuiltInRules(const std::filesystem::path& folder) {
  return std::ranges::all_of(BuiltInRuleFiles(), [&](const RuleFile& file) {
    const std::filesystem::path path = file.path;  // built-in/CATEGORY/ID.yaml
    return std::filesystem::exists(folder / path.lexically_relative(*path.begin()));
  });
}

void New(const CommonOptions& common, const NewOptions& options) {
  const KnowledgeBase knowledge = LoadRules(common, LoadProject(common.config));
  const std::filesystem::path folder = options.folder;
  std::vector<DocFile> files = NewRule(knowledge, options.name, options.relation);
  for (const DocFile& file : files)
    if (std::filesystem::exists(folder / file.name))
      throw Error((folder / file.name).string(), "already exists", "Choose another name.");
  files.push_back({kRuleSchemaFile, RuleSchema(knowledge)});
  files.push_back({kTestSchemaFile, TestSchema(knowledge)});
  for (const DocFile& file : files) {
    std::error_code error;
    std::filesystem::create_directories((folder / file.name).parent_path(), error);
    WriteFileWhole(folder / file.name, file.content);
    fmt::print("wrote {}\n", (folder / file.name).lexically_normal().string());
  }
  const std::string id = std::filesystem::path(options.name).filename().string();
  if (HoldsBuiltInRules(folder))
    fmt::print("Next: edit the rule, build the program again, then `dladvisor rules test --filter {}`\n", id);
  else
    fmt::print("Next: edit the rule, then `dladvisor --rules {} rules test --filter {}`\n", options.folder,
               id);
}

}  // namespace

std::string RulesText(const CommonOptions& common, const Project& project, const KnowledgeBase& knowledge,
                      const std::string& id) {
  if (!id.empty()) return FileText(common, project, knowledge, id);
  std::string out;
  for (const Rule& rule : knowledge.rules())
    out += fmt::format("{:<26} {:<16} {:<8} {}\n", rule.id, rule.category, SeverityName(rule.severity),
                       rule.title);
  for (const auto& relation : knowledge.relations())
    out += fmt::format("{:<26} {:<16} {:<8} {}\n", relation->schema.name, relation->category, "relation",
                       relation->schema.doc);
  return out;
}

void AddRulesCommand(CLI::App& app, const CommonOptions& common) {
  CLI::App* command = app.add_subcommand("rules", "List, show, check, test, document and start rules");
  command->require_subcommand(1);
  command->fallthrough();
  command->add_subcommand("list", "Every rule with its category, severity and title")->callback([&common] {
    Print(common, "");
  });
  auto id = std::make_shared<std::string>();
  CLI::App* show = command->add_subcommand("show", "The file of a rule, and what the project sets of it");
  show->add_option("RULE", *id, "Id of a rule or name of a derived relation")->required();
  show->callback([id, &common] { Print(common, *id); });
  auto file = std::make_shared<std::string>();
  CLI::App* check = command->add_subcommand("check", "Check all rule files, or one; no profile is needed");
  check->add_option("FILE", *file,
                    "A rule or its tests, also one of no rule folder, a project file (dladvisor.yaml), or a "
                    "table of GPU models");
  check->callback([file, &common] { Check(common, *file); });
  auto test = std::make_shared<TestOptions>();
  CLI::App* run = command->add_subcommand("test", "Run the tests beside the rules; status 1 where one fails");
  run->add_option("--filter", test->filter, "Only tests whose \"RULE: NAME\" contains this");
  run->add_flag("--json", test->json, "Results as JSON");
  run->footer("Exit status: 0 all passed, 1 one failed, 3 bad usage or a rule that cannot be read.");
  run->callback([test, &common] { Test(common, *test); });
  auto docs = std::make_shared<DocsOptions>();
  CLI::App* write =
      command->add_subcommand("docs", "Document all rules and facts, and write schemas for editors");
  write->add_option("-o,--output", docs->folder, "Folder to write to; default: the rules to the terminal")
      ->type_name("FOLDER");
  write->add_flag("--check", docs->check, "Write nothing; status 1 where a file is out of date");
  write->footer("Exit status: 0 done, 1 a file is out of date, 3 bad usage or a rule that cannot be read.");
  write->callback([docs, &common] { Docs(common, *docs); });
  auto fresh = std::make_shared<NewOptions>();
  CLI::App* start = command->add_subcommand("new", "Start a rule with a test that passes");
  start->add_option("NAME", fresh->name, "CATEGORY/ID, e.g. io/slow-checkpoint")->required();
  start->add_option("--for", fresh->relation, "Relation whose rows it judges")->type_name("RELATION");
  start->add_option("-o,--output", fresh->folder, "Folder of rules to write to")->type_name("FOLDER");
  start->callback([fresh, &common] { New(common, *fresh); });
}

}  // namespace dladvisor
