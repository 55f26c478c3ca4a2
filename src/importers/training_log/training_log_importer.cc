// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/training_log_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/bytes/lines.h"
#include "src/importers/nsight_compute/measured_lines.h"
#include "src/importers/summary_table/summary_lines.h"
#include "src/importers/training_log/fenced_blocks.h"
#include "src/importers/training_log/frameworks/free_memory.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/log_reader.h"
#include "src/importers/training_log/printed_text.h"

namespace dladvisor {
namespace {
using training_log::LogReader;

// The number that a line ends with may be cut.
std::string_view WithoutCutEnd(std::string_view line) {
  if (line.find(" (ms)") == std::string_view::npos && line.find(" (MB)") == std::string_view::npos)
    return line;
  const size_t bar = line.rfind('|');
  return line.substr(0, bar == std::string_view::npos ? 0 : bar + 1);
}

void ReadLines(ByteSource& source, LogReader& reader, training_log::FencedBlocks& blocks) {
  Lines lines(source);
  while (const auto line = lines.Next()) {
    blocks.Line(*line);
    std::string_view rest = *line;
    // A progress bar ends what the next one overwrites with a carriage return.
    for (size_t end = rest.find('\r'); end != std::string_view::npos; end = rest.find('\r')) {
      if (end > 0) reader.Line(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    reader.Line(lines.IsCut() ? WithoutCutEnd(rest) : rest);
  }
}

// A table at the start of a job shows which GPUs it has, and nothing about the training.
void KeepDevicesOnly(Trace& trace) {
  trace.telemetry = {};
  trace.health = {};
  trace.session_duration_ns.reset();
  trace.clock_origin_utc_ns.reset();
  trace.facts.erase("clock_origin_local_ns");
}

Trace ServingTrace(ByteSource& source, ServingLog log, Trace trace) {
  trace.path = source.name();
  trace.format = "serving log";
  trace.producer_version.clear();
  trace.facts["profiler"] = log.program;
  trace.health.rows_read["lines"] = static_cast<int64_t>(log.samples.size());
  trace.serving_log = std::move(log);
  return trace;
}

Trace ProgramTrace(ByteSource& source, ProgramOutput output) {
  Trace trace;
  trace.path = source.name();
  trace.format = "program log";
  trace.facts["profiler"] = output.program.empty() ? "a program" : output.program;
  trace.health.rows_read["parts"] = static_cast<int64_t>(output.parts.size());
  trace.program_output = std::move(output);
  return trace;
}

Trace SummaryTrace(ByteSource& source, const std::set<std::string>& missing,
                   std::vector<SummaryTable> tables) {
  Trace trace;
  trace.path = source.name();
  trace.format = "summary";
  trace.facts["profiler"] = tables.front().tool;
  int64_t rows = 0;
  for (const SummaryTable& table : tables) rows += static_cast<int64_t>(table.rows.size());
  trace.health.rows_read["rows"] = rows;
  trace.health.missing_tables.assign(missing.begin(), missing.end());
  trace.summary_tables = std::move(tables);
  return trace;
}

constexpr const char* kQuotes = "a document that quotes lines of logs, not a log";
constexpr const char* kSaveAlone = "save what the program printed to a file of its own";

// Lines of steps of one training, from which on what a document quotes is its log.
constexpr size_t kStepsOfLog = 50;
// The same of a block by itself, of which fewer are an example.
constexpr size_t kStepsOfBlock = 5;

// More lines for each number than any table has: other output, with a table at the start of each job.
constexpr size_t kMostLinesOfNumber = 10;

// A look or two at the GPUs within what a terminal shows of other things is no log of theirs.
constexpr size_t kMostLooks = 2, kMostLinesOfTable = 2;

bool IsOfOtherThings(LogReader& reader) {
  const auto others = static_cast<size_t>(reader.lines() - reader.lines_of_tables());
  const size_t gpus = std::max<size_t>(1, reader.tables.log.trace().devices.size());
  return reader.tables.log.rows() <= kMostLooks * gpus &&
         others > kMostLinesOfTable * static_cast<size_t>(reader.lines_of_tables());
}

std::optional<Trace> ReadLog(ByteSource& source);

// Of a document that quotes a single log, or a single text with tables, that; else it is refused.
Trace ReadQuoted(ByteSource& source, const training_log::FencedBlocks& blocks) {
  std::optional<Trace> quoted;
  size_t logs = 0;
  std::string tables;  // of blocks that hold tables alone
  for (const std::string& block : blocks.texts()) {
    ByteSource text(source.name(), block);
    try {
      std::optional<Trace> trace = ReadLog(text);
      if (!trace || (trace->training_log.iterations.size() < kStepsOfBlock && trace->summary_tables.empty()))
        continue;
      ++logs;
      if (!trace->summary_tables.empty()) tables += block + '\n';
      quoted = std::move(trace);
    } catch (const Error&) {
      continue;  // prose, or a command
    }
  }
  // The tables of one profile, each in a block of its own.
  if (logs > 1 && !tables.empty()) {
    ByteSource text(source.name(), tables);
    quoted = ReadLog(text);
    logs = quoted && quoted->summary_tables.size() == 1 && quoted->training_log.empty() ? 1 : logs;
  }
  if (logs != 1) throw WrongKind(source.name(), kQuotes, kSaveAlone);
  quoted->health.notes.emplace_back("Of the document only the log that it quotes is read.");
  return *std::move(quoted);
}

// Nothing where the text holds neither a log nor a table.
std::optional<Trace> TraceOf(ByteSource& source, LogReader& reader,
                             const training_log::FencedBlocks& blocks) {
  TrainingLog log = reader.Finish();
  const size_t numbers = reader.tables.log.samples();
  const bool tables = numbers > 0 && !(log.empty() && IsOfOtherThings(reader) && reader.Program().timed()) &&
                      (!log.empty() || static_cast<size_t>(reader.lines() - reader.lines_of_tables()) <
                                           kMostLinesOfNumber * numbers);
  ServingLog serving = reader.servers.Finish();
  if (reader.quotes() && log.iterations.size() < kStepsOfLog) return ReadQuoted(source, blocks);
  std::vector<SummaryTable> summaries = reader.summaries.Finish();
  // A program that is measured kernel by kernel has no pace of its own.
  auto measured = reader.measured.Finish();
  for (SummaryTable& table : reader.metrics.Finish()) measured.push_back(std::move(table));
  if (!measured.empty()) {
    if (reader.quotes_tables()) return ReadQuoted(source, blocks);
    for (SummaryTable& table : measured) summaries.push_back(std::move(table));
    return SummaryTrace(source, reader.summaries.missing(), std::move(summaries));
  }
  if (const auto lacks = reader.measured.WithoutKernels();
      lacks && log.empty() && serving.empty() && summaries.empty() && !tables)
    throw WrongKind(source.name(), lacks->what, lacks->next_step);
  // A profiler's table tells more than the start of a server.
  const bool profiled = !summaries.empty() && serving.samples.empty() && reader.EngineError().empty();
  if (log.iterations.empty() && !serving.empty() && !profiled) {
    Trace trace;
    if (tables) trace = reader.tables.log.Finish(source.name(), "a log of nvidia-smi's table");
    if (trace.health.rows_read["samples"] <= static_cast<int64_t>(trace.devices.size()))
      KeepDevicesOnly(trace);
    serving.error = reader.EngineError();
    if (!serving.error.empty()) serving.memory_taken = reader.memory_taken();
    return ServingTrace(source, std::move(serving), std::move(trace));
  }
  if (log.empty() && !tables && reader.EndsServer()) {
    serving.program = reader.servers.server();
    serving.error = reader.error();
    serving.memory_taken = reader.memory_taken();
    return ServingTrace(source, std::move(serving), {});
  }
  if (log.empty() && serving.empty() && !tables && reader.monitors.IsLog(reader.lines()))
    return reader.monitors.log.Finish(source.name(), "a log of GPU telemetry");
  // What a log times, or died of, says more.
  const bool times = std::ranges::any_of(log.iterations, [](const TrainingIteration& row) {
    return row.elapsed_ns || row.samples_per_second || row.tokens_per_second;
  });
  const bool says_more = times || log.runtime_ns || !log.error.empty();
  if (!summaries.empty() && !says_more && !tables) {
    if (reader.quotes_tables()) return ReadQuoted(source, blocks);
    // torch.utils.bottleneck prints what functions take of the whole program first, then single operators.
    if (ProgramOutput program = reader.Program();
        program.program == "Python's cProfile" &&
        std::ranges::all_of(summaries, [&](const SummaryTable& table) {
          return table.tool == "torch.profiler" &&
                 table.host_ns.value_or(0) < program.duration_ns.value_or(0);
        }))
      return ProgramTrace(source, std::move(program));
    return SummaryTrace(source, reader.summaries.missing(), std::move(summaries));
  }
  if (log.empty() && serving.empty() && !tables && !reader.PrintsLosses())
    training_log::RefuseTerminal(source);
  ProgramOutput program;
  if (log.empty() && !tables) program = reader.Program();
  // An engine that prints of itself as it is measured.
  if (program.measured()) return ProgramTrace(source, std::move(program));
  // A server that others call as a library generates batches.
  if (std::ranges::any_of(program.parts,
                          [](const ProgramPart& part) { return part.tokens_per_second.has_value(); }))
    return ProgramTrace(source, std::move(program));
  if (log.empty() && !tables && !reader.servers.server().empty() && reader.EndsWithoutError()) {
    serving.program = reader.servers.server();
    return ServingTrace(source, std::move(serving), {});
  }
  if (log.empty() && !tables && reader.summaries.has_headers())
    throw WrongKind(
        source.name(), "a table of totals by name without a row of a kernel, a call or a range",
        "give what the profiler prints of these: nsys stats --report "
        "cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_api_sum REPORT.nsys-rep, or rocprofv3 --stats "
        "--kernel-trace --hip-trace");
  if (log.empty() && !tables) training_log::RefusePrintedStatistics(source);
  // Figures say less than results do that are compared.
  const bool figures_alone =
      !program.timed() && !program.measured() && program.skipped_batches == 0 && program.error.empty();
  if (log.empty() && !tables && figures_alone && serving.empty())
    if (ProgramOutput results = reader.Results(); !results.empty()) program = std::move(results);
  if (log.empty() && !tables && !program.empty()) return ProgramTrace(source, std::move(program));
  if (log.empty() && !tables && (numbers > 0 || !LooksLikeSmiTable(source.Head()))) {
    if (const std::string_view lacks = reader.LacksOfBenchmarks(); !lacks.empty())
      throw WrongKind(
          source.name(), fmt::format("the result of a benchmark of a server {}", lacks),
          "see in the server's log and in what the client prints why, and run it again to its end");
    const auto refusal = reader.others.Refuse();
    if (!refusal.what.empty()) throw WrongKind(source.name(), refusal.what, refusal.next_step);
    return std::nullopt;
  }
  Trace trace;
  if (tables || log.empty()) trace = reader.tables.log.Finish(source.name(), "a log of nvidia-smi's table");
  if (log.empty()) return trace;
  if (trace.health.rows_read["samples"] <= static_cast<int64_t>(trace.devices.size())) KeepDevicesOnly(trace);
  reader.machine.GiveTo(trace);
  training_log::GiveMemoryOfFree(trace.devices, log);
  trace.path = source.name();
  trace.format = "training log";
  trace.producer_version.clear();
  trace.facts["profiler"] = log.program;
  trace.health.rows_read["iterations"] = static_cast<int64_t>(log.iterations.size());
  if (reader.skipped_lines() > 0) trace.health.rows_skipped["lines"] = reader.skipped_lines();
  const auto setting = [&](const char* name) {
    const auto found = log.settings.find(name);
    return found == log.settings.end() ? std::string() : found->second;
  };
  if (const auto world = training_log::Integer(setting("world_size")); world && *world > 0)
    trace.world_size = world;
  if (const std::string backend = setting("distributed_backend"); !backend.empty())
    trace.facts["distributed_backend"] = backend;
  trace.training_log = std::move(log);
  return trace;
}

// What a program shows of its machine: a table of nvidia-smi, or its own lines.
void GiveMachine(LogReader& reader, Trace& trace) {
  const Trace& table = reader.tables.log.trace();
  if (trace.devices.empty()) trace.devices = table.devices;
  for (const char* fact : {"driver_version", "cuda_version"})
    if (const auto known = table.facts.find(fact); known != table.facts.end())
      trace.facts.try_emplace(known->first, known->second);
  reader.machine.GiveTo(trace);
}

std::optional<Trace> ReadLog(ByteSource& source) {
  LogReader reader;
  training_log::FencedBlocks blocks;
  ReadLines(source, reader, blocks);
  std::optional<Trace> trace = TraceOf(source, reader, blocks);
  if (trace) GiveMachine(reader, *trace);
  return trace;
}

}  // namespace

std::optional<Trace> ReadPrinted(ByteSource& source) { return ReadLog(source); }

constinit const Importer kTrainingLogImporter = {
    .in_list = "output of a training run, of a server or of Nsight Compute",
    .extensions = ".log .out .txt",
    .more_extensions = "",
    .fits =
        [](const Input& input) {
          return input.IsText() ? Importer::Fit::kUnlessAnother : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return ReadLog(input.bytes()); },
};

}  // namespace dladvisor
