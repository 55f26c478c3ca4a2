#include "src/report/sections/capture.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

constexpr std::string_view kTelemetryFormat = "nvidia-smi", kTrainingLogFormat = "training log";

// Flags of nsys, and the option of torch.profiler.profile that gives the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTorchOptions = {{
    {"--trace=cuda", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {"--trace=nvtx", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {"--cuda-memory-usage=true", "profile_memory=True"},
    {"--sample=process-tree", "with_stack=True"},
    {"--trace=osrt", "with_stack=True"},
    {"--duration=60", "schedule=torch.profiler.schedule(wait=1, warmup=1, active=10)"},
}};

// Flags whose values are lists, of which one flag holds all.
constexpr std::string_view kTrace = "--trace=", kQuery = "--query-gpu=";

// Single flags, with lists apart: "--trace=cuda,nvtx --x" -> "--trace=cuda", "--trace=nvtx", "--x". Options
// of other profilers, which hold spaces, stay as they are.
std::set<std::string> SingleFlags(const std::set<std::string>& declared) {
  std::set<std::string> flags;
  for (const std::string& declaration : declared) {
    if (!declaration.starts_with("--")) {
      flags.insert(declaration);
      continue;
    }
    std::string_view rest = declaration;
    while (!rest.empty()) {
      const std::string_view flag = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), flag.size() + 1));
      const std::string_view name = flag.starts_with(kTrace) ? kTrace : kQuery;
      if (!flag.starts_with(name)) {
        if (!flag.empty()) flags.insert(std::string(flag));
        continue;
      }
      std::string_view list = flag.substr(name.size());
      while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(','));
        if (!item.empty()) flags.insert(std::string(name) + std::string(item));
        list.remove_prefix(std::min(list.size(), item.size() + 1));
      }
    }
  }
  return flags;
}

// Old versions of PyTorch recorded them without totals, which the option does not mend.
bool HasMemoryEvents(const ReportModel& model) {
  const ReportTable* recorded = FindTable(model, "recorded");
  return recorded != nullptr && !recorded->rows.rows.empty() &&
         AsNumber(CellOf(*recorded, 0, "memory_events")).value_or(0) > 0;
}

}  // namespace

std::vector<std::string> CaptureOptions(const std::vector<std::string>& declared, std::string_view format) {
  // No flag of a profiler makes a program print more.
  if (format == kTrainingLogFormat) return {};
  const std::set<std::string> flags = SingleFlags({declared.begin(), declared.end()});
  std::vector<std::string> options;
  if (format == "kineto") {
    std::set<std::string> torch;
    for (const std::string& flag : flags) {
      const auto same = std::find_if(kTorchOptions.begin(), kTorchOptions.end(),
                                     [&](const auto& pair) { return pair.first == flag; });
      if (same != kTorchOptions.end()) torch.insert(std::string(same->second));
      if (!flag.starts_with("--")) torch.insert(flag);
    }
    options.assign(torch.begin(), torch.end());
    return options;
  }
  std::string traces, queries;
  for (const std::string& flag : flags) {
    if (flag.starts_with(kTrace))
      traces += (traces.empty() ? std::string(kTrace) : std::string(",")) + flag.substr(kTrace.size());
    else if (flag.starts_with(kQuery))
      queries += (queries.empty() ? std::string(kQuery) : std::string(",")) + flag.substr(kQuery.size());
    else
      options.push_back(flag);
  }
  // A log of nvidia-smi never holds what a trace does, and the other way round.
  if (format == kTelemetryFormat) return queries.empty() ? std::vector<std::string>{} : std::vector{queries};
  if (format.empty() && !queries.empty()) options.push_back(queries);
  if (!traces.empty()) options.insert(options.begin(), traces);
  return options;
}

std::string ProfileFormat(const Database& database) {
  if (database.FindRelation("profile") == nullptr) return "";
  const ResultSet formats = database.Query("SELECT DISTINCT format FROM profile", {}, 2);
  return formats.rows.size() == 1 && !IsNull(formats.rows[0][0])
             ? FormatValue(formats.rows[0][0], Unit::kText)
             : "";
}

void TranslateCapture(Advice& advice, const Database& database) {
  const std::string format = ProfileFormat(database);
  for (Finding& finding : advice.findings) finding.capture = CaptureOptions(finding.capture, format);
}

std::vector<std::string> CaptureFlags(const ReportModel& model) {
  std::vector<std::string> wanted;
  for (const Finding& finding : model.advice->findings)
    if (finding.outcome == Outcome::kUnknown)
      wanted.insert(wanted.end(), finding.capture.begin(), finding.capture.end());
  if (const ReportTable* missing = FindTable(model, "missing_capture"))
    for (size_t row = 0; row < missing->rows.rows.size(); ++row)
      wanted.push_back(FormatValue(CellOf(*missing, row, "missing_capture"), Unit::kText));
  if (HasMemoryEvents(model)) std::erase(wanted, "profile_memory=True");
  return CaptureOptions(wanted, "");  // in the profiler's words already
}

}  // namespace dladvisor
