// SPDX-License-Identifier: Apache-2.0
// What a part of a program is for, by the name under which it prints its time.
#pragma once

#include <string_view>

namespace dladvisor {

// input, transfer, preprocessing, postprocessing, optimizer, communication, evaluation, checkpoint, output,
// environment, weights or compilation; "" of names that say none of these, as of the model itself.
std::string_view PartPurpose(std::string_view name);

}  // namespace dladvisor
