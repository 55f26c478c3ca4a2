// SPDX-License-Identifier: Apache-2.0
// ./dev bench trace: a report of traces of PyTorch's profiler, against simdjson walking over every field of
// the same text on one thread; at 0.6, 1.5 and 5 million events (./dev bench: at 0.6 million), plain and
// gzip.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/base/error.h"
#include "tests/bench/bench.h"
#include "tests/bench/child.h"
#include "tests/bench/chrome_trace.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

// Reads the file and visits each value of each event, and of its arguments. Returns the events.
int64_t Walk(const fs::path& path) {
  using namespace simdjson;
  ondemand::parser parser;
  const padded_string text = padded_string::load(path.string());
  ondemand::document document = parser.iterate(text);
  int64_t events = 0, bytes = 0;
  for (ondemand::object event : document["traceEvents"].get_array()) {
    ++events;
    for (auto member : event) {
      ondemand::value value = member.value();
      if (value.type() != ondemand::json_type::object) {
        bytes += static_cast<int64_t>(value.raw_json_token().size());
        continue;
      }
      for (auto argument : value.get_object()) {
        ondemand::value inner = argument.value();
        if (inner.type() != ondemand::json_type::array && inner.type() != ondemand::json_type::object)
          bytes += static_cast<int64_t>(inner.raw_json_token().size());
      }
    }
  }
  return bytes > 0 ? events : 0;
}

void Print(const char* what, const ChildRun& run, double walk) {
  fmt::print("{:>19}  report {:7.3f} s  ratio {:.2f}  peak anonymous memory {:5.0f} MB\n", what, run.seconds,
             run.seconds / walk, run.peak_anonymous_mb);
  std::fflush(stdout);
}

}  // namespace

void MeasureTrace(const fs::path& folder, int64_t events) {
  const fs::path path = folder / "trace.json";
  WriteChromeTrace(path, events);
  const auto report = [&](const fs::path& trace) {
    return RunChild({"report", trace.string(), "-o", (folder / "trace.html").string()});
  };
  double walk = 1e300;
  ChildRun best{1e300, 0};
  int64_t found = 0;
  for (int i = 0; i < 3; ++i) {  // in turn, as what else runs on the machine disturbs both
    walk = std::min(walk, BestOf(1, [&] { found = Walk(path); }));
    const ChildRun run = report(path);
    best.seconds = std::min(best.seconds, run.seconds);
    best.peak_anonymous_mb = std::max(best.peak_anonymous_mb, run.peak_anonymous_mb);
  }
  fmt::print("{:>12} events  {:6.1f} MB  simdjson walks over them in {:.3f} s\n", found,
             static_cast<double>(fs::file_size(path)) / 1e6, walk);
  Print("plain", best, walk);
  if (std::system(fmt::format("gzip -1 -f '{}'", path.string()).c_str()) != 0)
    throw Error(path.string(), "could not be compressed with gzip");
  const fs::path packed = path.string() + ".gz";
  Print(fmt::format("gzip, {:.0f} MB", static_cast<double>(fs::file_size(packed)) / 1e6).c_str(),
        report(packed), walk);
  fs::remove(packed);
}

}  // namespace dladvisor
