// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/policy.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/base/text.h"
#include "src/gate/runs/metric.h"
#include "src/gate/runs/trait.h"

namespace dladvisor {
namespace {

template <class T>
struct Word {
  const char* text;
  T value;
};

constexpr std::array<Word<Level>, 4> kLevels = {
    {{"off", Level::kOff}, {"explain", Level::kExplain}, {"warn", Level::kWarn}, {"error", Level::kError}}};
constexpr std::array<Word<Aggregation>, 4> kAggregations = {{{"mean", Aggregation::kMean},
                                                             {"median", Aggregation::kMedian},
                                                             {"optimistic", Aggregation::kOptimistic},
                                                             {"pessimistic", Aggregation::kPessimistic}}};
constexpr std::array<Word<bool>, 2> kInconclusive = {{{"warn", false}, {"fail", true}}};
constexpr std::array<Word<bool>, 2> kFlags = {{{"true", true}, {"false", false}}};

struct Suffix {
  std::string_view text;
  Unit unit;
  double factor;
};
constexpr std::array<Suffix, 16> kSuffixes = {{{"ns", Unit::kNanoseconds, 1},
                                               {"us", Unit::kNanoseconds, 1e3},
                                               {"µs", Unit::kNanoseconds, 1e3},
                                               {"ms", Unit::kNanoseconds, 1e6},
                                               {"s", Unit::kNanoseconds, 1e9},
                                               {"min", Unit::kNanoseconds, 60e9},
                                               {"%", Unit::kRatio, 0.01},
                                               {"B", Unit::kBytes, 1},
                                               {"KiB", Unit::kBytes, 1024},
                                               {"MiB", Unit::kBytes, 1024.0 * 1024},
                                               {"GiB", Unit::kBytes, 1024.0 * 1024 * 1024},
                                               {"MB", Unit::kBytes, 1e6},
                                               {"GB", Unit::kBytes, 1e9},
                                               {"MFLOP/s", Unit::kFlopsPerSecond, 1e6},
                                               {"GFLOP/s", Unit::kFlopsPerSecond, 1e9},
                                               {"TFLOP/s", Unit::kFlopsPerSecond, 1e12}}};

// A number with its unit, e.g. "450 ms"; a ratio may be a plain number.
std::optional<double> ParseQuantity(const std::string& text, Unit unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty() && ((unit == Unit::kRatio && number <= 1) || unit == Unit::kNone || number == 0))
    return number;
  for (const Suffix& suffix : kSuffixes)
    if (suffix.text == rest && suffix.unit == unit) return number * suffix.factor;
  return std::nullopt;
}

const char* ExampleOf(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return "450 ms";
    case Unit::kRatio:
      return "85 %";
    case Unit::kBytes:
      return "30 GiB";
    case Unit::kFlopsPerSecond:
      return "200 TFLOP/s";
    default:
      return "120";
  }
}

class Reader {
 public:
  Reader(const YamlFile& yaml, Problems& problems) : yaml_(yaml), problems_(problems) {}

  GatePolicy Read(const YAML::Node& node) {
    GatePolicy policy;
    YamlMap map(yaml_, node, "", "gate", problems_);
    if (const auto rate = Quantity(map, "false_alarms", Unit::kRatio)) {
      policy.false_alarms = *rate;
      if (*rate <= 0 || *rate > 0.2)
        problems_.Add(map.place(), "", "'false_alarms' must be above 0 and at most 20 %");
    }
    policy.fail_on_inconclusive = Choice<bool>(map, "on_inconclusive", kInconclusive).value_or(false);
    policy.fail_on_unknown = Choice<bool>(map, "on_unknown", kInconclusive).value_or(false);
    policy.new_findings = Choice<Level>(map, "new_findings", kLevels).value_or(policy.new_findings);
    policy.trend = Choice<Level>(map, "trend", kLevels).value_or(policy.trend);
    policy.aggregate = Choice<Aggregation>(map, "aggregate", kAggregations).value_or(policy.aggregate);
    for (const auto& [trait, place] : map.TextList("allow")) policy.allow.push_back(Trait(trait, place));
    if (const YAML::Node metrics = map.Get("metrics"); metrics.IsDefined()) ReadMetrics(metrics, policy);
    map.Finish();
    return policy;
  }

 private:
  std::string Trait(const std::string& name, const Place& place) {
    std::vector<std::string> known;
    for (const TraitKind& kind : TraitKinds())
      if (kind.blocks) known.push_back(kind.name);
    if (std::ranges::find(known, name) == known.end())
      problems_.Add(
          place, "",
          fmt::format("'{}' is none of {}{}", name, fmt::join(known, ", "), DidYouMean(name, known)));
    return name;
  }

