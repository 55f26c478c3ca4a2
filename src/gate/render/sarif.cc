// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "src/gate/render/wording.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;

// GitHub refuses more than 25,000 results and shows 5,000.
constexpr size_t kMaxResults = 5000;
// Where a project says what is gated.
constexpr const char* kProjectFile = "dladvisor.yaml";

constexpr size_t kMaxDescription = 1000;  // GitHub cuts descriptions at 1,024

// A message's "[text](target)" would be a link.
Json Message(const std::string& text) {
  std::string plain = Ellipsize(text, kMaxDescription);
  for (size_t at = 0; (at = plain.find("](", at)) != std::string::npos;) plain.insert(at + 1, " ");
  return {{"text", plain}};
}

const char* SarifLevel(Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarn:
      return "warning";
    case Level::kExplain:
      return "note";
    case Level::kOff:
      break;
  }
  return "none";
}

const char* SarifLevel(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      break;
  }
  return "note";
}

// FNV-1a, 64 bit.
std::string Fingerprint(const std::string& identity) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

Json Location(const std::string& uri, int line, const std::string& subject) {
  Json location = {{"physicalLocation",
                    {{"artifactLocation", {{"uri", uri}, {"uriBaseId", "%SRCROOT%"}}},
                     {"region", {{"startLine", std::max(line, 1)}}}}}};
  if (!subject.empty())
    location["logicalLocations"] = Json::array({Json{{"name", Visible(subject)}, {"kind", "resource"}}});
  return location;
}

class Log {
 public:
  // Makes the rule where there is none of this id.
  template <class F>
  size_t Rule(const std::string& id, F make) {
    const auto [at, inserted] = index_.emplace(id, rules_.size());
    if (inserted) rules_.push_back(make());
    return at->second;
  }

  void Result(const std::string& rule, size_t index, const char* level, const std::string& text,
              const std::string& identity, const char* baseline_state, Json location) {
    if (results_.size() == kMaxResults) {
      ++left_out_;
      return;
    }
    const std::string fingerprint = Fingerprint(identity);
    results_.push_back(
        {{"ruleId", rule},
         {"ruleIndex", index},
         {"kind", "fail"},
         {"level", level},
         {"message", Message(text)},
         {"locations", Json::array({std::move(location)})},
         {"partialFingerprints",
          {{"ruleAndSubject/v2", fingerprint}, {"primaryLocationLineHash", fingerprint + ":1"}}},
         {"baselineState", baseline_state}});
  }

  std::string Write(const GateResult& result) && {
    const std::string generator = ValidUtf8(result.generator);
    const size_t space = generator.rfind(' ');
    Json driver = {{"name", "dladvisor"}};
    if (space != std::string::npos) driver["version"] = generator.substr(space + 1);
    driver["rules"] = std::move(rules_);
    // One that succeeded without results would close the alerts of the branch.
    Json invocation = {{"executionSuccessful", result.verdict != Verdict::kNotComparable},
                       {"exitCode", result.exit_status}};
    Json notifications = Json::array();
    if (left_out_ > 0)
      notifications.push_back(
          {{"level", "note"}, {"message", Message(CountText(left_out_, "result") + " left out.")}});
    if (result.verdict == Verdict::kNotComparable)
      notifications.push_back(
          {{"level", result.exit_status == 0 ? "warning" : "error"},
           {"message",
            Message(Visible(OneLine(result.headline + (result.headline.ends_with('.') ? " " : ". ") +
                                    result.next_step)))}});
    for (const std::string& note : result.notes)
      notifications.push_back({{"level", "note"}, {"message", Message(Visible(OneLine(note)))}});
    if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
    Json description = Message("The root of the repository.");
    const Json log = {
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", Json::array({{{"tool", {{"driver", std::move(driver)}}},
                               {"invocations", Json::array({std::move(invocation)})},
                               {"originalUriBaseIds", {{"%SRCROOT%", {{"description", description}}}}},
                               {"columnKind", "unicodeCodePoints"},
                               {"results", std::move(results_)}}})},
    };
    return log.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  Json rules_ = Json::array(), results_ = Json::array();
  std::map<std::string, size_t> index_;
  size_t left_out_ = 0;
};

// Of what is found in no file of the program.
std::string PolicyUri(const GateResult& result, std::string_view root) {
  const std::string uri = PathUri(RelativePath(result.policy_file, root, result.folder));
  return uri.empty() ? kProjectFile : uri;
}

