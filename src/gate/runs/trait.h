// SPDX-License-Identifier: Apache-2.0
// What must be the same for two runs to be compared: otherwise a change of speed is not a change of the
// program.
//
// Two are derived from the work itself where the batch is not recorded: matrix products by their shapes, and
// kernels by their thread blocks, unless these have as many threads in all: then the block is of another
// size. Sides are of other sizes where products (or kernels) of more than half of their time are; a change of
// a layer or two is less.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/store/database.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {

struct TraitKind {
  std::string name;   // "gpu.model"
  std::string title;  // "Model of the GPUs"
  bool blocks = true;
  std::string note;  // what a difference means
};
// In the order of reports.
std::span<const TraitKind> TraitKinds();

// The traits of one run.
struct Traits {
  std::map<std::string, std::string> values;  // by name, where the run has it
  struct Work {
    double share = 0;                // of the time of all of its kind
    double blocks = 0, threads = 0;  // launched in the mean; of a product 0
  };
  std::map<std::string, Work> products;  // by operator and shape
  std::map<std::string, Work> kernels;   // by name

  // What runs of one history have in common, as one text.
  std::string Setting() const;
};

Traits ReadTraits(const Database& db);

// Of all runs of the sides. What only one side has is not a difference. `allowed` do not block.
std::vector<Difference> CompareTraits(std::span<const Traits> baseline, std::span<const Traits> candidate,
                                      std::span<const std::string> allowed);

}  // namespace dladvisor
