// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/engine_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr double kNsPerMsOfExport = 1e6, kNsPerSOfExport = 1e9;
constexpr size_t kMostLayers = 100'000;

std::optional<double> ExportedNumber(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

// Older versions count from the start of the run, and name no time of copies apart; the means of those that
// have them.
class ExportedMean {
 public:
  void Add(std::optional<double> ms) {
    if (!ms || *ms < 0) return;
    sum_ += *ms;
    ++count_;
  }
  std::optional<double> ns() const {
    return count_ > 0 ? std::optional(sum_ / static_cast<double>(count_) * kNsPerMsOfExport) : std::nullopt;
  }
  double sum_ns() const { return sum_ * kNsPerMsOfExport; }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

std::optional<EngineTest> TestOfTimes(const nlohmann::json& all) {
  ExportedMean latency, enqueue, upload, compute, download;
  std::optional<double> first, last;
  int64_t queries = 0;
  for (const auto& query : all) {
    if (!query.is_object()) continue;
    const auto took = ExportedNumber(query, "computeMs");
    if (!took) continue;
    ++queries;
    compute.Add(took);
    latency.Add(ExportedNumber(query, "latencyMs"));
    enqueue.Add(ExportedNumber(query, "enqueueMs"));
    upload.Add(ExportedNumber(query, "inMs"));
    download.Add(ExportedNumber(query, "outMs"));
    for (const char* begin : {"startInMs", "startComputeMs"})
      if (const auto at = ExportedNumber(query, begin)) first = std::min(first.value_or(*at), *at);
    for (const char* end : {"endOutMs", "endComputeMs"})
      if (const auto at = ExportedNumber(query, end)) last = std::max(last.value_or(*at), *at);
  }
  if (queries == 0 || !first || !last || *last <= *first) return std::nullopt;
  EngineTest test;
  test.latency_ns = latency.ns();
  test.enqueue_ns = enqueue.ns();
  test.upload_ns = upload.ns();
  test.compute_ns = compute.ns();
  test.download_ns = download.ns();
  test.wall_ns = (*last - *first) * kNsPerMsOfExport;
  test.all_compute_ns = compute.sum_ns();
  test.queries_per_s = static_cast<double>(queries) / (*test.wall_ns / kNsPerSOfExport);
  return test;
}

std::vector<ProgramFigure> FiguresOfLayers(const nlohmann::json& all) {
  std::vector<ProgramFigure> layers;
  int64_t runs = 1;
  for (const auto& layer : all) {
    if (!layer.is_object()) continue;
    if (const auto count = ExportedNumber(layer, "count"); count && *count >= 1)
      runs = static_cast<int64_t>(*count);
    const auto name = layer.find("name");
    const auto sum = ExportedNumber(layer, "timeMs"), mean = ExportedNumber(layer, "averageMs");
    if (name == layer.end() || !name->is_string() || !sum || *sum <= 0 || layers.size() >= kMostLayers)
      continue;
    const double each = mean.value_or(*sum / static_cast<double>(runs)) * kNsPerMsOfExport;
    layers.push_back({name->get<std::string>(), "", runs, *sum * kNsPerMsOfExport, each, each});
  }
  std::ranges::stable_sort(layers, std::ranges::greater(), &ProgramFigure::sum);
  return layers;
}

}  // namespace

bool LooksLikeEngineJson(std::string_view head) {
  const auto has = [&](const char* name) { return head.find(name) != std::string_view::npos; };
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '[' && !has("\"ph\"") &&
         ((has("\"computeMs\"") && has("\"startComputeMs\"")) ||
          (has("\"averageMs\"") && has("\"timeMs\"") && has("\"percentage\"")));
}

std::optional<ProgramOutput> EngineOfJson(std::string_view text) {
  const auto all = nlohmann::json::parse(PlainJson(text), nullptr, false);
  if (!all.is_array()) return std::nullopt;
  ProgramOutput output;
  output.program = "TensorRT's trtexec";
  if (const auto times = TestOfTimes(all))
    output.engines.push_back(*times);
  else
    output.figures = FiguresOfLayers(all);
  return output.empty() ? std::nullopt : std::optional(std::move(output));
}

}  // namespace dladvisor::benchmark_log
