// SPDX-License-Identifier: Apache-2.0
// What is missing: in the environment, and of a profile, with the command that would have recorded it.
#include "src/cli/doctor_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "src/capture/capability.h"
#include "src/cli/diagnosis.h"
#include "src/render/escape.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/findings_section.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

constexpr size_t kShownRules = 6;

void Line(bool is_there, const std::string& what, const std::string& text) {
  fmt::print("  {} {:<18} {}\n", is_there ? "✓" : "✗", what, text);
}

bool IsOnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : Split(path == nullptr ? "" : path, ':'))
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// What is wrong with a project or with rules is what this command is asked for: it is said, not thrown.
std::string MessageOf(const std::exception& error) {
  std::string text;
  for (const std::string_view line : Split(error.what(), '\n'))
    text += (text.empty() ? "" : "; ") + std::string(line);
  return text;
}

void PrintEnvironment(const CommonOptions& common) {
  fmt::print("Environment\n");
  Line(true, "program", fmt::format("{}, {} threads", kProgram, ThreadCount()));
  Project project;
  try {
    project = LoadProject(common.config);
    Line(true, "project file",
         project.path.empty() ? fmt::format("none: no {} from here upwards", kProjectFile) : project.path);
  } catch (const std::exception& error) {
    Line(false, "project file", MessageOf(error));
  }
  try {
    Line(true, "rules", fmt::format("{}", LoadConfiguredRules(common, project).rules().size()));
  } catch (const std::exception& error) {
    Line(false, "rules", MessageOf(error));
  }
  const bool has_nsys = IsOnPath("nsys");
  Line(has_nsys, "nsys",
       has_nsys ? "on PATH: .nsys-rep files can be read"
                : "not on PATH: export .nsys-rep files where it is, by `nsys export --type sqlite FILE`");
}

// What the profile holds, each with the capability by which more of it is asked for.
struct Recorded {
  const char *column, *what, *capability;
};
constexpr Recorded kRecorded[] = {
    {"kernels", "GPU work", capability::kGpuWork},
    {"api_calls", "CUDA or HIP calls", capability::kGpuWork},
    {"ranges", "ranges, operators", capability::kRanges},
    {"python_frames", "Python functions", capability::kPythonCalls},
    {"os_calls", "system calls", capability::kOsCalls},
    {"memory_events", "allocations", capability::kDeviceMemory},
    {"gpu_metric_samples", "GPU counters", capability::kGpuMetrics},
    {"telemetry_samples", "telemetry", capability::kTelemetry},
};

// Rows of the table, summed.
double SumOf(const ReportTable& profiles, const char* column) {
  double sum = 0;
  for (size_t row = 0; row < profiles.rows.rows.size(); ++row)
    sum += AsNumber(CellOf(profiles, row, column)).value_or(0);
  return sum;
}

// Whether its profiler can record it at all.
bool CanRecord(const CaptureWords& words, const std::string& capability) {
  return std::ranges::any_of(words.options, [&](const auto& option) { return option.first == capability; });
}

double Held(const Diagnosis& diagnosis, const char* column) {
  return AsNumber(
             diagnosis.database.Query(fmt::format("SELECT sum({}) FROM profile", column)).rows.at(0).at(0))
      .value_or(0);
}

// Prints what is there, and returns the capabilities by which that was recorded.
std::vector<std::string> PrintHeld(const Diagnosis& diagnosis, const CaptureWords& words) {
  std::vector<std::string> recorded;
  for (const Recorded& each : kRecorded) {
    const double count = Held(diagnosis, each.column);
    if (count > 0) recorded.emplace_back(each.capability);
    if (count > 0 || CanRecord(words, each.capability))
      Line(count > 0, each.what, count > 0 ? FormatValue(count, Unit::kCount) : "not recorded");
  }
  return recorded;
}

void PrintHealth(const ReportTable& profiles, const std::vector<std::string>& unreadable) {
  for (const std::string& message : unreadable) Line(false, "unreadable", message);
  const auto bad = [&](const char* column, const char* what, const char* text) {
    if (const double count = SumOf(profiles, column); count > 0)
      Line(false, what, FormatValue(count, Unit::kCount) + " " + text);
  };
  bad("truncated", "incomplete", "of the files: the end is missing");
  bad("skipped_rows", "unusable rows", "could not be used");
  bad("unmatched_kernels", "unmatched kernels", "whose launching call is not in the file");
  bad("open_ranges", "open ranges", "were never closed");
  bad("negative_durations", "times", "rows end before they start");
  std::set<std::string> notes;
  for (size_t row = 0; row < profiles.rows.rows.size(); ++row)
    if (const Value note = CellOf(profiles, row, "notes"); !IsNull(note))
      notes.insert(Visible(FormatValue(note, Unit::kText)));
  for (const std::string& note : notes) Line(false, "note", note);
}

