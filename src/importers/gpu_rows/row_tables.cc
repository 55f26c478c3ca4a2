// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_rows/row_tables.h"

namespace dladvisor::gpu_rows {

uint32_t Tables::Thread(int64_t pid, int64_t tid) {
  if (last_thread_ != kNoIndex && last_key_ == std::pair(pid, tid)) return last_thread_;
  const auto [thread, is_new] =
      threads_.try_emplace({pid, tid}, static_cast<uint32_t>(trace_.threads.size()));
  if (is_new) {
    const auto [process, is_new_process] =
        processes_.try_emplace(pid, static_cast<uint32_t>(trace_.processes.size()));
    if (is_new_process) trace_.processes.push_back({pid, ""});
    trace_.threads.push_back({process->second, tid, ""});
  }
  last_key_ = thread->first;
  last_thread_ = thread->second;
  return last_thread_;
}

uint32_t Tables::Device(int64_t ordinal) {
  const auto [device, is_new] = devices_.try_emplace(ordinal, static_cast<uint32_t>(trace_.devices.size()));
  if (is_new) trace_.devices.emplace_back().ordinal = ordinal;
  return device->second;
}

int64_t Tables::Arguments(const OperatorArguments& arguments) {
  if (trace_.operator_arguments.empty()) arguments_[trace_.operator_arguments.emplace_back()] = 0;
  const auto [known, is_new] =
      arguments_.try_emplace(arguments, static_cast<int64_t>(trace_.operator_arguments.size()));
  if (is_new) trace_.operator_arguments.push_back(arguments);
  return known->second;
}

int64_t Tables::Collective(const dladvisor::Collective& collective) {
  if (trace_.collectives.empty()) collectives_[trace_.collectives.emplace_back()] = 0;
  const auto [known, is_new] =
      collectives_.try_emplace(collective, static_cast<int64_t>(trace_.collectives.size()));
  if (is_new) trace_.collectives.push_back(collective);
  return known->second;
}

uint32_t Tables::Shape(const LaunchShape& shape) {
  if (trace_.kernels.shapes.empty()) shapes_.IndexOf({});  // the first is that of none
  return shapes_.IndexOf(shape);
}

}  // namespace dladvisor::gpu_rows
