// SPDX-License-Identifier: Apache-2.0
// The JUnit XML. What shows it does so in its own way: GitLab takes the suite's name from `classname`, drops
// test cases that have the same name, and shows the body of a failure but not its message; Jenkins takes
// what is before the last dot of `classname` for a package, and draws `time` over builds, which is why it is
// the candidate's value where a metric is a time.
#pragma once

#include <string>

#include "src/gate/model/verdict.h"

namespace dladvisor {

// JUnit XML: a test case for each metric, each rule and each trend, and one for whether the sides can be
// compared.
std::string RenderGateJUnit(const GateResult& result);

}  // namespace dladvisor
