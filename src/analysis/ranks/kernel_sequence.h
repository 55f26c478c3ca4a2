// SPDX-License-Identifier: Apache-2.0
// The kernels of a GPU's steps in order: what ranks are compared by, position by position.
//
// The order is that in which kernels were launched, over all threads of the process (of one launch, as a CUDA
// graph's: in which they started), which ranks of a job share. Of a GPU only the steps that run the sequence
// most of its steady steps run are kept, the others are counted; a GPU whose steps all differ has none. Of
// long captures the first 2^20 kernels are kept: persistence shows in hundreds of steps, and ranks send this
// around.
//
// Per step and position (the method of "Scaling the Transformer Model Implementation in PyTorch Across
// Multiple Nodes", Zulfiqar and Knight, NVIDIA 2020), in ns:
//   duration  of the kernel
//   gap       its start minus the latest end of the kernels that started before it in the step, collectives
//             left out and never negative; 0 for the first kernel and for collectives
//   waiting   the part of the gap in which a collective ran: not this GPU's own
//   delay     from the launching call's start to the kernel's start; -1 where the call is not known
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/context/varint.h"
#include "src/analysis/family/family.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct KernelSequence {
  struct Step {
    int64_t number = 0;
    Ns start_ns = 0;  // of its first kernel that is not a collective, on the profile's clock
    Ns end_ns = 0;    // of its last kernel
    // From there to the end of the step's last collective: the longer, the earlier the GPU was ready.
    std::optional<Ns> to_sync_ns;
    int64_t blocks = 0;  // thread blocks of its kernels, collectives left out
  };
  struct Cells {  // by step * names.size() + position
    std::vector<int64_t> duration, gap, waiting, delay;
  };

  int64_t rank = 0, device = 0;
  uint64_t fingerprint = 0;  // of `names`; the same on every machine
  std::vector<std::string> names;
  std::vector<uint8_t> communication;  // by position, 1 for collectives
  std::vector<double> blocks;          // by position, mean over steps
  std::vector<Step> steps;
  int64_t other_steps = 0;  // steady steps that run other kernels
  std::string encoded;      // the cells; see DecodeCells

  size_t length() const { return names.size(); }
};

// In few bytes, since ranks send them to each other: step after step, each value as its difference from the
// step before. Throws Error where what was encoded is not what `sequence` says.
std::string EncodeCells(const KernelSequence::Cells& cells, size_t length);
KernelSequence::Cells DecodeCells(const KernelSequence& sequence);

// The same one column at a time, in the order of Cells, for who would keep four only to add them up.
class CellColumns {
 public:
  explicit CellColumns(const KernelSequence& sequence);
  // Valid until the next; at most four.
  const std::vector<int64_t>& Next();

 private:
  size_t length_, count_;
  VarintReader reader_;
  std::vector<int64_t> column_;
};

uint64_t FingerprintOf(const std::vector<std::string>& names);

// One per entry of context.ranks.gpus with steps that repeat a sequence, in that order.
std::vector<KernelSequence> ComputeKernelSequences(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<KernelSequence>>{"kernel sequences", ComputeKernelSequences};

template <>
inline constexpr Given kValue<OfFleet<KernelSequence>>{"kernel sequences of all ranks", Subject::kFleet};

}  // namespace dladvisor
