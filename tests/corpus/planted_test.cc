// SPDX-License-Identifier: Apache-2.0
// Rules that no real profile at hand fires: each is given a generated export with one planted problem, and
// must find it, with the saving that was planted, and must not without it.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "tests/corpus/planted_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using example::CopyKind;
using test::kMs;
using test::kUs;
using test::PlantedRun;
using test::PlantedThread;

struct Plant {
  const char* rule;
  int64_t saving_ns;  // per step; 0 where it promises none
  void (*plant)(PlantedRun&);
  void (*base)(PlantedRun&) = [](PlantedRun&) {};  // of both exports
};

constexpr double kNothing = 20 * kUs;  // of steps of 8 ms

void TwoRanks(PlantedRun& run) { run.gpus = {{500, 0}, {600, 1}}; }

// What the host does at the start of each step, while nothing is queued.
template <auto kAct>
void First(PlantedRun& run) {
  run.first = [](PlantedThread& t, int) { kAct(t); };
}
template <auto kAct>
void Last(PlantedRun& run) {
  run.last = [](PlantedThread& t, int) { kAct(t); };
}

void Reduce(PlantedThread& t, int64_t ns) { t.Kernel(test::kAllReduce, ns, test::kCommunicationStream); }

constexpr Plant kPlants[] = {
    {"data-loading", kMs, First<[](PlantedThread& t) {
       t.Range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", [&] { t.Work(kMs); });
     }>},
    {"single-process-loader", kMs, First<[](PlantedThread& t) {
       t.Range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", [&] { t.Work(kMs); });
     }>},
    {"checkpoint-in-step", kMs,
     First<[](PlantedThread& t) { t.Range("save_checkpoint", [&] { t.Work(kMs); }); }>},
    {"garbage-collection", kMs, First<[](PlantedThread& t) { t.Range("gc.collect", [&] { t.Work(kMs); }); }>},
    {"mpi-blocks", kMs, First<[](PlantedThread& t) { t.Range("gloo:all_reduce", [&] { t.Work(kMs); }); }>},
    {"os-waits", kMs, First<[](PlantedThread& t) { t.OsCall("poll", kMs); }>},
    {"file-io-in-step", kMs, First<[](PlantedThread& t) { t.OsCall("read", kMs); }>},
    {"exposed-communication", 4 * kMs, Last<[](PlantedThread& t) {
       t.Wait();
       Reduce(t, 4 * kMs);
     }>},
    {"communication-dominates", 0, Last<[](PlantedThread& t) {
       t.Wait();
       Reduce(t, 4 * kMs);
     }>},
    {"small-collectives", 0, Last<[](PlantedThread& t) {
       t.Wait();
       for (int i = 0; i < 60; ++i) Reduce(t, 10 * kUs);
     }>},
    {"copy-round-trips", 2 * 600 * kUs, Last<[](PlantedThread& t) {
       t.Copy(CopyKind::kDeviceToHost, 12'000'000, 600 * kUs, test::kComputeStream);
       t.Copy(CopyKind::kHostToDevice, 12'000'000, 600 * kUs, test::kComputeStream);
     }>},
    {"slow-copies", 0,
     First<[](PlantedThread& t) { t.Copy(CopyKind::kHostToDevice, 8'000'000, 4 * kMs, test::kCopyStream); }>},
    // Three kernels of 10 us, a latency before them and one before the copy; 12 us of these are the
    // launches'.
    {"scalar-reads", 4 * 35 * kUs, First<[](PlantedThread& t) {
       for (int i = 0; i < 4; ++i) {
         for (int k = 0; k < 3; ++k) t.Kernel(test::kMatrixKernel, 10 * kUs);
         t.ReadScalar();
         t.Work(150 * kUs);
       }
     }>},
    {"event-polling", 0, First<[](PlantedThread& t) {
       for (int i = 0; i < 80; ++i) t.Call("cudaEventQuery_v3020", 10 * kUs);
     }>},
    {"graph-instantiated-in-step", 0,
     First<[](PlantedThread& t) { t.Call("cudaGraphInstantiate_v12000", 500 * kUs); }>},
    {"mapping-in-step", 0, First<[](PlantedThread& t) {
       t.Call("cuMemMap", 300 * kUs);
       t.Call("cuMemUnmap", 300 * kUs);
     }>},
    {"pinned-allocation-in-step", 0, First<[](PlantedThread& t) {
       t.Call("cudaHostAlloc_v3020", 300 * kUs);
       t.Call("cudaFreeHost_v3020", 300 * kUs);
     }>},
    {"stream-churn", 0, First<[](PlantedThread& t) {
       for (int i = 0; i < 4; ++i) {
         t.Call("cudaStreamCreateWithFlags_v5000", 60 * kUs);
         t.Call("cudaStreamDestroy_v5050", 60 * kUs);
       }
     }>},
    {"layout-conversions", 800 * kUs, Last<[](PlantedThread& t) {
       for (int i = 0; i < 4; ++i) t.Kernel("void cudnn::ops::nchwToNhwcKernel<float>(int)", 200 * kUs);
     }>},
    {"unfused-attention", 0, Last<[](PlantedThread& t) {
       for (int i = 0; i < 4; ++i) t.Kernel("void softmax_warp_forward<float, 10, false>(float*)", 200 * kUs);
     }>},
    {"unfused-optimizer", 0, Last<[](PlantedThread& t) {
       t.Range("Optimizer.step#AdamW.step", [&] {
         for (int i = 0; i < 300; ++i)
           t.Kernel("void at::native::vectorized_elementwise_kernel<4, add>(int)", 2 * kUs);
       });
     }>},
    {"zero-grad-writes-zeros", kMs, First<[](PlantedThread& t) {
       t.Range("Optimizer.zero_grad#SGD.zero_grad", [&] {
         t.Work(kMs);
         t.Range("aten::zero_", [&] { t.Kernel("void at::native::fill_kernel(int)", 2 * kUs); });
       });
     }>},
    {"ddp-broadcasts-buffers", 1500 * kUs, First<[](PlantedThread& t) {
       t.Range("DistributedDataParallel.forward", [&] {
         t.Range("aten::flatten_dense_tensors", [&] { t.Work(kMs); });
         t.Range("c10d::broadcast_", [&] { t.Work(200 * kUs); });
         t.Range("aten::unflatten_dense_tensors", [&] { t.Work(300 * kUs); });
       });
     }>},
    {"kernel-time-varies", 0, Last<[](PlantedThread& t) { t.Kernel(test::kMatrixKernel, 2 * kMs); }>},
    {"outlier-steps", 800 * kUs,
     [](PlantedRun& run) {
       run.first = [](PlantedThread& t, int step) { t.Work(step == 9 ? 16 * kMs : 0); };
     }},
    {"step-time-varies", 0,
     [](PlantedRun& run) {
       run.first = [](PlantedThread& t, int step) { t.Work(step % 2 == 0 ? 8 * kMs : 0); };
     }},
    {"gpu-memory-nearly-full", 0, [](PlantedRun& run) { run.memory_bytes = 82'000'000'000; }},
    {"gpu-memory-underused", 0,
     [](PlantedRun& run) {
       run.memory_bytes = 10'000'000'000;
       run.first = [](PlantedThread& t, int) { t.Work(4 * kMs); };
     }},
    {"capture-too-short", 0, [](PlantedRun& run) { run.steps = 2; }},
    {"slow-settings", 0,
     [](PlantedRun& run) {
       run.environment = {{"NCCL_P2P_DISABLE", "1"}};
     }},
    {"gpu-shared", 0, [](PlantedRun& run) { run.gpus[1].second = 0; }, TwoRanks},
    {"single-process-multi-gpu", 0, [](PlantedRun& run) { run.gpus[1].first = run.gpus[0].first; },
     [](PlantedRun& run) {
       TwoRanks(run);
       Last<[](PlantedThread& t) { Reduce(t, 100 * kUs); }>(run);
     }},
    // Rank 1 has ten kernels more; rank 0 waits for them in the collective.
    {"rank-imbalance", test::kKernelNs * 10 / 2,
     [](PlantedRun& run) {
       run.last = [](PlantedThread& t, int) {
         for (int i = 0; t.device() == 1 && i < 10; ++i) t.Kernel(test::kMatrixKernel, test::kKernelNs);
         t.Wait();
         Reduce(t, 100 * kUs + (t.device() == 0 ? 10 * test::kKernelNs : 0));
       };
     },
     [](PlantedRun& run) {
       TwoRanks(run);
       run.last = [](PlantedThread& t, int) {
         t.Wait();
         Reduce(t, 100 * kUs);
       };
     }},
};

std::vector<Finding> FiredOf(const std::filesystem::path& path, const AnalysisOptions& options) {
  const Profile profile = LoadProfile(path, options);
  Database database = profile.OpenDatabase();
  std::vector<Finding> findings = Infer(LoadRules({}, {}), database).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.outcome != Outcome::kFired; });
  return findings;
}

