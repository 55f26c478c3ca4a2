// SPDX-License-Identifier: Apache-2.0
// What a report is measured against: the labels that were made from the data of profiles alone, and
// evaluation.yaml with its two halves (here "notes"), which relates them to rules.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dladvisor::evaluation {

struct Cause {
  std::string name, bound;  // `bound` as the label words it
  bool major = false;
  std::optional<double>
      share;           // of the labelled region that removing it saves at most, where `bound` says so
  bool about = false;  // `share` is an estimate, not only a bound
};

struct Fact {
  std::string text;
  std::optional<double> value;  // labels of traces have it in the text
};

struct Label {
  std::string file;  // below the folder of profiles
  std::vector<Cause> causes;
  std::vector<Fact> facts;
};

enum class Verdict { kRight, kMisleading, kWrong, kToJudge };

struct Note {  // on the findings of one rule in one file
  Verdict verdict = Verdict::kToJudge;
  std::string why;
  std::string says;             // the note holds only as long as the finding's text has this; "": always
  std::optional<double> share;  // of the analysed time that it can save at most
};

struct FileNotes {
  std::string kind;
  std::vector<std::string> silent;           // classes of claims that the label forbids
  std::map<std::string, Note> findings;      // by rule
  std::map<std::string, std::string> wrong;  // what in the label is wrong, by cause or claim, with the reason
};

struct NamedBy {
  std::vector<std::string> rules;  // which name the cause
  std::string needs;               // what would find it, where no rule does
};

struct FactQuery {
  std::string pattern, sql;
  double scale = 1, within = 0;  // the number in the text to the query's unit; relative tolerance
  bool step = false;             // about the length of steps, which a report may not find
};

struct Pair {
  std::string before, after, change, rule;     // `rule`: whose finding the change follows; "": none says it
  double rounds_before = 0, rounds_after = 0;  // in the analysed time of a file without steps; 0: unknown
  std::optional<double> before_ms, after_ms;   // published times of a round without a profiler
};

struct Levels {  // least shares, and the most findings without verdict
  double precision = 0, causes = 0, first = 0, ranges = 0, facts = 0, steps = 0;
  int to_judge = 0;
};

struct Expectations {
  std::vector<Label> labels;
  std::map<std::string, FileNotes> notes;  // by file
  std::map<std::string, NamedBy> causes;   // by name
  std::map<std::string, std::vector<std::string>> claims;
  std::vector<FactQuery> facts;
  std::vector<Pair> pairs;
  std::map<std::string, Levels> levels;  // by half
};

// "seen" or "unseen": rules are made while looking at the files of the first half only.
std::string HalfOf(const std::string& file);

// The folder of the labels, beside that of the profiles.
std::filesystem::path LabelsBeside(const std::filesystem::path& data);

// The files LABELS/*.yaml, and NOTES/evaluation.yaml, seen.yaml and unseen.yaml.
// Throws std::runtime_error, naming file and entry, where they are malformed or disagree.
Expectations ReadExpectations(const std::filesystem::path& labels, const std::filesystem::path& notes);

// "6.7 ms of 7.9 ms per step" is 0.85; nothing where the text has no such pair.
std::optional<double> ShareIn(const std::string& bound);

}  // namespace dladvisor::evaluation
