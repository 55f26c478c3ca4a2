// SPDX-License-Identifier: Apache-2.0
// Kernels that a profiler measured one by one, with how near each comes to what the GPU can do.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"
#include "src/analysis/totals/summary_rows.h"

namespace dladvisor {
namespace {

struct MeasuredKernelRow {
  int64_t profile = 0, summary = 0, row = 0;
  std::string name, short_name;
  std::optional<std::string> does;
  int64_t calls = 0;
  std::optional<double> total_ns, average_ns, share;
  std::optional<double> grid_blocks, block_threads, multiprocessors, waves, registers, shared_bytes;
  std::optional<double> theoretical_occupancy, achieved_occupancy;
  std::optional<std::string> occupancy_limit;
  std::optional<double> fitting_blocks;
  std::optional<double> compute_share, memory_share, dram_share, l1_share, l2_share;
  std::optional<std::string> pipe;
  std::optional<double> pipe_share, fp32_share, fp64_share;
  std::optional<double> multiprocessor_share, lane_share, load_efficiency, store_efficiency,
      access_efficiency;
  std::optional<std::string> waits_for;
  std::optional<double> waits_share;
};

// What lets fewest blocks run at once on a multiprocessor; nothing where it is what any block fills.
void FindLimit(const KernelMeasurement& of, MeasuredKernelRow& row) {
  const std::array<std::pair<const char*, std::optional<double>>, 4> limits = {
      {{"warps", of.blocks_by_warps},
       {"blocks", of.blocks_by_slots},
       {"registers", of.blocks_by_registers},
       {"shared memory", of.blocks_by_shared_memory}}};
  for (const auto& [name, blocks] : limits)
    if (blocks && (!row.fitting_blocks || *blocks < *row.fitting_blocks)) {
      row.fitting_blocks = blocks;
      row.occupancy_limit = name;
    }
}

const RelationOf<MeasuredKernelRow>& MeasuredKernelRelation() {
  static const auto relation =
      RelationOf<MeasuredKernelRow>(
          "measured_kernel",
          "One row per kernel that a profiler measured alone: by Nsight Compute how its longest launch was "
          "set up, and which shares of the GPU's peaks it reached; by nvprof what it counted of all launches "
          "on average, without their times. What was not measured is unknown.")
          .Key("profile", &MeasuredKernelRow::profile, kProfileNumber, "Number of the file.")
          .Key("summary", &MeasuredKernelRow::summary, Unit::kNone,
               "Number of the profile in the file, from 0.")
          .Key("row", &MeasuredKernelRow::row, Unit::kNone, "Its row of summary_total.")
          .Column("name", &MeasuredKernelRow::name, Unit::kText, "As printed.")
          .Column("short_name", &MeasuredKernelRow::short_name, Unit::kText, "Without arguments.")
          .Column("does", &MeasuredKernelRow::does, Unit::kText, "As in summary_total.")
          .Column("calls", &MeasuredKernelRow::calls, Unit::kCount, "Launches that were measured.")
          .Column("total_ns", &MeasuredKernelRow::total_ns, Unit::kNanoseconds, "What these took.")
          .Column("average_ns", &MeasuredKernelRow::average_ns, Unit::kNanoseconds, "For each.")
          .Column("share", &MeasuredKernelRow::share, Unit::kRatio, "Of the time of all that were measured.")
          .Column("grid_blocks", &MeasuredKernelRow::grid_blocks, Unit::kCount,
                  "Blocks of its longest launch.")
          .Column("block_threads", &MeasuredKernelRow::block_threads, Unit::kCount, "Threads of a block.")
          .Column("multiprocessors", &MeasuredKernelRow::multiprocessors, Unit::kCount,
                  "Of the GPU; where not printed, by what the profiler's messages say.")
          .Column("waves", &MeasuredKernelRow::waves, Unit::kNone,
                  "How often the grid fills the GPU with as many blocks as run at once.")
          .Column("registers", &MeasuredKernelRow::registers, Unit::kCount, "For each thread.")
          .Column("shared_bytes", &MeasuredKernelRow::shared_bytes, Unit::kBytes,
                  "Shared memory of a block, static and dynamic.")
          .Column("theoretical_occupancy", &MeasuredKernelRow::theoretical_occupancy, Unit::kRatio,
                  "Warps that fit on a multiprocessor, of its warps.")
          .Column("achieved_occupancy", &MeasuredKernelRow::achieved_occupancy, Unit::kRatio,
                  "Warps that were there on average, of its warps.")
          .Column("occupancy_limit", &MeasuredKernelRow::occupancy_limit, Unit::kText,
                  "What lets fewest blocks run at once: warps, blocks, registers, shared memory.")
          .Column("fitting_blocks", &MeasuredKernelRow::fitting_blocks, Unit::kCount,
                  "Blocks that it lets run at once on a multiprocessor.")
          .Column("compute_share", &MeasuredKernelRow::compute_share, Unit::kRatio,
                  "Of the busiest part of the multiprocessors that computes, of its peak.")
          .Column("memory_share", &MeasuredKernelRow::memory_share, Unit::kRatio,
                  "Of the busiest part of caches and memory, of its peak.")
          .Column("dram_share", &MeasuredKernelRow::dram_share, Unit::kRatio, "Of the memory's bandwidth.")
          .Column("l1_share", &MeasuredKernelRow::l1_share, Unit::kRatio,
                  "Of the L1 cache, which is the shared memory, too.")
          .Column("l2_share", &MeasuredKernelRow::l2_share, Unit::kRatio, "Of the L2 cache.")
          .Column("pipe", &MeasuredKernelRow::pipe, Unit::kText,
                  "The busiest pipeline, as the profiler names it; unknown where it does not.")
          .Column("pipe_share", &MeasuredKernelRow::pipe_share, Unit::kRatio, "Of its peak.")
          .Column("fp32_share", &MeasuredKernelRow::fp32_share, Unit::kRatio, "Of the peak of FP32.")
          .Column("fp64_share", &MeasuredKernelRow::fp64_share, Unit::kRatio, "Of the peak of FP64.")
          .Column("multiprocessor_share", &MeasuredKernelRow::multiprocessor_share, Unit::kRatio,
                  "Of its time that in which a multiprocessor has work, on average over all.")
          .Column("lane_share", &MeasuredKernelRow::lane_share, Unit::kRatio,
                  "Lanes of a warp that work, on average over its instructions.")
          .Column("load_efficiency", &MeasuredKernelRow::load_efficiency, Unit::kRatio,
                  "Of the bytes that loads from global memory move, those that threads asked for.")
          .Column("store_efficiency", &MeasuredKernelRow::store_efficiency, Unit::kRatio,
                  "The same of stores.")
          .Column("access_efficiency", &MeasuredKernelRow::access_efficiency, Unit::kRatio,
                  "The same of both, by what each moves; the smaller one where that was not counted.")
          .Column("waits_for", &MeasuredKernelRow::waits_for, Unit::kText,
                  "What its warps wait for most, where the profiler counts it: for data from memory.")
          .Column("waits_share", &MeasuredKernelRow::waits_share, Unit::kRatio, "Of their waits.");
  return relation;
}

std::vector<MeasuredKernelRow> ComputeMeasuredKernels(const Context& context,
                                                      const std::vector<SummaryTotalRow>& totals) {
  std::vector<MeasuredKernelRow> rows;
  size_t first = 0;  // of the totals of a table
  int64_t summary = 0;
  for (const SummaryTable& table : context.trace.summary_tables) {
    for (const KernelMeasurement& of : table.kernels) {
      const auto at = first + static_cast<size_t>(of.row);
      if (of.row < 0 || at >= totals.size()) continue;
      const SummaryTotalRow& total = totals[at];
      MeasuredKernelRow& row = rows.emplace_back();
      row.summary = summary;
      row.row = of.row;
      row.name = total.name;
      row.short_name = total.short_name;
      row.does = total.does;
      row.calls = total.calls;
      if (total.total_ns > 0) {
        row.total_ns = total.total_ns;
        row.average_ns = total.average_ns;
        row.share = total.share;
      }
      row.grid_blocks = of.grid_blocks;
      row.block_threads = of.block_threads;
      row.multiprocessors = of.multiprocessors;
      row.waves = of.waves;
      row.registers = of.registers;
      row.shared_bytes = of.shared_bytes;
      row.theoretical_occupancy = of.theoretical_occupancy;
      row.achieved_occupancy = of.achieved_occupancy;
      FindLimit(of, row);
      row.compute_share = of.compute_share;
      row.memory_share = of.memory_share;
      row.dram_share = of.dram_share;
      row.l1_share = of.l1_share;
      row.l2_share = of.l2_share;
      if (!of.pipe.empty()) row.pipe = of.pipe;
      row.pipe_share = of.pipe_share;
      row.fp32_share = of.fp32_share;
      row.fp64_share = of.fp64_share;
      row.multiprocessor_share = of.multiprocessor_share;
      row.lane_share = of.lane_share;
      row.load_efficiency = of.load_efficiency;
      row.store_efficiency = of.store_efficiency;
      row.access_efficiency = of.access_efficiency;
      if (!of.waits_for.empty()) row.waits_for = of.waits_for;
      row.waits_share = of.waits_share;
    }
    first += table.rows.size();
    ++summary;
  }
  return rows;
}

}  // namespace

const Family& MeasuredKernelFamily() {
  static const Family family = FamilyOf(MeasuredKernelRelation(), ComputeMeasuredKernels);
  return family;
}

}  // namespace dladvisor
