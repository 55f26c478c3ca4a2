// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pipeline_simulator.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>

namespace dladvisor::test {
namespace {

using Order = std::vector<SimulatedPass>;

class Simulation {
 public:
  explicit Simulation(const PipelinePlan& plan) : plan_(plan) {
    for (int s = 0; s < plan.stages; ++s) orders_.push_back(OrderOf(s));
  }

  std::vector<Order> Run() {
    const size_t p = orders_.size();
    std::vector<size_t> next(p, 0);
    std::vector<int64_t> free(p, 0);
    for (bool moves = true; moves;) {
      moves = false;
      for (size_t s = 0; s < p; ++s) {
        while (next[s] < orders_[s].size()) {
          SimulatedPass& pass = orders_[s][next[s]];
          const auto arrival = ArrivalOf(static_cast<int>(s), pass);
          if (!arrival) break;
          pass.start = std::max(free[s], *arrival);
          pass.end = free[s] = pass.start + DurationOf(static_cast<int>(s), pass.phase);
          done_[{pass.phase, static_cast<int>(s), pass.chunk, pass.micro_batch}] = pass.end;
          ++next[s];
          moves = true;
        }
      }
    }
    for (size_t s = 0; s < p; ++s)
      if (next[s] < orders_[s].size()) std::abort();  // the order cannot be taken
    for (size_t s = 0; s < std::min(p, plan_.clock_offsets.size()); ++s)
      for (SimulatedPass& pass : orders_[s]) {
        pass.start += plan_.clock_offsets[s];
        pass.end += plan_.clock_offsets[s];
      }
    return orders_;
  }

 private:
  int64_t DurationOf(int stage, char phase) const {
    const int64_t time = phase == 'F' ? plan_.forward : phase == 'B' ? plan_.backward : plan_.weight;
    return stage == plan_.slow_stage ? static_cast<int64_t>(static_cast<double>(time) * plan_.slow_factor)
                                     : time;
  }

  // The stage before in the model, or nothing for the first: of a chunk and stage.
  std::optional<std::pair<int, int>> Before(int stage, int chunk) const {
    const int p = plan_.stages;
    if (plan_.schedule == Simulated::kVShaped) {
      if (chunk == 0) return stage == 0 ? std::nullopt : std::optional(std::pair(stage - 1, 0));
      return stage == p - 1 ? std::pair(p - 1, 0) : std::pair(stage + 1, 1);
    }
    if (stage > 0) return std::pair(stage - 1, chunk);
    return chunk == 0 ? std::nullopt : std::optional(std::pair(p - 1, chunk - 1));
  }
  std::optional<std::pair<int, int>> After(int stage, int chunk) const {
    for (int s = 0; s < plan_.stages; ++s)
      for (int c = 0; c < plan_.chunks; ++c)
        if (Before(s, c) == std::pair(stage, chunk)) return std::pair(s, c);
    return std::nullopt;
  }

  // When what the pass needs is there; nothing while it is not done.
  std::optional<int64_t> ArrivalOf(int stage, const SimulatedPass& pass) const {
    char phase = pass.phase;
    std::optional<std::pair<int, int>> from;
    if (phase == 'F') {
      from = Before(stage, pass.chunk);
      if (!from) return 0;
    } else if (phase == 'B') {
      from = After(stage, pass.chunk);
      if (!from) phase = 'F';
    } else {
      phase = 'B';
    }
    const auto [s, c] = from.value_or(std::pair(stage, pass.chunk));
    const auto done = done_.find({phase, s, c, pass.micro_batch});
    if (done == done_.end()) return std::nullopt;
    return done->second + (s == stage ? 0 : plan_.transfer);
  }

  Order OrderOf(int stage) const {
    switch (plan_.schedule) {
      case Simulated::kGPipe:
        return Alternating(stage, Passes());
      case Simulated::k1F1B:
      case Simulated::kZeroBubbleH1:
        return Alternating(stage, plan_.stages - stage);
      case Simulated::kInterleaved:
        return Alternating(stage, 2 * (plan_.stages - stage - 1) + (plan_.chunks - 1) * plan_.stages + 1);
      case Simulated::kVShaped:
        return VShaped();
    }
    return {};
  }

  int Passes() const { return plan_.micro_batches * plan_.chunks; }

  // The k-th F or B of a stage: micro-batches in groups of p, each through all chunks, as Megatron-LM has it.
  SimulatedPass Pass(char phase, int k) const {
    const int group = plan_.stages * plan_.chunks, in_group = k % group;
    int chunk = plan_.chunks == 1 ? 0 : in_group / plan_.stages;
    if (phase == 'B') chunk = plan_.chunks - 1 - chunk;
    const int micro_batch = plan_.chunks == 1 ? k : k / group * plan_.stages + in_group % plan_.stages;
    return {phase, chunk, micro_batch, 0, 0};
  }

  // `first` F, then turns of B and F; W as late as ZB-H1 allows: as many F ahead of them as stages.
  Order Alternating(int stage, int first) const {
    Order order;
    int forwards = 0, weights = 0;
    const int all = Passes();
    while (forwards < std::min(first, all)) order.push_back(Pass('F', forwards++));
    for (int i = 0; i < all; ++i) {
      order.push_back(Pass('B', i));
      if (plan_.weight > 0 && i - weights >= stage) order.push_back(Pass('W', weights++));
      if (forwards < all) order.push_back(Pass('F', forwards++));
    }
    while (plan_.weight > 0 && weights < all) order.push_back(Pass('W', weights++));
    return order;
  }

  // All F of the first chunk, of the second, then B backwards: bubbles are not its point here.
  Order VShaped() const {
    Order order;
    for (int chunk = 0; chunk < 2; ++chunk)
      for (int i = 0; i < plan_.micro_batches; ++i) order.push_back({'F', chunk, i, 0, 0});
    for (int chunk = 1; chunk >= 0; --chunk)
      for (int i = 0; i < plan_.micro_batches; ++i) order.push_back({'B', chunk, i, 0, 0});
    return order;
  }

  const PipelinePlan& plan_;
  std::vector<Order> orders_;
  std::map<std::tuple<char, int, int, int>, int64_t> done_;
};

}  // namespace

std::vector<std::vector<SimulatedPass>> Simulate(const PipelinePlan& plan) { return Simulation(plan).Run(); }

}  // namespace dladvisor::test
