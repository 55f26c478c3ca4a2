// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mcp_tools.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "engine/inference/inference.h"
#include "engine/rules/rule_file.h"
#include "src/cli/compare_command.h"
#include "src/cli/explanation_text.h"
#include "src/cli/facts_command.h"
#include "src/cli/query_command.h"
#include "src/cli/rules_command.h"
#include "src/comparison/render/comparison_text.h"
#include "src/fleet/find_files.h"
#include "src/report/formats/json_summary.h"
#include "src/report/sections/capture_section.h"

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostLoaded = 2, kMostRows = 100'000;

Json TextSchema(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json PathsSchema(const char* description) {
  return {
      {"description", description},
      {"anyOf", Json::array({Json{{"type", "string"}},
                             Json{{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}})}};
}

Json PageSchema() {
  return {{"type", "integer"}, {"minimum", 1}, {"description", "Which page of a long answer; default 1"}};
}

Json WithProfile(Json properties) {
  Json all = {
      {"profile", PathsSchema("File, folder or pattern of a profile; a list for the ranks of a job")}};
  all.update(properties);
  all["steps"] = TextSchema("Only these steps, e.g. 3:107");
  all["step_range"] = TextSchema("Regular expression of the range around a step, e.g. 'iteration (\\d+)'");
  return all;
}

Json Tool(const char* name, const char* title, const char* description, Json properties, Json required) {
  return {{"name", name},
          {"title", title},
          {"description", description},
          {"inputSchema",
           {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

Json AllTools() {
  return Json::array(
      {Tool("report", "Diagnose a profile",
            "What makes the profiled run slow: headline, findings ranked by what fixing them saves, with "
            "evidence, "
            "and which rules could not decide for want of what was not recorded. Start here.",
            WithProfile({{"skip",
                          {{"type", "integer"},
                           {"minimum", 0},
                           {"description", "Findings to leave out, to see those after them"}}}}),
            {"profile"}),
       Tool("explain", "Explain a rule on a profile",
            "Why a rule fired on a profile, did not fire, or cannot tell: every condition with its values.",
            WithProfile({{"rule", TextSchema("Id of the rule, e.g. cpu-launch-starvation")},
                         {"subject",
                          {{"type", "array"},
                           {"items", {{"type", "string"}}},
                           {"description", "Only subjects with these COLUMN=VALUE"}}},
                         {"page", PageSchema()}}),
            {"profile", "rule"}),
       Tool("query", "Query a profile",
            "Rows of a SELECT over the facts and events of a profile, as CSV; read only. An empty field is "
            "NULL: not "
            "recorded, never 0 or no. The tool facts lists relations and columns.",
            WithProfile({{"sql", TextSchema("A SELECT in SQLite's dialect, or the name of a relation")},
                         {"page", PageSchema()}}),
            {"profile", "sql"}),
       Tool("facts", "List relations",
            "The relations that queries and rules see, or the columns of one with their units and meaning.",
            {{"relation", TextSchema("Describe the columns of this one")}, {"page", PageSchema()}},
            Json::array()),
       Tool("rules", "List rules", "All rules with severity and title, or the source of one.",
            {{"rule", TextSchema("Show the source of this one")},
             {"search", TextSchema("Only those whose line holds this text")},
             {"page", PageSchema()}},
            Json::array()),
       Tool("compare", "Compare two runs",
            "What changed between two runs and why. It describes two recordings and does not judge whether a "
            "change "
            "is more than noise.",
            {{"before", TextSchema("Profile of the first run")},
             {"after", TextSchema("Profile of the second run")},
             {"page", PageSchema()}},
            {"before", "after"})});
}

bool AreTexts(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const auto& item) { return item.is_string(); });
}

// Of the tool's schema: names are known, required ones there, types as they must be.
void Check(const Json& tool, const Json& arguments) {
  const std::string name = tool["name"];
  if (!arguments.is_object()) throw Error(name, "takes its arguments as an object");
  const Json& schema = tool["inputSchema"];
  std::vector<std::string> known;
  for (const auto& [key, property] : schema["properties"].items()) known.push_back(key);
  for (const auto& [key, value] : arguments.items()) {
    if (!schema["properties"].contains(key))
      throw Error(name + ": " + key, "is not an argument" + DidYouMean(key, known),
                  fmt::format("Arguments: {}.", fmt::join(known, ", ")));
    const Json& property = schema["properties"][key];
    const std::string type = property.value("type", "");
    const bool fits = type == "string"    ? value.is_string()
                      : type == "integer" ? value.is_number_integer() &&
                                                value.get<int64_t>() >= property["minimum"].get<int64_t>()
                      : type == "array" ? AreTexts(value)
                                        : value.is_string() || AreTexts(value);
    if (!fits) throw Error(name + ": " + key, "has a value of the wrong type", property["description"]);
  }
  for (const auto& key : schema["required"])
    if (!arguments.contains(key.get<std::string>()))
      throw Error(name + ": " + key.get<std::string>(), "is missing",
                  schema["properties"][key.get<std::string>()]["description"]);
}

std::vector<std::string> TextsOf(const Json& arguments, const char* key) {
  if (!arguments.contains(key)) return {};
  const Json& value = arguments[key];
  return value.is_string() ? std::vector<std::string>{value} : value.get<std::vector<std::string>>();
}

std::string TextOf(const Json& arguments, const char* key) { return arguments.value(key, ""); }

// At most `most` bytes of a text, without half a character.
std::string ShortenTo(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "...";
}

// A page of whole lines; `header` stands over each.
std::string PageOf(const std::string& header, const std::string& text, const Json& arguments) {
  constexpr size_t kRoomForNote = 200, kLongestLine = 2000;
  const std::string head = ShortenTo(header, kMostAnswerBytes / 4);
  const size_t room = kMostAnswerBytes - kRoomForNote - head.size();
  std::vector<std::string> pages(1);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line =
        ShortenTo(std::string_view(text).substr(begin, end - begin), kLongestLine) + "\n";
    if (!pages.back().empty() && pages.back().size() + line.size() > room) pages.emplace_back();
    pages.back() += line;
    begin = end + 1;
  }
  const size_t page = arguments.value("page", size_t{1});
  if (page > pages.size())
    throw Error(fmt::format("page {}", page), fmt::format("is not there: the answer has {}", pages.size()));
  std::string answer = ValidUtf8(head + pages[page - 1]);
  if (pages.size() > 1) {
    answer += fmt::format("(page {} of {}", page, pages.size());
    answer += page < pages.size() ? fmt::format("; the next one: page {})\n", page + 1) : ")\n";
  }
  return answer;
}

ProfileOptions OptionsOf(const Json& arguments) {
  ProfileOptions options;
  options.paths = TextsOf(arguments, "profile");
  options.steps = TextOf(arguments, "steps");
  options.step_range = TextOf(arguments, "step_range");
  // The standard input is the client's.
  if (std::ranges::find(options.paths, "-") != options.paths.end())
    throw Error("profile -", "is not a file", "Write the profile to a file first.");
  return options;
}

// Another text where a file was written, replaced or made readable; of one that is not there, its path.
std::string StampOf(const std::string& path) {
  struct stat is {};
  if (stat(path.c_str(), &is) != 0) return path + "\n";
  return fmt::format("{}\n{} {}.{:09} {}.{:09} {}\n", path, is.st_size, is.st_mtim.tv_sec, is.st_mtim.tv_nsec,
                     is.st_ctim.tv_sec, is.st_ctim.tv_nsec, is.st_ino);
}

// What a loaded profile is known by: another key where any of the files changed that it follows from, or
// where files came or went. Throws Error where there are none.
std::string KeyOf(const ProfileOptions& options, const CommonOptions& common, const Project& project) {
  std::string key = options.steps + "\n" + options.step_range + "\n";
  for (const std::string& path : options.paths) key += path + "\n";
  for (const FoundFile& file : FindFiles(options.paths)) key += StampOf(file.path.string());
  key += StampOf(project.path);
  for (const std::string& folder : RuleFolders(common, project))
    for (const RuleFile& file : ReadRuleFolder(folder)) key += file.path + "\n" + file.content + "\n";
  return key;
}

}  // namespace

struct McpTools::Loaded {
  std::string key;
  KnowledgeBase knowledge;
  std::unique_ptr<Diagnosis> diagnosis;
};

McpTools::McpTools(const CommonOptions& common) : common_(common) {
  common_.quiet = true;
  common_.stats = false;
}

McpTools::~McpTools() = default;

const Json& McpTools::List() {
  static const Json tools = AllTools();
  return tools;
}

bool McpTools::Has(const std::string& name) {
  return std::ranges::any_of(List(), [&](const Json& tool) { return tool["name"] == name; });
}

const McpTools::Loaded& McpTools::Load(const Json& arguments, const Progress& progress) {
  const ProfileOptions options = OptionsOf(arguments);
  const Project project = LoadProject(common_.config);
  const std::string key = KeyOf(options, common_, project);
  const auto known = std::ranges::find(loaded_, key, &Loaded::key);
  if (known != loaded_.end()) {
    loaded_.splice(loaded_.begin(), loaded_, known);
    return loaded_.front();
  }
  if (loaded_.size() >= kMostLoaded) loaded_.pop_back();  // before another takes memory
  Stages stages(common_, progress);
  stages.Begin("rules");
  KnowledgeBase knowledge = LoadConfiguredRules(common_, project);
  std::unique_ptr<Diagnosis> diagnosis = Diagnose(options, project, knowledge, stages);
  loaded_.push_front({key, std::move(knowledge), std::move(diagnosis)});
  return loaded_.front();
}

std::string McpTools::Report(const Json& arguments, const Progress& progress) {
  return RenderJsonSummary(Load(arguments, progress).diagnosis->model, kMostAnswerBytes,
                           arguments.value("skip", size_t{0}));
}

std::string McpTools::Explain(const Json& arguments, const Progress& progress) {
  const Loaded& loaded = Load(arguments, progress);
  const Rule& rule = FindRule(loaded.knowledge, TextOf(arguments, "rule"));
  const std::vector<std::string> subject = TextsOf(arguments, "subject");
  CheckSubject(rule, subject);
  progress("infer");
  Diagnosis& diagnosis = *loaded.diagnosis;
  Advice advice = Infer(loaded.knowledge, diagnosis.database,
                        {.keep_clear = rule.id, .absent_relations = diagnosis.profile.MissingRelations()});
  TranslateCapture(advice, diagnosis.database);
  return PageOf("", ExplanationText(rule, advice, subject), arguments);
}

std::string McpTools::Query(const Json& arguments, const Progress& progress) {
  const Diagnosis& diagnosis = *Load(arguments, progress).diagnosis;
  progress("query");
  const std::string sql = TextOf(arguments, "sql");
  const ResultSet result = RunSql(diagnosis.database, sql, kMostRows);
  std::string header = EventsNotHeld(diagnosis.profile, diagnosis.database, sql);
  if (!header.empty()) header = "warning: " + header + "\n";
  if (result.rows.size() == kMostRows) header += fmt::format("warning: the first {} rows\n", kMostRows);
  const std::string csv = CsvText(result);
  const size_t first_line = csv.find('\n') + 1;
  return PageOf(fmt::format("{}{} rows\n", header, result.rows.size()) + csv.substr(0, first_line),
                csv.substr(first_line), arguments);
}

std::string McpTools::Facts(const Json& arguments) {
  const KnowledgeBase knowledge = LoadRules(common_, LoadProject(common_.config));
  return PageOf("", FactsText(knowledge, TextOf(arguments, "relation")), arguments);
}

std::string McpTools::Rules(const Json& arguments) {
  const Project project = LoadProject(common_.config);
  const std::string text =
      RulesText(common_, project, LoadConfiguredRules(common_, project), TextOf(arguments, "rule"));
  const std::string search = TextOf(arguments, "search");
  if (search.empty()) return PageOf("", text, arguments);
  std::string found;
  for (const std::string_view line : Split(text, '\n'))
    if (line.find(search) != std::string_view::npos) found += std::string(line) + "\n";
  return PageOf("", found.empty() ? "no rule's line holds " + search + "\n" : found, arguments);
}

std::string McpTools::Compare(const Json& arguments, const Progress& progress) {
  ProfileOptions options;
  options.paths = {TextOf(arguments, "before"), TextOf(arguments, "after")};
  if (std::ranges::find(options.paths, "-") != options.paths.end())
    throw Error("compare -", "is not a file", "Write the profile to a file first.");
  const Project project = LoadProject(common_.config);
  Stages stages(common_, progress);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common_, project);
  const RunsCompared compared = dladvisor::Compare(options, "", project, knowledge, stages);
  return PageOf("", RenderComparisonText(compared, kProgram, {}), arguments);
}

std::string McpTools::Call(const std::string& name, const Json& arguments, const Progress& progress) {
  for (const Json& tool : List())
    if (tool["name"] == name) Check(tool, arguments);
  if (name == "report") return Report(arguments, progress);
  if (name == "explain") return Explain(arguments, progress);
  if (name == "query") return Query(arguments, progress);
  if (name == "facts") return Facts(arguments);
  if (name == "rules") return Rules(arguments);
  if (name == "compare") return Compare(arguments, progress);
  throw Error(name, "is not a tool");
}

}  // namespace dladvisor
