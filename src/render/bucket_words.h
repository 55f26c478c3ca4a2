// SPDX-License-Identifier: Apache-2.0
// Buckets of the time ledger in words, and in the order of a bar.
#pragma once

#include <string_view>

namespace dladvisor {

// What the time of a bucket goes to, as a noun: "data loading", "exposed communication".
std::string_view BucketWords(std::string_view bucket);

// Its part of a bar: 0 computing, which comes first, 2 idle time, which comes last, 1 all between them.
int PartOfBar(std::string_view bucket);
// The order of bars that are compared: by part, in which tensor cores precede other computing and all else
// is in the order of names, so that the eye can follow.
bool IsDrawnBefore(std::string_view bucket, std::string_view other);

}  // namespace dladvisor
