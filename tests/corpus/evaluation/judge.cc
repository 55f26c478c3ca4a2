// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/evaluation/judge.h"

#include <re2/re2.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>

#include "tests/support/files.h"

namespace dladvisor::evaluation {
namespace fs = std::filesystem;

namespace {

constexpr double kSlack = 1.1;          // by which a promise may exceed what the label allows
constexpr double kEstimateHolds = 0.5;  // the part of a label's estimate that a promise must reach

double Share(int part, int whole) { return whole == 0 ? 1 : static_cast<double>(part) / whole; }

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

// Runs act(0) to act(count - 1) on all processors.
void ForEach(size_t count, const std::function<void(size_t)>& act) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (size_t i = next++; i < count; i = next++) try {
          act(i);
        } catch (...) {
          const std::scoped_lock lock(mutex);
          failure = std::current_exception();
        }
    });
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

// Of the causes that count, those that the rule names.
std::vector<std::string> CausesNamedBy(const std::string& rule, const Label& label,
                                       const Expectations& expectations, const FileNotes& notes) {
  std::vector<std::string> causes;
  for (const Cause& cause : label.causes)
    if (!notes.wrong.contains(cause.name) && Contains(expectations.causes.at(cause.name).rules, rule))
      causes.push_back(cause.name);
  return causes;
}

void GiveVerdict(const std::string& text, const Expectations& expectations, const FileNotes& notes,
                 JudgedFinding& finding) {
  const auto note = notes.findings.find(finding.rule);
  if (note != notes.findings.end() && text.find(note->second.says) != std::string::npos) {
    finding.verdict = note->second.verdict;
    finding.why = note->second.why;
    return;
  }
  std::string forbids;
  for (const std::string& claim : notes.silent)
    if (Contains(expectations.claims.at(claim), finding.rule)) forbids = claim;
  if (forbids.empty() && finding.causes.empty()) {
    finding.why = "no label names it";
  } else if (forbids.empty()) {
    finding.verdict = Verdict::kRight;
    finding.why = "cause " + finding.causes[0];
  } else if (finding.causes.empty()) {
    finding.verdict = Verdict::kWrong;
    finding.why = "the label forbids '" + forbids + "'";
  } else {
    finding.why = "the label has the cause " + finding.causes[0] + " and forbids '" + forbids + "'";
  }
}

// What the rule's finding saves, as shares of the time: at least, where the label estimates it, and at most.
std::optional<std::pair<double, double>> Savings(const JudgedFinding& finding, const Label& label,
                                                 const FileNotes& notes) {
  if (const auto note = notes.findings.find(finding.rule); note != notes.findings.end() && note->second.share)
    return std::pair(0.0, *note->second.share);
  std::optional<std::pair<double, double>> savings;
  for (const Cause& cause : label.causes)
    if (cause.share && Contains(finding.causes, cause.name) && (!savings || *cause.share > savings->second))
      savings = std::pair(cause.about ? *cause.share * kEstimateHolds : 0, *cause.share);
  return savings;
}

// A finding that is not right saves nothing; one that is right, nothing to `savings`.
void JudgeRange(const Said& said, const Observed& observed,
                const std::optional<std::pair<double, double>>& savings, JudgedFinding& finding) {
  const double whole = observed.step_ns.value_or(observed.window_ns.value_or(0));
  if (!said.low || !said.high || whole <= 0 || finding.verdict == Verdict::kToJudge) return;
  Range range{*said.low / whole, *said.high / whole, 0, 0, false};
  if (finding.verdict == Verdict::kRight) {
    if (!savings) return;
    std::tie(range.least, range.most) = *savings;
    range.holds =
        range.low <= range.most * kSlack && range.high <= range.most * kSlack && range.high >= range.least;
  } else if (range.low <= 0) {
    return;
  }
  if (!finding.range || (finding.range->holds && !range.holds)) finding.range = range;
}

void JudgeFirst(const Observed& observed, JudgedFile& file) {
  const bool has_major = std::ranges::any_of(file.causes, [](const auto& c) { return c.cause.major; });
  if (observed.first.empty()) {
    file.first = file.refused.empty() ? "nothing is recommended" : "the file is refused";
    file.first_right = !has_major;
    return;
  }
  file.first = observed.first;
  for (const JudgedFinding& finding : file.findings) {
    if (finding.rule != file.first) continue;
    const bool names_major = std::ranges::any_of(file.causes, [&](const JudgedCause& cause) {
      return cause.cause.major && Contains(finding.causes, cause.cause.name);
    });
    file.first_right = finding.verdict == Verdict::kRight && (names_major || !has_major);
  }
}

}  // namespace

double Score::Precision() const { return Share(warnings_right, warnings - warnings_to_judge); }
double Score::MajorNamed() const { return Share(major_named, major); }
double Score::FirstRight() const { return Share(first_right, files); }
double Score::RangesHold() const { return Share(ranges_hold, ranges); }
double Score::FactsHold() const { return Share(facts_hold, facts); }
double Score::StepsHold() const { return Share(steps_hold, steps); }

std::vector<JudgedFact> FactsToCheck(const Label& label, const Expectations& expectations) {
  std::vector<JudgedFact> facts;
  for (const Fact& fact : label.facts)
    for (const FactQuery& query : expectations.facts) {
      std::string number;
      if (fact.value ? RE2::FullMatch(fact.text, query.pattern)
                     : RE2::PartialMatch(fact.text, query.pattern, &number))
        facts.push_back(
            {fact.text, &query, (fact.value ? *fact.value : std::stod(number)) * query.scale, {}});
    }
  return facts;
}

