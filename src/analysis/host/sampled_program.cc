// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/sampled_program.h"

#include <limits>

#include "src/analysis/family/family.h"
#include "src/analysis/host/program_duration.h"
#include "src/analysis/host/sampled_functions.h"
#include "src/capture/capability.h"

namespace dladvisor {

const RelationOf<SampledProgramRow>& SampledProgramRelation() {
  using Row = SampledProgramRow;
  static const auto relation =
      RelationOf<Row>(
          "sampled_program",
          "What samples of CPU stacks show the program in, all its threads together, while the GPU "
          "has nothing of it.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key(
              "place", &Row::place, Unit::kText,
              "before: before the first GPU operation; after: after the last; all: of a profile without any.")
          .Column("samples", &Row::samples, Unit::kCount, "Samples.")
          .Column("threads", &Row::threads, Unit::kCount, "Threads that they are of.")
          .Column("functions", &Row::functions, Unit::kText,
                  "The program's functions that they were in, callees of libraries included, with shares; "
                  "libraries without names of functions; unknown where none has a twentieth.",
                  capability::kCpuStacks);
  return relation;
}

std::vector<SampledProgramRow> ComputeSampledProgram(const Context& context) {
  const Trace& trace = context.trace;
  if (trace.cpu_samples.size() == 0) return {};
  const std::vector<uint8_t> processes = ProgramProcesses(trace);
  const auto is_of_program = [&](uint32_t thread) {
    return thread != kNoIndex && trace.threads[thread].process != kNoIndex &&
           processes[trace.threads[thread].process];
  };
  constexpr Ns kFirst = std::numeric_limits<Ns>::min(), kLast = std::numeric_limits<Ns>::max();
  std::vector<SampledProgramRow> rows;
  const auto add = [&](std::string place, Interval time) {
    const SampledFunctions sampled = FindSampledFunctions(trace, time, is_of_program);
    if (sampled.samples == 0) return;
    SampledProgramRow row{.place = std::move(place), .samples = sampled.samples, .threads = sampled.threads};
    if (std::string text = FunctionsText(sampled); !text.empty()) row.functions = std::move(text);
    rows.push_back(std::move(row));
  };
  const auto work = GpuWorkSpan(trace);
  if (!work) {
    add("all", {kFirst, kLast});
    return rows;
  }
  add("before", {kFirst, work->start});
  add("after", {work->end, kLast});
  return rows;
}

const Family& SampledProgramFamily() {
  static const Family family = FamilyOf(SampledProgramRelation(), ComputeSampledProgram).OfFiles();
  return family;
}

}  // namespace dladvisor
