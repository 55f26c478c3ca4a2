// SPDX-License-Identifier: Apache-2.0
// What a document quotes between lines "```", each block by itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::training_log {

class FencedBlocks {
 public:
  void Line(std::string_view line);

  // Those that ended.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::string block_;
  bool open_ = false;
  size_t bytes_ = 0;
};

}  // namespace dladvisor::training_log
