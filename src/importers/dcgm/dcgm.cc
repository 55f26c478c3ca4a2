// SPDX-License-Identifier: Apache-2.0
#include "src/importers/dcgm/dcgm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/bytes/lines.h"
#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/telemetry_log.h"

namespace dladvisor {
namespace {
using nvidia_smi::TelemetryLog;
using Metric = TelemetryMetric;

struct Field {
  std::string_view column, name;  // of dcgmi dmon, and after DCGM_FI_DEV_, or DCGM_FI_
  Metric metric;
  const char* unit;
};
constexpr const char* kWhole = "";  // a share of 1
constexpr std::array kFields = std::to_array<Field>({
    {"GPUTL", "GPU_UTIL", Metric::kGpuUtilization, "%"},
    {"MCUTL", "MEM_COPY_UTIL", Metric::kMemoryUtilization, "%"},
    {"FBUSD", "FB_USED", Metric::kMemoryUsed, "MiB"},
    {"FBTTL", "FB_TOTAL", Metric::kMemoryTotal, "MiB"},
    {"POWER", "POWER_USAGE", Metric::kPower, "W"},
    {"PMLMT", "POWER_MGMT_LIMIT", Metric::kPowerLimit, "W"},
    {"", "ENFORCED_POWER_LIMIT", Metric::kPowerLimit, "W"},
    {"TMPTR", "GPU_TEMP", Metric::kTemperature, "C"},
    {"MMTMP", "MEMORY_TEMP", Metric::kMemoryTemperature, "C"},
    {"SMCLK", "SM_CLOCK", Metric::kSmClock, "MHz"},
    {"", "MAX_SM_CLOCK", Metric::kSmClockLimit, "MHz"},
    {"MMCLK", "MEM_CLOCK", Metric::kMemoryClock, "MHz"},
    {"GRACT", "PROF_GR_ENGINE_ACTIVE", Metric::kGpuUtilization, kWhole},
    {"SMACT", "PROF_SM_ACTIVE", Metric::kSmActive, kWhole},
    {"TENSO", "PROF_PIPE_TENSOR_ACTIVE", Metric::kTensorActive, kWhole},
    {"DRAMA", "PROF_DRAM_ACTIVE", Metric::kDramActive, kWhole},
});
void AddField(const Field& field, double value, TelemetryLog& log) {
  if (std::string_view(field.unit) == kWhole)
    log.Add(field.metric, {100 * value, "%"});
  else
    log.Add(field.metric, {value, field.unit});
}

constexpr std::string_view kPrefix = "DCGM_FI_";

// A line of names: "#Entity  GPUTL  POWER", its # apart or not.
std::vector<std::string_view> DmonNames(std::string_view line) {
  line = nvidia_smi::TrimCell(line);
  if (!line.starts_with('#')) return {};
  std::vector<std::string_view> names = nvidia_smi::SplitAtBlanks(line.substr(1));
  return !names.empty() && names[0] == "Entity" ? names : std::vector<std::string_view>{};
}

// One line of Prometheus' text: NAME{label="value",...} NUMBER [MILLISECONDS]
struct Sample {
  std::string_view name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
  std::optional<nvidia_smi::Time> time;
};

std::optional<Sample> ParseSample(std::string_view line) {
  Sample sample;
  const size_t brace = line.find('{');
  if (brace == std::string_view::npos) return std::nullopt;
  sample.name = line.substr(0, brace);
  line.remove_prefix(brace + 1);
  while (!line.empty() && line.front() != '}') {
    const size_t equals = line.find("=\"");
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string label(nvidia_smi::TrimCell(line.substr(0, equals)));
    std::string value;
    size_t at = equals + 2;
    for (; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      value += line[at];
    }
    if (at >= line.size()) return std::nullopt;
    sample.labels[label] = value;
    line.remove_prefix(at + 1);
    if (line.starts_with(',')) line.remove_prefix(1);
  }
  if (line.empty()) return std::nullopt;
  const std::vector<std::string_view> rest = nvidia_smi::SplitAtBlanks(line.substr(1));
  if (rest.empty() || rest.size() > 2) return std::nullopt;
  const auto value = nvidia_smi::ParseQuantity(rest[0]);
  if (!value || !value->unit.empty()) return std::nullopt;
  sample.value = value->number;
  if (rest.size() == 2) {
    const auto time = nvidia_smi::ParseQuantity(rest[1]);
    if (!time || !(time->number >= 0) || time->number > 7e12) return std::nullopt;
    sample.time = nvidia_smi::Time{static_cast<Ns>(time->number) * 1'000'000, true};
  }
  return sample;
}

// The lines of a scrape stand by metric: they are gathered by GPU.
class Scrape {
 public:
  explicit Scrape(TelemetryLog& log) : log_(log) {}

