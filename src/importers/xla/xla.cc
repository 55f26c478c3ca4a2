// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/xla.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/kineto/event.h"
#include "src/importers/kineto/event_text.h"
#include "src/importers/xla/process_name.h"
#include "src/importers/xla/tpu_time.h"
#include "src/importers/xla/xla_events.h"

namespace dladvisor {
namespace {

// XLA writes the first million events of a profile and leaves out the others.
constexpr int64_t kMostWritten = 1'000'000;

// JSON whose first processes are named as XLA names them, and whose events have no categories of PyTorch.
bool IsXla(std::string_view head) {
  static const RE2 of_pytorch(R"-("cat"\s*:\s*"(?:cpu_op|cuda_runtime|cuda_driver|python_function|ac2g)")-");
  const size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  if (RE2::PartialMatch(re2::StringPiece(head.data(), head.size()), of_pytorch)) return false;
  constexpr std::string_view kName = "\"name\"";
  for (size_t at = head.find(kName); at != std::string_view::npos; at = head.find(kName, at + 1)) {
    size_t value = head.find_first_not_of(" \t\r\n:", at + kName.size());
    if (value == std::string_view::npos || head[value] != '"') continue;
    ++value;
    if (!xla::ProcessKindOf(head.substr(value, head.find('"', value) - value))) continue;
    // The event {... "args": {"name": ...} ...}
    const size_t args = head.rfind('{', at), begin = args == 0 ? args : head.rfind('{', args - 1);
    if (args == std::string_view::npos || begin == std::string_view::npos) continue;
    const size_t close = head.find('}', value);
    const size_t end = close == std::string_view::npos ? close : head.find('}', close + 1);
    if (head.substr(begin, end - begin).find("\"process_name\"") != std::string_view::npos) return true;
  }
  return false;
}

Trace Read(ByteSource& source) {
  kineto::EventText text(source, kineto::EventText::Cut::kExact);
  kineto::EventParser parser;
  kineto::Chunk chunk;
  xla::Events events;
  xla::TpuTime tpu;
  const auto add = [&](const kineto::Event& e) {
    events.Add(e);
    tpu.Add(e);
  };
  while (text.Next(chunk))
    if (!parser.Parse(chunk.Array(), chunk.capacity(), add))
      throw Error(source.name(), "is damaged: some of its events are not valid JSON",
                  "export the trace again; a copy may have been cut or changed");
  if (events.has_tpu())
    throw WrongKind(source.name(),
                    "a trace of a TPU by XLA's profiler, which dladvisor does not read" + tpu.Text(),
                    "read it with XProf (pip install xprof; xprof LOGDIR)" + tpu.Begin());
  if (events.has_hosts())
    throw WrongKind(source.name(), "a trace of XLA's profiler that holds several hosts",
                    "give dladvisor the trace of each host as a file of its own");
  if (events.names_late())
    throw Error(source.name(), "names its processes and threads after their events",
                "give dladvisor the file as XLA's profiler wrote it, with the names first");
  const bool has_all = events.count() < kMostWritten;
  Trace trace = events.Finish();
  if (!FirstTime(trace) && (!source.damage().empty() || text.IsTruncated()))
    throw Error(source.name(), "is cut before its first event", "copy or export the trace again");
  if (!FirstTime(trace))
    throw WrongKind(
        source.name(), "a trace of XLA's profiler in which it recorded nothing",
        "see that the steps run between the start and the stop of the trace, and wait for the last of them "
        "before the stop (in JAX with jax.block_until_ready)");
  trace.path = source.name();
  trace.health.truncated = !source.damage().empty() || text.IsTruncated();
  if (trace.health.truncated)
    trace.health.notes.push_back(fmt::format("The trace ends early{}{}: only what comes before was read.",
                                             source.damage().empty() ? "" : " as ", source.damage()));
  if (!has_all) {
    trace.health.truncated = true;
    trace.health.notes.emplace_back(
        "XLA's profiler writes the first million events of a profile and leaves out the others: what the "
        "trace shows ends before the program did.");
  }
  return trace;
}

}  // namespace

constinit const Importer kXlaImporter = {
    .in_list = "trace of XLA's profiler (.trace.json.gz of JAX or TensorFlow)",
    .extensions = "",
    .more_extensions = ".json .gz",
    .fits = [](const Input& input) { return IsXla(input.head()) ? Importer::Fit::kYes : Importer::Fit::kNo; },
    .read = [](Input& input) { return std::optional(Read(input.bytes())); },
};

}  // namespace dladvisor
