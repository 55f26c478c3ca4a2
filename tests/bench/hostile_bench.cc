// SPDX-License-Identifier: Apache-2.0
// What hostile rules take over 100,000 rows: processor time and memory of a process of their own each.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>

#include "engine/inference/inference.h"
#include "tests/bench/bench.h"
#include "tests/bench/child.h"
#include "tests/engine/hostile_rules.h"

namespace dladvisor {
namespace {

constexpr size_t kHostileRows = 100'000;
constexpr double kMostSeconds = 5, kMostMb = 512;

double ProcessorSeconds(int whose) {
  rusage usage{};
  getrusage(whose, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

void RunHostile(size_t number) {
  const Table events = test::Events(kHostileRows);
  const Schema schema = test::EventSchema();
  Database database;
  database.Add(events);
  KnowledgeBase knowledge({&schema});
  try {
    knowledge.AddLayer(std::vector<RuleFile>{test::HostileRule(test::HostileConditions()[number])});
  } catch (const RuleErrors& errors) {
    fmt::print("     refused: {}\n", errors.problems()[0].substr(0, 100));
    return;
  }
  const Advice advice = Infer(knowledge, database);
  const std::string error = advice.findings.empty() ? "" : advice.findings[0].error;
  fmt::print("     {} findings; {}\n", advice.findings.size(), error.substr(0, 100));
}

void MeasureHostile() {
  const auto& conditions = test::HostileConditions();
  double most_seconds = 0, most_mb = 0;
  size_t over = 0;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const double before = ProcessorSeconds(RUSAGE_CHILDREN);
    const ChildRun run = RunChild({"hostile", fmt::format("{}", i)});
    const double seconds = ProcessorSeconds(RUSAGE_CHILDREN) - before;
    most_seconds = std::max(most_seconds, seconds);
    most_mb = std::max(most_mb, run.peak_anonymous_mb);
    const bool is_over = seconds > kMostSeconds || run.peak_anonymous_mb > kMostMb;
    over += is_over;
    fmt::print("{:3} {:6.2f} s {:6.0f} MiB {} {}\n", i, seconds, run.peak_anonymous_mb,
               is_over ? "OVER" : "    ", conditions[i].substr(0, 90));
    std::fflush(stdout);
  }
  fmt::print("{} rules over {} rows: at most {:.2f} s and {:.0f} MiB; {} over {} s or {} MiB\n",
             conditions.size(), kHostileRows, most_seconds, most_mb, over, kMostSeconds, kMostMb);
}

}  // namespace dladvisor
