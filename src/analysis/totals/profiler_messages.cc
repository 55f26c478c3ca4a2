// SPDX-License-Identifier: Apache-2.0
// What the rules of a profiler of single kernels say of each.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

struct ProfilerMessageRow {
  int64_t profile = 0, summary = 0, row = 0, message = 0;
  std::string kind;
  std::optional<std::string> about;
  std::optional<double> most_speedup;
  bool of_part = false;
  std::string text;
};

const RelationOf<ProfilerMessageRow>& ProfilerMessageRelation() {
  static const auto relation =
      RelationOf<ProfilerMessageRow>(
          "profiler_message",
          "One row per message that the rules of Nsight Compute printed of the longest launch of a kernel.")
          .Key("profile", &ProfilerMessageRow::profile, kProfileNumber, "Number of the file.")
          .Key("summary", &ProfilerMessageRow::summary, Unit::kNone,
               "Number of the profile in the file, from 0.")
          .Key("row", &ProfilerMessageRow::row, Unit::kNone, "The kernel's row of summary_total.")
          .Key("message", &ProfilerMessageRow::message, Unit::kNone,
               "Number of the message, as printed, from 0.")
          .Column("kind", &ProfilerMessageRow::kind, Unit::kText,
                  "OPT (may be faster), WRN (the same, of before 2023), INF, OK.")
          .Column("about", &ProfilerMessageRow::about, Unit::kText,
                  "spills, bank-conflicts, uncoalesced, small-grid, tail, block-size, occupancy, stalls, "
                  "divergence, not-fused, imbalance, roof, balance, low-use, issue, pipe; unknown of others.")
          .Column("most_speedup", &ProfilerMessageRow::most_speedup, Unit::kRatio,
                  "Share of the kernel's time that the profiler says it may save at most; unknown where it "
                  "does not.")
          .Column("of_part", &ProfilerMessageRow::of_part, Unit::kNone,
                  "Whether that is of what this part of the GPU does, and less of the kernel.")
          .Column("text", &ProfilerMessageRow::text, Unit::kText, "As printed, which may be cut.");
  return relation;
}

std::vector<ProfilerMessageRow> ComputeProfilerMessages(const Context& context) {
  std::vector<ProfilerMessageRow> rows;
  int64_t summary = 0;
  for (const SummaryTable& table : context.trace.summary_tables) {
    for (const KernelMeasurement& kernel : table.kernels) {
      int64_t number = 0;
      for (const ProfilerMessage& of : kernel.messages) {
        ProfilerMessageRow& row = rows.emplace_back();
        row.summary = summary;
        row.row = kernel.row;
        row.message = number++;
        row.kind = of.kind;
        if (!of.about.empty()) row.about = of.about;
        row.most_speedup = of.most_speedup;
        row.of_part = of.is_local;
        row.text = of.text;
      }
    }
    ++summary;
  }
  return rows;
}

}  // namespace

const Family& ProfilerMessageFamily() {
  static const Family family = FamilyOf(ProfilerMessageRelation(), ComputeProfilerMessages);
  return family;
}

}  // namespace dladvisor
