// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/chrome_trace.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "engine/base/error.h"

namespace dladvisor {
namespace {

constexpr int64_t kPid = 783658, kMain = 783658, kAutograd = 785244;
constexpr int64_t kKernelsPerStep = 400;
constexpr int64_t kLayersOfBatch = 4;
constexpr int64_t kEventsPerKernel = 7;  // and those of the shape

struct Layer {
  const char *outer, *inner, *kernel, *shapes;  // {0}: sequences of a batch, {1}: its tokens
};

constexpr std::array kLayers = {
    Layer{"aten::linear", "aten::addmm", "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
          "[[4096], [{1}, 1024], [1024, 4096], [], []]"},
    Layer{"aten::layer_norm", "aten::native_layer_norm",
          "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, "
          "float, "
          "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
          "[[{0}, 1024, 1024], [], [1024], [1024], []]"},
    Layer{"aten::add", "aten::add_out",
          "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
          "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
          "at::detail::Array<char*, "
          "3>)",
          "[[{0}, 1024, 1024], [{0}, 1024, 1024], []]"},
    Layer{
        "aten::scaled_dot_product_attention", "aten::_flash_attention_forward",
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, "
        "false, cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
        "[[{0}, 16, 1024, 64], [{0}, 16, 1024, 64], [{0}, 16, 1024, 64], [], [], [], []]"},
};

class Writer {
 public:
  explicit Writer(const std::filesystem::path& path)
      : path_(path.string()), file_(std::fopen(path.c_str(), "wb")) {
    if (!file_) throw Error(path_, "cannot be written");
  }
  ~Writer() {
    if (file_) std::fclose(file_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  template <class... Arguments>
  void Add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    if (text_.size() > (1 << 20)) Flush();
  }

  void Close() {
    Flush();
    const bool failed = std::fclose(file_) != 0;
    file_ = nullptr;
    if (failed) throw Error(path_, "cannot be written to its end");
  }

 private:
  void Flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size())
      throw Error(path_, "cannot be written to its end", "check the free space of its disk");
    text_.clear();
  }

