// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace dladvisor {
namespace {

constexpr std::string_view kSlowestRank =
    "(SELECT rank FROM step WHERE warmup = 0 GROUP BY rank ORDER BY avg(duration_ns) DESC, rank LIMIT 1)";

std::vector<double> Numbers(const Database& db, const std::string& sql) {
  std::vector<double> numbers;
  for (const auto& row : db.Query(sql).rows)
    if (const auto number = AsNumber(row[0])) numbers.push_back(*number);
  return numbers;
}

class Measurer {
 public:
  explicit Measurer(const Database& db) : db_(db) {
    const auto start = Numbers(db_, "SELECT min(clock_origin_utc_ns) FROM profile");
    if (!start.empty()) start_utc_ns_ = static_cast<int64_t>(start[0]);
  }

  std::vector<Measurement> Measure() {
    std::vector<double> steps =
        Numbers(db_, fmt::format("SELECT duration_ns FROM step WHERE warmup = 0 AND rank = {} ORDER BY step",
                                 kPacingRank));
    steps_ = static_cast<double>(steps.size());
    if (steps.empty())
      steps = Numbers(db_,
                      "SELECT elapsed_ns FROM training_log WHERE warmup = 0 AND elapsed_ns IS NOT NULL "
                      "ORDER BY profile, attempt, iteration");
    if (!steps.empty()) Add("step.time", MeanOfSteps(steps));
    AddValue("gpu.utilization", "SELECT gpu_utilization FROM run");
    AddValue("tensor_core.efficiency", "SELECT tensor_core_efficiency FROM run");
    AddValue("run.mfu", "SELECT mfu FROM run");
    AddValue("kernel.efficiency",
             "SELECT sum(attainable_ns) / sum(gpu_ns) FROM op_efficiency WHERE attainable_ns IS NOT NULL");
    AddValue("memory.peak", "SELECT max(peak_bytes) FROM memory");
    AddValue("communication.exposed",
             "SELECT avg(ns_per_step) FROM time_ledger WHERE bucket = 'communication/exposed'");
    AddValue("throughput", "SELECT samples_per_second FROM run");
    if (steps_ > 0) {
      AddLedger();
      AddPerStep("op.time", fmt::format("SELECT op, busy_ns FROM op WHERE rank = {}", kPacingRank));
      AddPerStep("kernel.time",
                 fmt::format("SELECT kernel, sum(gpu_ns) FROM op_kernel WHERE rank = {} GROUP BY kernel",
                             kPacingRank));
    }
    AddRanges();
    AddFlopsPerSecond();
    return std::move(measurements_);
  }

 private:
  void Add(std::string metric, RunMean mean) {
    mean.start_utc_ns = start_utc_ns_;
    measurements_.push_back({std::move(metric), mean});
  }

  void AddOne(std::string metric, double value) {
    RunMean mean;
    mean.mean = value;
    mean.steps = 1;
    mean.independent_steps = 1;
    Add(std::move(metric), mean);
  }

  void AddValue(std::string metric, const std::string& sql) {
    if (const auto values = Numbers(db_, sql); !values.empty()) AddOne(std::move(metric), values[0]);
  }

  // The buckets of each step; one that is left out of a step has no time in it.
  void AddLedger() {
    const ResultSet cells = db_.Query(
        fmt::format("SELECT bucket, step, ns FROM step_ledger WHERE rank = {} AND device = {} ORDER BY step",
                    kPacingRank, PacingDevice("step_ledger")));
    std::map<int64_t, size_t> position;
    for (const auto& row : cells.rows)
      position.emplace(static_cast<int64_t>(AsNumber(row[1]).value_or(0)), position.size());
    std::map<std::string, std::vector<double>> buckets;
    for (const auto& row : cells.rows) {
      auto& bucket = buckets[std::get<std::string>(row[0])];
      bucket.resize(position.size());
      bucket[position.at(static_cast<int64_t>(AsNumber(row[1]).value_or(0)))] += AsNumber(row[2]).value_or(0);
    }
    const size_t first = measurements_.size();
    for (const auto& [bucket, steps] : buckets) Add("ledger.time/" + bucket, MeanOfSteps(steps));
    SortFrom(first);
  }

  void AddPerStep(std::string_view family, const std::string& sql) {
    const size_t first = measurements_.size();
    for (const auto& row : db_.Query(sql).rows)
      if (const auto ns = AsNumber(row[1]))
        AddOne(fmt::format("{}/{}", family, std::get<std::string>(row[0])), *ns / steps_);
    SortFrom(first);
  }

