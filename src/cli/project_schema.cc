// SPDX-License-Identifier: Apache-2.0
#include "src/cli/project_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/authoring/function_docs.h"
#include "src/gate/judge/policy.h"
#include "src/gate/runs/metric.h"
#include "src/gate/runs/trait.h"

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;

Json Text(const char* description) {
  return {{"type", "string"}, {"minLength", 1}, {"description", description}};
}

constexpr const char* kNumber = R"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)";

// A number with one of the suffixes of its unit; 0 and what has no unit may be plain.
Json Quantity(Unit unit, const char* description) {
  Json quantity = {{"type", {"string", "number"}}, {"description", description}, {"minimum", 0}};
  if (unit == Unit::kRatio) quantity["maximum"] = 1;
  if (unit == Unit::kNone) return quantity;
  quantity["pattern"] = fmt::format("^{} *(?:{})$", kNumber, fmt::join(SuffixesOf(unit), "|"));
  if (unit != Unit::kRatio) quantity["maximum"] = 0;
  return quantity;
}

// At most 100 %.
Json Share(const char* description) {
  Json share = Quantity(Unit::kRatio, description);
  share["pattern"] = R"(^(?:100(?:\.0*)?|[0-9]{1,2}(?:\.[0-9]*)?|\.[0-9]+) *%$)";
  return share;
}

Json Choice(const std::vector<std::string>& values, const char* description) {
  return {{"enum", values}, {"description", description}};
}

Json Object(Json properties, const char* description) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"description", description},
          {"properties", std::move(properties)}};
}

// A key whose entries may all be comments.
Json OrNothing(Json schema) {
  schema["type"] = {schema["type"], "null"};
  return schema;
}

Json ListOf(Json items, const char* description) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", description}};
}

Json OneOrList(Json item, const char* description) {
  const Json list = {{"type", "array"}, {"items", item}};
  return {{"description", description}, {"oneOf", {std::move(item), list}}};
}

Json OneOrListOrNothing(Json item, const char* description) {
  Json schema = OneOrList(std::move(item), description);
  const Json nothing = {{"type", "null"}};
  schema["oneOf"].insert(schema["oneOf"].begin() + 1, nothing);
  return schema;
}

const std::vector<std::string> kLevels = {"off", "explain", "warn", "error"};
const std::vector<std::string> kAggregations = {"mean", "median", "optimistic", "pessimistic"};

Json Limits(const MetricKind& kind) {
  Json keys = {
      {"level", Choice(kLevels, "What a regression does; error where nothing else is said.")},
      {"gated",
       {{"type", "boolean"}, {"description", "false: it is shown and fails nothing; needs a reason."}}},
      {"reason", {{"type", "string"}, {"description", "Why it is not gated."}}},
      {"regression", Share("Relative change that counts as equal, e.g. 3 %.")},
      {"floor", Quantity(kind.unit, "Absolute change that counts as equal, in the metric's unit.")},
      {"run_to_run", Share("By how much runs of the same program differ, e.g. 5 %.")},
      {"max",
       Quantity(kind.unit, "Budget: most, in the metric's unit; of what is better the less there is.")},
      {"min", kind.unit == Unit::kRatio ? Share("Budget: least, of 100 %.")
                                        : Quantity(kind.unit, "Budget: least, in the metric's unit.")},
      {"merges",
       {{"type", "integer"},
        {"minimum", 8},
        {"maximum", 200},
        {"description", "Over how many runs of the history `creep` is a budget, 8 to 200."}}},
      {"creep", Share("By how much it may become worse over `merges` runs, e.g. 5 %.")},
      {"aggregate",
       Choice(kAggregations, "How runs of a side become one value; of all metrics where it is not said.")}};
  if (!kind.lower_is_better) keys.erase("max");
  Json metric = Object(std::move(keys), "Limits of a metric.");
  metric["dependencies"] = {{"creep", {"merges"}}, {"merges", {"creep"}}};
  metric["if"] = {{"properties", {{"gated", {{"const", false}}}}}, {"required", {"gated"}}};
  metric["then"] = {{"required", {"reason"}}, {"properties", {{"reason", {{"minLength", 1}}}}}};
  return metric;
}

