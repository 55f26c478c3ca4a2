// SPDX-License-Identifier: Apache-2.0
// What kind of program a trace is of.
#include "src/analysis/summary/program_kind.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::string KindOf(const TraceBuilder& b) {
  const auto kind = FindProgramKind(test::ContextOf(b.trace));
  return kind ? std::string(kind->kind) : "unknown";
}

constexpr Ns kMs = 1'000'000;

// Ten launches of a kernel, within a range.
TraceBuilder Repeated(const std::string& kernel, const std::string& range = "main") {
  TraceBuilder b;
  b.Range(0, 1000 * kMs, range);
  for (int i = 0; i < 10; ++i) b.Launch(10 * i * kMs, (10 * i + 2) * kMs, (10 * i + 6) * kMs, kernel);
  return b;
}

TEST(ProgramKind, WhatDoesNotRepeatIsOneShot) {
  TraceBuilder b;
  const auto launch = [&b](int i) {
    b.Launch(10 * i * kMs, (10 * i + 2) * kMs, (10 * i + 6) * kMs, "kernel" + std::to_string(i % 5));
  };
  for (int i = 0; i < 20; ++i) launch(i);
  EXPECT_EQ(KindOf(b), "one-shot") << "four runs of each";
  EXPECT_EQ(FindProgramKind(test::ContextOf(b.trace))->evidence, "20 kernels of 5 names");
  for (int i = 20; i < 25; ++i) launch(i);
  EXPECT_EQ(KindOf(b), "computing") << "five of each";
}

TEST(ProgramKind, ACallOfTensorFlowThatUpdatesVariablesIsAStepOfTraining) {
  const auto of = [](const char* format, const char* range, int kernels) {
    TraceBuilder b;
    b.trace.format = format;
    b.Range(0, 1000, range);
    for (int i = 0; i < kernels; ++i) b.Kernel(100 * i, 100 * i + 50, "kernel" + std::to_string(i), 0);
    return KindOf(b);
  };
  EXPECT_EQ(of("timeline", "ApplyAdam", 20), "training");
  EXPECT_EQ(of("timeline", "ResourceApplyGradientDescent", 20), "training");
  EXPECT_EQ(of("timeline", "SparseApplyAdagrad", 20), "training");
  EXPECT_EQ(of("timeline", "Conv2D", 20), "one-shot");
  EXPECT_EQ(of("timeline", "Applying", 20), "one-shot");
  EXPECT_EQ(of("timeline", "ApplyAdam", 19), "one-shot") << "no whole step";
  EXPECT_EQ(of("kineto", "ApplyAdam", 20), "one-shot");
}

TEST(ProgramKind, WhatAProgramMeasuresIsNoOneShot) {
  for (const int kernels : {19, 20}) {
    TraceBuilder b;
    b.Range(0, 1000 * kMs, "warmup");
    b.Launch(500 * kMs, 900 * kMs, 901 * kMs, "k0");
    b.Range(1000 * kMs, 1100 * kMs, "measure");
    for (int k = 0; k < kernels; ++k)
      b.Launch((1001 + k) * kMs, (1001 + k) * kMs + 10, (1001 + k) * kMs + 20, "k" + std::to_string(k));
    EXPECT_EQ(KindOf(b) == "one-shot", kernels < 20);
  }
}

TEST(ProgramKind, WorkThatIsOverSoonerThanTheStartIsOneShot) {
  const auto after = [](Ns start_up, Ns length) {
    TraceBuilder b;
    b.Range(0, 1, "main");
    for (int i = 0; i < 10; ++i) {
      const Ns at = start_up + i * length / 10;
      b.Launch(at, at, at + length / 20, "kernel");
    }
    return b;
  };
  EXPECT_EQ(KindOf(after(100 * kMs, 5 * kMs)), "one-shot");
  EXPECT_EQ(KindOf(after(4 * kMs, 5 * kMs)), "computing") << "the work outweighs the start";
  EXPECT_EQ(KindOf(after(1000 * kMs, 100 * kMs)), "computing") << "long enough to judge";
}

