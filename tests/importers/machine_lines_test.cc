// SPDX-License-Identifier: Apache-2.0
#include "src/importers/machine/machine_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

Trace MachineOf(const std::string& text) {
  Trace trace;
  GiveMachineOf(text, trace);
  return trace;
}

std::vector<std::string> NumberedGpus(const std::string& text) {
  std::vector<std::string> gpus;
  for (const Device& device : MachineOf(text).devices)
    gpus.push_back(std::to_string(device.ordinal) + " " + device.name);
  return gpus;
}

std::string NamedGpus(const std::string& text) {
  const Trace trace = MachineOf(text);
  EXPECT_THAT(trace.devices, IsEmpty());
  const auto names = trace.facts.find("gpu_names");
  return names == trace.facts.end() ? "" : names->second;
}

TEST(MachineLines, TakesGpusThatAreNumbered) {
  EXPECT_THAT(NumberedGpus("  Device 0: NVIDIA RTX A6000, compute capability 8.6, VMM: yes\n"
                           "  Device 1: NVIDIA RTX A6000, compute capability 8.6, VMM: yes\n"),
              ElementsAre("0 NVIDIA RTX A6000", "1 NVIDIA RTX A6000"));
  EXPECT_THAT(NumberedGpus("GPU 0                            NVIDIA RTX A6000 (arch=8.6)\n"
                           "GPU 1,2                          NVIDIA RTX A5000 (arch=8.6)\n"),
              ElementsAre("0 NVIDIA RTX A6000", "1 NVIDIA RTX A5000", "2 NVIDIA RTX A5000"));
}

TEST(MachineLines, NumbersByRankWhereLinesNameThese) {
  EXPECT_THAT(NumberedGpus("#  Rank  0 Group  0 Pid 1 on a device  0 [0000:04:00] NVIDIA H100 80GB HBM3\n"
                           "#  Rank  1 Group  0 Pid 2 on b device  0 [0000:0b:00] NVIDIA H100 80GB HBM3\n"),
              ElementsAre("0 NVIDIA H100 80GB HBM3", "1 NVIDIA H100 80GB HBM3"));
}

TEST(MachineLines, ReadsWhatFrameworksPrintWithTheMemory) {
  const Trace trace =
      MachineOf("Ultralytics 8.0.20 Python-3.8.10 torch-2.0.1+cu118 CUDA:0 (Tesla T4, 15102MiB)");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "Tesla T4");
  EXPECT_EQ(trace.devices[0].memory_bytes, int64_t{15102} << 20);
  EXPECT_EQ(trace.facts.at("framework"), "PyTorch 2.0.1+cu118");
}

TEST(MachineLines, KnowsNoNumberOfGpusThatAreOnlyNamed) {
  EXPECT_EQ(NamedGpus("2026-04-29 13:03:49 - pipeline - INFO - GPU: NVIDIA L4 (22.0 GB)"), "NVIDIA L4");
  EXPECT_EQ(NamedGpus(R"(  "gpu_name": "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",)"),
            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition");
  EXPECT_EQ(NamedGpus("GPU,n,ms\nNVIDIA H100 PCIe,8,1.2\nAMD Instinct MI300X,8,1.1\n"),
            "NVIDIA H100 PCIe, AMD Instinct MI300X");
  EXPECT_EQ(NamedGpus("GPU 0: Tesla T4 (UUID: GPU-1)"), "Tesla T4") << "others may have others";
  EXPECT_EQ(NamedGpus("Using device: cuda (NVIDIA A100-SXM4-40GB)"), "NVIDIA A100-SXM4-40GB");
}

TEST(MachineLines, LeavesWhatProseNames) {
  EXPECT_EQ(NamedGpus("Training takes 3 days on 8 NVIDIA A100 GPUs."), "");
  EXPECT_EQ(NamedGpus("Each GPU of our cluster is faster than an NVIDIA V100 by far."), "");
  EXPECT_EQ(NamedGpus("CUDA driver of NVIDIA TensorRT 10.0"), "");
  EXPECT_EQ(NamedGpus("Recommended GPU: NVIDIA H100 80GB\nMinimum GPU: NVIDIA GeForce RTX 2080 Ti (11 GB)\n"
                      "Checkpoint was trained on: GPU: NVIDIA V100-SXM2-32GB\n"
                      "GPU NVIDIA GeForce GTX 1080 is too old, skipping\n"
                      "Comparing against device NVIDIA H100 PCIe (reference): 0.12 s/step\n"
                      "device: NVIDIA A100 costs $2.50/h"),
            "");
  EXPECT_THAT(
      MachineOf("Loading checkpoint saved with PyTorch: 1.10.0\nNo matching distribution for torch-2.2.1\n"
                "TensorFlow 2.15.0\nPyTorch 2.3.1\n")
          .facts,
      IsEmpty())
      << "one that is installed need not be the one that runs";
  EXPECT_THAT(MachineOf("this package requires torch==1.13.1, but you have torch 2.0.1").facts, IsEmpty());
}

}  // namespace
}  // namespace dladvisor