std::vector<Finding> FiredOf(const PlantedRun& run, const std::string& rule) {
  const test::ScratchDir folder;
  const auto path = folder.path() / "run.sqlite";
  WritePlantedRun(run, path);
  std::vector<Finding> findings = FiredOf(path, {});
  std::erase_if(findings, [&](const Finding& finding) { return finding.rule != rule; });
  return findings;
}

class Planted : public testing::TestWithParam<Plant> {};

TEST_P(Planted, IsFoundAndOnlyThere) {
  const Plant& plant = GetParam();
  PlantedRun run;
  plant.base(run);
  EXPECT_TRUE(FiredOf(run, plant.rule).empty()) << "fires without the plant";
  plant.plant(run);
  const std::vector<Finding> fired = FiredOf(run, plant.rule);
  ASSERT_FALSE(fired.empty());
  for (const Finding& finding : fired) {
    const bool promises = finding.saves && finding.saves->high_ns.value_or(0) > kNothing;
    ASSERT_EQ(promises, plant.saving_ns > 0) << finding.problem.text;
    if (!promises) continue;
    const auto planted = static_cast<double>(plant.saving_ns);
    EXPECT_NEAR(finding.saves->high_ns.value_or(-1), planted, 0.2 * planted) << finding.problem.text;
  }
}

