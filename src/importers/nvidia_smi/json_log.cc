// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/json_log.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/bytes/plain_json.h"
#include "src/importers/bytes/whole_text.h"
#include "src/importers/nvidia_smi/column.h"
#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/telemetry_log.h"

namespace dladvisor {
namespace {
using nlohmann::json;
using nvidia_smi::LogColumn;
using Kind = LogColumn::Kind;

constexpr int kDeepestObject = 8;  // objects in objects

// "powerWatts" as "power_watts".
std::string Spaced(std::string_view name) {
  std::string spaced;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0)
      spaced += '_';
    spaced += name[i];
  }
  return spaced;
}

// A name with the index of a GPU in it, taken apart: "gpu0_util", "system.gpu.0.gpu", "card0".
struct IndexedName {
  std::string_view rest;  // behind the index, or all of it
  std::string_view index;
  bool names_gpu = false;
};
IndexedName SplitName(std::string_view name) {
  static const RE2 indexed(
      R"((?i)^(?:.*[._ /])?(?:gpu|card|cuda|device)[._ :/-]?(\d{1,3})(?:[._ :/-](.*))?$)"),
      gpus(R"((?i)gpus?|devices?|cards?|accelerators?|nvidia[-_]smi)");
  IndexedName of{name, {}, false};
  re2::StringPiece index, rest;
  if (RE2::FullMatch({name.data(), name.size()}, indexed, &index, &rest))
    return {{rest.data(), rest.size()}, {index.data(), index.size()}, true};
  of.names_gpu = RE2::FullMatch({name.data(), name.size()}, gpus);
  return of;
}

bool IsHostName(std::string_view name) {
  static const RE2 host(R"((?i)cpu|host|swap|disk|(?:^|[^v])ram(?:[^a-z]|$))");
  return RE2::PartialMatch({name.data(), name.size()}, host);
}

// What a number of this name is. Beside an index a GPU's own name is how busy it is, as W&B has it.
LogColumn JsonColumn(std::string_view name, std::string_view parent, bool of_gpu) {
  LogColumn column = nvidia_smi::CsvColumn(Spaced(name));
  if (of_gpu && (name == "gpu" || name == "usage" || name == "load")) {
    column.kind = Kind::kMetric;
    column.metric = TelemetryMetric::kGpuUtilization;
  }
  if (of_gpu && column.kind == Kind::kOther && !parent.empty())
    column = nvidia_smi::CsvColumn(std::string(parent) + "_" + Spaced(name));
  if (column.kind == Kind::kMetric && !of_gpu && (!column.names_gpu || IsHostName(name)))
    column.kind = Kind::kOther;
  return column;
}

bool IsTimeName(std::string_view name) {
  return name == "_timestamp" || name == "query_time" || name == "ts" ||
         nvidia_smi::CsvColumn(name).kind == Kind::kTime;
}

std::optional<nvidia_smi::Time> TimeIn(const json& object) {
  for (const auto& [name, value] : object.items()) {
    if (!IsTimeName(name) || !(value.is_string() || value.is_number())) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (const auto time = nvidia_smi::ParseTime(text)) return time;
  }
  return std::nullopt;
}

class JsonReader {
 public:
  // An object of a moment, or a list of such.
  void Record(const json& value, const std::optional<nvidia_smi::Time>& outer, int depth) {
    if (depth > kDeepestObject) return;
    if (value.is_array()) {
      for (const json& element : value) Record(element, outer, depth + 1);
      return;
    }
    if (!value.is_object()) return;
    std::optional<nvidia_smi::Time> time = TimeIn(value);
    if (!time) time = outer;
    for (const auto& [name, list] : value.items())
      if (list.is_array() && !list.empty() && list[0].is_object() && TimeIn(list[0]))
        return Record(list, time, depth + 1);
    rows_.clear();
    Walk(value, "", "", false, 0);
    for (const auto& [identity, cells] : rows_) {
      if (cells.empty()) continue;
      log.Begin(time, log.Device(identity, names_[identity]));
      for (const Cell& cell : cells) log.Add(cell.metric, {cell.number, cell.unit});
    }
  }

  nvidia_smi::TelemetryLog log;

 private:
  struct Cell {
    TelemetryMetric metric;
    double number;
    std::string unit;
  };

  // The element that identifies the GPU that an object is of.
  static std::string IdentityIn(const json& object) {
    for (const auto& [name, value] : object.items())
      if ((value.is_number_integer() || value.is_string()) &&
          (name == "id" || nvidia_smi::CsvColumn(name).kind == Kind::kIdentity)) {
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (text.size() < 64 && !text.ends_with('%')) return text;
      }
    return "";
  }

