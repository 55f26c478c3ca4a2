// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/evaluation/observed.h"

#include <nlohmann/json.hpp>

#include "tests/support/files.h"

namespace dladvisor::evaluation {
namespace {

using nlohmann::json;

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::optional<double> NumberIn(const json& value) {
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

void AddFindings(const json& findings, bool nested, std::vector<Said>& said) {
  for (const json& finding : findings) {
    if (finding["outcome"] == "fired") {
      Said& one = said.emplace_back();
      one.rule = finding["rule"];
      one.severity = finding["severity"];
      one.problem = one.text = finding["problem"];
      for (const json& recommendation : finding["recommendation"])
        one.text += "\n" + recommendation.get<std::string>();
      if (const json& saves = finding["saves"]; saves.is_object()) {
        one.low = NumberIn(saves["low_ns"]);
        one.high = NumberIn(saves["high_ns"]);
      }
      one.nested = nested;
    }
    AddFindings(finding["children"], true, said);
  }
}

std::vector<std::optional<double>> Values(const std::string& command,
                                          const std::vector<std::string>& queries) {
  std::vector<std::optional<double>> values(queries.size());
  if (queries.empty()) return values;
  std::string sql = "SELECT ";
  for (size_t q = 0; q < queries.size(); ++q)
    sql += (q ? ", (" : "(") + queries[q] + ") AS v" + std::to_string(q);
  const test::RunResult ran = test::Run(command + Quoted(sql) + " --format json");
  if (ran.status != 0) throw std::runtime_error(ran.err);
  const json rows = json::parse(ran.out);
  for (size_t q = 0; q < queries.size(); ++q) values[q] = NumberIn(rows.at(0)["v" + std::to_string(q)]);
  return values;
}

}  // namespace

Observed Observe(const std::filesystem::path& program, const std::filesystem::path& profile,
                 const std::vector<std::string>& queries) {
  Observed observed;
  const std::string start = Quoted(program.string()) + " --quiet ", path = Quoted(profile.string()) + " ";
  const test::RunResult ran = test::Run(start + "report " + path + "--format json");
  if (ran.status != 0) {
    observed.error = ran.err.empty() ? "exit status " + std::to_string(ran.status) : ran.err;
    observed.values.resize(queries.size());
    return observed;
  }
  const json report = json::parse(ran.out);
  AddFindings(report["findings"], false, observed.findings);
  if (const json& first = report["summary"]["first"]; first.is_string()) observed.first = first;
  for (const json& figure : report["figures"]) {
    if (figure["id"] == "step_time") observed.step_ns = NumberIn(figure["value"]);
    if (figure["id"] == "window") observed.window_ns = NumberIn(figure["value"]);
  }
  observed.values = Values(start + "query " + path, queries);
  return observed;
}

}  // namespace dladvisor::evaluation
