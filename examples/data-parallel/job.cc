// SPDX-License-Identifier: Apache-2.0
#include "examples/data-parallel/job.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace dladvisor::example {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kLaunchNs = 6 * kUs, kLatencyNs = 4 * kUs, kHostStepNs = 200 * kUs;
constexpr int64_t kComputeStream = 7, kNodeStream = 33, kNetworkStream = 35;
constexpr int64_t kNodeTransferNs = 250 * kUs, kNetworkTransferNs = 400 * kUs;

// Numbers that depend on nothing but the seed and where they are drawn (splitmix64, Steele et al. 2014).
class Random {
 public:
  Random(uint64_t seed, uint64_t a, uint64_t b) : state_(seed * 0x9E3779B97F4A7C15u) {
    state_ = Next() ^ (a * 0xBF58476D1CE4E5B9u);
    state_ = Next() ^ (b * 0x94D049BB133111EBu);
  }
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Normal() {  // Box and Muller
    return std::sqrt(-2 * std::log(1 - Uniform())) * std::cos(6.283185307179586 * Uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace

struct Job::Drawn {
  JobStep step;
  std::vector<int64_t> ready;  // by collective, when the rank could start it but for the one before
  int64_t gpu = 0, host = 0;   // when the GPU and the host are done with the step
};

Job::Job(JobOptions options) : options_(std::move(options)) {
  names_ = {"ncclKernel_ReduceScatter_RING_LL_Sum_half",
            "ncclKernel_AllReduce_RING_LL_Sum_half",
            "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
            "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nt",
            "elementwise_kernel",
            "indexSelectLargeIndex",
            "cuApplyLayerNorm",
            "softmax_warp_forward",
            "multi_tensor_apply_kernel",
            "kernelPointwiseApply2",
            "THCTensor_kernel_scanInnermostDim",
            "reduce_kernel"};
  Random draw(options_.program.value_or(options_.seed), 1, 0);
  const int collectives = 2 * options_.buckets, compute = options_.kernels - collectives;
  const int optimizer = compute / 20 + 1;
  first_optimizer_ = compute - optimizer;
  for (int i = 0; i < compute; ++i) {
    const bool is_gemm = i < first_optimizer_ && draw.Uniform() < 0.3;
    name_of_.push_back(i >= first_optimizer_ ? 8
                       : is_gemm             ? 2 + static_cast<uint32_t>(draw.Next() % 2)
                                             : 4 + static_cast<uint32_t>(draw.Next() % 8));
    duration_.push_back(static_cast<int64_t>((is_gemm ? 40e3 : 12e3) * std::exp(0.5 * draw.Normal())));
    grid_.push_back(is_gemm ? 640 : 80 + static_cast<int64_t>(draw.Next() % 400));
    step_ns_ += static_cast<double>(duration_.back());
  }
  // Buckets fill up during the backward pass, the last two thirds of the rest.
  for (int c = 0; c < collectives; ++c) {
    const int bucket = c / 2;
    bucket_after_.push_back(first_optimizer_ / 3 +
                            (bucket + 1) * (first_optimizer_ - first_optimizer_ / 3) / options_.buckets - 1);
  }
  step_ns_ += kNodeTransferNs + kNetworkTransferNs + kHostStepNs;
  for (int64_t r = 0; r < options_.ranks(); ++r)
    gpu_factor_.push_back(1 +
                          options_.gpu_spread * Random(options_.seed, 2, static_cast<uint64_t>(r)).Normal());
  Simulate();
}

void Job::Run(int64_t rank, int step, int64_t host, int64_t gpu, const int64_t* ends, Drawn& drawn) const {
  Random draw(options_.seed, 3 + static_cast<uint64_t>(rank), static_cast<uint64_t>(step));
  drawn.step.number = options_.first_step + step;
  drawn.step.start = host;
  drawn.step.kernels.clear();
  drawn.ready.clear();
  host += static_cast<int64_t>(static_cast<double>(kHostStepNs) * (1 + 0.05 * draw.Normal()));
  double factor = gpu_factor_[static_cast<size_t>(rank)], input = 1, late = 0;
  int late_from = 0, late_to = -1;
  for (const Plant& plant : options_.plants) {
    if (plant.rank != rank || step < plant.first_step || step > plant.last_step) continue;
    double compute = 0;
    for (const int64_t duration : duration_) compute += static_cast<double>(duration);
    if (plant.cause == Cause::kSlowGpu) factor *= 1 + plant.share * step_ns_ / compute;
    // Batches of this rank are larger by as much in the mean, now more and now less.
    if (plant.cause == Cause::kLargeInput)
      input = 1 + plant.share * step_ns_ / compute * (0.7 + 0.6 * draw.Uniform());
    if (plant.cause == Cause::kLaunches) {
      late_from = plant.first_kernel;
      late_to = plant.last_kernel;
      late = plant.share * step_ns_ / std::max(1, late_to - late_from + 1);
    }
  }
  const auto compute = static_cast<int>(duration_.size());
  int64_t done = gpu;
  size_t collective = 0;
  int64_t node_done = 0, network_done = 0;
  for (int i = 0; i < compute; ++i) {
    const auto duration = static_cast<int64_t>(static_cast<double>(duration_[static_cast<size_t>(i)]) *
                                               factor * input * (1 + options_.kernel_noise * draw.Normal()));
    int64_t cost = kLaunchNs;
    if (draw.Uniform() < options_.host_hiccups) cost += static_cast<int64_t>(20e3 + 180e3 * draw.Uniform());
    if (i >= late_from && i <= late_to) {
      // The host has lost its lead: the GPU is done before the call that it waits for.
      cost = std::max(cost, done + kLaunchNs - kLatencyNs + 1000 + static_cast<int64_t>(late) - host);
    }
    JobKernel kernel;
    host += cost;
    kernel.launch = host - kLaunchNs;
    kernel.launch_end = host;
    if (i == first_optimizer_) {
      if (!ends) break;
      for (size_t c = 0; c < bucket_after_.size(); ++c) done = std::max(done, ends[c]);
    }
    kernel.start = std::max(done + 1000, kernel.launch + kLatencyNs);
    kernel.end = done = kernel.start + std::max<int64_t>(duration, 1000);
    kernel.name = name_of_[static_cast<size_t>(i)];
    kernel.grid = std::llround(static_cast<double>(grid_[static_cast<size_t>(i)]) * input);
    drawn.step.kernels.push_back(kernel);
    while (collective < bucket_after_.size() && bucket_after_[collective] == i) {
      const bool in_node = collective % 2 == 0;
      host += kLaunchNs;
      const int64_t ready = std::max(host - kLaunchNs + kLatencyNs, done + 1000);
      drawn.ready.push_back(ready);
      if (ends) {
        JobKernel reduce;
        reduce.launch = host - kLaunchNs;
        reduce.launch_end = host;
        int64_t& previous = in_node ? node_done : network_done;
        // The second half of a bucket waits for the first.
        reduce.start = std::max({ready, previous + 1000, in_node ? 0 : ends[collective - 1] + 1000});
        reduce.end = previous = ends[collective];
        reduce.stream = in_node ? kNodeStream : kNetworkStream;
        reduce.name = in_node ? 0 : 1;
        reduce.grid = 8;
        drawn.step.kernels.push_back(reduce);
      }
      ++collective;
    }
  }
  drawn.gpu = done;
  drawn.step.wait = host;
  drawn.host = drawn.step.end = std::max(host, done) + 5 * kUs;
}

void Job::Simulate() {
  const auto ranks = static_cast<size_t>(options_.ranks()), collectives = bucket_after_.size();
  const auto per_node = static_cast<size_t>(options_.gpus_per_node);
  begins_.assign(static_cast<size_t>(options_.steps) * ranks, 0);
  ends_.assign(static_cast<size_t>(options_.steps) * ranks * collectives, 0);
  std::vector<int64_t> host(ranks, 5'000 * kUs), gpu(ranks, 0);
  std::vector<std::vector<int64_t>> ready(ranks);
  Drawn drawn;
  for (int step = 0; step < options_.steps; ++step) {
    Random draw(options_.seed, 2, ranks + static_cast<uint64_t>(step));
    const size_t base = static_cast<size_t>(step) * ranks;
    for (size_t r = 0; r < ranks; ++r) {
      begins_[base + r] = host[r];
      Run(static_cast<int64_t>(r), step, host[r], gpu[r], nullptr, drawn);
      ready[r] = drawn.ready;
    }
    for (size_t c = 0; c < collectives; ++c) {
      const bool in_node = c % 2 == 0;
      const size_t groups = in_node ? ranks / per_node : per_node;
      for (size_t g = 0; g < groups; ++g) {
        const size_t members = in_node ? per_node : ranks / per_node;
        const auto member = [&](size_t m) { return in_node ? g * per_node + m : m * per_node + g; };
        int64_t latest = 0;
        for (size_t m = 0; m < members; ++m) {
          const size_t r = member(m);
          int64_t start = ready[r][c];
          if (c >= 2) start = std::max(start, ends_[(base + r) * collectives + c - 2] + 1000);
          if (!in_node) start = std::max(start, ends_[(base + r) * collectives + c - 1] + 1000);
          latest = std::max(latest, start);
        }
        double transfer =
            static_cast<double>(in_node ? kNodeTransferNs : kNetworkTransferNs) * (1 + 0.03 * draw.Normal());
        for (const Plant& plant : options_.plants)
          if (plant.cause == Cause::kSlowLink && in_node && step >= plant.first_step &&
              step <= plant.last_step && static_cast<size_t>(plant.rank) / per_node == g &&
              c + 2 >= collectives)
            transfer += plant.share * step_ns_;
        for (size_t m = 0; m < members; ++m)
          ends_[(base + member(m)) * collectives + c] =
              latest + static_cast<int64_t>(transfer) + static_cast<int64_t>(2000 * draw.Uniform());
      }
    }
    for (size_t r = 0; r < ranks; ++r) {
      Run(static_cast<int64_t>(r), step, host[r], gpu[r], &ends_[(base + r) * collectives], drawn);
      host[r] = drawn.host;
      gpu[r] = drawn.gpu;
    }
  }
}

void Job::ForEachStep(int64_t rank, const std::function<void(const JobStep&)>& visit) const {
  const auto ranks = static_cast<size_t>(options_.ranks()), r = static_cast<size_t>(rank);
  Drawn drawn;
  int64_t gpu = 0;
  for (int step = 0; step < options_.steps; ++step) {
    const size_t at = static_cast<size_t>(step) * ranks + r;
    Run(rank, step, begins_[at], gpu, &ends_[at * bucket_after_.size()], drawn);
    gpu = drawn.gpu;
    visit(drawn.step);
  }
}

}  // namespace dladvisor::example
