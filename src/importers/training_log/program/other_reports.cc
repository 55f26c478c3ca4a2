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
  Job(line);
  jobs_.Line(line);
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

// "della-i14g2 (GPU 0): 65.7%", below "GPU utilization per node", of Princeton's jobstats; seff's "CPU
// Efficiency: 8.14% of 13-08:00:00 core-walltime".
void OtherReportsReader::Job(std::string_view line) {
  static const RE2 gpu(R"(^ +\S+ \(GPU \d+\): (\d+(?:\.\d+)?)%)"),
      seff(R"(^CPU Efficiency: (\d+(?:\.\d+)?)% of )"),
      seff_gpu(R"(^GPU (?:Utilization|Efficiency): +(\d+(?:\.\d+)?)%)");
  if (line.find("GPU utilization per node") != std::string_view::npos) in_gpus_ = true;
  if (line.find("GPU memory usage per node") != std::string_view::npos) in_gpus_ = false;
  double busy = 0;
  if (line.starts_with("State: RUNNING")) still_runs_ = true;
  if (line.starts_with("CPU Efficiency: ") && RE2::PartialMatch(line, seff, &busy)) cores_busy_ = busy;
  if (line.starts_with("GPU ") && RE2::PartialMatch(line, seff_gpu, &busy)) job_gpus_busy_ = busy;
  if (!in_gpus_ || line.find("(GPU ") == std::string_view::npos || !RE2::PartialMatch(line, gpu, &busy))
    return;
  least_busy_ = gpus_ == 0 ? busy : std::min(least_busy_, busy);
  most_busy_ = std::max(most_busy_, busy);
  ++gpus_;
}

Refusal OtherReportsReader::Refuse() const {
  static constexpr const char* kLogGpus =
      "see when and why they wait: log the GPUs while such a job runs (nvidia-smi "
      "--query-gpu=timestamp,index,"
      "utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 1 > gpu.csv), and give what the "
      "program "
      "prints";
  if (gpus_ > 0)
    return {
        fmt::format(
            "the report of a job that has ended (jobstats): its {} GPUs were busy {:.3g} % to {:.3g} % of "
            "the time",
            gpus_, least_busy_, most_busy_),
        kLogGpus};
  if (cores_busy_ && still_runs_)
    return {"the report of a job that still runs (seff), which does not say yet what it uses", kLogGpus};
  if (cores_busy_)
    return {
        fmt::format("the report of a job that has ended (seff): its cores were busy {:.3g} % of the time, {}",
                    *cores_busy_,
                    job_gpus_busy_ ? fmt::format("its GPUs {:.3g} %", *job_gpus_busy_)
                                   : "and nothing is said of GPUs"),
        kLogGpus};
  if (const std::string jobs = jobs_.What(); !jobs.empty()) return {jobs, kLogGpus};
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
