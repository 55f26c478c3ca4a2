// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/trait.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

namespace dladvisor {
namespace {

// Of the time of all products, or kernels; see the header.
constexpr double kMostOther = 0.5;
// Sizes of a kernel count as other ones beyond this.
constexpr double kOtherSize = 0.1;

struct TraitQuery {
  TraitKind kind;
  const char* sql;
};

// Each query gives one text, or NULL where the run does not have it.
const std::array<TraitQuery, 15>& Queries() {
  static const std::array<TraitQuery, 15> queries = {{
      {{"gpu.model", "Model of the GPUs", true, "Other hardware has another speed."},
       "SELECT group_concat(name, ', ') FROM (SELECT DISTINCT name FROM gpu WHERE name IS NOT NULL ORDER BY "
       "name)"},
      {{"gpu.count", "GPUs", true, "More GPUs share the work, or have more of it."},
       "SELECT gpus FROM run WHERE gpus > 0"},
      {{"world_size", "Processes of the job", true, "More processes share the work, or have more of it."},
       "SELECT coalesce(max(world_size), (SELECT max(ranks) FROM run WHERE ranks > 0)) FROM system"},
      {{"profiler", "Profiler", true, "Profilers define steps and slow the program in ways of their own."},
       "SELECT group_concat(format, ', ') FROM (SELECT DISTINCT format FROM profile ORDER BY format)"},
      {{"capture", "Recorded beside GPU work", true, "What is recorded on the host slows it."},
       "SELECT group_concat(name, ', ') FROM (SELECT 'Python functions' AS name FROM profile WHERE "
       "python_frames > 0 UNION SELECT 'operating-system calls' FROM profile WHERE has_os_calls UNION SELECT "
       "'nothing' FROM profile WHERE python_frames = 0 AND NOT has_os_calls)"},
      {{"step", "What a step is", true, "Steps of other kinds have other lengths."},
       "SELECT step_source || coalesce(': ' || step_pattern, '') FROM run"},
      {{"batch_size", "Global batch size", true, "A step has more or less work."},
       "SELECT group_concat(value, ', ') FROM (SELECT DISTINCT value FROM training_setting WHERE name IN "
       "('global_batch_size', 'global-batch-size', 'train_batch_size') ORDER BY value)"},
      {{"sequence_length", "Sequence length", true, "A step has more or less work."},
       "SELECT group_concat(value, ', ') FROM (SELECT DISTINCT value FROM training_setting WHERE name IN "
       "('seq_length', 'seq-length') ORDER BY value)"},
      {{"host", "Machine", false, "Machines of one kind differ by some percent."},
       "SELECT group_concat(host, ', ') FROM (SELECT DISTINCT host FROM system WHERE host IS NOT NULL ORDER "
       "BY host)"},
      {{"cpu.model", "Model of the CPU", false, "Launching and loading take other times."},
       "SELECT group_concat(cpu_model, ', ') FROM (SELECT DISTINCT cpu_model FROM system WHERE cpu_model IS "
       "NOT NULL ORDER BY cpu_model)"},
      {{"driver", "Driver", false, ""}, "SELECT max(driver_version) FROM system"},
      {{"cuda", "CUDA", false, ""}, "SELECT max(cuda_version) FROM system"},
      {{"framework", "Framework", false, ""}, "SELECT max(framework) FROM system"},
      {{"shapes", "Shapes of matrix products", true,
        "Another batch size, sequence length or model: a step has other work."},
       nullptr},
      {{"grids", "Thread blocks of the same kernels", true,
        "Another batch size or sequence length: a step has other work."},
       nullptr},
  }};
  return queries;
}

std::map<std::string, Traits::Work> WorkOf(const Database& db, const std::string& sql) {
  std::map<std::string, Traits::Work> works;
  double total = 0;
  for (const auto& row : db.Query(sql).rows) {
    const double ns = AsNumber(row[1]).value_or(0);
    works[std::get<std::string>(row[0])] = {ns, AsNumber(row[2]).value_or(0), AsNumber(row[3]).value_or(0)};
    total += ns;
  }
  for (auto& [name, work] : works) work.share = total > 0 ? work.share / total : 0;
  return works;
}

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Of the time of `some`, the part whose name `others` do not have.
double MissingShare(const std::map<std::string, Traits::Work>& some,
                    const std::map<std::string, Traits::Work>& others) {
  double share = 0;
  for (const auto& [name, work] : some)
    if (!others.contains(name)) share += work.share;
  return share;
}

const TraitKind& Kind(std::string_view name) {
  const auto kinds = TraitKinds();
  return *std::ranges::find(kinds, name, &TraitKind::name);
}

bool IsAlike(double before, double after) {
  return std::abs(std::log(after / before)) <= std::log1p(kOtherSize);
}

void CompareWork(const Traits& baseline, const Traits& candidate, std::vector<Difference>& differences) {
  const auto add = [&](std::string_view trait, std::string before, std::string after) {
    const TraitKind& kind = Kind(trait);
    differences.push_back(
        {kind.name, kind.title, std::move(before), std::move(after), kind.blocks, kind.note});
  };
  if (!baseline.products.empty() && !candidate.products.empty()) {
    const double gone = MissingShare(baseline.products, candidate.products);
    const double appeared = MissingShare(candidate.products, baseline.products);
    if (gone > kMostOther && appeared > kMostOther)
      add("shapes", Percent(gone) + " of the time in shapes of its own",
          Percent(appeared) + " in shapes of its own");
  }
  double common = 0, grown = 0, logarithms = 0;
  for (const auto& [name, work] : baseline.kernels) {
    const auto other = candidate.kernels.find(name);
    if (other == candidate.kernels.end() || work.blocks <= 0 || other->second.blocks <= 0) continue;
    common += work.share;
    const bool as_many_threads =
        work.threads > 0 && other->second.threads > 0 && IsAlike(work.threads, other->second.threads);
    if (as_many_threads || IsAlike(work.blocks, other->second.blocks)) continue;
    grown += work.share;
    logarithms += work.share * std::log(other->second.blocks / work.blocks);
  }
  if (common > kMostOther && grown > kMostOther * common)
    add("grids", "1", fmt::format("{:.2f} times as many", std::exp(logarithms / grown)));
}

}  // namespace

std::span<const TraitKind> TraitKinds() {
  static const std::vector<TraitKind> kinds = [] {
    std::vector<TraitKind> all;
    for (const TraitQuery& query : Queries()) all.push_back(query.kind);
    return all;
  }();
  return kinds;
}

std::string Traits::Setting() const {
  std::string setting;
  for (const TraitKind& kind : TraitKinds())
    if (const auto value = values.find(kind.name); kind.blocks && value != values.end())
      setting += fmt::format("{}{}={}", setting.empty() ? "" : "; ", kind.name, value->second);
  return setting;
}

Traits ReadTraits(const Database& db) {
  Traits traits;
  for (const auto& [kind, sql] : Queries()) {
    if (sql == nullptr) continue;
    const ResultSet result = db.Query(sql);
    if (!result.rows.empty() && !IsNull(result.rows[0][0]))
      traits.values[kind.name] = FormatValue(result.rows[0][0], Unit::kNone);
  }
  traits.products = WorkOf(db,
                           "SELECT op || ' ' || batch || 'x' || m || 'x' || n || 'x' || k AS product, "
                           "sum(gpu_ns), 0, 0 FROM matrix_product GROUP BY product");
  traits.kernels =
      WorkOf(db,
             "SELECT kernel, sum(total_ns), avg(grid_avg), avg(grid_avg * block_avg) FROM kernel_name "
             "WHERE communication = 0 GROUP BY kernel");
  return traits;
}

std::vector<Difference> CompareTraits(std::span<const Traits> baseline, std::span<const Traits> candidate,
                                      std::span<const std::string> allowed) {
  std::vector<Difference> differences;
  for (const TraitKind& kind : TraitKinds()) {
    const auto values = [&](std::span<const Traits> runs) {
      std::set<std::string> all;
      for (const Traits& run : runs)
        if (const auto value = run.values.find(kind.name); value != run.values.end())
          all.insert(value->second);
      return all;
    };
    const auto before = values(baseline), after = values(candidate);
    if (!before.empty() && !after.empty() && before != after)
      differences.push_back({kind.name, kind.title, fmt::format("{}", fmt::join(before, " and ")),
                             fmt::format("{}", fmt::join(after, " and ")), kind.blocks, kind.note});
  }
  if (!baseline.empty() && !candidate.empty()) CompareWork(baseline[0], candidate[0], differences);
  for (Difference& difference : differences)
    if (std::ranges::find(allowed, difference.trait) != allowed.end()) difference.blocks = false;
  return differences;
}

}  // namespace dladvisor