  void Add(const Sample& sample) {
    const auto label = [&](const char* name) {
      const auto found = sample.labels.find(name);
      return found == sample.labels.end() ? std::string() : found->second;
    };
    const std::string gpu = label("gpu"), host = label("Hostname");
    if (gpu.empty() || !label("GPU_I_ID").empty()) return;  // a part of a GPU is none
    if (hosts_.insert(host).second && hosts_.size() == 1) first_host_ = host;
    const std::string identity = host == first_host_ ? gpu : host + " " + gpu;
    if (!seen_.insert({std::string(sample.name), identity}).second) {
      Flush();
      seen_.insert({std::string(sample.name), identity});
    }
    Gpu& of = gpus_[identity];
    of.name = label("modelName");
    if (sample.time) of.time = sample.time;
    of.values.emplace_back(sample.name, sample.value);
  }

  void Flush() {
    for (const auto& [identity, gpu] : gpus_) {
      log_.Begin(gpu.time, log_.Device(identity, gpu.name));
      double memory = 0;
      int parts = 0;
      for (const auto& [name, value] : gpu.values) {
        std::string_view field = std::string_view(name).substr(kPrefix.size());
        if (field.starts_with("DEV_")) field.remove_prefix(4);
        if (field == "CLOCK_THROTTLE_REASONS" || field == "CLOCKS_EVENT_REASONS") log_.AddThrottling(value);
        if (field == "FB_USED" || field == "FB_FREE" || field == "FB_RESERVED") {
          memory += value;
          parts += field != "FB_RESERVED";
        }
        for (const Field& known : kFields)
          if (known.name == field && value >= 0) AddField(known, value, log_);
      }
      if (parts == 2) log_.Add(Metric::kMemoryTotal, {memory, "MiB"});
    }
    gpus_.clear();
    seen_.clear();
  }

 private:
  struct Gpu {
    std::string name;
    std::optional<nvidia_smi::Time> time;
    std::vector<std::pair<std::string, double>> values;
  };
  TelemetryLog& log_;
  std::map<std::string, Gpu> gpus_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::set<std::string> hosts_;
  std::string first_host_;
};

bool LooksLikeDmon(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  return DmonNames(head.substr(first, head.find('\n', first) - first)).size() > 1;
}

bool LooksLikeMetrics(std::string_view head) {
  const size_t at = head.find(kPrefix);
  if (at == std::string_view::npos) return false;
  const size_t begin = head.rfind('\n', at) + 1;  // 0 where there is none
  const std::string_view before = head.substr(begin, at - begin);
  return before.empty() || before == "# HELP " || before == "# TYPE ";
}

Trace ReadDmon(ByteSource& source) {
  Lines lines(source);
  TelemetryLog log;
  std::vector<std::string> names;
  while (const auto line = lines.Next()) {
    if (nvidia_smi::TrimCell(*line).empty()) continue;
    if (const auto heading = DmonNames(*line); !heading.empty()) {
      names.assign(heading.begin() + 1, heading.end());
      continue;
    }
    const std::vector<std::string_view> cells = nvidia_smi::SplitAtBlanks(*line);
    if (cells[0].starts_with('#') || cells[0] == "ID" || cells[0] == "Id") continue;
    if (lines.IsCut() && log.LeavesOutCutLine()) break;
    // "GPU 0 98 42"; parts of GPUs ("GPU-I 0", "GPU-CI 0") are none.
    if (cells[0] != "GPU") continue;
    if (cells.size() != names.size() + 2 || !nvidia_smi::ParseQuantity(cells[1])) {
      log.Skip("rows");
      continue;
    }
    log.Begin(std::nullopt, log.Device(cells[1], ""));
    for (size_t i = 0; i < names.size(); ++i) {
      const auto quantity = nvidia_smi::ParseQuantity(cells[i + 2]);
      if (!quantity || quantity->number < 0) {
        if (!nvidia_smi::IsAbsent(cells[i + 2])) log.Skip("cells");
        continue;
      }
      for (const Field& field : kFields)
        if (!field.column.empty() && field.column == names[i]) AddField(field, quantity->number, log);
    }
  }
  log.trace().facts["profiler"] = "dcgmi dmon";
  return log.Finish(source.name(), "a log of dcgmi dmon");
}

Trace ReadMetrics(ByteSource& source) {
  Lines lines(source);
  TelemetryLog log;
  Scrape scrape(log);
  while (const auto line = lines.Next()) {
    const std::string_view text = nvidia_smi::TrimCell(*line);
    if (!text.starts_with(kPrefix)) continue;
    if (lines.IsCut() && log.LeavesOutCutLine()) break;
    if (const auto sample = ParseSample(text))
      scrape.Add(*sample);
    else
      log.Skip("rows");
  }
  scrape.Flush();
  log.trace().facts["profiler"] = "DCGM exporter";
  return log.Finish(source.name(), "metrics of DCGM's exporter");
}

}  // namespace

constinit const Importer kDcgmImporter = {
    .in_list = "log of DCGM",
    .extensions = "",
    .more_extensions = ".prom",
    .fits =
        [](const Input& input) {
          return LooksLikeDmon(input.head()) || LooksLikeMetrics(input.head()) ? Importer::Fit::kYes
                                                                               : Importer::Fit::kNo;
        },
    .read =
        [](Input& input) {
          return std::optional(LooksLikeDmon(input.head()) ? ReadDmon(input.bytes())
                                                           : ReadMetrics(input.bytes()));
        },
};

}  // namespace dladvisor
