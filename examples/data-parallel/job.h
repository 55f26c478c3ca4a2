// SPDX-License-Identifier: Apache-2.0
// A data-parallel training job over nodes of several GPUs, simulated: what each GPU runs in each step, down
// to the call that launches each kernel. Its figures are known beforehand, and a cause of lateness can be
// planted, so that what an analysis of many ranks says can be checked.
//
// The machine: every rank launches the step's kernels one after another from one thread, ahead of its GPU;
// gradients are reduced in buckets while the backward pass goes on, first within each node (NVLink), then
// between the ranks of the same place on all nodes (network), each on a stream of its own; the optimizer's
// kernels wait for the last of them; the host waits for the GPU at the end of the step. A collective ends on
// all its ranks together, its transfer after the last of them came to it.
//
// Everything is drawn from the seed, in the same way on every machine; times are ns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor::example {

enum class Cause { kNone, kLaunches, kSlowGpu, kSlowLink, kLargeInput };

// What makes one rank, or of a slow link one node's NVLink, late.
struct Plant {
  Cause cause = Cause::kNone;
  int64_t rank = 0;  // of a slow link, any rank of the node
  int first_step = 0, last_step = 0;
  double share = 0.03;  // of the step that it costs
  // Of launches that are late: the kernels between which the time is lost.
  int first_kernel = 0, last_kernel = 0;
};

struct JobOptions {
  int nodes = 2, gpus_per_node = 8, steps = 20, kernels = 300, buckets = 3;
  int first_step = 2000;
  uint64_t seed = 1;
  // What the program, its kernels and their sizes, is drawn from; the seed where it is not given. Jobs of one
  // program and other seeds are runs of the same program.
  std::optional<uint64_t> program;
  double kernel_noise = 0.02;   // sd of one kernel's duration, relative
  double gpu_spread = 0.003;    // sd between GPUs of all their kernels' durations
  double host_hiccups = 0.002;  // share of launches that take 20 to 200 us
  std::vector<Plant> plants;
  int64_t ranks() const { return int64_t{nodes} * gpus_per_node; }
};

struct JobKernel {
  int64_t launch = 0, launch_end = 0, start = 0, end = 0;
  int64_t stream = 7, grid = 1;
  uint32_t name = 0;  // index into Job::names()
};

struct JobStep {
  int64_t number = 0;
  int64_t start = 0, end = 0;  // of the range around it, on the host
  int64_t wait = 0;            // start of the wait for the GPU, which ends with it
  std::vector<JobKernel> kernels;
};

class Job {
 public:
  explicit Job(JobOptions options);

  const JobOptions& options() const { return options_; }
  const std::vector<std::string>& names() const { return names_; }
  double step_ns() const { return step_ns_; }  // about how long a step is that nothing delays

  // A rank's steps in order; ranks in any order, from any thread.
  void ForEachStep(int64_t rank, const std::function<void(const JobStep&)>& visit) const;

 private:
  struct Drawn;

  // Runs the step of a rank up to its collectives' starts, and beyond where their ends are known.
  void Run(int64_t rank, int step, int64_t host, int64_t gpu, const int64_t* ends, Drawn& drawn) const;
  void Simulate();

  JobOptions options_;
  std::vector<std::string> names_;
  std::vector<uint32_t> name_of_;         // by kernel of a step
  std::vector<int64_t> duration_, grid_;  // likewise
  std::vector<int> bucket_after_;         // by collective, the kernel whose gradients complete its bucket
  std::vector<double> gpu_factor_;        // by rank
  int first_optimizer_ = 0;
  double step_ns_ = 0;
  std::vector<int64_t> begins_;  // by step and rank, host's start of the step
  std::vector<int64_t> ends_;    // by step, rank and collective
};

}  // namespace dladvisor::example
