// SPDX-License-Identifier: Apache-2.0
// Facts against what other tools said of the same profiles.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "src/analysis/analysis.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/ops/op.h"
#include "src/importers/importers.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

struct Sums {
  int64_t calls = 0, cpu_ns = 0, gpu_ns = 0, eligible = 0;
  bool operator==(const Sums&) const = default;
};

void PrintTo(const Sums& s, std::ostream* out) {
  *out << s.calls << " calls, CPU " << s.cpu_ns << ", GPU " << s.gpu_ns << ", eligible " << s.eligible;
}

// DLProf 1.8 wrote its reports of this very export.
class Dlprof : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::DataDir() / "dlprof" / "MohanadOdema_DLProf";
    const fs::path profile = folder_ / "nsys_profile--981830d9.sqlite";
    if (!fs::exists(profile)) GTEST_SKIP() << "no " << profile;
    const Trace trace = ReadProfile(profile);
    ops_ = ComputeOps(MakeContext(trace, {}));
  }

  fs::path folder_;
  OpFamilies ops_;
};

// What DLProf calls an op's GPU time is the time in which any of its kernels, copies and sets ran. It lists
// ten calls of one path as ten ops, and calls of the API outside all ops as "unassociated" ones.
TEST_F(Dlprof, Ops) {
  std::map<std::string, Sums> expected, actual;
  int unassociated = 0;
  for (auto& row :
       test::ReadCsvTable(folder_ / "dlprof_detailed--a26bdfff.csv", {"Op Name", "TC Eligible"})) {
    if (row["Op Name"].starts_with("unassociated_")) {
      ++unassociated;
      continue;
    }
    Sums& sums = expected[row["Op Name"] + " " + row["Op Type"] + " " + row["Direction"]];
    sums.calls += std::stoll(row["No. Calls"]);
    sums.cpu_ns += std::stoll(row["Total CPU Time (ns)"]);
    sums.gpu_ns += std::stoll(row["Total GPU Time (ns)"]);
    sums.eligible = row["TC Eligible"] == "yes";
    EXPECT_EQ(row["Using TC"], "no");
  }
  for (const OpRow& row : ops_.ops) {
    if (!row.op.starts_with("/")) continue;
    actual[row.op + " " + row.op_type + " " + row.direction.value_or("")] = {
        row.calls, row.cpu_ns, row.busy_ns, row.tensor_core_eligible};
    EXPECT_EQ(row.uses_tensor_cores, false) << row.op;
  }
  EXPECT_EQ(unassociated, 2);
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(expected.size(), 25u);
}

TEST_F(Dlprof, OpTypes) {
  std::map<std::string, Sums> expected, actual;
  for (auto& row : test::ReadCsvTable(folder_ / "dlprof_op_type--7253f846.csv", {"Op Type", "# Calls"}))
    if (row["Op Type"] != "cudaDeviceSynchronize_v3020")
      expected[row["Op Type"]] = {std::stoll(row["# Calls"]), std::stoll(row["Total CPU Time (ns)"]),
                                  std::stoll(row["Total GPU Time (ns)"])};
  for (const OpTypeRow& row : ops_.op_types)
    if (!row.op_type.empty() && expected.contains(row.op_type))
      actual[row.op_type] = {row.calls, row.cpu_ns, row.busy_ns};
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(expected.size(), 8u);
}

TEST_F(Dlprof, Groups) {
  std::map<std::string, Sums> expected, actual;
  for (auto& row :
       test::ReadCsvTable(folder_ / "dlprof_group_op--ba578a62.csv", {"Name", "Num Calls Aggregated"}))
    expected[row["Name"]] = {std::stoll(row["Num Calls Aggregated"]), std::stoll(row["Total CPU Time (ns)"]),
                             std::stoll(row["Total GPU Time (ns)"]), std::stoll(row["Num TC Eligible Ops"])};
  EXPECT_EQ(expected.erase("_CompleteModel_"), 1u);  // the unassociated ones too
  for (const GroupOpRow& row : ops_.groups)
    actual[row.op_group] = {row.calls, row.cpu_ns, row.busy_ns, row.eligible_ops};
  EXPECT_EQ(actual, expected);
}

TEST_F(Dlprof, KernelTimeOfEligibleOps) {
  std::map<std::string, int64_t> expected, actual;
  for (auto& row :
       test::ReadCsvTable(folder_ / "dlprof_tensor_core--e1615f2f.csv", {"Op Name", "TC GPU Time (ns)"})) {
    expected[row["Op Name"]] += std::stoll(row["Total GPU Time (ns)"]);
    EXPECT_EQ(row["TC GPU Time (ns)"], "0");
  }
  for (const OpRow& row : ops_.ops)
    if (row.op.starts_with("/") && row.tensor_core_eligible) actual[row.op] = row.gpu_ns;
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(expected.size(), 5u);
}

// The PyTorch profiler's TensorBoard plugin goes by a list of parts of names that was last kept up in 2021.
// It says yes nowhere where we do not, and misses what is newer than its list or AMD's.
TEST(TensorBoard, TensorCoresUsed) {
  const fs::path folder = test::DataDir().parent_path() / "truth" / "tb";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  const RE2 missed(
      "tensor\\d+x\\d+x\\d+|wmma_tensorop|tensorop_s161616|flash_fwd|flash_bwd|Cijk_\\w+_MI\\d+x\\d+x\\d+|"
      "gtcx3|xdl|mfma|"
      "Fmha|matmul_ogs|cutlass_cudnn_train");
  std::map<std::string, bool> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const fs::path csv = entry.path() / "kernel_stat.csv"; fs::exists(csv))
      for (auto& row : test::ReadCsvTable(csv, {"name", "tc_used"}))
        names[row["name"]] = row["tc_used"] == "True";
  int used = 0;
  for (const auto& [name, theirs] : names) {
    const std::optional<bool> ours = ClassifyKernel(name).tensor_core;
    if (theirs) {
      EXPECT_EQ(ours, true) << name;
    } else if (ours == true) {
      EXPECT_TRUE(RE2::PartialMatch(name, missed)) << name;
    }
    used += ours == true;
  }
  EXPECT_GT(names.size(), 500u);
  EXPECT_GT(used, 100);
}

}  // namespace
}  // namespace dladvisor
