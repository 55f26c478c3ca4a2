// SPDX-License-Identifier: Apache-2.0
// Times that programs write in several units, and those of evaluations beside others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// The line with "1h 5m 30s", "2 min 5 sec" and "1.5 hours" as seconds, where these are not what is left; and
// without the time of an evaluation ("val time 130 s") beside that of an epoch or step. "" where it stays as
// it is.
std::string InSeconds(std::string_view line);

// In seconds, of the evaluation beside the training in the same line: "train time 51.2 s | val time 30.1 s".
// Nothing where the other time may hold it, as that of the epoch.
std::optional<double> EvaluationBesideTraining(std::string_view line);

}  // namespace dladvisor::training_log
