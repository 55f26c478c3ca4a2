// SPDX-License-Identifier: Apache-2.0
#include "src/importers/other_format.h"

#include <algorithm>
#include <array>
#include <string>

namespace dladvisor {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kRecordWithNsys =
    "record the program with Nsight Systems (nsys profile --trace=cuda,nvtx -o run PROGRAM) and give "
    "run.nsys-rep, or its export: nsys export --type sqlite run.nsys-rep";
constexpr std::string_view kExportAsSqlite =
    "export the report of Nsight Systems as SQLite: nsys export --type sqlite REPORT.nsys-rep";

// Known by these bytes within the first so many.
struct Sign {
  std::string_view bytes;
  size_t within;
  OtherFormat format;
};

constexpr OtherFormat kXla = {
    "a profile of XLA, as JAX and TensorFlow write (.xplane.pb)",
    "give the .trace.json.gz that JAX writes beside it, or, on NVIDIA GPUs, record the program with Nsight "
    "Systems (nsys profile --trace=cuda,nvtx -o run PROGRAM) and give run.nsys-rep; of a TPU, read it with "
    "XProf (pip install xprof; xprof LOGDIR)"};
constexpr OtherFormat kPickle = {"a Python pickle, as PyTorch writes snapshots of its memory",
                                 "record memory in a trace: torch.profiler.profile(profile_memory=True), "
                                 "then export_chrome_trace('trace.json')"};
constexpr OtherFormat kPrometheus = {
    "an answer of Prometheus in JSON",
    "give the metrics as their exporter prints them (curl HOST:9400/metrics >> gpus.prom, every second, of "
    "DCGM's), or a log of dcgmi dmon -e 203,155,252 -d 1000"};
constexpr OtherFormat kRocprof = {"a table of rocprofv3 without times of kernels or calls",
                                  "record these: rocprofv3 --kernel-trace --memory-copy-trace "
                                  "--hip-runtime-trace --marker-trace -- PROGRAM"};
constexpr OtherFormat kExecutionTrace = {
    "an execution trace of PyTorch (operators and tensors, no times of GPUs)",
    "give the trace that torch.profiler wrote beside it (export_chrome_trace('trace.json'))"};
constexpr OtherFormat kSpeedscope = {
    "a profile of speedscope, as py-spy writes it, with samples of the host and nothing of a GPU",
    kRecordWithNsys};
// Of XLA: an XSpace begins with its first plane, which mostly is a host or a device, by its number or name
// (tsl/profiler/protobuf/xplane.proto).
constexpr auto kSigns = std::to_array<Sign>({
    {"/host:", 32, kXla},
    {"/device:", 32, kXla},
    {"\x80\x03", 2, kPickle},
    {"\x80\x04", 2, kPickle},
    {"\x80\x05", 2, kPickle},
    {R"("resultType":"matrix")", 80, kPrometheus},
    {R"("resultType": "matrix")", 120, kPrometheus},
    {R"("resultType":"vector")", 80, kPrometheus},
    {R"("resultType": "vector")", 120, kPrometheus},
    {"https://www.speedscope.app/file-format-schema.json", 200, kSpeedscope},
    {R"("Counter_Name")", 400, kRocprof},
    {R"("Sample_Timestamp")", 40, kRocprof},
    {R"("Alloc_Flags")", 100, kRocprof},
    {"[pytorch|profiler|execution_trace|", 400, kExecutionTrace},
    {"NVR\0"sv,
     4,
     {"a report of Nsight Compute in a form that only it reads",
      "give it as text: ncu --import FILE --page details > run.txt"}},
    {"\0ustar"sv,
     263,
     {"a tar archive",
      "unpack it (tar xf FILE) and give what it holds; traces of all ranks together: dladvisor "
      "report FOLDER"}},
    {"PK\x03\x04",
     4,
     {"a ZIP archive",
      "unpack it (unzip FILE) and give what it holds; traces of all ranks together: dladvisor "
      "report FOLDER"}},
    {"PAR1", 4, {"a Parquet file", kExportAsSqlite}},
    {"ARROW1", 6, {"an Arrow file", kExportAsSqlite}},
    {"\x89HDF", 4, {"an HDF5 file", kExportAsSqlite}},
    {"version https://git-lfs.github.com/spec/",
     40,
     {"a pointer of Git LFS in place of the file", "fetch the file itself: git lfs pull"}},
    {"<session version=",
     80,
     {"the settings of a session of NVIDIA's Visual Profiler, without its times",
      "give what nvprof recorded (nvprof -o run.nvprof PROGRAM), or record the program with Nsight Systems "
      "(nsys profile --trace=cuda,nvtx -o run PROGRAM)"}},
    {"brain.Event:", 64, {"a log of TensorBoard, which holds no times of GPUs", kRecordWithNsys}},
});

bool Shows(const Input& input, const Sign& sign) {
  const std::string_view head = input.head();
  if (sign.format.what == kXla.what && (!head.starts_with('\n') || input.IsText())) return false;
  return head.substr(0, sign.within).find(sign.bytes) != std::string_view::npos;
}

}  // namespace

std::optional<OtherFormat> FindOtherFormat(const Input& input) {
  if (input.database() != nullptr) return std::nullopt;
  for (const Sign& sign : kSigns)
    if (Shows(input, sign)) return sign.format;
  return std::nullopt;
}

}  // namespace dladvisor
