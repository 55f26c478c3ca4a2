// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "src/trace/parallel.h"
#include "tests/bench/floor.h"
#include "tests/bench/floor_work.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using namespace simdjson;

int64_t Nanoseconds(ondemand::value value) { return static_cast<int64_t>(value.get_double() * 1000); }

// Events as WriteChromeTrace() separates them: "  {" at the start of a line.
constexpr std::string_view kFirst = "\n  {", kNext = ",\n  {";

int64_t IntegerOf(ondemand::value value) {
  int64_t number = 0;
  return value.get_int64().get(number) == SUCCESS ? number : 0;
}

void ReadEvents(std::string_view text, FloorProcesses& into) {
  padded_string array(text.size() + 2);
  array.data()[0] = '[';
  std::memcpy(array.data() + 1, text.data(), text.size());
  array.data()[text.size() + 1] = ']';
  ondemand::parser parser;
  ondemand::document document = parser.iterate(array);
  size_t bytes = 0;
  for (ondemand::object event : document.get_array()) {
    int64_t start = 0, length = 0, thread = 0, correlation = -1;
    std::string_view phase, category, name;
    for (auto member : event) {
      const std::string_view key = member.unescaped_key();
      ondemand::value value = member.value();
      if (key == "ph")
        phase = value.get_string();
      else if (key == "cat")
        category = value.get_string();
      else if (key == "name")
        name = value.get_string();
      else if (key == "ts")
        start = Nanoseconds(value);
      else if (key == "dur")
        length = Nanoseconds(value);
      else if (key == "tid")
        thread = IntegerOf(value);
      else if (key == "args")
        for (auto argument : value.get_object()) {
          const std::string_view of = argument.unescaped_key();
          ondemand::value inner = argument.value();
          if (of == "correlation")
            correlation = IntegerOf(inner);
          else
            bytes += inner.raw_json_token().size();
        }
      else
        bytes += value.raw_json_token().size();
    }
    if (phase != "X") continue;
    FloorProcess& process = into[0];
    if (category == "kernel")
      process.kernels.Add(start, start + length, thread, correlation);
    else if (category.starts_with("cuda_"))
      process.calls.Add(start, start + length, thread, correlation);
    else
      process.ranges.Add(start, start + length, thread, name.starts_with("ProfilerStep#") ? 1 : 0);
  }
  if (bytes == 42) fmt::print("\n");  // keeps the reading of arguments
}

}  // namespace

FloorResult TraceFloor(const fs::path& path) {
  const padded_string loaded = padded_string::load(path.string());
  const std::string_view text(loaded.data(), loaded.size());
  const size_t begin = text.find(kFirst, text.find("\"traceEvents\"")), end = text.rfind("\n  ]");
  if (begin == text.npos || end == text.npos) throw Error(path.string(), "is not a trace of the bench");
  constexpr size_t kPart = 4 << 20;
  std::vector<std::string_view> parts;
  for (size_t from = begin; from < end;) {
    const size_t next = text.find(kNext, std::min(from + kPart, end));
    const size_t to = std::min(next, end);
    parts.push_back(text.substr(from, to - from));
    from = to == end ? end : to + 1;
  }
  std::vector<FloorProcesses> events(parts.size());
  ParallelFor(parts.size(), [&](size_t i) { ReadEvents(parts[i], events[i]); });
  return WorkOn(events);
}

}  // namespace dladvisor