  void Walk(const json& value, std::string_view name, const std::string& gpu, bool of_gpu, int depth) {
    if (depth > kDeepestObject) return;
    if (value.is_object()) return WalkObject(value, name, gpu, of_gpu, depth);
    if (!value.is_array()) return Leaf(value, name, "", gpu, of_gpu);
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string position = gpu.empty() && value.size() > 1 ? std::to_string(i) : gpu;
      if (value[i].is_object())
        WalkObject(value[i], name, gpu.empty() ? std::to_string(i) : gpu, of_gpu, depth + 1);
      else
        Leaf(value[i], name, "", position, of_gpu);
    }
  }

  void WalkObject(const json& object, std::string_view name, const std::string& gpu, bool of_gpu, int depth) {
    const std::string own = of_gpu || depth == 0 ? IdentityIn(object) : "";
    const std::string& identity = own.empty() ? gpu : own;
    for (const auto& [key, value] : object.items()) {
      if (value.is_object() && value.contains("value") && value.contains("unit")) {
        Leaf(value["value"], key, name, identity, of_gpu || !own.empty(),
             value["unit"].is_string() ? value["unit"].get<std::string>() : "");
        continue;
      }
      const IndexedName part = SplitName(key);
      if (!value.is_structured() && part.index.empty() &&
          (key == "id" || nvidia_smi::CsvColumn(key).kind == Kind::kIdentity))
        continue;
      const bool number =
          !key.empty() && std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
      const std::string below = !part.index.empty() ? std::string(part.index)
                                : number && of_gpu  ? key
                                                    : identity;
      const bool of = of_gpu || part.names_gpu || !own.empty();
      if (value.is_structured())
        Walk(value, number || part.names_gpu ? std::string_view() : std::string_view(key), below, of,
             depth + 1);
      else if (key == "name" || key == "product_name" || key == "gpu_name")
        names_[identity] = value.is_string() ? value.get<std::string>() : "";
      else
        Leaf(value, part.index.empty() ? std::string_view(key) : part.rest, name, below,
             of_gpu || !part.index.empty() || (!own.empty() && !IsHostName(key)));
    }
  }

  void Leaf(const json& value, std::string_view name, std::string_view parent, const std::string& gpu,
            bool of_gpu, const std::string& unit = "") {
    if (!value.is_number() && !value.is_string()) return;
    const LogColumn column = JsonColumn(name, parent, of_gpu);
    if (column.kind != Kind::kMetric) return;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto quantity = nvidia_smi::ParseQuantity(text);
    if (!quantity || quantity->number < 0) return;
    rows_[gpu].push_back({column.metric, quantity->number,
                          !quantity->unit.empty() ? std::string(quantity->unit)
                          : !unit.empty()         ? unit
                                                  : column.unit});
  }

  std::map<std::string, std::vector<Cell>> rows_;  // by what identifies the GPU
  std::map<std::string, std::string> names_;
};

}  // namespace

bool LooksLikeGpuJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  static const RE2 key(R"re("([^"\\\n]{1,80})"\s*:)re"),
      other(
          R"((?i)(?:.*[/_. ])?(?:loss|latency|throughput|accuracy)(?:[_ ].*)?|step|iter(?:ation)?|epoch|traceEvents|ph|lr|learning_rate|batch_size|model)"),
      tools(R"(utilization\.gpu|GPU use \(%\)|gfx_activity)");
  re2::StringPiece rest(head.data(), head.size());
  std::string name;
  bool busy = false, lists_gpus = false, logged = false;
  while (RE2::FindAndConsume(&rest, key, &name)) {
    if (RE2::FullMatch(name, other)) return false;
    logged = logged || IsTimeName(name) || RE2::FullMatch(name, tools);
    const IndexedName part = SplitName(name);
    lists_gpus = lists_gpus || part.names_gpu;
    const LogColumn column = JsonColumn(part.rest, "", !part.index.empty() || lists_gpus);
    busy = busy || (column.kind == Kind::kMetric && column.metric == TelemetryMetric::kGpuUtilization);
  }
  return busy && logged;
}

Trace ReadGpuJson(ByteSource& source) {
  const std::string text = PlainJson(WholeText(source));
  JsonReader reader;
  if (const json whole = json::parse(text, nullptr, false); !whole.is_discarded()) {
    reader.Record(whole, std::nullopt, 0);
  } else {
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = rest.find('\n');
      const std::string_view line = nvidia_smi::TrimCell(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.empty()) continue;
      const json record = json::parse(line, nullptr, false);
      if (record.is_discarded())
        reader.log.Skip("rows");
      else
        reader.Record(record, std::nullopt, 0);
    }
  }
  constexpr std::pair<const char*, const char*> kTools[] = {
      {"\"gfx_activity\"", "amd-smi"}, {"\"GPU use (%)\"", "rocm-smi"}, {"\"query_time\"", "gpustat"}};
  for (const auto& [word, tool] : kTools)
    if (text.find(word) != std::string::npos) reader.log.trace().facts["profiler"] = tool;
  return reader.log.Finish(source.name(), "a log of GPU telemetry in JSON");
}

}  // namespace dladvisor
