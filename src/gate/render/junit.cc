// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "src/gate/render/wording.h"
#include "src/gate/render/xml.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxDetails = 10, kMaxSubjects = 20;

struct Case {
  enum class Outcome { kPassed, kFailure, kError, kSkipped };
  std::string name;
  Outcome outcome = Outcome::kPassed;
  std::string type, message;      // of what is not a pass
  std::vector<std::string> body;  // lines
  double seconds = 0;
};

const char* ElementOf(Case::Outcome outcome) {
  switch (outcome) {
    case Case::Outcome::kFailure:
      return "failure";
    case Case::Outcome::kError:
      return "error";
    case Case::Outcome::kSkipped:
      return "skipped";
    case Case::Outcome::kPassed:
      break;
  }
  return "system-out";
}

std::string MetricLine(const MetricVerdict& metric) {
  std::string line = fmt::format("{} -> {}", ValueText(metric.baseline, metric.unit),
                                 ValueText(metric.candidate, metric.unit));
  if (metric.baseline && metric.candidate) line += ", " + StepText(metric);
  if (const std::string change = PercentText(metric.change); !change.empty()) line += ", " + change;
  if (const std::string interval = IntervalText(metric); !interval.empty()) line += " (" + interval + ")";
  return line;
}

void Add(std::vector<std::string>& lines, const std::string& lead, const std::string& text) {
  if (!text.empty()) lines.push_back(lead + OneLine(text));
}

void AddExplanation(std::vector<std::string>& lines, const GateResult& result) {
  for (const auto& [prefix, title] : {std::pair{"ledger.time/", "Where the time of a step went:"},
                                      std::pair{"op.time/", "Ops:"}, std::pair{"kernel.time/", "Kernels:"}}) {
    const auto metrics = ExplainedBy(result, prefix);
    if (metrics.empty()) continue;
    lines.emplace_back(title);
    for (size_t i = 0; i < std::min(metrics.size(), kMaxDetails); ++i)
      lines.push_back(
          fmt::format("  {}: {}", Ellipsize(Visible(NameWithin(*metrics[i])), 160), MetricLine(*metrics[i])));
    if (metrics.size() > kMaxDetails)
      lines.push_back(fmt::format("  and {} more", metrics.size() - kMaxDetails));
  }
}

Case CaseOf(const GateResult& result, const MetricVerdict& metric) {
  Case test;
  test.name = fmt::format("{} [{}]", metric.title, metric.metric);
  test.type = VerdictText(metric);
  test.message = metric.why.empty() ? MetricLine(metric) : OneLine(metric.why);
  if (Fails(result, metric))
    test.outcome = Case::Outcome::kFailure;
  else if (metric.verdict == Verdict::kNotComparable)
    test.outcome = metric.level == Level::kError ? Case::Outcome::kError : Case::Outcome::kSkipped;
  else if (metric.verdict == Verdict::kInconclusive)
    test.outcome = Case::Outcome::kSkipped;
  test.body = {fmt::format("{}: {}", test.type, test.message)};
  if (!metric.why.empty()) test.body.push_back(MetricLine(metric));
  Add(test.body, "Budget: ", BudgetText(metric));
  Add(test.body, "Noise: ", metric.noise);
  Add(test.body, "Fails from: ", PercentText(metric.fails_from));
  Add(test.body, "Found in four of five gates: ", PercentText(metric.detectable));
  Add(test.body, "Not gated: ", metric.not_gated);
  if (test.outcome == Case::Outcome::kFailure) AddExplanation(test.body, result);
  if (metric.unit == Unit::kNanoseconds && metric.candidate && std::isfinite(*metric.candidate))
    test.seconds = std::max(*metric.candidate, 0.0) / 1e9;
  return test;
}

Case CaseOf(const std::string& rule, const std::vector<const RuleVerdict*>& verdicts) {
  Case test;
  test.name = rule;
  const auto failing = std::ranges::find_if(verdicts, [](const auto* verdict) { return Fails(*verdict); });
  if (failing != verdicts.end()) {
    test.outcome = Case::Outcome::kFailure;
    test.type = SeverityName((*failing)->severity);
    test.message = OneLine((*failing)->problem.text);
  } else if (verdicts.front()->change == RuleVerdict::Change::kNotEvaluated) {
    test.outcome = Case::Outcome::kSkipped;
    test.type = ChangeName(verdicts.front()->change);
    test.message = OneLine(verdicts.front()->problem.text);
  }
  for (size_t i = 0; i < std::min(verdicts.size(), kMaxSubjects); ++i) {
    const RuleVerdict& verdict = *verdicts[i];
    const std::string subject = SubjectText(verdict.subjects), saving = SavingText(verdict);
    test.body.push_back(fmt::format("{}{}: {}", ChangeName(verdict.change),
                                    subject.empty() ? "" : " (" + subject + ")",
                                    OneLine(verdict.problem.text)));
    if (verdict.change == RuleVerdict::Change::kGone) continue;
    for (const std::string& text : verdict.recommendation) Add(test.body, "  -> ", text);
    Add(test.body, "  saves ", saving);
    if (!verdict.source_file.empty())
      test.body.push_back(fmt::format("  at {}:{}", verdict.source_file, verdict.source_line));
  }
  if (verdicts.size() > kMaxSubjects)
    test.body.push_back(fmt::format("and {} more", verdicts.size() - kMaxSubjects));
  return test;
}

