// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/benchmark_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/analysis/family/family.h"
#include "src/analysis/hardware/gpu_peak.h"
#include "src/analysis/training/engine_test.h"
#include "src/analysis/training/generation_test.h"
#include "src/analysis/training/load_test.h"
#include "src/analysis/training/result_effect.h"
#include "src/analysis/training/simulation_run.h"

namespace dladvisor {
namespace {

std::optional<std::string> IfNamed(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<double> EachOf(const std::optional<double>& all, int64_t requests) {
  return all ? std::optional(*all / static_cast<double>(std::max<int64_t>(requests, 1))) : std::nullopt;
}

// Of which the bandwidth of the largest transfer is greatest.
const TransferTest& Fastest(const std::vector<TransferTest>& tests) {
  return *std::ranges::max_element(tests, {}, &TransferTest::bus_bytes_per_s);
}

// Of all requests together until the first token, or until they are answered.
double AllWaits(const RequestBenchmark& result) {
  const double each = result.first_mean_ns     ? *result.first_mean_ns
                      : result.first_median_ns ? *result.first_median_ns
                      : result.latency_mean_ns ? *result.latency_mean_ns
                                               : result.latency_median_ns.value_or(0);
  return static_cast<double>(std::max<int64_t>(result.requests, 1)) * each;
}

}  // namespace

const RelationOf<TransferTestRow>& TransferTestRelation() {
  using Row = TransferTestRow;
  static const auto relation =
      RelationOf<Row>("transfer_test",
                      "What a test of collectives measured (nccl-tests, rccl-tests, all_reduce_bench, "
                      "DeepSpeed's): how fast "
                      "one is over the links between GPUs.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("test", &Row::test, Unit::kNone, "Its number, from 0.")
          .Column("collective", &Row::collective, Unit::kText, "As all_reduce_perf; unknown where not said.")
          .Column("gpu", &Row::gpu, Unit::kText,
                  "Model of the GPUs; unknown where they differ or are not listed.")
          .Column("gpus", &Row::gpus, Unit::kCount,
                  "GPUs that it lists, or ranks that it counts; 0 where none.")
          .Column("hosts", &Row::hosts, Unit::kCount, "Machines of these; 0 where it counts ranks alone.")
          .Column("least_bytes", &Row::least_bytes, Unit::kBytes, "The smallest transfer.")
          .Column("least_ns", &Row::least_ns, Unit::kNanoseconds,
                  "What that takes; unknown where not printed.")
          .Column("most_bytes", &Row::most_bytes, Unit::kBytes, "The largest transfer.")
          .Column(
              "bus_bytes_per_s", &Row::bus_bytes_per_s, Unit::kBytesPerSecond,
              "Bandwidth of the bus at that, by NCCL's formulas, the better of out of place and in place.")
          .Column(
              "link_bytes_per_s", &Row::link_bytes_per_s, Unit::kBytesPerSecond,
              "What NVLink or xGMI of such a GPU carries in one direction; unknown of several machines, of "
              "models that have none, or may have none.")
          .Column("host_bytes_per_s", &Row::host_bytes_per_s, Unit::kBytesPerSecond,
                  "The same of its link to the host; unknown as that is.")
          .Column("wrong_values", &Row::wrong_values, Unit::kCount,
                  "Values that arrived wrong, of all sizes, as it counts them.")
          .Column("channels", &Row::channels, Unit::kCount,
                  "Channels that NCCL says it uses; unknown without.")
          .Column("over", &Row::over, Unit::kText,
                  "The slowest way that NCCL says its channels go: P2P, SHM, NET/IB, NET/Socket; unknown "
                  "without.")
          .Column("settings", &Row::settings, Unit::kText,
                  "Variables of the environment that take a choice from NCCL, as it prints them; unknown "
                  "without.");
  return relation;
}

const RelationOf<RequestBenchmarkRow>& RequestBenchmarkRelation() {
  using Row = RequestBenchmarkRow;
  static const auto relation =
      RelationOf<Row>(
          "request_benchmark",
          "A result of a client that measures a server (bench_serving of vLLM and SGLang, GenAI-Perf, "
          "AIPerf; over HTTP alone wrk, hey, ApacheBench, k6, Locust, Vegeta), or of an engine of language "
          "models that has all requests from the start (trtllm-bench, gptManagerBenchmark, vLLM's and "
          "SGLang's benchmarks of throughput).")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("benchmark", &Row::benchmark, Unit::kNone, "Its number, from 0.")
          .Column("program", &Row::program, Unit::kText,
                  "Whose result it is; unknown of a client of a server of language models.")
          .Column("served", &Row::served, Unit::kNone,
                  "1 where a client asks a server, 0 where an engine has all requests from the start.")
          .Column("requests", &Row::requests, Unit::kCount,
                  "Requests that were answered; unknown where it does not count them.")
          .Column("failed", &Row::failed, Unit::kCount,
                  "Requests that failed; unknown where it does not count.")
          .Column("concurrency_limit", &Row::limit, Unit::kNone,
                  "Requests that the client has open at most; unknown where it sets no limit.")
          .Column("request_rate", &Row::request_rate, Unit::kNone,
                  "Requests that it sends in a second; unknown where it sends them as fast as it can.")
          .Column("duration_ns", &Row::duration_ns, Unit::kNanoseconds, "Of the benchmark.")
          .Column("input_tokens", &Row::input_tokens, Unit::kNone, "Of a request, on average.")
          .Column("output_tokens", &Row::output_tokens, Unit::kNone, "The same.")
          .Column("answered_per_s", &Row::answered_per_s, Unit::kNone,
                  "Requests that are answered in a second.")
          .Column("output_tokens_per_s", &Row::output_tokens_per_s, Unit::kNone, "Of all requests.")
          .Column("first_mean_ns", &Row::first_mean_ns, Unit::kNanoseconds,
                  "Until the first token, on average.")
          .Column("first_median_ns", &Row::first_median_ns, Unit::kNanoseconds, "The median of it.")
          .Column("first_p99_ns", &Row::first_p99_ns, Unit::kNanoseconds, "Its 99th percentile.")
          .Column("token_ns", &Row::token_ns, Unit::kNanoseconds, "For each further token, on average.")
          .Column("request_ns", &Row::request_ns, Unit::kNanoseconds,
                  "Of a request on average, as it says, or as its tokens add up: first_mean_ns, and token_ns "
                  "for each but the first.")
          .Column("request_median_ns", &Row::request_median_ns, Unit::kNanoseconds, "The median of it.")
          .Column("request_p99_ns", &Row::request_p99_ns, Unit::kNanoseconds, "Its 99th percentile.")
          .Column("first_share", &Row::first_share, Unit::kRatio, "Of it first_mean_ns.")
          .Column(
              "waits_most", &Row::waits_most, Unit::kText,
              "Of requests of several kinds the one that waits longest in all, as \"POST /chat\"; unknown "
              "where they are not told apart.")
          .Column("waits_most_share", &Row::waits_most_share, Unit::kRatio, "Of all waiting, its.")
          .Column("waits_most_ns", &Row::waits_most_ns, Unit::kNanoseconds, "Of one, on average.")
          .Column("waits_most_longest_ns", &Row::waits_most_longest_ns, Unit::kNanoseconds,
                  "The longest of them.")
          .Column("in_flight", &Row::in_flight, Unit::kNone,
                  "Requests that were open at once, on average: requests · request_ns / duration_ns.");
  return relation;
}

std::vector<TransferTestRow> ComputeTransferTests(const Context& context) {
  std::vector<TransferTestRow> rows;
  for (const TransferTest& test : context.trace.program_output.transfers) {
    TransferTestRow& row = rows.emplace_back();
    row.test = static_cast<int64_t>(rows.size()) - 1;
    row.collective = IfNamed(test.collective);
    row.gpu = IfNamed(test.gpu);
    row.gpus = test.gpus;
    row.hosts = test.hosts;
    row.least_bytes = test.least_bytes;
    row.least_ns = test.least_ns;
    row.most_bytes = test.most_bytes;
    row.bus_bytes_per_s = test.bus_bytes_per_s;
    row.wrong_values = test.wrong_values;
    row.channels = test.channels;
    row.over = IfNamed(test.over);
    row.settings = IfNamed(test.settings);
    if (test.gpu.empty() || test.hosts > 1) continue;
    Device device;
    device.name = test.gpu;
    const GpuPeaks peaks = PeaksOf(device, context.options.hardware.get());
    row.link_bytes_per_s = peaks.link_bytes_per_s;
    row.host_bytes_per_s = peaks.host_bytes_per_s;
  }
  return rows;
}

std::vector<RequestBenchmarkRow> ComputeRequestBenchmarks(const Context& context) {
  std::vector<RequestBenchmarkRow> rows;
  for (const RequestBenchmark& result : context.trace.program_output.benchmarks) {
    RequestBenchmarkRow& row = rows.emplace_back();
    row.benchmark = static_cast<int64_t>(rows.size()) - 1;
    row.program = IfNamed(result.program);
    row.served = result.served;
    row.answered_per_s = result.answered_per_s;
    row.request_median_ns = result.latency_median_ns;
    row.request_p99_ns = result.latency_p99_ns;
    if (result.requests > 0) row.requests = result.requests;
    row.failed = result.failed;
    row.limit = result.limit;
    row.request_rate = result.request_rate;
    row.duration_ns = result.duration_ns;
    row.input_tokens = EachOf(result.input_tokens, result.requests);
    row.output_tokens = EachOf(result.output_tokens, result.requests);
    row.output_tokens_per_s = result.output_tokens_per_s;
    row.first_mean_ns = result.first_mean_ns ? result.first_mean_ns : result.first_median_ns;
    row.first_median_ns = result.first_median_ns ? result.first_median_ns : result.first_mean_ns;
    row.first_p99_ns = result.first_p99_ns;
    row.token_ns = result.token_mean_ns ? result.token_mean_ns : result.token_median_ns;
    const bool adds_up = row.first_mean_ns && row.token_ns && row.output_tokens && *row.output_tokens >= 1;
    if (const auto& kind = result.waits_most) {
      row.waits_most = kind->name;
      row.waits_most_share = kind->share;
      row.waits_most_ns = kind->mean_ns;
      row.waits_most_longest_ns = kind->longest_ns;
    }
    row.request_ns = result.latency_mean_ns;
    if (!row.request_ns && adds_up)
      row.request_ns = *row.first_mean_ns + *row.token_ns * (*row.output_tokens - 1);
    if (!row.request_ns) continue;
    if (row.first_mean_ns && *row.request_ns > 0) row.first_share = *row.first_mean_ns / *row.request_ns;
    constexpr double kSecond = 1e9;
    if (row.requests && row.duration_ns && *row.duration_ns > 0)
      row.in_flight = static_cast<double>(*row.requests) * *row.request_ns / *row.duration_ns;
    else if (result.answered_per_s)
      row.in_flight = *result.answered_per_s * *row.request_ns / kSecond;
  }
  return rows;
}

std::string MeasuredText(const ProgramOutput& output) {
  if (!output.transfers.empty()) {
    const TransferTest& test = Fastest(output.transfers);
    return fmt::format(
        "{}{}: {} by the bus at {}{}", test.collective.empty() ? "a collective" : test.collective,
        test.gpus > 0 ? fmt::format(" over {} GPU{}", test.gpus, test.gpus == 1 ? "" : "s") : "",
        FormatValue(test.bus_bytes_per_s, Unit::kBytesPerSecond), FormatValue(test.most_bytes, Unit::kBytes),
        output.transfers.size() > 1 ? fmt::format(", the fastest of {} tables", output.transfers.size())
                                    : "");
  }
  if (output.benchmarks.empty()) {
    for (const std::string& text :
         {GenerationText(output.generations), EnginesText(output.engines), LoadsText(output.loads),
          SimulationText(output.simulation), ResultsText(output.results)})
      if (!text.empty()) return text;
    return {};
  }
  const RequestBenchmark& shown = *std::ranges::max_element(output.benchmarks, {}, AllWaits);
  std::string text;
  if (shown.requests > 0)
    text = fmt::format("{} request{}, ", FormatValue(shown.requests, Unit::kCount),
                       shown.requests == 1 ? "" : "s");
  if (shown.failed.value_or(0) > 0)
    text += fmt::format("{} failed, ", FormatValue(*shown.failed, Unit::kCount));
  if (const auto first = !shown.served           ? std::nullopt
                         : shown.first_median_ns ? shown.first_median_ns
                                                 : shown.first_mean_ns)
    text += fmt::format("{} until the first token, ", FormatValue(*first, Unit::kNanoseconds));
  if (const auto token = shown.token_median_ns ? shown.token_median_ns : shown.token_mean_ns)
    text += fmt::format("{} for each further one, ", FormatValue(*token, Unit::kNanoseconds));
  const bool first_known = shown.first_median_ns || shown.first_mean_ns;
  if (const auto& kind = shown.waits_most)
    text += fmt::format("{} of their waiting by the {} {}, {} each on average, ",
                        FormatValue(kind->share, Unit::kRatio), FormatValue(kind->requests, Unit::kCount),
                        kind->name, FormatValue(kind->mean_ns, Unit::kNanoseconds));
  else if (const auto whole = shown.latency_mean_ns; whole && shown.served && !first_known)
    text += fmt::format("{} each on average, ", FormatValue(*whole, Unit::kNanoseconds));
  else if (const auto median = shown.latency_median_ns; median && shown.served && !first_known)
    text += fmt::format("{} each in the median, ", FormatValue(*median, Unit::kNanoseconds));
  if (shown.answered_per_s && !shown.program.empty())
    text += fmt::format("{}{} answered in a second, ", ThreeDigits(*shown.answered_per_s),
                        shown.requests > 0 ? "" : " requests");
  if (shown.output_tokens_per_s)
    text += fmt::format("{} tokens/s generated, ", ThreeDigits(*shown.output_tokens_per_s));
  if (output.benchmarks.size() > 1)
    text += fmt::format("of the {} results the one whose requests waited longest together, ",
                        output.benchmarks.size());
  if (text.ends_with(", ")) text.resize(text.size() - 2);
  return text;
}

const Family& TransferTestFamily() {
  static const Family family = FamilyOf<std::vector<TransferTestRow>>(TransferTestRelation());
  return family;
}

const Family& RequestBenchmarkFamily() {
  static const Family family = FamilyOf<std::vector<RequestBenchmarkRow>>(RequestBenchmarkRelation());
  return family;
}

}  // namespace dladvisor
