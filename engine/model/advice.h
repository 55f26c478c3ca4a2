// SPDX-License-Identifier: Apache-2.0
// The result of inference: for every subject of every rule one outcome, with everything needed to explain
// it. Reports, gates and `explain` are views of this one model.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/rule.h"
#include "engine/store/database.h"

namespace dladvisor {

enum class Outcome {
  kFired,       // every condition true
  kClear,       // some condition false
  kUnknown,     // none false, some NULL: `missing` names the facts, `capture` what must be recorded for them
  kSuppressed,  // would have fired; `suppressed_by` says which rule silenced it
  kFailed,      // evaluation broke; `error` says why; the other rules went on
};
std::string_view OutcomeName(Outcome o);  // "fired", "clear", "unknown", "suppressed", "failed"

struct NamedValue {
  std::string name;
  Value value;
  Unit unit = Unit::kNone;
};

// A value within a message.
struct PlacedValue {
  size_t at = 0, length = 0;  // bytes of the text
  NamedValue value;
  bool per_period = false;  // {{name/step}}: `value` is that of one of the ledger's periods
  std::string noun = {};    // {{GPU device}}: stands before the number, and is part of the place
};

// A message as it reads, with the values in it in order of place. Messages of one template that took the same
// sections differ in nothing else.
struct RenderedMessage {
  std::string text;
  std::vector<PlacedValue> values;
  std::vector<size_t> sentences;  // where those after the first begin

  // NOLINTBEGIN(google-explicit-constructor): it reads as a text
  RenderedMessage(std::string words = "") : text(std::move(words)) {}
  RenderedMessage(const char* words) : text(words) {}
  operator const std::string&() const { return text; }
  // NOLINTEND(google-explicit-constructor)
  bool empty() const { return text.empty(); }
  std::string_view FirstSentence() const {
    return std::string_view(text).substr(0, sentences.empty() ? std::string_view::npos : sentences[0]);
  }
  std::string_view AfterFirstSentence() const {
    return std::string_view(text).substr(FirstSentence().size());
  }
  bool BeginsSentence(size_t at) const {
    return at == 0 || std::find(sentences.begin(), sentences.end(), at) != sentences.end();
  }
  // What both say.
  friend bool operator==(const RenderedMessage& a, const RenderedMessage& b) { return a.text == b.text; }
};

// A comparison of a condition with the values of its sides: their difference is the distance from the
// threshold.
struct ComparedValues {
  std::string left, op, right;  // SQL
  Value left_value, right_value;
  Unit unit = Unit::kNone;
  std::string limit;  // what the param says of itself that a side is, or ""
};

// One `when` item with the values of every column, let and param in it.
struct ConditionTrace {
  std::string sql;
  std::optional<bool> holds;  // nothing: NULL
  std::vector<NamedValue> facts;
  std::vector<ComparedValues> compared;
};

struct SavingClaim {
  std::string bucket;                     // of the ledger
  std::optional<double> low_ns, high_ns;  // time per step, at most what the bucket holds
  std::optional<double> claimed_ns;       // `high` as the rule has it
  std::optional<double> alone_ns = {};    // `high` if no other finding saved anything
  std::optional<double> limit_ns = {};    // what it saves at most as long as all losses stay
  std::optional<double> now_ns = {};      // the same as recorded, which a run without a profiler may exceed

  // What findings rank by: the middle of the range, or twice the lower end, where that is more: most pairs of
  // profiles that measured a saving of which something was sure had as much. No more than the upper end, the
  // limit, and what it saves as recorded: what is first must hold for the run that was seen. Nothing where
  // the upper end is unknown.
  std::optional<double> ExpectedNs() const;
};

// What all root findings together save, by bucket.
struct BucketSaving {
  std::string bucket;
  double low_ns = 0, high_ns = 0;
};

struct Finding {
  std::string rule;  // id
  std::string title;
  Severity severity = Severity::kWarning;
  Confidence confidence = Confidence::kMedium;
  std::vector<NamedValue> subject;  // the key columns
  Outcome outcome = Outcome::kClear;
  RenderedMessage problem;                      // only where fired or suppressed
  std::vector<RenderedMessage> recommendation;  // plain text, as the problem is
  std::string code;                             // to paste, of several lines; or ""
  std::optional<SavingClaim> saves;
  std::vector<ConditionTrace> why;
  std::vector<NamedValue> lets;
  ResultSet evidence;
  std::string evidence_sql;  // with the subject's values in place, so that it can be run again
  std::vector<std::string> references;
  std::vector<std::string> missing;  // "relation.column"
  std::vector<std::string> lacks;  // what of them is not there: "time_ledger.ns is unknown of bucket idle/os"
  std::vector<std::string> capture;  // names (Column::capture); in reports the options of the profiler
  std::string suppressed_by;
  std::string error;           // why it failed, or what beside the outcome could not be computed
  std::vector<size_t> causes;  // indices into Advice::findings of symptoms that this fired finding explains
  std::optional<size_t> caused_by;  // the fired finding under which this one is nested
};

// Why a rule does not tell whether it fires: what it lacks, or why it failed. "" of other outcomes.
std::string WhyUndecided(const Finding& finding);

struct RuleSummary {
  std::string id, title, category;
  Severity severity = Severity::kWarning;
  size_t subjects = 0, fired = 0, clear = 0, unknown = 0, suppressed = 0, failed = 0;
  std::string note;  // why a rule has no outcome: "no row in shop", ...
};

struct Coverage {
  size_t rules = 0;    // rules loaded
  size_t decided = 0;  // rules with at least one subject fired, clear or suppressed
  size_t idle = 0;     // rules without a subject: nothing of their kind is in the data
};

struct Advice {
  // Subjects of every rule in order of evaluation; those that are clear only where they were asked for.
  std::vector<Finding> findings;
  std::vector<RuleSummary> rules;  // in order of id
  Coverage coverage;
  std::map<std::string, std::string> relation_errors;  // why derived relations have no rows
  std::vector<BucketSaving> savings;  // without those of symptoms; in order of the ledger's buckets

  // Indices of fired findings that no fired finding causes, most severe first, then by what is expected of
  // what they save.
  std::vector<size_t> Roots() const;
};

}  // namespace dladvisor