  std::string path_, text_;
  std::FILE* file_;
};

double Microseconds(int64_t ns) { return static_cast<double>(ns) / 1000; }

constexpr TraceShape kTraceShapes[] = {
    {.name = "plain trace"},
    {.name = "Python functions", .python_functions = 20},
    {.name = "allocator events", .memory_events = 12},
    {.name = "20,000 batch sizes", .batches = 20'000},
    {.name = "gzip", .packed = true},
};

}  // namespace

std::span<const TraceShape> TraceShapes() { return kTraceShapes; }

void WriteChromeTrace(const std::filesystem::path& path, int64_t events, const TraceShape& shape) {
  Writer out(path);
  out.Add(R"({{
  "schemaVersion": 1,
  "deviceProperties": [
    {{
      "id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85031714816,
      "computeMajor": 8, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 108
    }}
  ],
  "cuda_runtime_version": 12040, "record_shapes": 1, "profile_memory": 1,
  "distributedInfo": {{"backend": "nccl", "rank": 0, "world_size": 1}},
  "displayTimeUnit": "ms", "baseTimeNanoseconds": 1751410836000000000,
  "traceEvents": [
)");
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  constexpr int64_t kOrigin = 1'414'456'661'601'577;  // ns
  int64_t host = kOrigin, gpu = host, id = 1, allocated = int64_t{20} << 30;
  const int64_t kernels =
      std::max<int64_t>(1, events / (kEventsPerKernel + shape.python_functions + shape.memory_events));
  const char* comma = "";
  for (int64_t k = 0; k < kernels; ++k) {
    const int64_t step = k / kKernelsPerStep;
    const bool backward = k % kKernelsPerStep >= kKernelsPerStep / 3;
    const int64_t tid = backward ? kAutograd : kMain;
    const Layer& layer = kLayers[static_cast<size_t>(below(kLayers.size()))];
    if (k % kKernelsPerStep == 0) {
      const int64_t length = std::min(kKernelsPerStep, kernels - k) * 60'000;
      host = std::max(host, kOrigin + step * (kKernelsPerStep * 60'000 + 500'000));
      out.Add(
          "{}  {{\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#{}\", \"pid\": "
          "{}, "
          "\"tid\": {},\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": "
          "{},\"Record function id\": 0, \"Ev Idx\": {}\n    }}\n  }}",
          comma, step, kPid, kMain, Microseconds(host), Microseconds(length), id, id);
      comma = ",\n";
      ++id;
    }
    const int64_t start = host, outer = 50'000, launch = start + 18'000;
    for (int64_t f = 0; f < shape.python_functions; ++f) {
      out.Add(
          ",\n  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": "
          "\"torch/nn/modules/module.py({}): "
          "_call_impl_{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": "
          "{{\n      "
          "\"Python parent id\": {}, \"Python id\": {}, \"Ev Idx\": {}\n    }}\n  }}",
          1000 + f, below(200), kPid, tid, Microseconds(start - 2'000 + f * 50),
          Microseconds(outer + 4'000 - f * 100), id - 1, id, id);
      ++id;
    }
    const int64_t batch = 16 + k / kLayersOfBatch % shape.batches;
    const std::string shapes = fmt::format(fmt::runtime(layer.shapes), batch, batch * 1024);
    int64_t depth = 0;
    for (const char* name : {layer.outer, layer.inner, "aten::empty"}) {
      out.Add(
          "{}  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    "
          "\"ts\": "
          "{:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},\"Record function id\": 0, "
          "\"Sequence number\": {}, \"Fwd thread id\": {}, \"Input type\": [\"c10::BFloat16\", "
          "\"c10::BFloat16\", "
          "\"\", \"Scalar\"], \"Input Dims\": {}, \"Ev Idx\": {}\n    }}\n  }}",
          comma, name, kPid, tid, Microseconds(start + depth * 4'000),
          Microseconds(depth == 2 ? 3'000 : outer - depth * 8'000), id, k, backward ? 1 : 0, shapes, id);
      comma = ",\n";
      ++depth;
      ++id;
    }
    for (int64_t m = 0; m < shape.memory_events; ++m) {
      allocated += (below(2) ? 1 : -1) * (1 << 20);
      out.Add(
          ",\n  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
          "\"[memory]\",\n "
          "   "
          "\"pid\": {}, \"tid\": {},\n    \"ts\": {:.3f},\n    \"args\": {{\n      \"Total Reserved\": {}, "
          "\"Total "
          "Allocated\": {}, \"Bytes\": {}, \"Addr\": {}, \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": "
          "{}\n    "
          "}}\n  }}",
          kPid, tid, Microseconds(start + 9'000 + m * 100), int64_t{40} << 30, allocated, 1 << 20,
          136093868752896 + k * 512, id);
      ++id;
    }
    out.Add(
        ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": {}, "
        "\"tid\": {},\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {}, "
        "\"cbid\": 211, \"correlation\": {}\n    }}\n  }}",
        kPid, tid, Microseconds(launch), Microseconds(6'000 + below(2000)), id - 3, k + 1000);
    out.Add(
        ",\n  {{\n    \"ph\": \"s\", \"id\": {0}, \"pid\": {1}, \"tid\": {2}, \"ts\": {3:.3f},\n    \"cat\": "
        "\"ac2g\", \"name\": \"ac2g\"\n  }}",
        k + 1000, kPid, tid, Microseconds(launch));
    gpu = std::max(gpu, launch + 8'000);
    const int64_t length = 20'000 + below(60'000);
    out.Add(
        ",\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7,\n    "
        "\"ts\": "
        "{:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},\n      \"queued\": 0, "
        "\"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": {},\n      \"registers per "
        "thread\": 122,\n      \"shared memory\": 81920,\n      \"blocks per SM\": {:.6f},\n      \"warps "
        "per "
        "SM\": {:.6f},\n      \"grid\": [{}, 8, 1],\n      \"block\": [128, 1, 1],\n      \"est. achieved "
        "occupancy %\": {}\n    }}\n  }}",
        layer.kernel, Microseconds(gpu), Microseconds(length), id - 3, k + 1000, 9.481481, 37.925926,
        64 + below(8), 20 + below(30));
    out.Add(
        ",\n  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, \"ts\": {:.3f},\n    \"cat\": "
        "\"ac2g\", "
        "\"name\": \"ac2g\", \"bp\": \"e\"\n  }}",
        k + 1000, Microseconds(gpu));
    gpu += length;
    host += 60'000;
  }
  out.Add("\n  ],\n  \"traceName\": \"trace.json\"\n}}\n");
  out.Close();
  if (shape.packed && std::system(fmt::format("gzip -1 -kf '{}'", path.string()).c_str()) != 0)
    throw Error(path.string(), "could not be compressed with gzip");
}

}  // namespace dladvisor
