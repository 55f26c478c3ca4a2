// SPDX-License-Identifier: Apache-2.0
#include "src/importers/serving_log/idle_times.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace dladvisor::serving_log {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// Of a server that prints a line or two; vLLM's own.
constexpr int64_t kUsualDistance = 10 * kSecondNs;
constexpr int64_t kLeastPause = 20 * kSecondNs;
// Lines of processes that print beside each other; what goes back further is another run, or the next year.
constexpr int64_t kMostBack = 3600 * kSecondNs;
constexpr size_t kLeastLoads = 3;

}  // namespace

void IdleTimesReader::Starts(int64_t time) {
  Run& run = runs_.emplace_back();
  run.began = run.first = run.last = time;
}

void IdleTimesReader::Ready(int64_t time) {
  if (!runs_.empty()) runs_.back().ready = time;
}

void IdleTimesReader::Line(int64_t time) {
  if (runs_.empty() || time + kMostBack < runs_.back().last) {
    Run& run = runs_.emplace_back();
    run.first = run.last = time;
  }
  runs_.back().last = std::max(runs_.back().last, time);
}

void IdleTimesReader::Add(Load load) {
  Line(load.time);
  runs_.back().loads.push_back(std::move(load));
}

int64_t IdleTimesReader::UsualDistance() const {
  std::vector<int64_t> distances;
  for (const Run& run : runs_)
    for (size_t i = 1; i < run.loads.size(); ++i)
      if (const int64_t distance = run.loads[i].time - run.loads[i - 1].time; distance > 0)
        distances.push_back(distance);
  if (distances.empty()) return kUsualDistance;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return *middle;
}

int64_t IdleTimesReader::IdleOf(const Run& run, int64_t usual) {
  const int64_t least = std::max(kLeastPause, usual * 5 / 2);
  std::map<std::string, bool> busy;  // by engine
  int64_t engines_busy = 0, idle = 0, at = run.ready.value_or(run.loads.front().time);
  bool reads_long = false;
  for (const Load& load : run.loads) {
    const int64_t distance = load.time - at;
    const bool quiet = load.none_left && load.nothing_passed && busy.size() <= 1;
    if (quiet && distance > 0 && (engines_busy == 0 || distance < least))
      idle += distance;
    else if ((engines_busy == 0 || load.none_before) && !reads_long && distance >= least)
      idle += distance - usual;
    bool& was_busy = busy[load.engine];
    engines_busy += (load.none_left ? 0 : 1) - (std::exchange(was_busy, !load.none_left) ? 1 : 0);
    at = std::max(at, load.time);
    reads_long = load.reads_long;
  }
  if (engines_busy == 0) idle += run.last - at;
  return idle;
}

void IdleTimesReader::Finish(ServingLog& log) const {
  size_t loads = 0;
  int64_t all = 0, served = 0, idle = 0;
  const int64_t usual = UsualDistance();
  for (const Run& run : runs_) {
    all += run.last - run.first;
    if (run.loads.empty()) continue;
    loads += run.loads.size();
    served += run.last - std::min(run.ready.value_or(run.loads.front().time), run.loads.front().time);
    idle += IdleOf(run, usual);
  }
  if (all > 0) log.span_ns = static_cast<double>(all);
  if (loads < kLeastLoads || served <= 0) return;
  log.served_ns = static_cast<double>(served);
  log.idle_ns = static_cast<double>(idle);
}

}  // namespace dladvisor::serving_log
