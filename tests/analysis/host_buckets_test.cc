// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/host_buckets.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(HostBuckets, RangesThatLoadData) {
  for (const char* name : {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data_loader",
                           "[pl][profile]run_training_epoch train_dataloader_next", "get_batch", "getBatch",
                           "_next_data", "data_iterator", "Iterator::Prefetch::Map", "IteratorGetNext",
                           "EagerLocalExecute: IteratorGetNext", "enumerate(train_loader)"})
    EXPECT_EQ(BucketOfRange(name), Bucket::kInput) << name;
  for (const char* name : {"forward", "loader", "batch_norm", "", "data parallel", "load_state_dict"})
    EXPECT_EQ(BucketOfRange(name), Bucket::kHost) << name;
}

TEST(HostBuckets, PythonFunctionsThatLoadData) {
  for (const char* name : {"transformers/image_processing_utils.py(40): __call__",
                           "transformers/pipelines/video_classification.py(129): preprocess",
                           "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py(47): fetch",
                           "torchvision/transforms/transforms.py(95): __call__", "train.py(31): get_batch",
                           "data.py(9): my_collate", "PIL/Image.py(2200): resize"})
    EXPECT_EQ(BucketOfFunction(name), Bucket::kInput) << name;
  EXPECT_EQ(BucketOfFunction("torch/serialization.py(850): save"), Bucket::kCheckpoint);
  EXPECT_EQ(BucketOfFunction("<built-in function collect>"), Bucket::kGarbageCollection);
  for (const char* name :
       {"train.py(12): main", "torch/nn/modules/module.py(1743): _call_impl", "model.py(3): get_batch_norm",
        "model.py(3): load_data_parallel", "torch/optim/optimizer.py(1): step", ""})
    EXPECT_EQ(BucketOfFunction(name), Bucket::kHost) << name;
}

// What runs once a graph of torch.compile is start-up; what looks its code up and runs it is not.
TEST(HostBuckets, CodeThatIsCompiledOrRecorded) {
  for (const char* name : {"CUDAGraphNode.record (dynamo_timed)", "_compile.compile_inner (dynamo_timed)",
                           "CachingAutotuner.benchmark_all_configs (dynamo_timed)"})
    EXPECT_EQ(BucketOfRange(name), Bucket::kCompilation) << name;
  EXPECT_EQ(BucketOfRange("TorchDynamo Cache Lookup"), Bucket::kHost);
  EXPECT_EQ(BucketOfRange("## Call CompiledFxGraph fo3ni64jibeu3cb6jtvtf6yirf6iphoo4mtinxikwdi2gh ##"),
            Bucket::kHost);
  for (const char* name :
       {"torch/_inductor/cudagraph_trees.py(2205): record_function",
        "torch/_inductor/cudagraph_trees.py(1230): _record", "torch/_dynamo/convert_frame.py(1100): __call__",
        "torch/_inductor/scheduler.py(2): codegen", "triton/compiler/compiler.py(226): compile"})
    EXPECT_EQ(BucketOfFunction(name), Bucket::kCompilation) << name;
  for (const char* name :
       {"torch/_inductor/cudagraph_trees.py(2008): run", "triton/runtime/jit.py(574): run",
        "triton/compiler/compiler.py(470): launch_metadata", "torch/_dynamo/eval_frame.py(1039): _fn",
        "torch/_inductor/runtime/triton_heuristics.py(1283): run",
        "torch/_inductor/compile_fx.py(1767): run"})
    EXPECT_EQ(BucketOfFunction(name), Bucket::kHost) << name;
}

}  // namespace
}  // namespace dladvisor
