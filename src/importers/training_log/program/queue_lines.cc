// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/queue_lines.h"

#include <re2/re2.h>

#include <cstdlib>
#include <string>

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestOfQueue = 4096;
constexpr int64_t kLeastRequests = 3;

bool Says(std::string_view line, std::string_view words) { return line.find(words) != line.npos; }

double NsOfWord(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "ms") return 1e6;
  if (unit == "s" || unit == "sec" || unit == "secs" || unit == "seconds") return 1e9;
  return 1e3;
}

}  // namespace

bool QueueLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestOfQueue || (!Says(line, "ueue") && !Says(line, "HandlerTime") &&
                                        !Says(line, "_request_") && !Says(line, "_latency_seconds_")))
    return false;
  return OfTorchServe(line) || OfMetrics(line) || OfRequest(line);
}

// "QueueTime.Milliseconds:217.9|#Level:Host", "HandlerTime.ms:60.57|#ModelName:resnet".
bool QueueLinesReader::OfTorchServe(std::string_view line) {
  static const RE2 form(R"(\b(QueueTime|HandlerTime)\.(?:ms|Milliseconds):(\d+(?:\.\d+)?)\|#)");
  std::string name;
  double ms = 0;
  if (!Says(line, "Time.") || !RE2::PartialMatch(line, form, &name, &ms)) return false;
  (name == "QueueTime" ? queue_ : handler_).Add(ms * 1e6);
  return true;
}

// "nv_inference_queue_duration_us{model="m",version="1"} 123456".
bool QueueLinesReader::OfMetrics(std::string_view line) {
  struct Metric {
    std::string_view name;
    size_t at;  // waited, in all, requests
    double unit;
  };
  static constexpr std::array kMetrics = std::to_array<Metric>({
      {"nv_inference_queue_duration_us", 0, 1e3},
      {"nv_inference_request_duration_us", 1, 1e3},
      {"nv_inference_request_success", 2, 1},
      {"vllm:request_queue_time_seconds_sum", 0, 1e9},
      {"vllm:e2e_request_latency_seconds_sum", 1, 1e9},
      {"vllm:e2e_request_latency_seconds_count", 2, 1},
      {"tgi_request_queue_duration_sum", 0, 1e9},
      {"tgi_request_duration_sum", 1, 1e9},
      {"tgi_request_duration_count", 2, 1},
  });
  const std::string_view name = line.substr(0, line.find_first_of("{ "));
  for (const Metric& metric : kMetrics) {
    if (metric.name != name) continue;
    const size_t blank = line.rfind(' ');
    if (blank == line.npos) return false;
    const double value = std::strtod(std::string(line.substr(blank + 1)).c_str(), nullptr);
    if (value > 0 && value < 1e18) exposed_[metric.at] += value * metric.unit;
    return true;
  }
  return false;
}

// Names with a time behind them. Of the request it is the total, or what it waits and what is done for it.
bool QueueLinesReader::OfRequest(std::string_view line) {
  static const RE2 pair(
      R"re((?i)([a-z][a-z0-9_.]{0,32}?)(?:[_.](ns|us|ms|s|sec|secs|seconds))?["']?\s?[=:]\s?["']?(\d+(?:\.\d+)?)\s?(ns|us|µs|μs|ms|s|secs?|seconds)?(?:["',;|\s)}\]]|$))re"),
      queue(
          "(?i)^(?:time_?in_?)?queued?(?:_?(?:time|wait|latency|duration|delay|ing)){0,2}$|^(?:wait|waiting)_"
          "?(?:time_?)?in_?queue$"),
      whole(
          "(?i)^(?:total|e2e|end_?to_?end|request|response|overall)(?:_?(?:request|response))?(?:_?(?:time|"
          "latency|duration))?$|^latency$"),
      work(
          "(?i)^(?:infer\\w*|compute|generat\\w*|process\\w*|handl\\w*|exec\\w*|model|forward|predict\\w*|"
          "prefill|decode)(?:_?(?:time|latency|duration))?$");
  double waits = 0, all = 0, works = 0;
  bool any = false;
  re2::StringPiece rest(line.data(), line.size());
  std::string name, in_name, number, behind;
  while (RE2::FindAndConsume(&rest, pair, &name, &in_name, &number, &behind)) {
    const std::string& unit = behind.empty() ? in_name : behind;
    if (unit.empty()) continue;
    const double ns = std::strtod(number.c_str(), nullptr) * NsOfWord(unit);
    if (RE2::FullMatch(name, queue)) {
      waits = ns;
      any = true;
    } else if (RE2::FullMatch(name, whole)) {
      all = ns;
    } else if (RE2::FullMatch(name, work)) {
      works += ns;
    }
  }
  if (!any || all + works <= 0) return false;
  const double time = all > 0 ? all : waits + works;
  if (waits > time) return false;
  ++requests_.lines;
  requests_.part += waits;
  requests_.whole += time;
  return true;
}

void QueueLinesReader::AddTo(ProgramOutput& output) const {
  ProgramWait queue = requests_;
  if (queue.lines < kLeastRequests && queue_.count >= kLeastRequests && handler_.count > 0) {
    queue.lines = queue_.count;
    queue.part = queue_.ns;
    queue.whole =
        queue_.ns + handler_.ns / static_cast<double>(handler_.count) * static_cast<double>(queue_.count);
  }
  const auto& [waited, all, requests] = exposed_;
  if (queue.lines < kLeastRequests && requests >= kLeastRequests && all > 0 && waited <= all) {
    queue.lines = static_cast<int64_t>(requests);
    queue.part = waited;
    queue.whole = all;
  }
  if (queue.lines < kLeastRequests || !(queue.whole > 0)) return;
  output.queue = queue;
  // What passes between its lines are the pauses until the next request.
  std::erase_if(output.parts, [](const ProgramPart& part) {
    return part.kind == ProgramPartKind::kLines || part.kind == ProgramPartKind::kSection;
  });
}

}  // namespace dladvisor::training_log
