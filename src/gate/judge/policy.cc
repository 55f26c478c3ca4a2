// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/policy.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
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
constexpr std::array<Word<bool>, 2> kModes = {{{"gate", false}, {"report", true}}};
constexpr std::array<Word<bool>, 2> kErrorRules = {{{"all", false}, {"new", true}}};
constexpr std::array<Word<bool>, 2> kFlags = {{{"true", true}, {"false", false}}};

struct Suffix {
  std::string_view text;
  Unit unit;
  double factor;
};
constexpr std::array<Suffix, 17> kSuffixes = {{{"ns", Unit::kNanoseconds, 1},
                                               {"us", Unit::kNanoseconds, 1e3},
                                               {"µs", Unit::kNanoseconds, 1e3},
                                               {"ms", Unit::kNanoseconds, 1e6},
                                               {"s", Unit::kNanoseconds, 1e9},
                                               {"min", Unit::kNanoseconds, 60e9},
                                               {"h", Unit::kNanoseconds, 3600e9},
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

// " (did you mean error?)" of what others call it, or of what is near.
std::string WordMeant(const std::string& text, const std::vector<std::string>& known) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"fail", "error"},      {"failure", "error"},  {"critical", "error"},  {"error", "fail"},
      {"true", "fail"},       {"true", "error"},     {"warning", "warn"},    {"ignore", "off"},
      {"none", "off"},        {"false", "off"},      {"info", "explain"},    {"average", "mean"},
      {"avg", "mean"},        {"min", "optimistic"}, {"best", "optimistic"}, {"worst", "pessimistic"},
      {"max", "pessimistic"}, {"warn", "report"},    {"off", "report"},      {"dry-run", "report"},
      {"yes", "true"},        {"on", "true"},        {"no", "false"},        {"off", "false"}};
  for (const auto& [other, ours] : kWords)
    if (text == other && std::ranges::find(known, ours) != known.end())
      return fmt::format(" (did you mean {}?)", ours);
  return DidYouMean(text, known);
}

