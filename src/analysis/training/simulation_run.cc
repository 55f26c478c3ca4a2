// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/simulation_run.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/value.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

std::string_view PurposeOfPart(std::string_view name) {
  static const RE2 wait(R"((?i)^wait .*GPU)"), launch(R"((?i)^launch .*ops)"),
      communication(R"((?i)comm|redist|^wait|wait for|^DD |domain decomp|^(?:send|recv) )"),
      mesh(R"((?i)^(?:kspace|pme|ewald))"), forces(R"((?i)^(?:pair|bond|force|nonbonded|bonded))"),
      neighbours(R"((?i)^neigh)"), output(R"((?i)^(?:output|write traj))"),
      moving(R"((?i)^(?:modify|update|constraints))");
  const re2::StringPiece text(name.data(), name.size());
  const std::pair<const RE2&, std::string_view> purposes[] = {
      {wait, "gpu"},      {launch, "launches"}, {communication, "communication"},
      {mesh, "mesh"},     {forces, "forces"},   {neighbours, "neighbours"},
      {output, "output"}, {moving, "moving"}};
  for (const auto& [pattern, purpose] : purposes)
    if (RE2::PartialMatch(text, pattern)) return purpose;
  return {};
}

std::vector<SimulationPart> LongestFirst(const SimulationRun& run) {
  std::vector<SimulationPart> parts = run.parts;
  std::ranges::stable_sort(parts, std::ranges::greater(), &SimulationPart::ns);
  return parts;
}

std::string PartsText(const SimulationRun& run) {
  constexpr size_t kShownParts = 4;
  constexpr double kLeastShown = 0.03;
  std::string text;
  size_t shown = 0;
  for (const SimulationPart& part : LongestFirst(run)) {
    if (shown++ >= kShownParts || part.ns < kLeastShown * run.ns) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.name,
                        FormatValue(part.ns / run.ns, Unit::kRatio));
  }
  return text;
}

}  // namespace

const RelationOf<SimulationRunRow>& SimulationRunRelation() {
  using Row = SimulationRunRow;
  static const auto relation =
      RelationOf<Row>("simulation_run",
                      "What a program of molecular dynamics (LAMMPS, GROMACS) counts of its own time in the "
                      "longest run of its log.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Column("program", &Row::program, Unit::kText, "Which it is.")
          .Column("ns", &Row::ns, Unit::kNanoseconds, "Of the run, without its start.")
          .Column("steps", &Row::steps, Unit::kCount, "Of it; unknown where not said.")
          .Column("tasks", &Row::tasks, Unit::kCount, "Processes of MPI; unknown where not said.")
          .Column("threads", &Row::threads, Unit::kCount, "Of each of them; unknown where not said.")
          .Column("busy_share", &Row::busy_share, Unit::kRatio,
                  "Of the time of all these threads, what they computed or waited at work; unknown where it "
                  "does not say.")
          .Column(
              "imbalance_share", &Row::imbalance_share, Unit::kRatio,
              "Of the time, what goes to waiting for the process with most to do: as it says, or what the "
              "longest of the forces takes more than the mean; unknown where neither is said.")
          .Column("mesh_imbalance_share", &Row::mesh_imbalance_share, Unit::kRatio,
                  "The same between processes for the mesh and those for the rest; unknown where not said.")
          .Column("on_gpu", &Row::on_gpu, Unit::kNone, "1 where it says that it uses a GPU.")
          .Column("parts", &Row::parts, Unit::kText, "The greatest of its parts, in words.");
  return relation;
}

const RelationOf<SimulationPartRow>& SimulationPartRelation() {
  using Row = SimulationPartRow;
  static const auto relation =
      RelationOf<Row>("simulation_part",
                      "A part of the time of simulation_run, by the names that the program gives it. The "
                      "longest first.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("part", &Row::part, Unit::kNone, "Its number, from 0.")
          .Column("name", &Row::name, Unit::kText, "As it is printed.")
          .Column("purpose", &Row::purpose, Unit::kText,
                  "forces, mesh (those of long range), neighbours, communication, moving (integration, "
                  "constraints), output, gpu (waiting for one), launches; unknown of other names.")
          .Column("ns", &Row::ns, Unit::kNanoseconds, "On average over the processes.")
          .Column("share", &Row::share, Unit::kRatio, "Of the time of the run.")
          .Column("least_ns", &Row::least_ns, Unit::kNanoseconds,
                  "Of the process that takes least; unknown where not said.")
          .Column("most_ns", &Row::most_ns, Unit::kNanoseconds,
                  "Of the one that takes most; unknown where not said.");
  return relation;
}

std::vector<SimulationPartRow> ComputeSimulationParts(const Context& context) {
  std::vector<SimulationPartRow> rows;
  const std::optional<SimulationRun>& run = context.trace.program_output.simulation;
  if (!run) return rows;
  for (const SimulationPart& part : LongestFirst(*run)) {
    SimulationPartRow& row = rows.emplace_back();
    row.part = static_cast<int64_t>(rows.size()) - 1;
    row.name = part.name;
    if (const std::string_view purpose = PurposeOfPart(part.name); !purpose.empty()) row.purpose = purpose;
    row.ns = part.ns;
    row.share = part.ns / run->ns;
    row.least_ns = part.least_ns;
    row.most_ns = part.most_ns;
  }
  return rows;
}

std::vector<SimulationRunRow> ComputeSimulationRuns(const Context& context) {
  const std::optional<SimulationRun>& run = context.trace.program_output.simulation;
  if (!run) return {};
  SimulationRunRow row;
  row.program = run->program;
  row.ns = run->ns;
  if (run->steps > 0) row.steps = run->steps;
  if (run->tasks > 0) row.tasks = run->tasks;
  if (run->threads > 0) row.threads = run->threads;
  row.busy_share = run->busy;
  row.imbalance_share = run->imbalance;
  row.mesh_imbalance_share = run->mesh_imbalance;
  row.on_gpu = run->on_gpu;
  row.parts = PartsText(*run);
  double longer = 0;
  bool known = false;
  for (const SimulationPart& part : run->parts) {
    const std::string_view purpose = PurposeOfPart(part.name);
    if (!part.most_ns || (purpose != "forces" && purpose != "mesh")) continue;
    longer += *part.most_ns - part.ns;
    known = true;
  }
  if (!row.imbalance_share && known) row.imbalance_share = longer / run->ns;
  return {row};
}

std::string SimulationText(const std::optional<SimulationRun>& run) {
  if (!run) return {};
  const std::string time = FormatValue(run->ns, Unit::kNanoseconds);
  return fmt::format(
      "{}: {}",
      run->steps > 0 ? fmt::format("{} steps in {}", FormatValue(run->steps, Unit::kCount), time) : time,
      PartsText(*run));
}

const Family& SimulationRunFamily() {
  static const Family family = FamilyOf<std::vector<SimulationRunRow>>(SimulationRunRelation());
  return family;
}

const Family& SimulationPartFamily() {
  static const Family family = FamilyOf<std::vector<SimulationPartRow>>(SimulationPartRelation());
  return family;
}

}  // namespace dladvisor
