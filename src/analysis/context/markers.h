// SPDX-License-Identifier: Apache-2.0
// What the text of a range contains. Three sources: DLProf's nvtx plugin writes Python literals, an outer
// range {'traceMarker': [source lines], 'funcStack': '/<module>/...'} and inside it {'mod', 'op', 'args':
// [...]}; PyTorch's emit_nvtx appends ", seq = N", ", sizes = [...]" or ", op_id = N" to the operator;
// everything else is a plain name.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

struct Marker {
  enum class Kind { kPlain, kTrace, kOp };
  Kind kind = Kind::kPlain;
  std::string name;    // kPlain: the path segment; kTrace: the path, "/module/..."; kOp: the op type
  std::string dtype;   // kOp: element type of the first tensor, or ""
  std::string shapes;  // kOp: "(6, 3, 3, 3); (6,)", or ""
  std::string stack;   // kTrace: source lines, innermost last, newline-separated
};

Marker ParseMarker(std::string_view text);

// `text` without what emit_nvtx appends: "aten::to, seq = 71, op_id = 7" -> "aten::to".
std::string_view WithoutCall(std::string_view text);

// `text` with what emit_nvtx appends cut off, and numbers of steps, epochs and batches, numbers after # and
// addresses replaced by #: "aten::to, op_id = 7" -> "aten::to", "iteration 7" -> "iteration #",
// "ProfilerStep#7" -> "ProfilerStep#"; and ranks named beside a step, which ranks of one job then name alike.
std::string NormalizedRangeName(std::string_view text);

// RE2 pattern of a numbered step in a range's name: group 1 what stands before the number, group 2 the
// number. The word begins the name, follows what is not a letter, or is capitalised within it
// (ProfilerStep#7); "footstep 7" is none.
inline constexpr const char* kNumberedStep =
    R"(((?:(?:^|[^A-Za-z])(?i:step|iter(?:ation)?)|[a-z](?:Step|Iter(?:ation)?))[_ #:]*)(\d+))";

// The op type that a name stands for: "aten::linear" -> "linear", "torch::autograd::AccumulateGrad" ->
// "AccumulateGrad", "/layer1/conv1/Conv + /layer1/relu/Relu" -> "Conv".
std::string OpTypeOfName(std::string_view name);

}  // namespace dladvisor
