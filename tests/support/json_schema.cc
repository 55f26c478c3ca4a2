// SPDX-License-Identifier: Apache-2.0
#include "tests/support/json_schema.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/files.h"

namespace dladvisor::test {
namespace {

constexpr const char* kScript = R"(import json, sys, jsonschema
schema, documents = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
validator = jsonschema.validators.validator_for(schema)(schema)
for document in documents:
    error = next(iter(validator.iter_errors(document)), None)
    print("" if error is None else " ".join(str(error.message).split())[:300] or "does not fit")
)";

nlohmann::json JsonOf(const YAML::Node& node) {
  if (node.IsMap()) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& entry : node)
      object[entry.first.IsScalar() ? entry.first.Scalar() : ""] = JsonOf(entry.second);
    return object;
  }
  if (node.IsSequence()) {
    nlohmann::json array = nlohmann::json::array();
    for (const YAML::Node& item : node) array.push_back(JsonOf(item));
    return array;
  }
  if (!node.IsScalar()) return nullptr;
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "true" || text == "false") return text == "true";
  int64_t integer = 0;
  double real = 0;
  const char *begin = text.data(), *end = begin + text.size();
  if (const auto [stop, error] = std::from_chars(begin, end, integer); error == std::errc() && stop == end)
    return integer;
  if (const auto [stop, error] = std::from_chars(begin, end, real); error == std::errc() && stop == end)
    return real;
  return text;
}

}  // namespace

// Of Debian's packages another Python that comes first may know nothing.
std::string PythonWithJsonschema() {
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (Run(std::string(python) + " -c 'import jsonschema'").status == 0) return python;
  return "";
}

std::string SchemaErrors(const std::filesystem::path& schema, const std::filesystem::path& folder,
                         const std::string& ending) {
  const ScratchDir scratch;
  WriteFile(scratch.path() / "validate.py",
            "import glob, json, sys, jsonschema\n"
            "schema = json.load(open(sys.argv[1]))\n"
            "validator = jsonschema.validators.validator_for(schema)(schema)\n"
            "files = sorted(glob.glob(glob.escape(sys.argv[2]) + '/*' + sys.argv[3]))\n"
            "errors = [(f, e) for f in files for e in validator.iter_errors(json.load(open(f)))]\n"
            "for f, e in errors[:5]: print(f, list(e.path), e.message[:300])\n"
            "if not files: print('no file in', sys.argv[2])\n");
  const RunResult run =
      Run(fmt::format("{} '{}' '{}' '{}' '{}'", PythonWithJsonschema(),
                      (scratch.path() / "validate.py").string(), schema.string(), folder.string(), ending));
  return run.status == 0 ? run.out : run.err;
}

std::optional<std::vector<std::string>> SchemaProblems(const std::string& schema,
                                                       const std::vector<std::string>& documents) {
  const std::string python = PythonWithJsonschema();
  if (python.empty()) return std::nullopt;
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& document : documents) all.push_back(JsonOf(YAML::Load(document)));
  const ScratchDir folder;
  WriteFile(folder.path() / "schema.json", schema);
  WriteFile(folder.path() / "documents.json", all.dump());
  WriteFile(folder.path() / "check.py", kScript);
  const RunResult result =
      Run("cd '" + folder.path().string() + "' && " + python + " check.py schema.json documents.json");
  if (result.status != 0) return std::vector<std::string>(documents.size(), result.err);
  std::vector<std::string> problems;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) problems.push_back(line);
  return problems;
}

}  // namespace dladvisor::test