// Of "op.time/.*" and "memory.*"; names of ranges have points of their own: "range.time/model.layers.*".
bool HasRegularExpression(std::string_view pattern) {
  const size_t at = pattern.find(".*"), name = pattern.find('/');
  return at != std::string_view::npos &&
         (at < name || std::isalnum(static_cast<unsigned char>(pattern[at - 1])) == 0);
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
    policy.reports_only = Choice<bool>(map, "mode", kModes).value_or(false);
    policy.fails_on_new_errors_alone = Choice<bool>(map, "error_rules", kErrorRules).value_or(false);
    if (const YAML::Node waivers = map.Get("waivers"); waivers.IsDefined() && !waivers.IsNull())
      ReadWaivers(waivers, policy);
    for (const auto& [trait, place] : map.TextList("allow")) policy.allow.push_back(Trait(trait, place));
    if (const YAML::Node metrics = map.Get("metrics"); metrics.IsDefined() && !metrics.IsNull())
      ReadMetrics(metrics, policy);
    map.Finish();
    policy.warnings = warnings_.Lines();
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

  void ReadWaivers(const YAML::Node& node, GatePolicy& policy) {
    if (!node.IsSequence())
      return problems_.Add(yaml_.PlaceOf(node), "",
                           "'waivers' must be a list of {rule or metric, reason, until}");
    for (const YAML::Node& item : node) {
      YamlMap map(yaml_, item, "", "a waiver", problems_);
      Waiver waiver;
      waiver.rule = map.Text("rule").value_or("");
      waiver.metric = map.Text("metric").value_or("");
      waiver.reason = map.RequiredText("reason");
      waiver.until = map.RequiredText("until");
      waiver.place = map.place();
      if (waiver.rule.empty() == waiver.metric.empty())
        problems_.Add(map.place(), "", "a waiver names a 'rule' or a 'metric'");
      std::vector<std::string> metrics;
      for (const MetricKind& kind : MetricKinds()) metrics.push_back(kind.name);
      if (!waiver.metric.empty() && FindMetricKind(waiver.metric) == nullptr)
        problems_.Add(
            map.PlaceOf(map.Get("metric")), "",
            fmt::format("there is no metric '{}'{}", waiver.metric, DidYouMean(waiver.metric, metrics)));
      if (!waiver.until.empty() && !IsDate(waiver.until))
        problems_.Add(map.PlaceOf(map.Get("until")), "", "'until' must be a day such as 2026-06-01");
      if (std::ranges::any_of(policy.waivers, [&](const Waiver& other) {
            return other.rule == waiver.rule && other.metric == waiver.metric;
          }))
        problems_.Add(map.place(), "",
                      fmt::format("there already is a waiver of '{}{}'", waiver.rule, waiver.metric));
      map.Finish();
      policy.waivers.push_back(std::move(waiver));
    }
  }

  static bool IsDate(const std::string& text) {
    static const RE2 pattern(R"((\d{4})-(\d{2})-(\d{2}))");
    int year = 0;
    unsigned month = 0, day = 0;
    if (!RE2::FullMatch(text, pattern, &year, &month, &day)) return false;
    return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                       std::chrono::day(day))
        .ok();
  }

  void ReadMetrics(const YAML::Node& node, GatePolicy& policy) {
    if (!node.IsMap())
      return problems_.Add(yaml_.PlaceOf(node), "", "'metrics' must be a mapping (metric: limits)");
    std::vector<MetricPolicy> metrics;
    for (const auto& entry : node) {
      MetricPolicy metric = ReadMetric(entry.first, entry.second);
      for (const MetricPolicy& above : metrics)
        if (fnmatch(above.pattern.c_str(), metric.pattern.c_str(), FNM_NOESCAPE) == 0)
          problems_.Add(yaml_.PlaceOf(entry.first), "",
                        fmt::format("'{}' never counts, as '{}' above fits all of it: the first that fits "
                                    "does, so move it up",
                                    metric.pattern, above.pattern));
      metrics.push_back(std::move(metric));
    }
    if (std::ranges::find(metrics, "step.time", &MetricPolicy::pattern) == metrics.end())
      metrics.insert(metrics.begin(), policy.metrics[0]);
    policy.metrics = std::move(metrics);
  }

  MetricPolicy ReadMetric(const YAML::Node& key, const YAML::Node& node) {
    MetricPolicy metric = GatePolicy().metrics[0];
    metric.pattern = key.IsScalar() ? key.Scalar() : "";
    if (HasRegularExpression(metric.pattern))
      problems_.Add(yaml_.PlaceOf(key), "",
                    fmt::format("'{}' has .* as regular expressions do: * alone stands for any characters",
                                metric.pattern));
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
    metric.regression = Share(map, "regression").value_or(metric.regression);
    metric.floor = Quantity(map, "floor", kind->unit).value_or(metric.floor);
    metric.run_to_run = Share(map, "run_to_run");
    metric.max = Quantity(map, "max", kind->unit);
    metric.min = Quantity(map, "min", kind->unit);
    if (kind->unit == Unit::kRatio && metric.min.value_or(0) > 0 && metric.min.value_or(1) < 0.01)
      warnings_.Add(map.PlaceOf(map.Get("min")), "",
                    fmt::format("'min' of {} is below 1 %, which nearly every run has: 85 % is 85 % or 0.85",
                                metric.pattern));
    if (kind->unit == Unit::kRatio && metric.min.value_or(0) > 1)
      problems_.Add(map.PlaceOf(map.Get("min")), "",
                    fmt::format("'min' of {} is above 100 %, which no run has", metric.pattern));
    if (metric.max && !kind->lower_is_better)
      problems_.Add(map.PlaceOf(map.Get("max")), "",
                    fmt::format("'max' would fail where {} is better: 'min' says how little it may be",
                                metric.pattern));
    if (metric.min && metric.max && *metric.min > *metric.max)
      problems_.Add(yaml_.PlaceOf(key), "", "'min' is above 'max', so that every value would fail");
    metric.aggregate = Choice<Aggregation>(map, "aggregate", kAggregations);
    if (const auto merges = Quantity(map, "merges", Unit::kNone)) {
      metric.merges = static_cast<size_t>(std::clamp(*merges, 0.0, 1000.0));
      if (*merges < 8 || *merges > 200 || *merges != std::floor(*merges))
        problems_.Add(yaml_.PlaceOf(key), "", "'merges' must be a whole number from 8 to 200");
    }
    if (const auto creep = Share(map, "creep")) {
      metric.creep = *creep;
      if (!metric.merges) problems_.Add(yaml_.PlaceOf(key), "", "'creep' needs 'merges': over how many runs");
    } else if (metric.merges) {
      problems_.Add(yaml_.PlaceOf(key), "", "'merges' needs 'creep': how much they may add together");
    }
    if (!metric.gated && metric.reason.empty())
      problems_.Add(yaml_.PlaceOf(key), "",
                    fmt::format("'{}' is not gated: give the 'reason' too", metric.pattern));
    map.Finish();
    return metric;
  }

  // How much is told from noise at most: above that a word or unit is wrong.
  std::optional<double> Share(YamlMap& map, const std::string& key) {
    const std::optional<double> share = Quantity(map, key, Unit::kRatio);
    if (share && *share > 1)
      problems_.Add(map.PlaceOf(map.Get(key)), "",
                    fmt::format("'{}' is at most 100 %: 5 % is written 5 % or 0.05", key));
    return share;
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
        fmt::format("{} '{}' is none of {}{}", key, text, fmt::join(known, ", "), WordMeant(text, known)));
    return std::nullopt;
  }

  std::optional<double> Quantity(YamlMap& map, const std::string& key, Unit unit) {
    const YAML::Node node = map.Get(key);
    if (!node.IsDefined()) return std::nullopt;
    std::optional<double> quantity;
    if (node.IsScalar()) quantity = ParseQuantity(node.Scalar(), unit);
    if (!quantity)
      problems_.Add(yaml_.PlaceOf(node), "",
                    fmt::format("'{}' must be a number with its unit, such as {}{}", key, ExampleOf(unit),
                                key == "floor" && node.IsScalar() && node.Scalar().ends_with('%')
                                    ? "; 'regression' is a share"
                                    : ""));
    return quantity;
  }

  const YamlFile& yaml_;
  Problems& problems_;
  Problems warnings_;
};

}  // namespace

