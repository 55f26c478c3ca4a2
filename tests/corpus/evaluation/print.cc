// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/evaluation/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace dladvisor::evaluation {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight:
      return "right";
    case Verdict::kMisleading:
      return "misleading";
    case Verdict::kWrong:
      return "wrong";
    case Verdict::kToJudge:
      return "to judge";
  }
  return "";
}

std::string Of(int part, int whole) {
  if (whole == 0) return "-";
  return fmt::format("{} of {} ({:.0f} %)", part, whole, 100.0 * part / whole);
}

std::string Time(std::optional<double> ns) {
  if (!ns) return "?";
  return std::abs(*ns) >= 1e9   ? fmt::format("{:.3g} s", *ns / 1e9)
         : std::abs(*ns) >= 1e6 ? fmt::format("{:.3g} ms", *ns / 1e6)
                                : fmt::format("{:.3g} us", *ns / 1e3);
}

// Columns as wide as their widest cell, the first one left-aligned.
std::string Aligned(const Rows& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      widths.resize(std::max(widths.size(), row.size()));
      widths[c] = std::max(widths[c], row[c].size());
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += c == 0 ? fmt::format("{:<{}}", row[c], widths[c]) : fmt::format("  {:>{}}", row[c], widths[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string Piped(const Rows& rows) {
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    text += "| " + fmt::format("{}", fmt::join(rows[r], " | ")) + " |\n";
    if (r == 0) {
      text += "|";
      for (size_t c = 0; c < rows[0].size(); ++c) text += "---|";
      text += "\n";
    }
  }
  return text;
}

std::vector<std::string> Halves(const std::string& half) {
  if (half.empty()) return {"seen", "unseen"};
  return {half};
}

Rows Summary(const std::vector<JudgedFile>& files, const std::vector<std::string>& halves) {
  Rows rows = {{""},
               {"files"},
               {"warnings that are right"},
               {"all findings that are right"},
               {"findings without verdict"},
               {"major causes named"},
               {"minor causes named"},
               {"first recommendation right"},
               {"savings within what the label allows"},
               {"those with a lower end above 0"},
               {"figures equal to the label's"},
               {"length of steps, within 3 %"}};
  const auto add = [&](const std::string& title, const Score& s) {
    const std::vector<std::string> column = {title,
                                             std::to_string(s.files),
                                             Of(s.warnings_right, s.warnings - s.warnings_to_judge),
                                             Of(s.right, s.findings - s.to_judge),
                                             std::to_string(s.to_judge),
                                             Of(s.major_named, s.major),
                                             Of(s.minor_named, s.minor),
                                             Of(s.first_right, s.files),
                                             Of(s.ranges_hold, s.ranges),
                                             Of(s.low_ends_hold, s.low_ends),
                                             Of(s.facts_hold, s.facts),
                                             Of(s.steps_hold, s.steps)};
    for (size_t r = 0; r < rows.size(); ++r) rows[r].push_back(column[r]);
  };
  for (const std::string& half : halves)
    add(half, ScoreOf(files, [&](const JudgedFile& file) { return file.half == half; }));
  if (halves.size() > 1) add("both", ScoreOf(files));
  return rows;
}

Rows ByKind(const std::vector<JudgedFile>& files, const std::vector<std::string>& halves) {
  std::set<std::string> kinds;
  for (const JudgedFile& file : files) kinds.insert(file.kind);
  Rows rows = {{"kind of program", "half", "files", "warnings right", "all findings right",
                "major causes named", "first right"}};
  for (const std::string& kind : kinds)
    for (const std::string& half : halves) {
      const Score s =
          ScoreOf(files, [&](const JudgedFile& file) { return file.kind == kind && file.half == half; });
      if (s.files > 0)
        rows.push_back(
            {kind, half, std::to_string(s.files), Of(s.warnings_right, s.warnings - s.warnings_to_judge),
             Of(s.right, s.findings - s.to_judge), Of(s.major_named, s.major), Of(s.first_right, s.files)});
    }
  return rows;
}

// Right, misleading, wrong and without verdict, of each rule that fired; the rules that were wrong most
// first.
Rows ByRule(const std::vector<JudgedFile>& files, const std::vector<std::string>& halves) {
  std::map<std::string, std::map<std::string, std::array<int, 3>>> counts;  // by rule, half and verdict
  for (const JudgedFile& file : files)
    for (const JudgedFinding& finding : file.findings)
      if (finding.verdict != Verdict::kToJudge)
        ++counts[finding.rule][file.half][static_cast<size_t>(finding.verdict)];
  std::vector<std::pair<int, std::string>> order;
  for (auto& [rule, of_half] : counts) {
    int bad = 0;
    for (const std::string& half : halves) bad += of_half[half][1] + of_half[half][2];
    order.emplace_back(-bad, rule);
  }
  std::ranges::sort(order);
  Rows rows = {{"rule"}};
  for (const std::string& half : halves)
    for (const char* column : {"right", "misleading", "wrong"}) rows[0].push_back(half + ": " + column);
  for (const auto& [bad, rule] : order) {
    rows.push_back({rule});
    for (const std::string& half : halves)
      for (const int count : counts[rule][half])
        rows.back().push_back(count == 0 ? "" : std::to_string(count));
  }
  return rows;
}

Rows Pairs(const std::vector<JudgedPair>& pairs) {
  Rows rows = {{"profiles", "what was changed", "rule", "before", "after", "saved", "promised", "holds",
                "finding gone"}};
  for (const JudgedPair& judged : pairs) {
    std::optional<double> saved;
    if (judged.before_ns && judged.after_ns) saved = *judged.before_ns - *judged.after_ns;
    const bool promised = judged.low_ns && judged.high_ns && *judged.high_ns > 0;
    std::string promise = "nothing", holds = "-", gone = "-";
    if (judged.predicted) {
      promise = promised ? Time(judged.low_ns) + " to " + Time(judged.high_ns) : "no saving";
      gone = judged.gone ? "yes" : "no";
    }
    if (promised && saved) holds = *saved >= *judged.low_ns && *saved <= *judged.high_ns ? "yes" : "no";
    const std::string file = judged.pair.before, folder = file.substr(0, file.rfind('/'));
    rows.push_back({file.starts_with("examples/") ? folder : folder.substr(folder.rfind('/') + 1),
                    judged.pair.change, judged.pair.rule.empty() ? "none" : judged.pair.rule,
                    Time(judged.before_ns), Time(judged.after_ns), Time(saved), promise, holds, gone});
  }
  return rows;
}

std::vector<JudgedFile> OfHalves(const std::vector<JudgedFile>& files,
                                 const std::vector<std::string>& halves) {
  std::vector<JudgedFile> of;
  for (const JudgedFile& file : files)
    if (std::ranges::find(halves, file.half) != halves.end()) of.push_back(file);
  return of;
}

}  // namespace

std::string Misses(const std::vector<JudgedFile>& files) {
  std::string text;
  const auto miss = [&](const JudgedFile& file, const std::string& what) {
    text += file.file + ": " + what + "\n";
  };
  for (const JudgedFile& file : files) {
    for (const JudgedFinding& finding : file.findings)
      if (finding.verdict != Verdict::kRight)
        miss(file, fmt::format("{} {} is {}: {}; it says: {}", finding.severity, finding.rule,
                               NameOf(finding.verdict), finding.why, finding.problem));
    for (const JudgedCause& cause : file.causes)
      if (!cause.named)
        miss(file, fmt::format("{} cause {} is not named{}", cause.cause.major ? "major" : "minor",
                               cause.cause.name, cause.needs.empty() ? "" : "; needs " + cause.needs));
    if (!file.first_right) miss(file, "first recommendation is not for a major cause: " + file.first);
    for (const JudgedFinding& finding : file.findings)
      if (finding.range && !finding.range->holds)
        miss(file, fmt::format("{} promises {:.1f} to {:.1f} % of the time; the label has {:.1f} to {:.1f} %",
                               finding.rule, 100 * finding.range->low, 100 * finding.range->high,
                               100 * finding.range->least, 100 * finding.range->most));
    for (const JudgedFact& fact : file.facts)
      if (!fact.holds)
        miss(file, fmt::format("{}: the label has {:.12g}, we {}", fact.text, fact.label,
                               fact.ours ? fmt::format("{:.12g}", *fact.ours) : "nothing"));
  }
  return text;
}

std::string AsText(const std::vector<JudgedFile>& files, const std::vector<JudgedPair>& pairs,
                   const std::string& half, bool misses_of_unseen) {
  const std::vector<std::string> halves = Halves(half);
  const std::vector<JudgedFile> shown = OfHalves(files, halves);
  std::string text = Aligned(Summary(shown, halves)) + "\n" + Aligned(ByKind(shown, halves)) + "\n" +
                     Aligned(ByRule(shown, halves)) + "\n" + Aligned(Pairs(pairs));
  for (const std::string& each : halves) {
    if (each == "unseen" && !misses_of_unseen) {
      text += "\nMisses of the unseen half are not shown (--unseen-misses shows them).\n";
      continue;
    }
    text += "\nMisses of the " + each + " half:\n" + Misses(OfHalves(shown, {each}));
  }
  return text;
}

std::string AsMarkdown(const std::vector<JudgedFile>& files, const std::vector<JudgedPair>& pairs) {
  const std::vector<std::string> halves = Halves("");
  return "# Accuracy\n\n"
         "How often the reports are right, on published profiles. Written by `./dev evaluate --markdown`; "
         "not edited.\n\n" +
         fmt::format(
             "Each of {} profiles and logs (Nsight Systems exports, PyTorch traces, training and telemetry "
             "logs) was labelled from\n"
             "its data alone, without the program's report of it: what the program is, which part of the "
             "profile counts, what bounds\n"
             "it, the causes of lost time with evidence, remedy and the most that removing each can save, "
             "what a report must not\n"
             "claim, and exact figures. The reports are compared with that:\n\n",
             files.size()) +
         "- A finding is one rule in one file, however many ranks and GPUs it speaks of. It is *right* if it "
         "names a cause of the\n"
         "  label, *wrong* if the label forbids its claim. Findings that no label mentions were judged one "
         "by one from the data:\n"
         "  right; *misleading* where the statement is a fact but the cause or remedy is not, or where it "
         "does not matter; wrong.\n"
         "- A major cause is named if a finding that is right says it and its remedy.\n"
         "- The first recommendation is right if it is for a major cause; where there is none, if it is a "
         "finding that is right, or\n"
         "  if nothing is recommended.\n"
         "- A promised saving holds if neither end is above what the label allows for that cause (by more "
         "than a tenth), and its upper\n"
         "  end reaches half of what the label estimates, where it does. A finding that is not right must "
         "promise nothing for\n"
         "  certain. Labels mostly bound; what pairs measured is below.\n"
         "- Rules are developed on the half *seen* of the files (by a hash of their path); the half *unseen* "
         "is only counted.\n\n" +
         Piped(Summary(files, halves)) + "\n## By kind of program\n\n" + Piped(ByKind(files, halves)) +
         "\n## Before and after\n\n"
         "Pairs of profiles of one program before and after a change, published ones and our own recordings "
         "(examples/profiles). Times are those of a step "
         "(or sample, or decoded\n"
         "token): as its author measured them without a profiler, where that is published, else as the "
         "profile has them.\n"
         "\"None\": no rule advises the change.\n\n" +
         Piped(Pairs(pairs)) +
         "\nFor comparison: the authors of GPA, a profiler that predicts speedups of GPU kernels from "
         "sampled stalls, published\n"
         "19 pairs with a mean error of 10 %.\n"
         "\n## By rule\n\nOnly rules that fired. What was wrong most often comes first.\n\n" +
         Piped(ByRule(files, halves)) +
         "\n## Major causes that no finding names\n\nOf the half that may be seen:\n\n" + [&] {
           std::string text;
           for (const JudgedFile& file : OfHalves(files, {"seen"}))
             for (const JudgedCause& cause : file.causes)
               if (cause.cause.major && !cause.named)
                 text += fmt::format("- {}: {}{}\n", file.file, cause.cause.name,
                                     cause.needs.empty() ? "" : " (needs " + cause.needs + ")");
           return text;
         }();
}

}  // namespace dladvisor::evaluation