// What does not differ from step to step saves per step what it saves in all of them, whichever are analysed.
TEST_P(Planted, SavesAsMuchPerStepInThreeStepsAsInAll) {
  const Plant& plant = GetParam();
  PlantedRun run;
  plant.base(run);
  plant.plant(run);
  // What differs from step to step, and what is told by more rounds than three steps have.
  const std::set<std::string> uneven = {"outlier-steps", "step-time-varies", "capture-too-short",
                                        "copy-round-trips"};
  if (uneven.contains(plant.rule)) return;
  const test::ScratchDir folder;
  const auto path = folder.path() / "run.sqlite";
  WritePlantedRun(run, path);
  const std::vector<Finding> all = FiredOf(path, {});
  AnalysisOptions three;
  three.steps = std::pair{10, 12};
  bool found = false;
  for (const Finding& few : FiredOf(path, three)) {
    found = found || few.rule == plant.rule;
    const auto same = std::ranges::find_if(all, [&](const Finding& finding) {
      return finding.rule == few.rule &&
             std::ranges::equal(finding.subject, few.subject, [](const NamedValue& a, const NamedValue& b) {
               return a.name == b.name && a.value == b.value;
             });
    });
    if (same == all.end() || !few.saves) continue;
    ASSERT_TRUE(same->saves) << few.problem.text;
    for (const auto bound : {&SavingClaim::low_ns, &SavingClaim::high_ns}) {
      const double of_all = ((*same->saves).*bound).value_or(0), of_few = ((*few.saves).*bound).value_or(0);
      EXPECT_NEAR(of_few, of_all, 0.06 * of_all + kUs) << few.rule << ": " << few.problem.text << "\n"
                                                       << same->problem.text;
    }
  }
  EXPECT_TRUE(found || plant.saving_ns == 0);
}

INSTANTIATE_TEST_SUITE_P(Rule, Planted, testing::ValuesIn(kPlants), [](const auto& test) {
  std::string name = test.param.rule;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace dladvisor
