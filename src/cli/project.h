// SPDX-License-Identifier: Apache-2.0
// The project file dladvisor.yaml, found upwards from the working folder: what a team sets once.
//
//   rules:                                   # ESLint style
//     pageable-copies: off
//     mixed-precision-off: error
//     cpu-launch-starvation: [error, {min_idle: 0.25}]
//   rule_folders: [team-rules]               # relative to the file
//   steps: 3:107
//   step_range: 'iteration (\d+)'
//   pipeline: '(fwd|bwd)_mb(\d+)'
//   price: 2.50 €                            # of an hour of a GPU
//   hardware: {gpus: [...]}                  # src/hardware/hardware_reader.h; before the known models
//   gate: {...}                              # src/gate/judge/policy.h
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "src/gate/judge/policy.h"
#include "src/hardware/hardware.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

inline constexpr const char* kProjectFile = "dladvisor.yaml";

struct Project {
  std::string path;  // "" where there is none
  std::vector<RuleSetting> settings;
  std::vector<std::string> rule_folders;
  std::string steps, step_range, pipeline;
  std::shared_ptr<const Hardware> hardware;  // null where it declares none
  GatePolicy gate;
  Price price;
};

// Whether a file is a project's: by its name, or by keys that only a project's has, such as a preset.
bool IsProjectFile(const std::string& file);

// The project of `file`, or of the first dladvisor.yaml from the working folder upwards where it is "".
// Throws RuleErrors with all problems of the file, and Error where it cannot be read.
Project LoadProject(const std::string& file);

}  // namespace dladvisor
