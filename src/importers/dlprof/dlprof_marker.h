// SPDX-License-Identifier: Apache-2.0
// The texts of the NVTX ranges that DLProf's Python plugin makes around an op, written anew from what its
// database kept of them: an outer one with the path and the source lines, inside it one with the op.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

// `stack`: source lines, one per line; `path`: "/module/Net::forward/conv2d".
std::string PathMarker(std::string_view stack, std::string_view path);

// `shapes`: JSON, "[[32,84],[10]]"; what is not such a list is left out. `dtype`: of the first tensor, or "".
std::string OpMarker(std::string_view op_type, std::string_view shapes, std::string_view dtype);

}  // namespace dladvisor
