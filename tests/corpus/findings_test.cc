// SPDX-License-Identifier: Apache-2.0
// What the built-in rules say, over all profiles of the corpus, as their readers see it: one effect has one
// number, conditions are words, and rows of tables, those of comparisons too, can be told apart.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "src/comparison/compare_runs.h"
#include "src/comparison/recorded_run.h"
#include "src/comparison/render/comparison_rows.h"
#include "src/report/sections/condition_words.h"
#include "tests/corpus/written_report.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

const KnowledgeBase& BuiltInRules() {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  return knowledge;
}

TEST(Findings, HaveConditionsInWords) {
  size_t conditions = 0;
  for (const Rule& rule : BuiltInRules().rules())
    for (const Condition& condition : rule.when) {
      ++conditions;
      if (condition.comparisons.empty()) {
        const bool negated = condition.sql.starts_with("NOT ");
        EXPECT_NE(ExpressionWords(negated ? condition.sql.substr(4) : condition.sql), "")
            << rule.id << ": " << condition.sql;
      }
      for (const Comparison& comparison : condition.comparisons)
        for (const std::string& side : {comparison.left, comparison.right})
          EXPECT_NE(ExpressionWords(side), "") << rule.id << ": " << side;
    }
  EXPECT_GT(conditions, 300u);
}

std::vector<std::string> FilesOfTheCorpus() {
  std::vector<std::string> files;
  if (!std::filesystem::exists(test::DataDir())) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::DataDir()))
    if (entry.is_regular_file() && entry.file_size() < 8'000'000) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

// The advice on the profile; nothing where no format reads the file.
std::optional<Advice> AdviceOn(const std::string& path, double& steps) {
  try {
    Alone alone;
    const Profile profile = LoadProfiles({path}, {}, alone);
    Database database = profile.OpenDatabase();
    const ResultSet rows = database.Query("SELECT steps FROM run");
    steps = rows.rows.empty() ? 0 : AsNumber(rows.rows[0][0]).value_or(0);
    return Infer(BuiltInRules(), database);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What a finding saves is told per step: nothing in its words is the same time summed over the steps.
TEST(Findings, TellOneEffectByOneNumber) {
  constexpr double kSame = 0.005;
  size_t read = 0, told = 0;
  for (const std::string& path : FilesOfTheCorpus()) {
    double steps = 0;
    const auto advice = AdviceOn(path, steps);
    if (!advice) continue;
    ++read;
    if (steps < 2) continue;
    for (const Finding& finding : advice->findings) {
      if (finding.outcome != Outcome::kFired || !finding.saves || !finding.saves->claimed_ns) continue;
      const double claimed = *finding.saves->claimed_ns;
      std::vector<const RenderedMessage*> messages = {&finding.problem};
      for (const RenderedMessage& message : finding.recommendation) messages.push_back(&message);
      const auto is = [&](const PlacedValue& placed, double time) {
        return placed.value.unit == Unit::kNanoseconds &&
               std::abs(AsNumber(placed.value.value).value_or(0) - time) < kSame * time;
      };
      for (const RenderedMessage* message : messages) {
        told += message->values.size();
        // Of one event, say the longest, the message tells both what it takes and what that is per step.
        if (std::ranges::any_of(message->values,
                                [&](const PlacedValue& p) { return p.per_period && is(p, claimed); }))
          continue;
        for (const PlacedValue& placed : message->values)
          EXPECT_FALSE(!placed.per_period && is(placed, claimed * steps))
              << path << "\n  " << finding.rule << " says " << placed.value.name
              << " of all steps and saves per step: " << message->text;
      }
    }
  }
  if (read == 0) GTEST_SKIP() << "no profiles";
  EXPECT_GT(told, 20u);
}

// Names that are shortened are so that those of different rows differ, and the picture of a step is small
// however many events it has.
TEST(Pages, TellRowsApartAndDrawStepsInLittle) {
  static const RE2 table(R"~((?s)<table class="data sortable" id="([^"]*)">(.*?)</table>)~");
  static const RE2 name(R"~((?s)<summary title="([^"]*)">(.*?)</summary>)~");
  static const RE2 timeline(R"~((?s)<div class="card timeline">(.*?)</section>)~");
  static const RE2 picture(R"~((?s)(<svg.*?</svg>))~");
  size_t names = 0, pictures = 0;
  for (const std::string& path : FilesOfTheCorpus()) {
    std::optional<test::WrittenReport> report;
    try {
      Alone alone;
      report = test::WriteReport(LoadProfiles({path}, {}, alone));
    } catch (const Error&) {
      continue;
    }
    std::string drawn, svg;
    if (RE2::PartialMatch(report->html, timeline, &drawn)) {
      for (re2::StringPiece left(drawn); RE2::FindAndConsume(&left, picture, &svg); ++pictures)
        EXPECT_LT(svg.size(), 150'000u) << path;
    }
    re2::StringPiece rest(report->html);
    for (std::string id, body; RE2::FindAndConsume(&rest, table, &id, &body);) {
      std::map<std::string, std::string> whole_of;
      re2::StringPiece rows(body);
      for (std::string whole, label; RE2::FindAndConsume(&rows, name, &whole, &label); ++names) {
        const auto [known, is_new] = whole_of.emplace(label, whole);
        EXPECT_EQ(known->second, whole) << path << ": " << id << ": " << label;
      }
    }
  }
  if (FilesOfTheCorpus().empty()) GTEST_SKIP() << "no profiles";
  EXPECT_GT(names, 1000u);
  EXPECT_GT(pictures, 50u);
}

std::optional<RecordedRun> RunOf(const std::string& path) {
  try {
    Alone alone;
    Profile profile = LoadProfiles({path}, {}, alone);
    Database database = profile.OpenDatabase();
    return RecordRun(path, BuiltInRules(), database, profile.MissingRelations());
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Files of one folder against each other, and the two traces of TraceLens's comparisons.
TEST(Comparisons, TellRowsApart) {
  size_t rows = 0, pairs = 0;
  std::string before_path;
  std::optional<RecordedRun> before;
  for (const std::string& path : FilesOfTheCorpus()) {
    if (path.find("/pairs/") == std::string::npos && path.find("comparative") == std::string::npos) continue;
    auto run = RunOf(path);
    if (!run) continue;
    if (before &&
        std::filesystem::path(path).parent_path() == std::filesystem::path(before_path).parent_path()) {
      ++pairs;
      for (const ComparisonTable& table : TablesOf(CompareRuns(*before, *run, BuiltInRules()))) {
        std::set<std::string> read;
        for (const ComparisonRow& row : table.rows) {
          ++rows;
          EXPECT_TRUE(read.insert(row.name + "\n" + row.note).second)
              << before_path << "\n"
              << path << "\n"
              << table.title << ": " << row.name << " " << row.note;
        }
      }
    }
    before_path = path;
    before = std::move(run);
  }
  if (FilesOfTheCorpus().empty()) GTEST_SKIP() << "no profiles";
  EXPECT_GT(pairs, 10u);
  EXPECT_GT(rows, 300u);
}

}  // namespace
}  // namespace dladvisor
