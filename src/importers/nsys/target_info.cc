// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/target_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "src/importers/nsys/import_context.h"
#include "src/importers/training_log/program/program_error.h"

namespace dladvisor::nsys {

namespace {

void SetFact(Trace& trace, const std::string& key, std::string_view value) {
  if (!value.empty() && value != "unknown") trace.facts[key] = value;  // virtual machines hide their CPU
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void ReadExportVersion(Context& in) {
  for (const std::string_view table : {"EXPORT_META_DATA", "META_DATA_EXPORT"}) {
    Rows rows(in.db, table, {"name", "value"});
    while (rows.Next()) {
      const std::string name(rows.Text(0));
      if (name == "EXPORT_PRODUCT_VERSION") in.trace.producer_version = rows.Text(1);
      if (name == "EXPORT_SCHEMA_VERSION") in.trace.schema_version = rows.Text(1);
    }
  }
  SetFact(
      in.trace, "profiler",
      in.trace.producer_version.empty() ? "Nsight Systems" : "Nsight Systems " + in.trace.producer_version);
}

// "12080" -> "12.8".
std::string CudaVersion(std::string_view text) {
  if (!IsDigits(text) || text.size() < 4 || text.size() > 6) return std::string(text);
  const int value = std::stoi(std::string(text));
  return fmt::format("{}.{}", value / 1000, value % 1000 / 10);
}

// Older exporters write 515.43.04 as "5154304" and 525.105.17 as "52510517".
std::string DriverVersion(std::string_view text) {
  if (IsDigits(text) && text.size() == 5) return fmt::format("{}.{}", text.substr(0, 3), text.substr(3));
  if (!IsDigits(text) || text.size() < 7 || text.size() > 8) return std::string(text);
  return fmt::format("{}.{}.{}", text.substr(0, 3), text.substr(3, text.size() - 5),
                     text.substr(text.size() - 2));
}

bool IsAssignment(std::string_view text) {
  const size_t name = text.find('=');
  if (name == 0 || name == std::string_view::npos) return false;
  return text.substr(0, name).find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_%()") == std::string_view::npos;
}

// NAME=value pairs in one string, separated by NUL or, later, by semicolons, which values may also contain: a
// piece that is not an assignment belongs to the value before it.
void ReadEnvironmentList(std::string_view list, std::map<std::string, std::string>& environment) {
  const char separator = list.find('\0') != std::string_view::npos ? '\0' : ';';
  std::string* last = nullptr;
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    const std::string_view piece = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (IsAssignment(piece)) {
      const size_t name = piece.find('=');
      last = &(environment[std::string(piece.substr(0, name))] = piece.substr(name + 1));
    } else if (last && separator == ';') {
      *last += ';';
      *last += piece;
    }
  }
}

void ReadSystemEnvironment(Context& in) {
  Rows rows(in.db, "TARGET_INFO_SYSTEM_ENV", {"name", "value"});
  std::map<std::string, std::string> values;  // the first of several targets
  while (rows.Next()) values.emplace(rows.Text(0), rows.Text(1));
  Trace& trace = in.trace;
  SetFact(trace, "host", values["Hostname"]);
  SetFact(trace, "cpu_model", values["CpuDescription"]);
  SetFact(trace, "cpu_cores", values["CpuCores"]);
  const bool is_wsl = values["SoftwareReleaseVersion"].find("-WSL2") != std::string::npos;
  SetFact(trace, "os", values["OsDescription"] + (is_wsl ? " (WSL2)" : ""));
  // "0" where the machine, or the container, has no driver of a GPU.
  if (values["NvDriverVersion"] == "0") {
    if (trace.devices.empty()) trace.facts["listed_gpus"] = "0";
  } else {
    SetFact(trace, "driver_version", DriverVersion(values["NvDriverVersion"]));
  }
  SetFact(trace, "cuda_version", CudaVersion(values["CudaDriverVersion"]));
  ReadEnvironmentList(values["DeviceEnvironment"], trace.environment);
}

// NAME="value" as the capture's metadata writes it.
void AddVariable(std::string_view text, std::map<std::string, std::string>& environment) {
  const size_t name = text.find('=');
  if (name == 0 || name == std::string_view::npos) return;
  std::string_view value = text.substr(name + 1);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  environment[std::string(text.substr(0, name))] = value;
}

void ReadCaptureOptions(Context& in) {
  constexpr std::string_view kFirstProcess = "PROCESS_0:", kArgument = "ARGUMENT_";
  Rows rows(in.db, "META_DATA_CAPTURE", {"name", "value"});
  std::map<std::string, std::string> environment;
  std::map<size_t, std::string> arguments;  // by position; the program is the first
  while (rows.Next()) {
    const std::string name(rows.Text(0)), value(rows.Text(1));
    std::string_view key = name;
    const bool of_process = key.starts_with("PROCESS_") && key.find(':') != std::string_view::npos;
    const bool of_first = key.starts_with(kFirstProcess);
    if (of_process) key.remove_prefix(key.find(':') + 1);
    if (of_process && key == "ENVIRONMENT_VARIABLE") {
      if (of_first) AddVariable(value, environment);
    } else if (of_process && key == "COMMAND") {
      if (of_first) arguments[0] = value;
    } else if (of_process && key.starts_with(kArgument)) {
      const std::string_view digits = key.substr(kArgument.size());
      if (of_first && IsDigits(digits) && digits.size() <= 6)
        arguments[std::stoul(std::string(digits)) + 1] = value;
    } else if (auto [it, is_new] = in.trace.capture_options.try_emplace(name, value); !is_new) {
      if (name == "CAPTURE_EVENT_TYPE") {
        it->second += "," + value;
      } else {
        it->second = value;
      }
    }
  }
  if (arguments.contains(0))
    for (auto& [position, argument] : arguments) in.trace.command.push_back(std::move(argument));
  if (!environment.empty()) in.trace.environment = std::move(environment);
}

// The table that DLProf leaves in the exports it reads; it asked the program itself, so it knows best.
void ReadDlprofSystemInfo(Context& in) {
  Rows rows(in.db, "SystemInfo", {"driverVersion", "cudaVersion", "cudnnVersion", "framework", "cpuModel"});
  if (!rows.Next()) return;
  SetFact(in.trace, "driver_version", rows.Text(0));
  SetFact(in.trace, "cuda_version", rows.Text(1));
  SetFact(in.trace, "cudnn_version", rows.Text(2));
  SetFact(in.trace, "framework", rows.Text(3));
  SetFact(in.trace, "cpu_model", rows.Text(4));
}

// Container images name their framework in the environment.
void GuessFramework(Trace& trace) {
  if (trace.facts.contains("framework")) return;
  constexpr std::pair<const char*, const char*> kVariables[] = {
      {"PYTORCH_VERSION", "PyTorch"},
      {"NVIDIA_PYTORCH_VERSION", "PyTorch (NGC)"},
      {"TENSORFLOW_VERSION", "TensorFlow"},
      {"NVIDIA_TENSORFLOW_VERSION", "TensorFlow (NGC)"},
      {"JAX_VERSION", "JAX"}};
  for (const auto& [variable, framework] : kVariables) {
    const auto it = trace.environment.find(variable);
    if (it == trace.environment.end() || it->second.empty() || it->second[0] < '0' || it->second[0] > '9')
      continue;
    trace.facts["framework"] = fmt::format("{} {}", framework, it->second);
    return;
  }
}

void ReadClock(Context& in) {
  Rows start(in.db, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  if (start.Next()) {
    const int64_t origin = start.Integer(0, 0);
    if (origin > 0 && origin < 4'000'000'000'000'000'000) in.trace.clock_origin_utc_ns = origin;
  }
  Rows session(in.db, "ANALYSIS_DETAILS", {"duration"});
  while (session.Next()) {
    const int64_t duration = session.Integer(0, 0);
    if (duration > 0)
      in.trace.session_duration_ns = std::max(in.trace.session_duration_ns.value_or(0), duration);
  }
}

void ReadDiagnostics(Context& in) {
  constexpr int64_t kVerbose = 4;
  Rows rows(in.db, "DIAGNOSTIC_EVENT", {"timestamp", "severity", "text"});
  while (rows.Next()) {
    // Verbose messages, 4 in the export, are less than information.
    const int64_t severity = rows.Integer(1, 0);
    in.trace.health.diagnostics.push_back(
        {rows.Integer(0, 0), severity < 0 || severity >= kVerbose ? 0 : static_cast<int>(severity),
         std::string(rows.Text(2))});
  }
  std::vector<Diagnostic>& diagnostics = in.trace.health.diagnostics;
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.time, a.severity, a.text) < std::tie(b.time, b.severity, b.text);
  });
}