std::vector<Case> RuleCases(const GateResult& result) {
  std::vector<std::pair<std::string, std::vector<const RuleVerdict*>>> rules;  // in order of appearance
  std::map<std::string, size_t> index;
  for (const RuleVerdict& verdict : result.rules) {
    if (verdict.level == Level::kOff) continue;
    const auto [at, inserted] = index.emplace(verdict.rule, rules.size());
    if (inserted) rules.push_back({verdict.rule, {}});
    rules[at->second].second.push_back(&verdict);
  }
  std::vector<Case> cases;
  for (const auto& [rule, verdicts] : rules) cases.push_back(CaseOf(rule, verdicts));
  return cases;
}

Case CaseOf(const Trend& trend) {
  Case test;
  test.name = fmt::format("{} [{}]", trend.title, trend.metric);
  test.type = VerdictName(trend.verdict);
  test.message = OneLine(trend.why);
  if (Fails(trend))
    test.outcome = Case::Outcome::kFailure;
  else if (trend.verdict == Verdict::kInconclusive)
    test.outcome = Case::Outcome::kSkipped;
  Add(test.body, test.type + ": ", trend.why);
  for (const Trend::Change& change : trend.changes) {
    const std::string label = change.at < trend.points.size() ? trend.points[change.at].label : "";
    test.body.push_back(fmt::format("{} -> {} at run {} {}", FormatValue(change.before, trend.unit),
                                    FormatValue(change.after, trend.unit), change.at + 1, label));
    for (const std::string& rule : change.appeared) test.body.push_back("  fires since then: " + rule);
  }
  return test;
}

Case ComparisonCase(const GateResult& result) {
  Case test;
  test.name = "Baseline and candidate can be compared";
  for (const Difference& difference : result.differences) {
    test.body.push_back(fmt::format("{} [{}]: {} -> {}{}", difference.title, difference.trait,
                                    difference.baseline, difference.candidate,
                                    difference.blocks ? "" : " (does not matter)"));
    Add(test.body, "  ", difference.note);
  }
  for (const std::string& note : result.notes) Add(test.body, "", note);
  if (result.verdict != Verdict::kNotComparable) return test;
  test.outcome = result.exit_status == 0 ? Case::Outcome::kSkipped : Case::Outcome::kError;
  test.type = VerdictName(result.verdict);
  test.message = OneLine(result.headline);
  test.body.insert(test.body.begin(), test.message);
  Add(test.body, "", result.next_step);
  return test;
}

struct Suite {
  std::string name;
  std::vector<Case> cases;

  size_t Count(Case::Outcome outcome) const {
    return static_cast<size_t>(std::ranges::count(cases, outcome, &Case::outcome));
  }
  double Seconds() const {
    double seconds = 0;
    for (const Case& test : cases) seconds += test.seconds;
    return seconds;
  }
};

void Write(XmlWriter& xml, const Suite& suite) {
  xml.Open("testsuite");
  xml.Attribute("name", suite.name);
  xml.Attribute("tests", fmt::format("{}", suite.cases.size()));
  xml.Attribute("failures", fmt::format("{}", suite.Count(Case::Outcome::kFailure)));
  xml.Attribute("errors", fmt::format("{}", suite.Count(Case::Outcome::kError)));
  xml.Attribute("skipped", fmt::format("{}", suite.Count(Case::Outcome::kSkipped)));
  xml.Attribute("time", fmt::format("{:.3f}", suite.Seconds()));
  std::set<std::string> names;
  for (const Case& test : suite.cases) {
    std::string name = Visible(OneLine(test.name));
    for (size_t copy = 2; !names.insert(name).second; ++copy)
      name = fmt::format("{} ({})", Visible(OneLine(test.name)), copy);
    xml.Open("testcase");
    xml.Attribute("classname", suite.name);
    xml.Attribute("name", name);
    xml.Attribute("time", fmt::format("{:.6f}", test.seconds));
    if (test.outcome != Case::Outcome::kPassed || !test.body.empty()) {
      xml.Open(ElementOf(test.outcome));
      if (test.outcome != Case::Outcome::kPassed) {
        xml.Attribute("type", test.type);
        xml.Attribute("message", test.message);
      }
      xml.Text(test.body);
      xml.Close();
    }
    xml.Close();
  }
  xml.Close();
}

}  // namespace

std::string RenderGateJUnit(const GateResult& result) {
  std::vector<Suite> suites(4);
  suites[0] = {"dladvisor.gate.comparison", {ComparisonCase(result)}};
  suites[1].name = "dladvisor.gate.metrics";
  for (const MetricVerdict& metric : result.metrics)
    if (metric.level != Level::kOff) suites[1].cases.push_back(CaseOf(result, metric));
  suites[2] = {"dladvisor.gate.rules", RuleCases(result)};
  suites[3].name = "dladvisor.gate.trends";
  for (const Trend& trend : result.trends)
    if (trend.level != Level::kOff) suites[3].cases.push_back(CaseOf(trend));
  std::erase_if(suites, [](const Suite& suite) { return suite.cases.empty(); });

  size_t tests = 0, failures = 0, errors = 0;
  double seconds = 0;
  for (const Suite& suite : suites) {
    tests += suite.cases.size();
    failures += suite.Count(Case::Outcome::kFailure);
    errors += suite.Count(Case::Outcome::kError);
    seconds += suite.Seconds();
  }
  XmlWriter xml;
  xml.Open("testsuites");
  xml.Attribute("name", "dladvisor gate");
  xml.Attribute("tests", fmt::format("{}", tests));
  xml.Attribute("failures", fmt::format("{}", failures));
  xml.Attribute("errors", fmt::format("{}", errors));
  xml.Attribute("time", fmt::format("{:.3f}", seconds));
  for (const Suite& suite : suites) Write(xml, suite);
  xml.Close();
  return xml.Take();
}

}  // namespace dladvisor
