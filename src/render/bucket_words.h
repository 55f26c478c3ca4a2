// SPDX-License-Identifier: Apache-2.0
// Buckets of the time ledger in words.
#pragma once

#include <string_view>

namespace dladvisor {

// What the time of a bucket goes to, as a noun: "data loading", "exposed communication".
std::string_view BucketWords(std::string_view bucket);

}  // namespace dladvisor