// Whether the GPU's work was asked for: by the options of a process, or by what the profiler says of it, as
// newer versions have the option elsewhere. Unknown in old files.
void ReadWhetherGpuIsTraced(Trace& trace) {
  std::optional<bool> traced;
  for (const auto& [name, value] : trace.capture_options)
    if (name == "COLLECT_CUDA_TRACE" || name.ends_with(":COLLECT_CUDA_TRACE"))
      traced = traced.value_or(false) || value == "true";
  // "No CUDA events collected. Does the process use CUDA?"
  for (const Diagnostic& diagnostic : trace.health.diagnostics)
    if (diagnostic.text.find("CUDA events collected") != std::string::npos) traced = true;
  // Where a scope of the trace is set, a process without the option may be traced all the same.
  if (traced == false && trace.capture_options.contains("CUDA_TRACE_SCOPE")) traced.reset();
  if (traced) trace.capture_options["gpu_traced"] = *traced ? "yes" : "no";
}

}  // namespace

void ReadSystem(Context& context) {
  ReadExportVersion(context);
  ReadSystemEnvironment(context);
  ReadCaptureOptions(context);
  ReadDlprofSystemInfo(context);
  GuessFramework(context.trace);
  ReadClock(context);
  ReadDiagnostics(context);
  ReadWhetherGpuIsTraced(context.trace);
}

namespace {

// Up to what a sentence holds; "" where it prints nothing but spaces.
std::string LastLine(std::string_view text) {
  constexpr size_t kMostCharacters = 120;
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t end = text.find_last_not_of(kSpaces);
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  const size_t line = text.find_last_of("\r\n");
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  text.remove_prefix(text.find_first_not_of(kSpaces));
  return text.size() > kMostCharacters ? "" : std::string(text);
}

}  // namespace

// Of a job's processes the first that says one.
void ReadProgramError(Context& in) {
  const bool did_nothing = in.trace.kernels.size() == 0 && in.trace.graph_launches.size() == 0;
  std::map<int64_t, std::vector<std::string_view>> printed;  // by process
  Rows rows(in.db, "ProcessStreams", {"globalPid", "contentId"});
  while (rows.Next()) {
    const std::string_view text = in.names.Text(rows.Integer(1, -1));
    printed[rows.Integer(0, 0)].push_back(text);
    if (std::string line = LastLine(text); !line.empty()) in.trace.last_printed = std::move(line);
  }
  for (const auto& [process, streams] : printed) {
    in.trace.program_error = training_log::ProgramError(streams, did_nothing);
    if (!in.trace.program_error.empty()) return;
  }
}

}  // namespace dladvisor::nsys
