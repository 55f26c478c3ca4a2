// SPDX-License-Identifier: Apache-2.0
// The records of rocprofv3's JSON as rows of a Trace. They refer to agents, kernels and names by number,
// which come before them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/importers/rocm/rocm_trace.h"

namespace dladvisor::rocprof_json {

class Records {
 public:
  Records() : rows_("rocprofv3", "rocprofv3") {}

  // Of "metadata", "agents", "buffer_records/kernel_dispatch" and others.
  void Add(const std::vector<std::string>& path, const nlohmann::json& element);
  Trace Finish();
  int64_t processes() const { return processes_; }

 private:
  using json = nlohmann::json;
  struct Agent {
    bool is_gpu = false;
    int64_t ordinal = 0;
  };
  struct Kernel {
    std::string name{};
    int64_t registers = 0;
  };
  struct Names {
    std::string kind;
    std::vector<std::string> operations;
  };
  struct Allocated {
    int64_t device = 0, bytes = 0;
  };

  void AddProcess(const json& metadata);
  void AddAgent(const json& agent);
  void AddSymbol(const json& symbol);
  void AddNames(const json& names);
  bool AddKernel(const json& record);
  bool AddCopy(const json& record);
  bool AddMemory(const json& record);
  bool AddRegion(const json& record);
  const Names* NamesOf(const json& record) const;
  std::string_view OperationOf(const json& record) const;
  std::optional<int64_t> Gpu(const json& record, const char* key) const;
  rocm::Work WorkOf(const json& record, int64_t device) const;

  rocm::RocmTrace rows_;
  int64_t processes_ = 0, pid_ = 0;
  std::unordered_map<int64_t, Agent> agents_;
  std::unordered_map<int64_t, Kernel> symbols_;
  std::unordered_map<int64_t, std::string> messages_;  // of markers
  std::vector<Names> names_;                           // by kind
  std::unordered_map<int64_t, Allocated> held_;        // by address
  std::unordered_map<int64_t, int64_t>
      callers_;  // of calls that are none of HIP: number -> that of the other
  bool has_hip_ = false;
};

}  // namespace dladvisor::rocprof_json