// "less_ns", "more_flops_per_s": which metrics of one unit and direction share.
std::string LimitsName(const MetricKind& kind) {
  std::string unit(kind.unit == Unit::kNone ? "number" : UnitName(kind.unit));
  if (const size_t slash = unit.find('/'); slash != std::string::npos) unit.replace(slash, 1, "_per_");
  return (kind.lower_is_better ? "less_" : "more_") + unit;
}

// Of "step.time" or, of a family, of "op.time/NAME"; '.' stands for itself.
std::string PatternOf(const MetricKind& kind) {
  std::string pattern;
  for (const char c : kind.name) pattern += c == '.' ? std::string("\\.") : std::string(1, c);
  return pattern + (kind.is_family ? "/" : "$");
}

Json Waiver() {
  std::vector<std::string> patterns;
  for (const MetricKind& kind : MetricKinds()) patterns.push_back(PatternOf(kind));
  Json metric = Text("A metric, or a family with a GLOB pattern.");
  metric["pattern"] = fmt::format("^(?:{})", fmt::join(patterns, "|"));
  Json waiver = Object({{"rule", Text("Id of a rule.")},
                        {"metric", std::move(metric)},
                        {"reason", Text("Why it passes.")},
                        {"until",
                         {{"type", "string"},
                          {"pattern", "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$"},
                          {"description", "The last day, 2026-06-01."}}}},
                       "A rule or a metric, the reason, and the last day.");
  waiver["required"] = {"reason", "until"};
  waiver["oneOf"] = {{{"required", {"rule"}}}, {{"required", {"metric"}}}};
  return waiver;
}

Json Gate() {
  std::vector<std::string> metrics, traits;
  for (const MetricKind& kind : MetricKinds()) metrics.push_back(kind.name + (kind.is_family ? "/*" : ""));
  for (const TraitKind& kind : TraitKinds())
    if (kind.blocks) traits.push_back(kind.name);
  const std::string names =
      fmt::format("Metrics that gate, by name; a GLOB pattern follows the name of a family. Of: {}.",
                  fmt::join(metrics, ", "));
  Json limits = {{"type", {"object", "null"}}, {"description", names}};
  limits["additionalProperties"] = false;
  for (const MetricKind& kind : MetricKinds())
    limits["patternProperties"]["^" + PatternOf(kind)] = {{"$ref", "#/definitions/" + LimitsName(kind)}};
  Json rate =
      Share("Of gates of an unchanged program, over all metrics together; 0.25 % unless set, at most 20 %.");
  rate["pattern"] = R"(^(?!0*\.?0* *%)(?:20(?:\.0*)?|[01]?[0-9](?:\.[0-9]*)?|\.[0-9]+) *%$)";
  rate["exclusiveMinimum"] = 0;
  rate["maximum"] = 0.2;
  return Object(
      {{"false_alarms", std::move(rate)},
       {"on_inconclusive", Choice({"warn", "fail"}, "What a slowdown does that may be noise.")},
       {"on_unknown", Choice({"warn", "fail"}, "What a rule does that is an error and cannot be evaluated.")},
       {"new_findings",
        Choice(
            kLevels,
            "What findings of severity warning do that the baseline does not have; one that may come and go "
            "warns (docs/GATE.md).")},
       {"trend", Choice(kLevels, "What a slow creep does that the history shows.")},
       {"aggregate", Choice(kAggregations, "How runs of a side become one value.")},
       {"mode", Choice({"gate", "report"}, "report: nothing fails, and what would have failed is said.")},
       {"error_rules", Choice({"all", "new"},
                              "new: a rule that is an error fails where no run of the baseline has the "
                              "finding, and could have seen it.")},
       {"waivers", OrNothing(ListOf(Waiver(), "What is known and passes until a day."))},
       {"allow", OneOrListOrNothing(Choice(traits, "A trait."),
                                    "In what the sides may differ and still be compared.")},
       {"metrics", std::move(limits)}},
      "What fails a build; see examples/ci/README.md.");
}