  void AddRanges() {
    const size_t first = measurements_.size();
    for (const auto& row :
         db_.Query("SELECT name, instances, avg_ns, stddev_ns FROM range_name WHERE rank = (SELECT min(rank) "
                   "FROM range_name) AND domain = '' ORDER BY total_ns DESC, name")
             .rows) {
      RunMean mean;
      mean.mean = AsNumber(row[2]).value_or(0);
      mean.steps = static_cast<size_t>(AsNumber(row[1]).value_or(0));
      mean.independent_steps = static_cast<double>(mean.steps);
      if (const auto deviation = AsNumber(row[3])) {
        mean.variance = mean.likely_variance = *deviation * *deviation / mean.independent_steps;
        mean.degrees = mean.likely_degrees = mean.independent_steps - 1;
      }
      Add("range.time/" + std::get<std::string>(row[0]), mean);
    }
    SortFrom(first);
  }

  void AddFlopsPerSecond() {
    const size_t first = measurements_.size();
    for (const auto& row :
         db_.Query(fmt::format("SELECT op, sum(flops) / (sum(gpu_ns) * 1e-9) FROM op_efficiency WHERE rank = "
                               "coalesce({}, (SELECT min(rank) FROM op_efficiency)) AND flops_per_s IS NOT "
                               "NULL GROUP BY op",
                               kPacingRank))
             .rows)
      if (const auto rate = AsNumber(row[1]))
        AddOne("op.flops_per_s/" + std::get<std::string>(row[0]), *rate);
    SortFrom(first);
  }

  void SortFrom(size_t first) {
    std::stable_sort(measurements_.begin() + static_cast<std::ptrdiff_t>(first), measurements_.end(),
                     [](const Measurement& a, const Measurement& b) { return a.mean.mean > b.mean.mean; });
  }

  const Database& db_;
  std::optional<int64_t> start_utc_ns_;
  double steps_ = 0;
  std::vector<Measurement> measurements_;
};

}  // namespace

const std::string kPacingRank = "coalesce((SELECT rank FROM pacing_gpu), " + std::string(kSlowestRank) + ")";

std::string PacingDevice(std::string_view relation) {
  return fmt::format("coalesce((SELECT device FROM pacing_gpu), (SELECT min(device) FROM {}))", relation);
}

std::span<const MetricKind> MetricKinds() {
  static const std::array<MetricKind, 13> kinds = {{
      {.name = "step.time", .title = "Step time"},
      {.name = "gpu.utilization", .title = "GPU utilization", .unit = Unit::kRatio, .lower_is_better = false},
      {.name = "tensor_core.efficiency",
       .title = "Tensor core efficiency",
       .unit = Unit::kRatio,
       .lower_is_better = false},
      {.name = "run.mfu", .title = "MFU", .unit = Unit::kRatio, .lower_is_better = false},
      {.name = "kernel.efficiency",
       .title = "Kernel efficiency",
       .unit = Unit::kRatio,
       .lower_is_better = false},
      {.name = "memory.peak", .title = "Peak memory", .unit = Unit::kBytes},
      {.name = "communication.exposed", .title = "Exposed communication"},
      {.name = "throughput", .title = "Samples per second", .unit = Unit::kNone, .lower_is_better = false},
      {.name = "ledger.time", .title = "Ledger", .is_family = true, .absent_is_nothing = true},
      {.name = "op.time", .title = "Op", .is_family = true, .absent_is_nothing = true},
      {.name = "kernel.time", .title = "Kernel", .is_family = true, .absent_is_nothing = true},
      {.name = "range.time", .title = "Range", .is_family = true},
      {.name = "op.flops_per_s",
       .title = "Rate of operator",
       .unit = Unit::kFlopsPerSecond,
       .lower_is_better = false,
       .is_family = true},
  }};
  return kinds;
}

std::vector<Measurement> MeasureRun(const Database& db) { return Measurer(db).Measure(); }

const MetricKind* FindMetricKind(std::string_view metric) {
  const size_t slash = metric.find('/');
  const std::string_view name = metric.substr(0, slash);
  for (const MetricKind& kind : MetricKinds())
    if (kind.name == name && kind.is_family == (slash != std::string_view::npos)) return &kind;
  return nullptr;
}

}  // namespace dladvisor