TEST(ProgramKind, BriefWorkOfManyKernelsIsOneShotUnlessOfANetwork) {
  const auto of = [](const std::string& framework) {
    TraceBuilder b;
    if (!framework.empty()) b.Range(0, 1, framework);
    b.Range(1, 2, "main");
    for (int i = 0; i < 500; ++i) {
      const Ns at = 100 * kMs + i * kMs / 100 + (i % 100 == 0 ? kMs / 1000 : 0);
      b.Launch(at, at, at + kMs / 200, "kernel" + std::to_string(i / 100));
    }
    return KindOf(b);
  };
  EXPECT_EQ(of(""), "one-shot");
  EXPECT_EQ(of("aten::mm"), "inference");
}

TEST(ProgramKind, APassBehindTheLoadingOfItsModelIsOneShot) {
  struct Loading {
    int copies = 240, sizes = 40, kernels = 220, later = 0, names = 211;
  };
  const auto of = [](const Loading& loading) {
    TraceBuilder b;
    const auto copy = [&b](Ns at, int64_t bytes) {
      b.Copy(at, at + 1000, bytes, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
             0);
    };
    for (int i = 0; i < loading.copies; ++i) copy(i * 10'000, 64 * (1 + i % loading.sizes));
    // Times that do not repeat.
    for (int k = 0; k < loading.kernels; ++k)
      b.Kernel(100 * kMs + k * kMs, 100 * kMs + k * kMs + 20'000,
               "at::native::k" + std::to_string(k % loading.names), 0);
    for (int i = 0; i < loading.later; ++i) copy(100 * kMs + i * kMs + 50'000, 64 * (1 + i % loading.sizes));
    b.Range(0, 1, "aten::conv2d");
    return KindOf(b);
  };
  EXPECT_EQ(of({}), "one-shot");
  EXPECT_EQ(of({.kernels = 241}), "inference") << "more than the parameters";
  EXPECT_EQ(of({.kernels = 220, .names = 110}), "inference") << "a second pass";
  EXPECT_EQ(of({.kernels = 220, .names = 73}), "inference") << "a third pass";
  EXPECT_EQ(of({.copies = 49, .kernels = 200}), "inference") << "not every copy is a parameter";
  EXPECT_EQ(of({.sizes = 9}), "inference") << "batches";
  EXPECT_EQ(of({.later = 40}), "inference") << "copies between kernels, too";
}

TEST(ProgramKind, OperatorsThatTakeLongerThanLaunchesComputeOnTheHost) {
  const auto products = [](int calls, Ns each) {
    TraceBuilder b;
    for (int i = 0; i < calls; ++i) test::AddRange(b, 10 * i * kMs, 10 * i * kMs + each, "aten::addmm");
    return KindOf(b);
  };
  EXPECT_EQ(products(3, 5 * kMs), "host");
  EXPECT_EQ(products(2, 5 * kMs), "unknown") << "first calls, which load what they need";
  EXPECT_EQ(products(5, kMs / 10), "unknown") << "as launches on a GPU of which nothing was recorded";
}

TEST(ProgramKind, AProductThatNoCallLaunchesComputesOnTheHost) {
  const auto trace = [](Ns length, const char* call) {
    TraceBuilder b;
    b.trace.format = "kineto";
    test::AddRange(b, 0, length, "aten::addmm");
    if (call != nullptr) b.Api(length, length + 1, call, 0);
    return KindOf(b);
  };
  EXPECT_EQ(trace(2 * kMs, "cudaDeviceSynchronize"), "host");
  EXPECT_EQ(trace(kMs / 10, "cudaDeviceSynchronize"), "unknown") << "may be outside of what was recorded";
  EXPECT_EQ(trace(2 * kMs, nullptr), "unknown") << "calls may not have been recorded";
  EXPECT_EQ(trace(2 * kMs, "cudaLaunchKernel"), "unknown");
}

TEST(ProgramKind, WorkOfLessThanAMillisecondIsATest) {
  const auto five = [](Ns duration) {
    TraceBuilder b;
    for (int i = 0; i < 5; ++i) b.Launch(10 * i * kMs, 10 * i * kMs + 2, 10 * i * kMs + 2 + duration, "gemm");
    return KindOf(b);
  };
  EXPECT_EQ(five(kMs / 5 - 1), "one-shot");
  EXPECT_EQ(five(kMs / 5), "computing");
}

TEST(ProgramKind, AStepThatTheProfilerLetOthersPassForIsOfALoop) {
  const auto of_step = [](const std::string& range, int kernels) {
    TraceBuilder b;
    b.Range(0, 900, range);
    for (int i = 0; i < kernels; ++i) b.Launch(10 * i, 10 * i + 2, 10 * i + 6, "k" + std::to_string(i));
    return KindOf(b);
  };
  EXPECT_EQ(of_step("ProfilerStep#3", 8), "inference");
  EXPECT_EQ(of_step("ProfilerStep#3", 7), "one-shot") << "no network is so small";
  EXPECT_EQ(of_step("ProfilerStep#2", 8), "one-shot") << "it may be the loop's warm-up";
}

TEST(ProgramKind, ThreeStepsAreALoopAlsoWithTheFirst) {
  const auto of_steps = [](int kernels) {
    TraceBuilder b;
    for (int step = 0; step < 3; ++step) {
      const Ns start = step == 0 ? 0 : 4000 + 1000 * step;
      b.Range(start, start + 900, "ProfilerStep#" + std::to_string(step));
      for (int i = 0; i < kernels; ++i)
        b.Launch(start + 10 * i, start + 10 * i + 2, start + 10 * i + (step == 0 && i > 0 ? 4000 : 6),
                 "k" + std::to_string(i));
    }
    return KindOf(b);
  };
  EXPECT_EQ(of_steps(8), "inference");
  EXPECT_EQ(of_steps(7), "one-shot");
}

TEST(ProgramKind, IsKnownByNames) {
  EXPECT_EQ(KindOf(Repeated("gemm")), "computing");
  EXPECT_EQ(KindOf(Repeated("void at::native::vectorized_elementwise_kernel<4>()")), "inference");
  EXPECT_EQ(KindOf(Repeated("trt_volta_fcudnn_128x64_relu_small")), "inference");
  EXPECT_EQ(KindOf(Repeated("gemm", "ExecutionContext::enqueue")), "inference");
  EXPECT_EQ(KindOf(Repeated("gemm", "Optimizer.step#SGD.step")), "training");
  EXPECT_EQ(KindOf(Repeated("gemm", "autograd::engine::evaluate_function: AddmmBackward0")), "training");
  EXPECT_EQ(KindOf(Repeated("gemm", "backward pass")), "training");
  EXPECT_EQ(KindOf(Repeated("void cudnn::cnn::wgrad2d_grouped_direct_kernel<float>()")), "training");
  EXPECT_EQ(KindOf(Repeated("void vllm::rotary_embedding_kernel<c10::BFloat16, true>()")), "serving");
  EXPECT_EQ(KindOf(Repeated("gemm", "step[DECODE bs=32]")), "serving");
  EXPECT_EQ(KindOf(Repeated("gemm", "step[x]")), "computing");
}

TEST(ProgramKind, OperatorsOfAnotherDeviceAndWaitsForItAreNoProgramOfTheHost) {
  const auto trace = [](const std::string& name, Ns each) {
    TraceBuilder b;
    b.trace.devices.clear();
    b.trace.facts["listed_gpus"] = "0";
    for (int i = 0; i < 3; ++i) {
      b.Range(10 * i * kMs, 10 * i * kMs + each, name);
      b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern("cpu_op"));
    }
    return b;
  };
  EXPECT_EQ(KindOf(trace("aten::_scaled_dot_product_attention_math_for_mps", kMs / 10)), "accelerator");
  EXPECT_EQ(KindOf(trace("aten::mps_convolution_backward", kMs / 10)), "accelerator");
  EXPECT_EQ(KindOf(trace("aten::clamps", kMs / 10)), "host");
  EXPECT_EQ(KindOf(trace("aten::_local_scalar_dense", 2 * kMs)), "accelerator");
  EXPECT_EQ(FindProgramKind(test::ContextOf(trace("aten::_local_scalar_dense", 2 * kMs).trace))->evidence,
            "3 reads of single values wait for it");
  EXPECT_EQ(KindOf(trace("aten::_local_scalar_dense", kMs / 10)), "host") << "as the host reads its own";
}

TEST(ProgramKind, WithoutGpuWorkOnlySignsOfTheHostDecide) {
  const auto trace = [](const std::string& range) {
    TraceBuilder b;
    b.trace.devices.clear();
    b.Range(0, 10, range);
    return b;
  };
  EXPECT_EQ(KindOf(trace("aten::mkldnn_convolution")), "host");
  EXPECT_EQ(FindProgramKind(test::ContextOf(trace("aten::mkldnn_convolution").trace))->evidence,
            "aten::mkldnn_convolution runs on CPUs alone");
  EXPECT_EQ(KindOf(trace("gloo:all_reduce")), "host");
  EXPECT_EQ(KindOf(trace("TfrtCpuExecutable::Execute")), "host") << "XLA's client for CPUs";
  EXPECT_EQ(KindOf(trace("aten::addmm")), "unknown");
  TraceBuilder no_gpu = trace("aten::addmm");
  no_gpu.trace.ranges.domain.Set(no_gpu.trace.ranges.size() - 1, no_gpu.trace.names.Intern("cpu_op"));
  EXPECT_EQ(KindOf(no_gpu), "unknown");
  no_gpu.trace.facts["listed_gpus"] = "8";
  EXPECT_EQ(KindOf(no_gpu), "unknown");
  no_gpu.trace.facts["listed_gpus"] = "0";
  EXPECT_EQ(KindOf(no_gpu), "host");
  no_gpu.Range(20, 30, "aten::cudnn_convolution");
  EXPECT_EQ(KindOf(no_gpu), "unknown");
  TraceBuilder both = trace("aten::mkldnn_convolution");
  both.Range(20, 30, "aten::cudnn_convolution");
  EXPECT_EQ(KindOf(both), "unknown");
  TraceBuilder machine;  // which has a GPU
  machine.Range(0, 10, "aten::mkldnn_convolution");
  EXPECT_EQ(KindOf(machine), "host") << "the operator runs on hosts only";
  for (const char* call :
       {"cudaGetDeviceProperties_v2_v12000", "cudaStreamIsCapturing", "cudaDeviceSynchronize"})
    machine.Api(0, 1, call, 0);
  EXPECT_EQ(KindOf(machine), "host") << "nothing is launched";
  machine.Api(0, 1, "cudaLaunchKernel", 0);
  EXPECT_EQ(KindOf(machine), "unknown");
}

TEST(ProgramKind, AMachineWithoutADriverRunsTheProgramOnTheHost) {
  TraceBuilder b;
  b.trace.format = "nsys";
  b.Range(0, 10, "solve");
  EXPECT_EQ(KindOf(b), "unknown");
  b.trace.facts["listed_gpus"] = "0";
  EXPECT_EQ(KindOf(b), "host");
}

TEST(ProgramKind, AnInterpreterThatNeverCallsADriverIsOfTheHost) {
  const auto kind = [](int opened, int signals, int to_driver, const char* traced = nullptr,
                       const char* program = "python3", Ns begin = 0, bool threads = false) {
    TraceBuilder b;
    b.trace.format = "nsys";
    b.trace.processes[0].name = program;
    b.Range(0, 10, "solve");
    Ns at = begin;
    const auto call = [&](const char* name, int times) {
      for (int i = 0; i < times; ++i, ++at) b.Os(at, at + 1, name);
    };
    if (threads) b.Os(at - 1, at, "read", b.AddThread(0, 2));
    b.Os(at, at, "OS runtime libraries profiling started", b.AddThread(0, 3));  // by the profiler
    call("open64", opened);
    call("sigaction", signals);
    call("ioctl", to_driver);
    if (traced != nullptr) b.trace.capture_options["gpu_traced"] = traced;
    return KindOf(b);
  };
  EXPECT_EQ(kind(17, 2, 0), "host");
  EXPECT_EQ(kind(17, 2, 2), "host") << "to the terminal";
  EXPECT_EQ(kind(17, 2, 0, "no"), "unknown") << "CUDA is to be traced";
  EXPECT_EQ(kind(17, 2, 0, nullptr, "python3", 60'000'000'000), "unknown")
      << "a loader opens images at any time";
  EXPECT_EQ(kind(17, 2, 0, nullptr, "python3", 20'000'000, true), "unknown")
      << "it has begun: other threads run";
  EXPECT_EQ(kind(17, 2, 120), "unknown") << "CUDA was begun";
  EXPECT_EQ(kind(17, 0, 0), "unknown") << "may have begun before the capture";
  EXPECT_EQ(kind(2, 2, 0), "unknown");
  EXPECT_EQ(kind(17, 2, 0, nullptr, "/usr/bin/mpirun"), "unknown") << "what it starts may use one";
  EXPECT_EQ(kind(17, 2, 0, "yes"), "unknown") << "another rule asks how it ended";
}

TEST(ProgramKind, AProcessThatRunsNoOperatorIsOfTheHost) {
  TraceBuilder b;
  b.Frame(0, 10, "vllm/v1/engine/async_llm.py(1): generate");
  EXPECT_EQ(KindOf(b), "unknown") << "operators may not have been recorded";
  b.trace.facts["listed_gpus"] = "1";
  EXPECT_EQ(KindOf(b), "host");
  b.Range(0, 10, "aten::mm");
  EXPECT_EQ(KindOf(b), "unknown");
}

TEST(ProgramKind, EventsOfOtherAcceleratorsAreKnown) {
  TraceBuilder b;
  b.Range(0, 10, "aten::mkldnn_convolution");
  b.trace.health.rows_skipped["mtia_ccp_events"] = 3;
  EXPECT_EQ(KindOf(b), "accelerator");
  b.Launch(10, 20, 80, "k");
  EXPECT_EQ(KindOf(b), "one-shot") << "it also uses a GPU";
}

TEST(ProgramKind, AProcessOfAnotherAcceleratorIsKnown) {
  TraceBuilder b;
  b.Range(0, 10, "aten::mm");
  EXPECT_EQ(KindOf(b), "unknown");
  b.trace.facts["accelerator"] = "Ascend Hardware";
  EXPECT_EQ(KindOf(b), "accelerator");
  EXPECT_EQ(FindProgramKind(test::ContextOf(b.trace))->evidence, "events of Ascend Hardware");
}

TEST(ProgramKind, LaunchesIntoAGraphAreACapture) {
  TraceBuilder b;
  b.Api(0, 1, "hipStreamBeginCapture", 0);
  for (int i = 1; i <= 100; ++i) b.Api(2 * i, 2 * i + 1, "hipLaunchKernel", i);
  for (int i = 1; i < 10; ++i) b.Kernel(300 + 2 * i, 301 + 2 * i, "k" + std::to_string(i), i);
  EXPECT_EQ(KindOf(b), "graph-capture");
  EXPECT_EQ(FindProgramKind(test::ContextOf(b.trace))->evidence, "100 launches, of which 9 ran");
  b.Kernel(330, 331, "k10", 10);
  EXPECT_EQ(KindOf(b), "one-shot") << "one in ten ran";
}

TEST(ProgramKind, HalfOfTheLaunchesWithinACaptureAreOne) {
  const auto with = [](int before) {
    TraceBuilder b;
    for (int i = 0; i < before; ++i) b.Launch(i, i + 1, i + 2, "k" + std::to_string(i));
    b.Api(1000, 1001, "cudaStreamBeginCapture", 0);
    for (int i = 0; i < 100; ++i) b.Api(1002 + 2 * i, 1003 + 2 * i, "cudaLaunchKernel", 1000 + i);
    b.Api(2000, 2001, "cudaStreamEndCapture", 0);
    return KindOf(b);
  };
  EXPECT_EQ(with(100), "graph-capture");
  EXPECT_EQ(with(101), "one-shot") << "most ran";
}

TEST(ProgramKind, OfSeveralProfilesTheStrongerCounts) {
  EXPECT_EQ(StrongerKind("inference", "training"), "training");
  EXPECT_EQ(StrongerKind("serving", "computing"), "serving");
  EXPECT_EQ(StrongerKind("one-shot", "one-shot"), "one-shot");
}

}  // namespace
}  // namespace dladvisor
