// SPDX-License-Identifier: Apache-2.0
// What a project gates on: the section `gate` of dladvisor.yaml.
//
//   gate:
//     false_alarms: 0.25 %        # of gates of an unchanged program, over all metrics together
//     on_inconclusive: warn       # or fail
//     on_unknown: warn            # or fail: rules that are errors and could not be evaluated
//     new_findings: explain       # off, explain, warn, error: findings that the baseline did not have
//     trend: warn                 # a slow creep that the history shows
//     aggregate: mean             # of the runs of a side: mean, median, optimistic, pessimistic
//     mode: report                # fail nothing, and say what would have failed; or gate
//     error_rules: new            # a rule that is an error fails where the baseline did not have it; or all
//     allow: [gpu.model]          # may differ between the sides
//     waivers:
//       - {rule: data-loading, reason: the new storage comes in May, until: 2026-06-01}
//       - {metric: memory.peak, reason: known, until: 2026-06-01}
//     metrics:
//       step.time:        {regression: 3 %, floor: 1 ms, run_to_run: 5 %, max: 450 ms}
//       communication.exposed: {merges: 15, creep: 5 %}
//       gpu.utilization:  {level: warn, min: 85 %}
//       op.time/*conv*:   {level: warn, regression: 10 %}
//       op.flops_per_s/*mm*: {min: 200 TFLOP/s}
//       memory.peak:      {gated: false, reason: the new model is larger, regression: 5 %}
//
// A metric that is listed is of level `error` where nothing else is said; step.time always is, the others
// explain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/rule.h"
#include "engine/rules/yaml_reader.h"
#include "src/gate/compare/comparison.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {

struct MetricPolicy {
  std::string pattern;  // a metric, or a family with a GLOB pattern: "op.time/*conv*"
  Level level = Level::kError;
  bool gated = true;
  std::string reason;                // why it is not
  double regression = 0.03;          // relative
  double floor = 0;                  // in the metric's unit
  std::optional<double> run_to_run;  // runs of the same program differ by less, relative
  std::optional<double> max, min;    // budget, in the metric's unit
  std::optional<Aggregation> aggregate;
  // A budget of the history: over so many of its last runs it may become worse by at most that, relative.
  std::optional<size_t> merges;
  double creep = 0.05;
};

// What a project knows of and lets pass until a day.
struct Waiver {
  std::string rule, metric;   // one of them
  std::string reason, until;  // "2026-06-01", the last day
  Place place = {};
};

struct GatePolicy {
  double false_alarms = kDefaultAlpha;
  bool fail_on_inconclusive = false;
  bool fail_on_unknown = false;
  bool reports_only = false;
  bool fails_on_new_errors_alone = false;
  std::vector<Waiver> waivers;
  std::string today;  // "2026-05-31", which decides whether waivers have expired; "" before any
  Level new_findings = Level::kExplain;
  Level trend = Level::kWarn;
  Aggregation aggregate = Aggregation::kMean;
  std::vector<std::string> allow;  // traits; see trait.h
  std::vector<MetricPolicy> metrics = {{.pattern = "step.time",
                                        .reason = "",
                                        .run_to_run = {},
                                        .max = {},
                                        .min = {},
                                        .aggregate = {},
                                        .merges = {}}};

  std::vector<std::string> warnings;  // of what may be meant, but hardly is

  // The first that fits; null where the metric only explains.
  const MetricPolicy* Find(const std::string& metric) const;
  // The waiver of a rule or a metric that has not expired, or null.
  const Waiver* WaiverOfRule(const std::string& rule) const;
  const Waiver* WaiverOfMetric(const std::string& metric) const;
};

// What a limit of that unit may be written in: "ns", "ms", ...; none of a plain number.
std::vector<std::string> SuffixesOf(Unit unit);

// In UTC, "2026-06-01": what is waived until a day passes on it.
std::string Today();

// Of a mapping that is the value of `gate`. Every problem is added with its place; unknown keys, metrics and
// traits with the nearest known one.
GatePolicy ReadGatePolicy(const YamlFile& yaml, const YAML::Node& node, Problems& problems);

}  // namespace dladvisor
