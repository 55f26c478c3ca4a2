// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/serving_section.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

class ServingCells {
 public:
  explicit ServingCells(const ReportTable& table) : table_(table) {}

  bool Has(const char* column) const { return !IsNull(CellOf(table_, 0, column)); }
  double Number(const char* column) const { return AsNumber(CellOf(table_, 0, column)).value_or(0); }
  std::string Text(const char* column, Unit unit) const {
    return Visible(FormatValue(CellOf(table_, 0, column), unit));
  }
  std::string Count(const char* column) const { return Text(column, Unit::kCount); }
  std::string Rate(const char* column) const { return ThreeDigits(Number(column)); }

 private:
  const ReportTable& table_;
};

std::string WaitingText(const ServingCells& cells) {
  if (!(cells.Number("most_waiting") > 0)) return "none";
  return fmt::format("{} at most, in {} of {} lines with requests", cells.Count("most_waiting"),
                     cells.Count("waiting_lines"), cells.Count("loaded_lines"));
}

std::string CacheText(const ServingCells& cells) {
  std::string text = cells.Text("most_cache_used", Unit::kRatio) + " at most";
  if (cells.Has("cache_tokens")) text += fmt::format(" of {} tokens", cells.Count("cache_tokens"));
  return text;
}

// Of its time without a request that is worth naming first.
constexpr double kLeastIdle = 0.1;

std::string IdleShare(const ServingCells& cells) {
  return FormatValue(cells.Number("idle_ns") / cells.Number("served_ns"), Unit::kRatio);
}

}  // namespace

const ReportTable* ServingAlone(const ReportModel& model) {
  const ReportTable* serving = HasGpuWork(model) ? nullptr : FindTable(model, "serving");
  return serving == nullptr || serving->rows.rows.empty() ? nullptr : serving;
}

namespace {
// What it took, and the parts of it that are worth naming.
std::string StartParts(const ServingCells& cells) {
  constexpr double kLeastPart = 0.05;
  std::string parts;
  for (const auto& [column, words] : {std::pair{"engine_begins_ns", "what comes before the engine"},
                                      {"weights_ns", "the weights"},
                                      {"compile_ns", "compiling"},
                                      {"capture_ns", "the capture of CUDA graphs"}})
    if (cells.Number(column) >= kLeastPart * cells.Number("start_ns"))
      parts += fmt::format("{}{} for {}", parts.empty() ? " (" : ", ", cells.Text(column, Unit::kNanoseconds),
                           words);
  return cells.Text("start_ns", Unit::kNanoseconds) + (parts.empty() ? "" : parts + ")");
}

std::string StartText(const ServingCells& cells) {
  return fmt::format("its start took {}, and no line of its load follows", StartParts(cells));
}

std::string Requests(const std::string& count) { return count + (count == "1" ? " request" : " requests"); }
}  // namespace

bool HasRequests(const ReportTable& serving) {
  return serving.total_rows > 1 || ServingCells(serving).Number("loaded_lines") > 0;
}

