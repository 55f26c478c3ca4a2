// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/python_line.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace dladvisor {

bool IsUserFrame(std::string_view name) {
  constexpr std::array starts = {"torch/",       "jax/",         "<built-in",        "<frozen",
                                 "<string>",     "threading.py", "runpy.py",         "contextlib.py",
                                 "functools.py", "nn.Module",    "multiprocessing/", "concurrent/",
                                 "asyncio/",     "importlib/"};
  for (const std::string_view start : starts)
    if (name.starts_with(start)) return false;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return has(".py(") && !has("site-packages/") && !has("dist-packages/") && !has("/torch/") &&
         !has("/lib/python");
}

std::vector<std::string> PythonLines(const Trace& trace, const std::vector<Moment>& moments) {
  const Frames& frames = trace.frames;
  std::vector<std::string> lines(moments.size());
  if (frames.size() == 0) return lines;
  std::vector<uint8_t> is_user(trace.names.size(), 0), known(trace.names.size(), 0);
  std::vector<size_t> order(moments.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return moments[a].time < moments[b].time; });
  // The user's frames that are open, by thread, outermost first.
  std::vector<std::vector<size_t>> open(trace.threads.size());
  size_t next = 0;
  for (const size_t m : order) {
    const Moment& moment = moments[m];
    for (; next < frames.size() && frames.start[next] <= moment.time; ++next) {
      const NameId name = frames.name[next];
      if (!known[name]) {
        known[name] = 1;
        is_user[name] = IsUserFrame(trace.names.View(name));
      }
      if (!is_user[name] || frames.thread[next] == kNoIndex) continue;
      std::vector<size_t>& stack = open[frames.thread[next]];
      while (!stack.empty() && frames.end[stack.back()] <= frames.start[next]) stack.pop_back();
      stack.push_back(next);
    }
    if (moment.thread == kNoIndex) continue;
    std::vector<size_t>& stack = open[moment.thread];
    while (!stack.empty() && frames.end[stack.back()] <= moment.time) stack.pop_back();
    if (!stack.empty()) lines[m] = trace.names.View(frames.name[stack.back()]);
  }
  return lines;
}

}  // namespace dladvisor
