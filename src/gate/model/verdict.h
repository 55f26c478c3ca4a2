// SPDX-License-Identifier: Apache-2.0
// What a gate says: one model, of which the terminal, Markdown, JUnit, SARIF, annotations, JSON and HTML are
// views.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/value.h"
#include "engine/model/advice.h"
#include "engine/model/rule.h"

namespace dladvisor {

enum class Verdict {
  kPass,           // no worse than what the project calls equal, and within its budget
  kImproved,       // better, by more than noise
  kInconclusive,   // seems worse, but runs of the same program may differ as much; or too little data
  kRegressed,      // worse, by more than noise; over a budget; or a rule that is an error
  kNotComparable,  // one side lacks it, or the sides are different things
};
// "pass", "improved", "inconclusive", "regressed", "not comparable".
std::string_view VerdictName(Verdict verdict);

// What a verdict does to the gate, as the project sets it.
enum class Level { kOff, kExplain, kWarn, kError };
// "off", "explain", "warn", "error".
std::string_view LevelName(Level level);

// One metric on both sides. Values are in `unit`; changes are (candidate - baseline) / baseline.
struct MetricVerdict {
  std::string metric;  // "step.time", "ledger.time/idle/input", "op.time/train_step/forward", ...
  std::string title;   // "Step time"
  Unit unit = Unit::kNanoseconds;
  bool lower_is_better = true;
  Verdict verdict = Verdict::kPass;
  Level level = Level::kExplain;
  std::string not_gated;  // why the project does not gate on it though it is over its limit; or ""
  std::optional<double> baseline, candidate;     // over the runs of a side; unknown where the side lacks it
  std::optional<double> change;                  // relative; unknown where the baseline is 0 or unknown
  std::optional<double> low, high;               // confidence interval of the change
  std::optional<double> fails_from, detectable;  // see RunComparison
  std::optional<double> max, min;                // budget, in `unit`
  std::string noise;  // what was taken for noise, and from where: "runs differ by 2.1 % (5 and 3 runs)"
  std::string why;    // one sentence that explains the verdict
  bool noise_is_assumed = false;
  bool has_groups = false;  // a part of the candidate's runs alone is worse
};
// Whether the candidate is over its budget, or below its least, whatever the baseline was.
bool MissesBudget(const MetricVerdict& metric);

// A finding of a rule on either side; or several that differ in their subject's numbers alone, as one.
struct RuleVerdict {
  // Visible: it fires, and the baseline did not tell whether it does. Not evaluated: a rule that is an error,
  // of which the candidate does not tell.
  enum class Change { kNew, kNotEvaluated, kVisible, kStill, kGone };
  std::string rule, title, category;
  Severity severity = Severity::kWarning;
  // As JSON, e.g. {"rank":0,"device":0}; {} for the whole run. At least one.
  std::vector<std::string> subjects = {"{}"};
  Change change = Change::kStill;
  // kRegressed where the rule is an error and fires in the candidate, or is not evaluated and the project
  // has it so; else kInconclusive where it is not evaluated, or new and perhaps one that comes and goes.
  Verdict verdict = Verdict::kPass;
  Level level = Level::kExplain;
  std::string doubt;                        // why what is new does not fail though new findings do; or ""
  RenderedMessage problem;                  // of the candidate, or of the baseline where it is gone
  std::vector<std::string> recommendation;  // plain text, one line each
  std::optional<double> saves_low_ns, saves_high_ns;
  bool saves_per_step = true;  // else over the whole profile, which has no steps
  std::string rule_file;       // "rules/input/data-loading.yaml" of the built-in ones, else the file's path
  int rule_line = 0;
  std::string source_file;  // of the program, where the profile shows where it happens; or ""
  int source_line = 0;
};

// What makes findings of several runs one and the same, whatever they say: the rule and what it is about, the
// text columns of the subject's key (a kernel, a collective), and not where, its numbers (a rank, a step).
std::string IdentityOf(const RuleVerdict& rule);
std::string IdentityOf(const std::string& rule, const std::string& subject);

// How the sides differ in what must be the same for a comparison to mean something.
struct Difference {
  std::string trait;  // "gpu.model", "world_size", ...: what `allow` names
  std::string title;  // "Model of the GPUs"
  std::string baseline, candidate;
  bool blocks = true;  // otherwise it is only said
  std::string note;    // what it means, or ""
};

// A side of the comparison.
struct Side {
  std::vector<std::string> runs;  // one name each: a file, or what several files of ranks were given by
  size_t ranks = 0;               // of the first run
  size_t steps = 0;               // steady ones, of all runs
  std::vector<std::string> incomplete = {};  // of the runs: the end of a profile of theirs is missing
  size_t unreadable = 0;                     // files that were given, too
};

// A metric over the runs of the history.
struct Trend {
  std::string metric, title;
  Unit unit = Unit::kNanoseconds;
  Level level = Level::kWarn;
  Verdict verdict = Verdict::kPass;
  struct Point {
    std::string label;  // commit, or time of the run
    double value = 0;
  };
  std::vector<Point> points;  // the last is this run
  // Where the level changed: index of the first run of the new level, its median and the one before.
  struct Change {
    size_t at = 0;
    double before = 0, after = 0;
    std::vector<std::string> appeared;  // rules that fire since then
  };
  std::vector<Change> changes;
  std::string why;  // one sentence
};

struct GateResult {
  Verdict verdict = Verdict::kPass;  // of the gate
  int exit_status = 0;               // 0 clean, 1 failed, 2 not comparable, 3 bad usage or unreadable input
  std::string headline;              // "Step time regressed by 23.1 % (...): data loading, +38.2 ms"
  std::string generator;             // "dladvisor 0.1.0"
  std::string next_step;             // what to do where it did not pass; or ""
  std::string policy_file;           // the project's dladvisor.yaml; or ""
  std::string folder;                // the working folder, relative to the root of the checkout; or ""
  Side baseline, candidate;
  std::vector<Difference> differences;
  std::vector<MetricVerdict> metrics;      // that gate or warn, in order of the policy
  std::vector<MetricVerdict> explanation;  // the largest changes per step first
  // What `dladvisor compare` says of one run of each side, also where they are not comparable: sentences.
  std::vector<std::string> changes;
  std::vector<RuleVerdict> rules;  // regressed, then new, still, gone
  std::vector<Trend> trends;       // where there is a history
  std::vector<std::string> notes;  // what a reader should know: one sentence each
};

}  // namespace dladvisor
