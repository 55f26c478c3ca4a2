// SPDX-License-Identifier: Apache-2.0
// Options of a training that its program prints in the words of its language or of its configuration:
// "Namespace(batch_size=16, num_workers=0, fp16=False, ...)" of argparse, "TrainConfig(batch_size=16, ...)"
// of a dataclass, a dictionary on a line, "batch_size: 16" alone on one.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// Keeps the batch of a process, the workers of its loader, whether it computes in half precision and whether
// it compiles the model. Of several values, as of a training and a test, the one that blames least.
void TakePrintedOptions(std::string_view line, std::map<std::string, std::string>& settings);

}  // namespace dladvisor::training_log
