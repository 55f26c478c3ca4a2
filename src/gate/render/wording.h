// SPDX-License-Identifier: Apache-2.0
// What the renderers share: what fails a gate, what comes first, and how values and names are said.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// Whether it fails the gate. An inconclusive metric does where the project has it so: then the gate failed
// though nothing regressed.
bool Fails(const GateResult& result, const MetricVerdict& metric);
bool Fails(const RuleVerdict& rule);
bool Fails(const Trend& trend);

// Whether it deserves a warning: worse or inconclusive, and not failing.
bool Warns(const GateResult& result, const MetricVerdict& metric);
bool Warns(const RuleVerdict& rule);
bool Warns(const Trend& trend);

// "Gate failed", "Gate passed", "Not comparable", ...
std::string OutcomeText(const GateResult& result);
// "regressed", or "over its budget" where that is what it is.
std::string VerdictText(const MetricVerdict& metric);
// CSS class of a verdict: "regressed", "not-comparable".
std::string VerdictClass(Verdict verdict);
// "new", "still", "gone".
std::string_view ChangeName(RuleVerdict::Change change);

// "164 ms", or `unknown`.
std::string ValueText(const std::optional<double>& value, Unit unit, const char* unknown = "unknown");
// "+23.1 %", "124 times" (change_text.h); or "" where it is unknown.
std::string PercentText(const std::optional<double>& ratio);
// "+21.0 to +25.2 %", or "".
std::string IntervalText(const MetricVerdict& metric);
// What it became by: "+38.2 ms"; "new" or "gone" where one side has it alone; or "".
std::string StepText(const MetricVerdict& metric);
// "at most 210 ms", "at least 40.0 %", or "".
std::string BudgetText(const MetricVerdict& metric);
// Of a finding: "rank 0, device 1", "rank 0 and 3 more", or "" for the whole run.
std::string SubjectText(const std::vector<std::string>& subjects);
// "1.20 ms – 4.50 ms per step", "up to 4.50 ms per step", "up to 1.2 s" of a profile without steps, or "".
std::string SavingText(const RuleVerdict& rule);
// "5 runs, 8 ranks each, 500 steady steps".
std::string SideText(const Side& side);
// The text, or `otherwise` where it is empty.
std::string TextOr(const std::string& text, const char* otherwise);
// "3 findings", "1 finding".
std::string CountText(size_t count, std::string_view noun);

// What of the explanation has this prefix, "ledger.time/", "op.time/" or "kernel.time/", in its order.
std::vector<const MetricVerdict*> ExplainedBy(const GateResult& result, std::string_view prefix);
// A metric's name behind the first '/': the bucket, op or kernel.
std::string_view NameWithin(const MetricVerdict& metric);

// Rules of one change, in their order; those that the project turned off are left out.
std::vector<const RuleVerdict*> RulesThatAre(const GateResult& result, RuleVerdict::Change change);

// `path` relative to the root of the checkout; "" for what is elsewhere. What is relative is so to `folder`
// in it.
std::string RelativePath(std::string_view path, std::string_view root, std::string_view folder);
// A relative path as a relative URI reference.
std::string PathUri(std::string_view path);

// A line of the repository: where the program does what the rule finds, else where the rule stands if it is
// the repository's own. Of a root that is there, only files that are in it.
struct FilePlace {
  std::string path;  // relative; "" where it is in no file of the repository
  int line = 0;
};
FilePlace PlaceInCheckout(const RuleVerdict& rule, std::string_view root, std::string_view folder);

}  // namespace dladvisor