Json Number(const char* description) {
  return {{"type", "number"}, {"exclusiveMinimum", 0}, {"description", description}};
}

// Numbers by precision.
Json Rates(const char* description) {
  const Json number = Number("Dense, with accumulation in FP32.");
  Json rates = Json::object();
  for (const char* precision : {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8"})
    rates[precision] = number;
  return Object(std::move(rates), description);
}

Json Names(const char* description) { return OneOrList(Text("A name."), description); }

Json HardwareKeys() {
  Json achievable = Object({{"vector_tflops", Rates("Of vector units.")},
                            {"matrix_tflops", Rates("Of tensor cores.")},
                            {"memory_gb_per_s", Number("Of the memory.")},
                            {"source", Text("Where the figures are from.")}},
                           "What was reached at most.");
  achievable["required"] = {"source"};
  Json gpu = Object({{"model", Text("What it is called in reports.")},
                     {"names", Names("As profilers print it.")},
                     {"shared_names", Names("Names that other models have, too.")},
                     {"architecture", Text("One of hardware.yaml, or of those declared here.")},
                     {"multiprocessors", Number("Multiprocessors.")},
                     {"boost_clock_mhz", Number("Boost clock.")},
                     {"matrix_clock_mhz", Number("Clock of tensor cores, where it is another.")},
                     {"vector_tflops", Rates("Peaks of vector units, TFLOP/s.")},
                     {"matrix_tflops", Rates("Peaks of tensor cores, TFLOP/s.")},
                     {"memory_gib", Number("Memory.")},
                     {"memory_gb_per_s", Number("Bandwidth of the memory.")},
                     {"recorded_memory_gb_per_s", Number("That which profilers record of it.")},
                     {"link_gb_per_s", Number("To other GPUs, one way.")},
                     {"host_gb_per_s", Number("To the host, one way.")},
                     {"source", Text("Where the figures are from.")},
                     {"achievable", std::move(achievable)}},
                    "A GPU model.");
  gpu["required"] = {"model", "source"};
  gpu["anyOf"] = {{{"required", {"names"}}}, {{"required", {"shared_names"}}}};
  Json architecture = Object({{"vector", Rates("Of vector units, per clock and multiprocessor.")},
                              {"matrix", Rates("Of tensor cores, per clock and multiprocessor.")},
                              {"source", Text("Where the figures are from.")}},
                             "Operations per clock and multiprocessor.");
  architecture["required"] = {"source"};
  return Object(
      {{"architectures",
        {{"type", "object"},
         {"additionalProperties", std::move(architecture)},
         {"description", "Architectures by name."}}},
       {"gpus", ListOf(std::move(gpu), "GPU models.")},
       {"unnamed",
        Text("The model of GPUs that a profile does not name: one of these, or of hardware.yaml.")}},
      "GPUs that hardware.yaml does not know, with its keys.");
}

Json Setting() {
  const Json severity = Choice({"error", "warning", "info", "off"}, "Severity, or off.");
  const Json params = {
      {"type", "object"},
      {"description", "Thresholds of the rule."},
      {"additionalProperties",
       {{"type", {"number", "string", "boolean", "object"}},
        {"additionalProperties", {{"type", "number"}}},
        {"description", "A value; of a param with a table further entries, pattern: number."}}}};
  Json list = ListOf({{"oneOf", {severity, params}}}, "[severity, {param: value}]");
  list["minItems"] = 1;
  list["maxItems"] = 2;
  list["not"] = {{"items", severity}, {"minItems", 2}};
  return {{"oneOf", {severity, params, std::move(list)}}};
}

Json Document() {
  Json document = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", "dladvisor project file"}};
  const Json rules = {
      {"type", {"object", "null"}},
      {"description", "By id of a rule its severity, off, its thresholds, or [severity, {param: value}]."},
      {"additionalProperties", Setting()}};
  document.update(Object(
      {{"rules", rules},
       {"rule_folders",
        OneOrListOrNothing(
            Text("A folder."),
            "Folders of rules of your own, relative to this file; each may replace rules of those before.")},
       {"steps",
        {{"type", {"string", "integer"}},
         {"pattern", "^(?:none|[0-9]+|[0-9]+:[0-9]*|:[0-9]+)$"},
         {"description", "Which steps are analysed, e.g. 3:107; none: the whole profile at once."}}},
       {"step_range", Text("Regular expression of the range around a step.")},
       {"pipeline", Text("Regular expression of the ranges of a pipeline's passes.")},
       {"price",
        {{"type", {"string", "number"}},
         {"exclusiveMinimum", 0},
         {"pattern", fmt::format("^ *{} ?[^ 0-9.,+/-]*$", kNumber)},
         {"description",
          "Of an hour of a GPU with its currency, e.g. 2.50 €: savings are told in money per day."}}},
       {"hardware", OrNothing(HardwareKeys())},
       {"gate", OrNothing(Gate())}},
      "dladvisor.yaml, found from every folder below the one that it lies in."));
  Json& definitions = document["definitions"] = Json::object();
  for (const MetricKind& kind : MetricKinds())
    definitions[LimitsName(kind)] = {{"oneOf", {Choice(kLevels, "The level alone."), Limits(kind)}}};
  return document;
}

std::string Allowed(const Json& schema) {
  if (schema.contains("enum")) {
    std::vector<std::string> values;
    for (const Json& value : schema["enum"]) values.push_back(fmt::format("`{}`", value.get<std::string>()));
    return fmt::format("{}", fmt::join(values, ", "));
  }
  if (schema.contains("oneOf")) return Allowed(schema["oneOf"].back());
  if (schema.contains("items")) return "a list of " + Allowed(schema["items"]);
  if (!schema.contains("type")) return "see below";
  if (schema["type"] == Json({"string", "number"})) return "a number with its unit";
  if (schema["type"].is_array()) return schema["type"][0] == "object" ? "a mapping" : "a text";
  const std::string type = schema["type"];
  return type == "object"    ? "a mapping"
         : type == "string"  ? "a text"
         : type == "boolean" ? "`true`, `false`"
                             : type;
}

void AddTable(const Json& object, const std::string& title, std::string& text) {
  text += fmt::format("\n## {}\n\n{}\n\n| Key | Value | Meaning |\n|---|---|---|\n", title,
                      object["description"].get<std::string>());
  for (const auto& [key, value] : object["properties"].items())
    text += fmt::format("| `{}` | {} | {} |\n", key, Allowed(value), value["description"].get<std::string>());
}

}  // namespace

std::string ProjectSchema() { return Document().dump(1) + "\n"; }

std::string ProjectDocs() {
  const Json document = Document();
  std::string text =
      "<!-- Generated by `dladvisor rules docs -o FOLDER`; changes belong into the rules or the program. "
      "-->\n"
      "# dladvisor.yaml\n\n`dladvisor rules check` checks it; [project.schema.json](project.schema.json) is "
      "its schema for "
      "editors: a first line `# yaml-language-server: $schema=PATH` names it.\n";
  AddTable(document, "The file", text);
  AddTable(document["properties"]["gate"], "gate", text);
  AddTable(Limits(MetricKinds()[0]), "gate: metrics: NAME", text);
  return text + "\n" + FunctionDocs();
}

}  // namespace dladvisor