JudgedFile JudgeFile(const Label& label, const Expectations& expectations, const Observed& observed,
                     std::vector<JudgedFact> facts) {
  const FileNotes& notes = expectations.notes.at(label.file);
  JudgedFile file;
  file.file = label.file;
  file.half = HalfOf(label.file);
  file.kind = notes.kind;
  file.refused = observed.error;
  for (const Said& said : observed.findings) {
    auto finding = std::ranges::find(file.findings, said.rule, &JudgedFinding::rule);
    if (finding == file.findings.end()) {
      finding = file.findings.insert(finding,
                                     {said.rule, said.severity, said.problem, "", Verdict::kToJudge, {}, {}});
      finding->causes = CausesNamedBy(said.rule, label, expectations, notes);
      GiveVerdict(said.text, expectations, notes, *finding);
    }
    JudgeRange(said, observed, Savings(*finding, label, notes), *finding);
  }
  for (const Cause& cause : label.causes) {
    if (notes.wrong.contains(cause.name)) continue;
    JudgedCause& judged =
        file.causes.emplace_back(JudgedCause{cause, false, expectations.causes.at(cause.name).needs});
    for (const JudgedFinding& finding : file.findings)
      if (finding.verdict == Verdict::kRight && Contains(finding.causes, cause.name)) judged.named = true;
  }
  JudgeFirst(observed, file);
  for (size_t f = 0; f < facts.size(); ++f) {
    facts[f].ours = observed.values.at(f);
    facts[f].holds =
        facts[f].ours && std::abs(*facts[f].ours - facts[f].label) <= facts[f].query->within * facts[f].label;
  }
  file.facts = std::move(facts);
  return file;
}

std::vector<JudgedFile> JudgeFiles(const Expectations& expectations, const fs::path& program,
                                   const fs::path& data) {
  std::vector<const Label*> labels;
  for (const Label& label : expectations.labels)
    if (fs::exists(data / label.file)) labels.push_back(&label);
  std::vector<JudgedFile> files(labels.size());
  ForEach(labels.size(), [&](size_t i) {
    std::vector<JudgedFact> facts = FactsToCheck(*labels[i], expectations);
    std::vector<std::string> queries;
    for (const JudgedFact& fact : facts) queries.push_back(fact.query->sql);
    files[i] = JudgeFile(*labels[i], expectations, Observe(program, data / labels[i]->file, queries),
                         std::move(facts));
  });
  return files;
}

Score ScoreOf(const std::vector<JudgedFile>& files, const std::function<bool(const JudgedFile&)>& which) {
  Score score;
  for (const JudgedFile& file : files) {
    if (!which(file)) continue;
    ++score.files;
    score.first_right += file.first_right;
    for (const JudgedFinding& finding : file.findings) {
      const bool right = finding.verdict == Verdict::kRight, judged = finding.verdict != Verdict::kToJudge;
      ++score.findings;
      score.right += right;
      score.misleading += finding.verdict == Verdict::kMisleading;
      score.wrong += finding.verdict == Verdict::kWrong;
      score.to_judge += !judged;
      if (finding.severity != "info") {
        ++score.warnings;
        score.warnings_right += right;
        score.warnings_to_judge += !judged;
      }
      if (finding.range) {
        ++score.ranges;
        score.ranges_hold += finding.range->holds;
        score.low_ends += finding.range->low > 0;
        score.low_ends_hold += finding.range->low > 0 && finding.range->holds;
      }
    }
    for (const JudgedCause& cause : file.causes) {
      ++(cause.cause.major ? score.major : score.minor);
      (cause.cause.major ? score.major_named : score.minor_named) += cause.named;
    }
    for (const JudgedFact& fact : file.facts) {
      ++(fact.query->step ? score.steps : score.facts);
      (fact.query->step ? score.steps_hold : score.facts_hold) += fact.holds;
    }
  }
  return score;
}

std::vector<JudgedPair> JudgePairs(const Expectations& expectations, const fs::path& program) {
  std::vector<JudgedPair> pairs;
  for (const Pair& pair : expectations.pairs)
    if (fs::exists(test::ProfilePath(pair.before)) && fs::exists(test::ProfilePath(pair.after)))
      pairs.push_back({pair, {}, {}, {}, {}, {}, {}});
  ForEach(pairs.size(), [&](size_t p) {
    JudgedPair& judged = pairs[p];
    const Observed before = Observe(program, test::ProfilePath(judged.pair.before), {}),
                   after = Observe(program, test::ProfilePath(judged.pair.after), {});
    // What a number of the report is per round: per step, or its part of the analysed time.
    const auto per_round = [](const Observed& run, std::optional<double> ns, double rounds) {
      if (ns && !run.step_ns) ns = rounds > 0 ? std::optional(*ns / rounds) : std::nullopt;
      return ns;
    };
    const auto time = [&](const Observed& run, double rounds, std::optional<double> published_ms) {
      if (published_ms) return std::optional(*published_ms * 1e6);
      return per_round(run, run.step_ns ? run.step_ns : run.window_ns, rounds);
    };
    judged.before_ns = time(before, judged.pair.rounds_before, judged.pair.before_ms);
    judged.after_ns = time(after, judged.pair.rounds_after, judged.pair.after_ms);
    for (const Said& said : before.findings)
      if (said.rule == judged.pair.rule && !judged.predicted) {
        judged.predicted = true;
        judged.low_ns = per_round(before, said.low, judged.pair.rounds_before);
        judged.high_ns = per_round(before, said.high, judged.pair.rounds_before);
      }
    judged.gone =
        std::ranges::none_of(after.findings, [&](const Said& s) { return s.rule == judged.pair.rule; });
  });
  return pairs;
}

}  // namespace dladvisor::evaluation
