// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/other_reports.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestOfReport = 1024;
// Lines that say that a service turned the program away, from which on, and from which part of all, that is
// what it does.
constexpr int64_t kLeastTurnedAway = 10, kPartTurnedAway = 5;

}  // namespace

void OtherReportsReader::Line(std::string_view line) {
  ++lines_;
  if (line.size() > kLongestOfReport) return;
  const auto has = [&](std::string_view words) { return line.find(words) != std::string_view::npos; };
  if (has("==NVSMI LOG==")) ++looks_;
  if (line.starts_with("*** Sampled system activity")) ++samples_;
  // "GPU HW active residency:   3.36% (389 MHz: 2.9% ...", on older systems "GPU active residency".
  static const RE2 residency(R"(^GPU (?:HW )?active residency: +(\d{1,3}(?:\.\d+)?)%)");
  double active = 0;
  if (line.starts_with("GPU ") && RE2::PartialMatch(line, residency, &active)) {
    ++residencies_;
    active_ += active;
    most_active_ = std::max(most_active_, active);
  }
  // "HTTP 429 Too Many Requests", "Error code: 429 - {'error': ...", "RateLimitError".
  static const RE2 refused(
      R"re((?i)\bHTTP(?:/[\d.]+)?["' :]{0,3}429\b|\b(?:error|status)[ _]?(?:code)?[ :=]{1,3}429\b|\b429 (?:Client Error|Too Many Requests)|\bRateLimitError\b|\brate limit (?:reached|exceeded))re");
  // "POST /v1/completions HTTP/1.1" 429: a server's own answer to a client.
  if ((has("429") || has("imit")) && !has(" HTTP/1.1\" 429") && RE2::PartialMatch(line, refused))
    ++turned_away_;
}

Refusal OtherReportsReader::Refuse() const {
  if (looks_ > 0)
    return {fmt::format("the report of nvidia-smi -q, which describes the GPUs at {}",
                        looks_ == 1 ? "one moment" : fmt::format("{} moments", looks_)),
            "log them over a minute of the work: nvidia-smi --query-gpu=timestamp,index,utilization.gpu,"
            "memory.used,memory.total,power.draw,power.limit --format=csv -l 1 > gpu.csv"};
  if (samples_ > 0 && residencies_ > 0)
    return {
        fmt::format(
            "a log of macOS' powermetrics, by which Apple's GPU is active {:.3g} % of the time, {:.3g} % at "
            "most in one of {} samples",
            active_ / static_cast<double>(residencies_), most_active_, residencies_),
        "print when the program loads, computes and saves beside these samples, and record what it runs: "
        "torch.profiler for the host's side, Instruments' Metal System Trace (xctrace) for the GPU's"};
  if (turned_away_ >= kLeastTurnedAway && kPartTurnedAway * turned_away_ >= lines_)
    return {
        fmt::format("the output of a program that waits for a service: {} of {} lines say that this turns it "
                    "away for too many requests (HTTP 429)",
                    turned_away_, lines_),
        "ask it for less at once, wait as long as its answer says (Retry-After), or have its limit raised; a "
        "profile of the program shows no more than this wait"};
  return {};
}

}  // namespace dladvisor::training_log