void AddMetric(Log& log, const GateResult& result, const MetricVerdict& metric, const std::string& policy) {
  const bool fails = Fails(result, metric);
  if (!fails && !Warns(result, metric)) return;
  const std::string id = "gate/" + Visible(metric.metric), title = Visible(OneLine(metric.title));
  const size_t index = log.Rule(id, [&] {
    return Json{
        {"id", id},
        {"shortDescription", Message(title + (MissesBudget(metric) ? " is " + VerdictText(metric)
                                                                   : " is worse than in the baseline"))},
        {"fullDescription",
         Message(title + " of the candidate's runs is worse than that of the baseline's, or over its "
                         "budget.")},
        {"help", Message("The gate's report says where the time went. The limits are set in "
                         "dladvisor.yaml under gate.")},
        {"defaultConfiguration", {{"level", SarifLevel(metric.level)}}},
        {"properties", {{"tags", Json::array({"performance"})}}}};
  });
  std::string text = Visible(OneLine(metric.why));
  if (text.empty())
    text = fmt::format("{}: {}, {} before.", VerdictText(metric), ValueText(metric.candidate, metric.unit),
                       ValueText(metric.baseline, metric.unit));
  log.Result(id, index, fails ? "error" : "warning", text, id + '\0', "new", Location(policy, 1, title));
}

void AddTrend(Log& log, const Trend& trend, const std::string& policy) {
  if (!Fails(trend) && !Warns(trend)) return;
  const std::string id = "gate/trend/" + Visible(trend.metric), title = Visible(OneLine(trend.title));
  const size_t index = log.Rule(id, [&] {
    return Json{
        {"id", id},
        {"shortDescription", Message(title + " grew worse over runs")},
        {"fullDescription", Message(title + " grew worse over the runs of the history, be it in steps "
                                            "that are small each.")},
        {"help", Message("The gate's report shows the runs at which it changed.")},
        {"defaultConfiguration", {{"level", SarifLevel(trend.level)}}},
        {"properties", {{"tags", Json::array({"performance"})}}}};
  });
  log.Result(id, index, Fails(trend) ? "error" : "warning", Visible(OneLine(trend.why)), id + '\0', "new",
             Location(policy, 1, title));
}

std::string HelpMarkdown(const RuleVerdict& rule) {
  std::string text;
  for (const std::string& line : rule.recommendation) text += "- " + ProseMarkdown(line) + "\n";
  return text;
}

std::string HelpText(const RuleVerdict& rule) {
  std::string text;
  for (const std::string& line : rule.recommendation)
    text += (text.empty() ? "" : "\n") + Visible(OneLine(line));
  return text;
}

// Findings of one identity are one result, whose level is that of the worst: which of them there are, and
// what each says, may change from run to run.
void AddRule(Log& log, const std::vector<const RuleVerdict*>& findings, std::string_view root,
             std::string_view folder, const std::string& policy) {
  const RuleVerdict& rule = *findings.front();
  const std::string id = Visible(rule.rule), title = Visible(OneLine(rule.title));
  const size_t index = log.Rule(id, [&] {
    Json descriptor = {
        {"id", id},
        {"shortDescription", Message(title)},
        {"fullDescription", Message(title + ". A rule of the category " + Visible(rule.category) + ".")}};
    if (!rule.recommendation.empty())
      descriptor["help"] = {{"text", HelpText(rule)}, {"markdown", HelpMarkdown(rule)}};
    descriptor["defaultConfiguration"] = {{"level", SarifLevel(rule.severity)}};
    descriptor["properties"] = {{"tags", Json::array({"performance", Visible(rule.category)})}};
    return descriptor;
  });
  std::string text;
  Level level = Level::kOff;
  bool fails = false, is_new = false;
  for (const RuleVerdict* finding : findings) {
    text += (text.empty() ? "" : " ") + Visible(OneLine(finding->problem.text));
    if (const std::string saving = SavingText(*finding); !saving.empty()) text += " Saves " + saving + ".";
    level = std::max(level, finding->level);
    fails = fails || Fails(*finding);
    is_new = is_new || finding->change == RuleVerdict::Change::kNew;
  }
  const FilePlace place = PlaceInCheckout(rule, root, folder);
  const std::string uri = place.path.empty() ? policy : PathUri(place.path);
  log.Result(id, index, fails ? "error" : SarifLevel(level), text, IdentityOf(rule),
             is_new ? "new" : "unchanged", Location(uri, place.line, SubjectText(rule.subjects)));
}

}  // namespace

std::string RenderGateSarif(const GateResult& result, std::string_view root) {
  Log log;
  const std::string policy = PolicyUri(result, root);
  for (const MetricVerdict& metric : result.metrics) AddMetric(log, result, metric, policy);
  for (const Trend& trend : result.trends) AddTrend(log, trend, policy);
  std::vector<std::vector<const RuleVerdict*>> results;
  std::map<std::string, size_t> by_identity;
  for (const RuleVerdict& rule : result.rules) {
    if (rule.change == RuleVerdict::Change::kGone || rule.level == Level::kOff) continue;
    const auto [at, is_first] = by_identity.emplace(IdentityOf(rule), results.size());
    if (is_first) results.emplace_back();
    results[at->second].push_back(&rule);
  }
  for (const auto& findings : results) AddRule(log, findings, root, result.folder, policy);
  return std::move(log).Write(result);
}

}  // namespace dladvisor
