// SPDX-License-Identifier: Apache-2.0
// ./dev bench efficiency [KERNELS]: what it costs to know how fast operators run against what their GPU can
// do. CPU time of the facts, of the rules, of the report's tables that are about it and of their part of the
// page, as a share of that of a whole report, for traces and exports that record shapes: few that repeat, and
// nearly all different. Of rules that judge without these facts, too, only what the facts add counts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/store/relation.h"
#include "src/analysis/efficiency/op_efficiency.h"
#include "src/analysis/efficiency/operator_work.h"
#include "src/analysis/families.h"
#include "src/cli/session.h"
#include "src/report/model/queries.h"
#include "src/report/report.h"
#include "tests/bench/bench.h"
#include "tests/bench/child.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

constexpr int kTimes = 5;
constexpr int kMoreTimes = 20;  // where one figure less another, which is nearly as large, counts
constexpr std::array<std::string_view, 4> kRelations = {"op_efficiency", "fusion_candidate",
                                                        "attention_block", "gpu_peak"};

// Rules of the kernels' names and grids, which take notice of efficiency where it is known.
constexpr std::array<std::string_view, 6> kOtherwiseJudged = {"dominant-kernel",     "memory-bandwidth-bound",
                                                              "mixed-precision-off", "small-grids",
                                                              "tail-effect",         "unfused-attention"};

bool IsAboutEfficiency(std::string_view text) {
  return std::ranges::any_of(kRelations,
                             [&](std::string_view relation) { return text.find(relation) != text.npos; });
}

std::vector<const ValueKind*> EfficiencyKinds() {
  std::vector<const ValueKind*> kinds = {&KindOf<OperatorWork>(), &KindOf<std::vector<GpuPeaks>>(),
                                         &KindOf<OpEfficiencies>()};
  for (const std::string_view relation : kRelations) kinds.push_back(FindFamily(relation)->kind.get());
  return kinds;
}

double FactsSeconds(const Trace& trace) {
  const std::vector<const ValueKind*> own = EfficiencyKinds();
  std::vector<const ValueKind*> inputs;
  for (const ValueKind* kind : WithInputs(own))
    if (std::ranges::find(own, kind) == own.end()) inputs.push_back(kind);
  double least = 1e300;
  for (int i = 0; i < kTimes; ++i) {
    const AnalysedTrace analysed(trace);
    analysed.values().Compute(inputs);
    const double start = OwnCpuSeconds();
    for (const ValueKind* kind : own) analysed.values().Get(*kind);
    least = std::min(least, OwnCpuSeconds() - start);
  }
  return least;
}

// All rules, less those that judge without these facts, of which there are none then: rules share what others
// have asked.
double RulesSeconds(const Profile& profile) {
  const KnowledgeBase all = LoadRules({}, {});
  std::map<std::string, Rule> others;
  std::map<std::string, std::string> texts;
  for (const RuleFile& file : BuiltInRuleFiles()) texts[fs::path(file.path).stem().string()] = file.content;
  for (const Rule& rule : all.rules())
    if (!IsAboutEfficiency(texts.at(rule.id)) ||
        std::ranges::find(kOtherwiseJudged, rule.id) != kOtherwiseJudged.end())
      others.emplace(rule.id, rule);
  const KnowledgeBase without = all.Subset(others);
  const double with_facts = LeastCpu(kMoreTimes, [&] {
    Database database = profile.OpenDatabase();
    Infer(all, database);
  });
  const double without_facts = LeastCpu(kMoreTimes, [&] {
    Database database = profile.OpenDatabase();
    for (const std::string_view relation : kRelations)
      database.Add(std::make_unique<Table>(*database.FindRelation(relation)));
    Infer(without, database);
  });
  return std::max(0.0, with_facts - without_facts);
}

double TablesSeconds(const Profile& profile) {
  const Database database = profile.OpenDatabase();
  return LeastCpu(kTimes, [&] {
    for (const FigureQuery& figure : FigureQueries())
      if (IsAboutEfficiency(figure.sql)) database.Query(figure.sql);
    for (const TableQuery& table : TableQueries())
      if (IsAboutEfficiency(table.sql)) ReadTable(database, table, RowsShown(ReportFormat::kHtml));
  });
}

// The page, less that with these tables empty.
double PageSeconds(const Profile& profile) {
  Database database = profile.OpenDatabase();
  const Advice advice = Infer(LoadRules({}, {}), database);
  ReportOptions options;
  options.shown_rows = RowsShown(ReportFormat::kHtml);
  const ReportModel all = BuildReport(database, advice, options);
  ReportModel without = all;
  for (ReportTable& table : without.tables) {
    if (!IsAboutEfficiency(table.sql)) continue;
    table.rows.rows.clear();
    table.total_rows = 0;
  }
  const auto seconds = [](const ReportModel& model) {
    return LeastCpu(kMoreTimes, [&] { RenderReport(model, ReportFormat::kHtml); });
  };
  return std::max(0.0, seconds(all) - seconds(without));
}

void Measure(std::string_view shape, const fs::path& path) {
  double report = 1e300;
  for (int i = 0; i < kTimes; ++i)
    report = std::min(report, RunChild({"report", path.string(), "-o", path.string() + ".html"}).cpu_seconds);
  const Profile profile = LoadProfile(path, {});
  const double facts = FactsSeconds(*profile.trace), rules = RulesSeconds(profile),
               tables = TablesSeconds(profile), page = PageSeconds(profile);
  fmt::print("{:<24}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>8.1f} %\n", shape, report * 1e3,
             facts * 1e3, rules * 1e3, tables * 1e3, page * 1e3,
             (facts + rules + tables + page) / report * 100);
}

}  // namespace

void MeasureEfficiency(const fs::path& folder, int64_t kernels) {
  fmt::print("{:<24}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "efficiency of operators", "report ms",
             "facts ms", "rules ms", "tables ms", "page ms", "share");
  for (const std::string_view shape :
       {"plain trace", "20,000 batch sizes", "sizes in NVTX", "20,000 sizes in NVTX"}) {
    const fs::path path = folder / (shape.ends_with("NVTX") ? "run.sqlite" : "trace.json");
    WriteShape(shape, kernels, path);
    Measure(shape, path);
    fs::remove(path);
  }
}

}  // namespace dladvisor