  void ReadMetrics(const YAML::Node& node, GatePolicy& policy) {
    if (!node.IsMap())
      return problems_.Add(yaml_.PlaceOf(node), "", "'metrics' must be a mapping (metric: limits)");
    std::vector<MetricPolicy> metrics;
    for (const auto& entry : node) metrics.push_back(ReadMetric(entry.first, entry.second));
    if (std::ranges::find(metrics, "step.time", &MetricPolicy::pattern) == metrics.end())
      metrics.insert(metrics.begin(), policy.metrics[0]);
    policy.metrics = std::move(metrics);
  }

  MetricPolicy ReadMetric(const YAML::Node& key, const YAML::Node& node) {
    MetricPolicy metric = GatePolicy().metrics[0];
    metric.pattern = key.IsScalar() ? key.Scalar() : "";
    const MetricKind* kind = FindMetricKind(metric.pattern);
    if (kind == nullptr) {
      std::vector<std::string> known;
      for (const MetricKind& other : MetricKinds())
        known.push_back(other.name + (other.is_family ? "/*" : ""));
      problems_.Add(yaml_.PlaceOf(key), "",
                    fmt::format("'{}' is none of {}{}", metric.pattern, fmt::join(known, ", "),
                                DidYouMean(metric.pattern, known)));
      return metric;
    }
    if (node.IsScalar()) {  // op.time/*: off
      metric.level = LevelOf(node).value_or(metric.level);
      return metric;
    }
    YamlMap map(yaml_, node, "", metric.pattern, problems_);
    metric.level = Choice<Level>(map, "level", kLevels).value_or(metric.level);
    metric.gated = Choice<bool>(map, "gated", kFlags).value_or(true);
    metric.reason = map.Text("reason").value_or("");
    metric.regression = Quantity(map, "regression", Unit::kRatio).value_or(metric.regression);
    metric.floor = Quantity(map, "floor", kind->unit).value_or(metric.floor);
    metric.run_to_run = Quantity(map, "run_to_run", Unit::kRatio);
    metric.max = Quantity(map, "max", kind->unit);
    metric.min = Quantity(map, "min", kind->unit);
    metric.aggregate = Choice<Aggregation>(map, "aggregate", kAggregations);
    if (!metric.gated && metric.reason.empty())
      problems_.Add(yaml_.PlaceOf(key), "",
                    fmt::format("'{}' is not gated: give the 'reason' too", metric.pattern));
    map.Finish();
    return metric;
  }

  std::optional<Level> LevelOf(const YAML::Node& node) {
    return Parse<Level>(node.Scalar(), yaml_.PlaceOf(node), "level", kLevels);
  }

  template <class T, class Words>
  std::optional<T> Choice(YamlMap& map, const std::string& key, const Words& words) {
    const YAML::Node node = map.Get(key);
    if (!node.IsDefined()) return std::nullopt;
    if (node.IsScalar()) return Parse<T>(node.Scalar(), yaml_.PlaceOf(node), key, words);
    problems_.Add(yaml_.PlaceOf(node), "", fmt::format("'{}' must be one word", key));
    return std::nullopt;
  }

  template <class T, class Words>
  std::optional<T> Parse(const std::string& text, const Place& place, const std::string& key,
                         const Words& words) {
    std::vector<std::string> known;
    for (const auto& word : words) {
      if (word.text == text) return word.value;
      known.push_back(word.text);
    }
    problems_.Add(
        place, "",
        fmt::format("{} '{}' is none of {}{}", key, text, fmt::join(known, ", "), DidYouMean(text, known)));
    return std::nullopt;
  }

  std::optional<double> Quantity(YamlMap& map, const std::string& key, Unit unit) {
    const YAML::Node node = map.Get(key);
    if (!node.IsDefined()) return std::nullopt;
    std::optional<double> quantity;
    if (node.IsScalar()) quantity = ParseQuantity(node.Scalar(), unit);
    if (!quantity)
      problems_.Add(yaml_.PlaceOf(node), "",
                    fmt::format("'{}' must be a number with its unit, such as {}", key, ExampleOf(unit)));
    return quantity;
  }

  const YamlFile& yaml_;
  Problems& problems_;
};

}  // namespace

const MetricPolicy* GatePolicy::Find(const std::string& metric) const {
  for (const MetricPolicy& policy : metrics)
    if (policy.pattern == metric || fnmatch(policy.pattern.c_str(), metric.c_str(), FNM_NOESCAPE) == 0)
      return &policy;
  return nullptr;
}

GatePolicy ReadGatePolicy(const YamlFile& yaml, const YAML::Node& node, Problems& problems) {
  return Reader(yaml, problems).Read(node);
}

}  // namespace dladvisor
