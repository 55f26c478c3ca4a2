// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/operator_outputs.h"

#include <charconv>

#include "src/analysis/context/range_text.h"
#include "src/analysis/work/work.h"

namespace dladvisor {
namespace {

// The number behind the first `before`; -1 where there is none.
int64_t NumberAfter(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return -1;
  int64_t number = -1;
  std::from_chars(text.data() + at + before.size(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string_view SizesInText(std::string_view text) {
  const size_t at = text.find(", sizes = [");
  if (at == std::string_view::npos) return {};
  const size_t open = text.find('[', at);
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] < '[') continue;  // as digits, commas and blanks are
    depth += text[i] == '[';
    depth -= text[i] == ']';
    if (depth == 0) return text.substr(open, i + 1 - open);
  }
  return {};
}

std::string_view OperatorOutputs::Of(uint32_t range) {
  if (!is_read_) Read();
  const Ranges& ranges = context_.trace.ranges;
  for (; range != kNoIndex; range = context_.attribution.range_parent[range]) {
    const NameId name = ranges.name[range];
    if (!NeedsOutput(context_.texts->TextAt(context_.texts->IndexOf(name)))) break;
    const int64_t number = NumberAfter(context_.trace.names.View(name), ", op_id = ");
    const auto taken = number < 0 ? taken_.end() : taken_.find({ProcessOf(range), number});
    if (taken != taken_.end()) return taken->second;
  }
  return {};
}

// Of what an operator takes only the first counts: behind lists sizes and numbers are not in one order.
void OperatorOutputs::Read() {
  is_read_ = true;
  const Ranges& ranges = context_.trace.ranges;
  for (uint32_t r = 0; r < ranges.size(); ++r) {
    const std::string_view text = context_.trace.names.View(ranges.name[r]);
    const size_t ids = text.find(", input_op_ids = [(");
    if (ids == std::string_view::npos) continue;
    const std::string_view of = text.substr(ids);
    const int64_t number = NumberAfter(of, "[(");
    if (number < 0 || !of.substr(0, of.find(')')).ends_with(",0")) continue;
    std::string_view sizes = SizesInText(text);
    if (!sizes.starts_with("[[")) continue;
    sizes = sizes.substr(1, sizes.find(']'));
    if (sizes.find_first_of("0123456789") != std::string_view::npos)
      taken_.try_emplace({ProcessOf(r), number}, sizes);
  }
}

uint32_t OperatorOutputs::ProcessOf(uint32_t range) const {
  const uint32_t thread = context_.trace.ranges.thread[range];
  return thread == kNoIndex ? kNoIndex : context_.trace.threads[thread].process;
}

}  // namespace dladvisor
