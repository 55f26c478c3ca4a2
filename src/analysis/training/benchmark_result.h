// SPDX-License-Identifier: Apache-2.0
// What benchmarks measured: collectives over the links between GPUs against what these links can, and a
// server's time to the first token against that of all of a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/trace/program_output.h"

namespace dladvisor {

struct TransferTestRow {
  int64_t profile = 0, test = 0;
  std::optional<std::string> collective, gpu, over, settings;
  int64_t gpus = 0, hosts = 0, wrong_values = 0;
  double least_bytes = 0, most_bytes = 0, bus_bytes_per_s = 0;
  std::optional<double> least_ns;
  std::optional<double> link_bytes_per_s, host_bytes_per_s;
  std::optional<int64_t> channels;
};
const RelationOf<TransferTestRow>& TransferTestRelation();

struct RequestBenchmarkRow {
  int64_t profile = 0, benchmark = 0;
  std::optional<std::string> program;
  bool served = true;
  std::optional<int64_t> requests, failed;
  std::optional<double> answered_per_s, request_median_ns, request_p99_ns;
  std::optional<double> limit, request_rate, duration_ns, input_tokens, output_tokens, output_tokens_per_s,
      first_mean_ns, first_median_ns, first_p99_ns, token_ns, request_ns, first_share, in_flight;
  std::optional<std::string> waits_most;
  std::optional<double> waits_most_share, waits_most_ns, waits_most_longest_ns;
};
const RelationOf<RequestBenchmarkRow>& RequestBenchmarkRelation();

std::vector<TransferTestRow> ComputeTransferTests(const Context& context);
std::vector<RequestBenchmarkRow> ComputeRequestBenchmarks(const Context& context);

// In words: "all_reduce_perf over 8 GPUs: 235 GB/s by the bus at 16.0 GiB"; "" for none.
std::string MeasuredText(const ProgramOutput& output);

template <>
inline constexpr Computed kValue<std::vector<TransferTestRow>>{"transfer_test rows", ComputeTransferTests};
template <>
inline constexpr Computed kValue<std::vector<RequestBenchmarkRow>>{"request_benchmark rows",
                                                                   ComputeRequestBenchmarks};

}  // namespace dladvisor
