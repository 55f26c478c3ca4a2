// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/benchmark_log.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/benchmark_log/bandwidth_lines.h"
#include "src/importers/benchmark_log/engine_json.h"
#include "src/importers/benchmark_log/generation_lines.h"
#include "src/importers/benchmark_log/load_json.h"
#include "src/importers/benchmark_log/perf_report.h"
#include "src/importers/benchmark_log/request_lines.h"
#include "src/importers/benchmark_log/result_json.h"
#include "src/importers/bytes/plain_json.h"
#include "src/importers/bytes/whole_text.h"
#include "src/importers/machine/machine_lines.h"

namespace dladvisor {
namespace {

constexpr std::string_view kFirstToken = "\"mean_ttft_ms\"", kRate = "\"request_throughput\"",
                           kTrace = "\"traceEvents\"";

[[noreturn]] void Refuse(const std::string& name, std::string_view text) {
  auto result = nlohmann::json::parse(PlainJson(text), nullptr, false);
  // Of several, one a line.
  if (result.is_discarded())
    result = nlohmann::json::parse(PlainJson(text.substr(0, text.find('\n'))), nullptr, false);
  if (result.is_discarded())
    throw WrongKind(name, "the result of a benchmark of a server that is cut or not JSON",
                    "copy it again, or run the benchmark again");
  const auto completed = result.is_object() ? result.find("completed") : result.end();
  if (result.is_object() && completed != result.end() && completed->is_number() && *completed == 0)
    throw WrongKind(name, "the result of a benchmark of a server without a request that was answered",
                    "see in the server's log why it answers none, and run the benchmark again");
  throw WrongKind(
      name,
      "JSON that names a time to the first token, but not as the benchmarks of vLLM and SGLang "
      "save it",
      "give the file that vLLM's --save-result, SGLang's --output-file, GenAI-Perf or AIPerf wrote");
}

Trace TraceOf(const std::string& name, std::string_view text, ProgramOutput output, size_t results) {
  Trace trace;
  trace.path = name;
  trace.format = "program log";
  trace.facts["profiler"] = output.program;
  trace.health.rows_read["results"] = static_cast<int64_t>(results);
  trace.program_output = std::move(output);
  GiveMachineOf(text, trace);
  return trace;
}

Trace ReadGenerations(ByteSource& source) {
  const std::string text = WholeText(source);
  ProgramOutput output;
  output.program = "llama-bench";
  output.generations = benchmark_log::LooksLikeGenerationCsv(text) ? benchmark_log::GenerationsOfCsv(text)
                                                                   : benchmark_log::GenerationsOfJson(text);
  if (output.generations.empty())
    throw WrongKind(source.name(), "the result of llama-bench without a row that it finished",
                    "copy it again, or run llama-bench again to its end");
  const size_t results = output.generations.size();
  return TraceOf(source.name(), text, std::move(output), results);
}

bool IsOfGenerations(std::string_view head) {
  return benchmark_log::LooksLikeGenerationJson(head) || benchmark_log::LooksLikeGenerationCsv(head);
}

Trace ReadBenchmarks(ByteSource& source) {
  const std::string text = WholeText(source);
  ProgramOutput output;
  output.program = "a benchmark of a server";
  if (benchmark_log::LooksLikePerfReport(text)) {
    if (const auto report = benchmark_log::PerfReportOfJson(text)) output.benchmarks.push_back(*report);
  } else if (const auto whole = benchmark_log::RequestsOfJson(text)) {
    output.benchmarks.push_back(*whole);
  } else {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (const auto result = benchmark_log::RequestsOfJson(line)) output.benchmarks.push_back(*result);
    }
  }
  if (output.benchmarks.empty()) Refuse(source.name(), text);
  const size_t results = output.benchmarks.size();
  return TraceOf(source.name(), text, std::move(output), results);
}

bool IsOfRequests(std::string_view head) {
  return benchmark_log::LooksLikePerfReport(head) ||
         (head.starts_with('{') && head.find(kFirstToken) != std::string_view::npos &&
          head.find(kRate) != std::string_view::npos && head.find(kTrace) == std::string_view::npos);
}

bool IsOfMachine(std::string_view head) {
  return benchmark_log::LooksLikeBandwidthJson(head) || benchmark_log::LooksLikeEngineJson(head);
}

// Of bandwidths, or of an engine.
Trace ReadMachine(ByteSource& source) {
  const std::string text = WholeText(source);
  auto output = benchmark_log::LooksLikeEngineJson(text) ? benchmark_log::EngineOfJson(text)
                                                         : benchmark_log::BandwidthsOfJson(text);
  if (!output)
    throw WrongKind(source.name(), "the result of trtexec or nvbandwidth that is cut or has no measurement",
                    "copy it again, or run the tool again to its end");
  const size_t results = output->engines.size() + output->figures.size();
  return TraceOf(source.name(), text, *std::move(output), results);
}

// Nothing where the document holds no table of results.
std::optional<Trace> ReadResults(Input& input) {
  // A document that another importer reads where this does not must be there to be read again.
  const bool whole = input.head().size() < ByteSource::kHead;
  if (!whole && input.path() == "-") return std::nullopt;
  const std::string text = whole ? std::string(input.head()) : WholeText(input.bytes());
  ProgramOutput output;
  if (const auto load = benchmark_log::LoadTestOfJson(text)) {
    output.program = load->program;
    output.benchmarks.push_back(*load);
    return TraceOf(input.name(), text, std::move(output), 1);
  }
  auto results = benchmark_log::ResultsOfJson(text);
  if (!results) {
    if (!whole) input.bytes().Rewind();
    return std::nullopt;
  }
  output.program = "a benchmark";
  const size_t rows = results->rows.size();
  output.results = std::move(results);
  return TraceOf(input.name(), text, std::move(output), rows);
}

}  // namespace

constinit const Importer kBenchmarkLogImporter = {
    .in_list = "",
    .extensions = "",
    .more_extensions = ".json .jsonl .csv",
    .fits =
        [](const Input& input) {
          const std::string_view head = input.head();
          return IsOfGenerations(head) || IsOfRequests(head) || IsOfMachine(head) ||
                         benchmark_log::LooksLikeResultJson(head)
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read = [](Input& input) -> std::optional<Trace> {
      if (IsOfGenerations(input.head())) return ReadGenerations(input.bytes());
      if (IsOfMachine(input.head())) return ReadMachine(input.bytes());
      return IsOfRequests(input.head()) ? ReadBenchmarks(input.bytes()) : ReadResults(input);
    },
};

}  // namespace dladvisor