std::vector<std::string> SuffixesOf(Unit unit) {
  std::vector<std::string> suffixes;
  for (const Suffix& suffix : kSuffixes)
    if (suffix.unit == unit) suffixes.emplace_back(suffix.text);
  return suffixes;
}

std::string Today() {
  const std::chrono::year_month_day today =
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(today.year()),
                     static_cast<unsigned>(today.month()), static_cast<unsigned>(today.day()));
}

const MetricPolicy* GatePolicy::Find(const std::string& metric) const {
  for (const MetricPolicy& policy : metrics)
    if (policy.pattern == metric || fnmatch(policy.pattern.c_str(), metric.c_str(), FNM_NOESCAPE) == 0)
      return &policy;
  return nullptr;
}

const Waiver* GatePolicy::WaiverOfRule(const std::string& rule) const {
  const auto found = std::ranges::find_if(waivers, [&](const Waiver& waiver) {
    return waiver.rule == rule && !rule.empty() && today <= waiver.until;
  });
  return found == waivers.end() ? nullptr : &*found;
}

const Waiver* GatePolicy::WaiverOfMetric(const std::string& metric) const {
  const auto found = std::ranges::find_if(waivers, [&](const Waiver& waiver) {
    return !waiver.metric.empty() && today <= waiver.until &&
           (waiver.metric == metric || fnmatch(waiver.metric.c_str(), metric.c_str(), FNM_NOESCAPE) == 0);
  });
  return found == waivers.end() ? nullptr : &*found;
}

GatePolicy ReadGatePolicy(const YamlFile& yaml, const YAML::Node& node, Problems& problems) {
  return Reader(yaml, problems).Read(node);
}

}  // namespace dladvisor