std::string ServingText(const ReportTable& serving) {
  if (serving.total_rows > 1)
    return fmt::format("{} logs of servers, none of them a trace", serving.total_rows);
  const ServingCells cells(serving);
  // A server that names itself prints its log; another one was asked for its counters beside the GPU's.
  const std::string program = cells.Text("program", Unit::kText);
  std::string text = fmt::format("A log of {}, not a trace: ",
                                 program == "a server" ? "GPU telemetry and a server's load" : program);
  if (cells.Number("lines") == 0)
    return text + (cells.Has("error")        ? "it ended before it answered a request"
                   : cells.Has("start_ns")   ? StartText(cells)
                   : cells.Has("last_stage") ? fmt::format("lines of its start, which end in {}",
                                                           cells.Text("last_stage", Unit::kText))
                                             : "lines of its start, and none of its load");
  if (!HasRequests(serving)) return text + "no request in any of its lines";
  const bool pauses = cells.Number("idle_ns") >= kLeastIdle * cells.Number("served_ns");
  if (cells.Has("idle_ns") && pauses)
    text += fmt::format("no request for {} of {}, else ", IdleShare(cells),
                        cells.Text("served_ns", Unit::kNanoseconds));
  if (cells.Has("mean_running"))
    text += fmt::format("{} at once on average, {} at most", Requests(cells.Rate("mean_running")),
                        cells.Count("most_running"));
  else if (cells.Number("most_running") > 0)
    text += fmt::format("{} at once at most", Requests(cells.Count("most_running")));
  else
    text += "requests came and went between its lines, none of which has one that runs";
  if (cells.Has("generated_tokens_per_second"))
    text += fmt::format(", {} tokens/s generated{}", cells.Rate("generated_tokens_per_second"),
                        cells.Number("engines") > 1 ? " by an engine" : "");
  else if (cells.Has("prompt_tokens_per_second"))
    text += fmt::format(", {} tokens/s of prompts read{}", cells.Rate("prompt_tokens_per_second"),
                        cells.Number("engines") > 1 ? " by an engine" : "");
  return text;
}

std::vector<std::pair<std::string, std::string>> ServingSummary(const ReportModel& model) {
  const ReportTable* serving = FindTable(model, "serving");
  if (serving == nullptr || serving->rows.rows.size() != 1) return {};
  const ServingCells cells(*serving);
  std::vector<std::pair<std::string, std::string>> summary;
  const auto add = [&](const char* label, std::string value) {
    summary.emplace_back(label, std::move(value));
  };
  add("Program", cells.Text("program", Unit::kText));
  if (cells.Number("lines") > 0)
    add("Lines",
        fmt::format("{}, {} of them with requests", cells.Count("lines"), cells.Count("loaded_lines")));
  if (cells.Has("duration_ns")) add("Time", cells.Text("duration_ns", Unit::kNanoseconds));
  if (cells.Number("served_ns") > 0)
    add("Without Requests",
        cells.Number("idle_ns") > 0
            ? fmt::format("{} of {} ({}); means are of the rest", cells.Text("idle_ns", Unit::kNanoseconds),
                          cells.Text("served_ns", Unit::kNanoseconds), IdleShare(cells))
            : "never");
  if (cells.Number("start_ns") > 0) add("Start", StartParts(cells));
  if (cells.Number("engines") > 1) add("Engines", cells.Count("engines"));
  if (cells.Number("loaded_lines") > 0 && cells.Has("most_running") && cells.Number("most_running") == 0)
    add("Requests at Once", "not known: in no line one runs");
  else if (cells.Has("most_running"))
    add("Requests at Once",
        fmt::format("{}{} at most{}",
                    cells.Has("mean_running") ? cells.Rate("mean_running") + " on average, " : "",
                    cells.Count("most_running"),
                    cells.Has("max_running") ? ", " + cells.Count("max_running") + " allowed" : ""));
  if (cells.Has("most_waiting")) add("Waiting Requests", WaitingText(cells));
  if (cells.Has("generated_tokens_per_second"))
    add("Generated Tokens",
        fmt::format("{}/s on average, {}/s at most", cells.Rate("generated_tokens_per_second"),
                    cells.Rate("most_generated_tokens_per_second")));
  if (cells.Has("prompt_tokens_per_second"))
    add("Prompt Tokens", fmt::format("{}/s on average", cells.Rate("prompt_tokens_per_second")));
  if (cells.Has("most_cache_used")) add("KV Cache", CacheText(cells));
  if (cells.Has("prefix_hit_share"))
    add("Found in Prefix Cache", cells.Text("prefix_hit_share", Unit::kRatio));
  if (cells.Has("accepted_share")) add("Drafted Tokens Accepted", cells.Text("accepted_share", Unit::kRatio));
  if (cells.Number("preemptions") > 0) add("Lines of Preemptions", cells.Count("preemptions"));
  return summary;
}

}  // namespace dladvisor
