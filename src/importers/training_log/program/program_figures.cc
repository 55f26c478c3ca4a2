// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_figures.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr int64_t kLeastWaits = 3;  // lines
constexpr size_t kMostTimes = 1'000'000;

}  // namespace

bool ProgramFiguresReader::Line(std::string_view line) {
  TakeRequest(line);
  return TakeWait(line);
}

void ProgramFiguresReader::AddTo(ProgramOutput& output) const {
  if (data_.lines >= kLeastWaits) output.data = data_;
  if (communication_.lines >= kLeastWaits) output.communication = communication_;
  if (!output.duration_ns) return;
  output.requests = requests_;
  AddTimes(output.requests);
  if (requests_.requests > 0) return;
  output.requests.requests = embeddings_;
  output.requests.ns = embedding_ns_;
}

void ProgramFiguresReader::AddTimes(ProgramRequests& requests) const {
  if (times_.empty()) return;
  std::vector<std::pair<int64_t, int64_t>> times = times_;
  std::ranges::sort(times);
  int64_t end = times.front().first, busy = 0;
  for (const auto& [begins, ends] : times) {
    busy += std::max<int64_t>(0, ends - std::max(begins, end));
    end = std::max(end, ends);
  }
  if (end <= times.front().first) return;
  requests.span_ns = static_cast<double>(end - times.front().first);
  requests.busy_ns = static_cast<double>(busy);
}

// "offloaded 43/65 layers to GPU", as a model is loaded. One of embeddings has fewer layers than one that
// generates.
void ProgramFiguresReader::TakeLoad(std::string_view line) {
  static const RE2 offloaded(R"(\boffloaded (\d{1,4})/(\d{1,4}) layers to GPU)");
  Load load;
  if (!RE2::PartialMatch(line, offloaded, &load.on_gpu, &load.layers) || load.on_gpu > load.layers) return;
  if (!load_ || load.layers >= load_->layers) load_ = load;
}

// "Data 330.748 (235.731) Batch 331.455 (239.681)", "Total: 18318.77 ms | Comm:
// 12823.92 ms".
bool ProgramFiguresReader::TakeWait(std::string_view line) {
  if (line.find("ata") == std::string_view::npos && line.find("omm") == std::string_view::npos) return false;
  static const RE2 data(
      R"((?i)(\bdata(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\).{0,40}?\b(?:batch|time|iter)(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\).{0,8}))"),
      batch(
          R"((?i)(\b(?:batch|time|iter)(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\).{0,40}?\bdata(?:[ _]time)?[ :=]+(\d+\.\d+) ?\(\d+\.\d+\).{0,8}))"),
      // Of sizes and counts, which are no times.
      sizes(R"((?i)\d\)? ?(?:[kmgt]i?b|bytes|rows|items|images|samples|tokens|files|[kmg])\b)"),
      communication(
          R"((?i)\btotal[ :=]+(\d+(?:\.\d+)?) ?(m?s)\b.{0,40}?\bcomm(?:unication)?[ :=]+(\d+(?:\.\d+)?) ?(m?s)(?:\s*$|\s*[^\w\s]))");
  double part = 0, whole = 0;
  std::string text, unit, unit_of_part;
  ProgramWait* wait = &data_;
  if (!RE2::PartialMatch(line, data, &text, &part, &whole) &&
      !RE2::PartialMatch(line, batch, &text, &whole, &part)) {
    if (!RE2::PartialMatch(line, communication, &whole, &unit, &part, &unit_of_part) || unit != unit_of_part)
      return false;
    wait = &communication_;
  } else if (RE2::PartialMatch(text, sizes)) {
    return false;
  }
  if (!(part <= whole) || !(whole > 0)) return false;
  ++wait->lines;
  wait->part += part;
  wait->whole += whole;
  return true;
}

// "[GIN] 2025/06/26 - 01:37:53 | 200 |  1m38s |  127.0.0.1 | POST
// "/v1/chat/completions"", of Ollama, and what it says of itself as it starts.
void ProgramFiguresReader::TakeRequest(std::string_view line) {
  static const RE2 answered(
      R"re(^\[GIN\] (\d{4})/(\d\d)/(\d\d) - (\d\d:\d\d:\d\d) \| 2\d\d \| +(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,6}(?:\.\d{1,12})?)(s|ms))? +\|.*POST +"/(?:api/(?:generate|chat|embed)|v1/))re"),
      embeds(R"re("/(?:api|v1)/embed)re"), slots(R"(\bOLLAMA_NUM_PARALLEL:([1-9]\d{0,2})\b)"),
      used(R"(\bllama_context: n_seq_max += (\d{1,3})\b)");
  int64_t count = 0;
  if (line.starts_with("[GIN]")) {
    std::string year, month, day, clock, hours, minutes, number, unit;
    if (!RE2::PartialMatch(line, answered, &year, &month, &day, &clock, &hours, &minutes, &number, &unit))
      return;
    const double seconds = Number(number).value_or(0) / (unit == "ms" ? 1e3 : 1);
    const auto whole =
        static_cast<double>((Integer(hours).value_or(0) * 60 + Integer(minutes).value_or(0)) * 60);
    const double ns = (whole + seconds) * kNsPerSecond;
    if (RE2::PartialMatch(line, embeds)) {
      ++embeddings_;
      embedding_ns_ += ns;
      return;
    }
    ++requests_.requests;
    requests_.ns += ns;
    const auto end = nvidia_smi::ParseTime(year + "-" + month + "-" + day + " " + clock);
    if (end && times_.size() < kMostTimes) times_.emplace_back(end->ns - static_cast<int64_t>(ns), end->ns);
    if (!load_ || load_->on_gpu == load_->layers) return;
    ++requests_.partial_requests;
    requests_.partial_ns += ns;
    requests_.layers = load_->layers;
    requests_.gpu_layers = load_->on_gpu;
  } else if (line.find(" layers to GPU") != std::string_view::npos) {
    TakeLoad(line);
  } else if (line.find("msg=\"inference compute\"") != std::string_view::npos) {
    if (line.find("library=cpu") == std::string_view::npos) requests_.gpus = requests_.gpus.value_or(0) + 1;
  } else if (line.find("OLLAMA_NUM_PARALLEL:") != std::string_view::npos) {
    requests_.gpus.reset();  // of a start before
    if (RE2::PartialMatch(line, slots, &count)) requests_.slots = count;
  } else if (line.find("llama_context: n_seq_max") != std::string_view::npos &&
             RE2::PartialMatch(line, used, &count)) {
    requests_.slots = count;
  }
}

}  // namespace dladvisor::training_log