std::string SomeOf(const std::set<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.end());
  if (names.size() > kShownRules) {
    shown.resize(kShownRules);
    shown.push_back(fmt::format("and {} more", names.size() - kShownRules));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

// Rules that cannot decide, by what would let them.
void PrintUnknown(const Advice& advice) {
  std::map<std::string, std::set<std::string>> rules;
  for (const Finding& finding : advice.findings)
    if (finding.outcome == Outcome::kUnknown)
      rules[fmt::format("{}", fmt::join(finding.capture, " "))].insert(finding.rule);
  if (rules.empty()) return;
  fmt::print("\nRules that cannot decide, by what would let them\n");
  for (const auto& [options, names] : rules)
    fmt::print("  {}\n      {}\n",
               options.empty() ? "no option: it is recorded already, or not by this profiler" : options,
               SomeOf(names));
}

// The command of the profile itself, with all that it recorded and all that is missing.
void PrintCommand(const Diagnosis& diagnosis, const CaptureWords& words,
                  const std::vector<std::string>& recorded) {
  const std::vector<std::string> missing = CaptureFlags(diagnosis.model);
  if (missing.empty()) {
    fmt::print("\n{}\n", UsesNoGpu(diagnosis.model) || CalledNoGpu(diagnosis.model)
                             ? "The program used no GPU: nothing of one is missing."
                             : "Nothing that the profiler can record is missing for a rule.");
    return;
  }
  std::vector<std::string> options = CaptureOptions(recorded, words);
  options.insert(options.end(), missing.begin(), missing.end());
  options = MergeOptions(options, words);
  std::vector<std::string> of_program;  // what the program itself must do
  for (const std::string& option : options)
    if (!option.starts_with("--")) of_program.push_back(option);
  std::erase_if(options, [](const std::string& option) { return !option.starts_with("--"); });
  const std::string flags = fmt::format("{}", fmt::join(options, " "));
  fmt::print("\nTo record what is missing ({}):\n\n", fmt::join(missing, " "));
  if (words.format == "kineto") {
    fmt::print(
        "  with torch.profiler.profile({},\n          on_trace_ready=torch.profiler."
        "tensorboard_trace_handler(\"traces\")) as prof:\n",
        fmt::join(of_program, ",\n          "));
  } else if (words.format == "nvidia-smi") {
    fmt::print("  nvidia-smi {} --format=csv -l 1 > gpu.csv\n", flags);
  } else if (words.format == "nsys") {
    const ResultSet command = diagnosis.database.Query("SELECT command FROM system LIMIT 1");
    const bool known = !command.rows.empty() && !IsNull(command.rows[0][0]);
    fmt::print("  nsys profile {} -o better {}\n  nsys export --type sqlite better.nsys-rep\n", flags,
               known ? Visible(FormatValue(command.rows[0][0], Unit::kText)) : "python train.py");
    if (!of_program.empty()) fmt::print("\n  and in the program: {}\n", fmt::join(of_program, ", "));
  } else if (words.format == "rocprofv3") {
    fmt::print("  rocprofv3 {} -d better -- PROGRAM\n", flags);
  } else {
    of_program.insert(of_program.begin(), options.begin(), options.end());
    fmt::print("  {}\n", fmt::join(of_program, "\n  "));
  }
}

void PrintProfile(const ProfileOptions& options, const CommonOptions& common) {
  const Project project = LoadProject(common.config);
  Stages stages(common);
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  const std::unique_ptr<Diagnosis> diagnosis = Diagnose(options, project, knowledge, stages);
  if (!diagnosis) return;
  const ReportTable* profiles = FindTable(diagnosis->model, "profiles");
  if (profiles == nullptr) return;
  const CaptureWords& words = WordsOf(diagnosis->database);
  fmt::print("\n{}: {}\n", Visible(diagnosis->model.options.title),
             words.format.empty() ? "profiles of several formats" : words.format);
  const std::vector<std::string> recorded = PrintHeld(*diagnosis, words);
  PrintHealth(*profiles, diagnosis->profile.unreadable);
  fmt::print("\n{}.\n", CoverageText(diagnosis->advice));
  PrintUnknown(diagnosis->advice);
  PrintCommand(*diagnosis, words, recorded);
}

}  // namespace

void AddDoctorCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command = app.add_subcommand(
      "doctor", "What is missing in the environment or of a profile, and how to record it");
  options->AddTo(*command);
  command->get_option("PROFILE...")->required(false);
  command->callback([options, &common] {
    PrintEnvironment(common);
    if (!options->paths.empty()) PrintProfile(*options, common);
  });
}

}  // namespace dladvisor
