// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/fenced_blocks.h"

#include <utility>

#include "engine/base/trim.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kMostBlocks = 64, kMostBytes = size_t{1} << 22;

}  // namespace

void FencedBlocks::Line(std::string_view line) {
  if (Trim(line).starts_with("```")) {
    open_ = !open_;
    if (!open_ && !block_.empty() && texts_.size() < kMostBlocks) texts_.push_back(std::move(block_));
    block_.clear();
    return;
  }
  if (!open_ || bytes_ + line.size() > kMostBytes || texts_.size() >= kMostBlocks) return;
  bytes_ += line.size() + 1;
  block_.append(line) += '\n';
}

}  // namespace dladvisor::training_log
