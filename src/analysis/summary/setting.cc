// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/setting.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

constexpr std::array<std::string_view, 26> kSettings = {"CUDA_DEVICE_MAX_CONNECTIONS",
                                                        "CUDA_DEVICE_ORDER",
                                                        "CUDA_LAUNCH_BLOCKING",
                                                        "CUDA_MODULE_LOADING",
                                                        "CUDA_VISIBLE_DEVICES",
                                                        "CUBLAS_WORKSPACE_CONFIG",
                                                        "CUDNN_LOGINFO_DBG",
                                                        "CUDNN_LOGLEVEL_DBG",
                                                        "GOMP_CPU_AFFINITY",
                                                        "MKL_NUM_THREADS",
                                                        "NCCL_ALGO",
                                                        "NCCL_DEBUG",
                                                        "NCCL_IB_DISABLE",
                                                        "NCCL_NVLS_ENABLE",
                                                        "NCCL_P2P_DISABLE",
                                                        "NCCL_PROTO",
                                                        "NCCL_SHM_DISABLE",
                                                        "NVIDIA_TF32_OVERRIDE",
                                                        "OMP_NUM_THREADS",
                                                        "OMP_PROC_BIND",
                                                        "PYTORCH_CUDA_ALLOC_CONF",
                                                        "PYTORCH_NO_CUDA_MEMORY_CACHING",
                                                        "TF_DISABLE_NVTX_RANGES",
                                                        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
                                                        "TORCH_CUDNN_V8_API_DISABLED",
                                                        "TORCH_DISTRIBUTED_DEBUG"};

}  // namespace

const RelationOf<SettingRow>& SettingRelation() {
  static const auto relation =
      RelationOf<SettingRow>("setting",
                             "Environment variables that change how the program runs, where the profile "
                             "holds them: of CUDA, NCCL, PyTorch and OpenMP, no others.")
          .Key("profile", &SettingRow::profile, kProfileNumber, "Number of the file.")
          .Key("name", &SettingRow::name, Unit::kText, "Variable.")
          .Column("value", &SettingRow::value, Unit::kText, "Its value.");
  return relation;
}

std::vector<SettingRow> ComputeSettings(const Context& context) {
  std::vector<SettingRow> rows;
  for (const auto& [name, value] : context.trace.environment)
    if (std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end())
      rows.push_back({0, name, value});
  return rows;
}

const Family& SettingFamily() {
  static const Family family = FamilyOf(SettingRelation(), ComputeSettings).Detail().OfFiles();
  return family;
}

}  // namespace dladvisor
