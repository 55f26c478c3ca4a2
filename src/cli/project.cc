// SPDX-License-Identifier: Apache-2.0
#include "src/cli/project.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/rules/yaml_reader.h"
#include "engine/store/lookup_table.h"
#include "src/cli/price.h"
#include "src/hardware/hardware_reader.h"
#include "src/hardware/table/built_in_hardware.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

fs::path FindUpwards() {
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error; folder = folder.parent_path()) {
    std::error_code absent;
    if (fs::path file = folder / kProjectFile; fs::is_regular_file(file, absent)) return file;
    if (folder == folder.root_path()) break;
  }
  return {};
}

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path))
    throw Error(path.string(), "is not a readable project file", "Give a YAML file to --config.");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether it holds nothing but spaces and comments.
bool IsBlank(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (const size_t first = line.find_first_not_of(" \t\r");
        first != std::string::npos && line[first] != '#')
      return false;
  return true;
}

class ProjectReader {
 public:
  ProjectReader(const YamlFile& yaml, Problems& problems) : yaml_(yaml), problems_(problems) {}

  Project Read(const fs::path& path) {
    Project project;
    project.path = path.string();
    YamlMap map(yaml_, yaml_.root(), "", "a project file", problems_);
    if (const YAML::Node rules = map.Get("rules"); rules.IsDefined() && rules.IsMap())
      for (const auto& entry : rules) project.settings.push_back(ReadSetting(entry.first, entry.second));
    else if (rules.IsDefined() && !rules.IsNull())
      problems_.Add(yaml_.PlaceOf(rules), "", "'rules' must be a mapping (rule id: severity)");
    for (const auto& [folder, place] : map.TextList("rule_folders"))
      project.rule_folders.push_back((path.parent_path() / folder).lexically_normal().string());
    if (map.Get("steps").IsDefined()) project.steps = map.RequiredText("steps");
    if (map.Get("step_range").IsDefined()) project.step_range = map.RequiredText("step_range");
    if (map.Get("pipeline").IsDefined()) project.pipeline = map.RequiredText("pipeline");
    if (const auto price = map.Text("price")) {
      const auto read = ParsePrice(*price);
      if (read)
        project.price = *read;
      else
        problems_.Add(map.PlaceOf(map.Get("price")), "",
                      fmt::format("price '{}' is no amount with its currency, such as 2.50 €", *price));
    }
    if (const YAML::Node hardware = map.Get("hardware"); hardware.IsDefined() && !hardware.IsNull())
      project.hardware =
          std::make_shared<Hardware>(ReadHardware(yaml_, hardware, BuiltInHardware(), problems_));
    if (const YAML::Node gate = map.Get("gate"); gate.IsDefined() && !gate.IsNull())
      project.gate = ReadGatePolicy(yaml_, gate, problems_);
    for (const Waiver& waiver : project.gate.waivers)  // names a rule that there must be
      if (!waiver.rule.empty()) {
        RuleSetting& named = project.settings.emplace_back();
        named.id = waiver.rule;
        named.place = waiver.place;
      }
    map.Finish();
    return project;
  }

 private:
  // off | SEVERITY | {param: value} | [SEVERITY, {param: value}]
  RuleSetting ReadSetting(const YAML::Node& key, const YAML::Node& node) {
    RuleSetting setting;
    setting.id = key.IsScalar() ? key.Scalar() : "";
    setting.place = yaml_.PlaceOf(key);
    if (!node.IsSequence()) {
      ReadPart(node, setting);
    } else {
      if (node.size() == 0) Refuse(node);
      for (const YAML::Node& part : node) ReadPart(part, setting);
    }
    return setting;
  }

  void ReadPart(const YAML::Node& node, RuleSetting& setting) {
    if (node.IsScalar()) return ReadSeverity(node, setting);
    if (!node.IsMap()) return Refuse(node);
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && entry.second.IsScalar())
        setting.params.push_back(
            {entry.first.Scalar(), ScalarValue(entry.second), yaml_.PlaceOf(entry.first)});
      else if (entry.first.IsScalar() && entry.second.IsMap())
        setting.params.push_back(
            {entry.first.Scalar(), ReadTable(entry.second), yaml_.PlaceOf(entry.first), /*is_table=*/true});
      else
        problems_.Add(yaml_.PlaceOf(entry.first), "",
                      "a param must be a number, a text or a mapping (pattern: number)");
    }
  }

  Value ReadTable(const YAML::Node& node) {
    LookupTable table;
    if (node.size() == 0) problems_.Add(yaml_.PlaceOf(node), "", "a param's table has no entries");
    for (const auto& entry : node) {
      const std::string why = entry.first.IsScalar() && entry.second.IsScalar()
                                  ? table.Add(entry.first.Scalar(), ScalarValue(entry.second))
                                  : "must be numbers";
      if (!why.empty()) problems_.Add(yaml_.PlaceOf(entry.first), "", "entries of a param's table " + why);
    }
    return table.Text();
  }

  void ReadSeverity(const YAML::Node& node, RuleSetting& setting) {
    if (setting.severity || setting.off)
      return problems_.Add(yaml_.PlaceOf(node), "", "a rule is set to one severity, or off");
    static const std::vector<std::string> kWords = {"error", "warning", "info", "off"};
    static constexpr std::array kSeverities = {Severity::kError, Severity::kWarning, Severity::kInfo};
    for (size_t i = 0; i < kSeverities.size(); ++i)
      if (node.Scalar() == kWords[i]) {
        setting.severity = kSeverities[i];
        return;
      }
    if (node.Scalar() == "off")
      setting.off = true;
    else
      problems_.Add(yaml_.PlaceOf(node), "",
                    fmt::format("severity '{}' is none of {}{}", node.Scalar(), fmt::join(kWords, ", "),
                                DidYouMean(node.Scalar(), kWords)));
  }

  void Refuse(const YAML::Node& node) {
    problems_.Add(yaml_.PlaceOf(node), "", "a rule is set by off, a severity, or [severity, {param: value}]");
  }

  const YamlFile& yaml_;
  Problems& problems_;
};

}  // namespace

bool IsProjectFile(const std::string& file) {
  if (fs::path(file).filename() == kProjectFile) return true;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  Problems ignored;
  const auto yaml = YamlFile::Parse(file, ReadText(file), ignored);
  if (!yaml || !yaml->root().IsMap() || yaml->root()["id"]) return false;
  for (const char* key :
       {"rules", "rule_folders", "gate", "hardware", "steps", "step_range", "pipeline", "price"})
    if (yaml->root()[key]) return true;
  return false;
}

Project LoadProject(const std::string& file) {
  const fs::path path = file.empty() ? FindUpwards() : fs::path(file);
  if (path.empty()) return {};
  Problems problems;
  Project project;
  const std::string shown = file.empty() ? fs::proximate(path).string() : file;
  const std::string text = ReadText(path);
  if (IsBlank(text)) {
    project.path = shown;  // sets nothing, such as one whose lines are all comments
  } else if (const auto yaml = YamlFile::Parse(shown, text, problems)) {
    project = ProjectReader(*yaml, problems).Read(shown);
  }
  if (!problems.empty()) throw RuleErrors(problems.Lines());
  return project;
}

}  // namespace dladvisor
