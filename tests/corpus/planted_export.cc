// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/planted_export.h"

#include <algorithm>
#include <list>

namespace dladvisor::test {
namespace {

constexpr int64_t kCallNs = 4 * kUs, kLatencyNs = 8 * kUs;

}  // namespace

PlantedThread::PlantedThread(example::NsysWriter& writer, int64_t pid, int64_t tid, int64_t device)
    : writer_(writer), pid_(pid), tid_(tid), device_(device), correlation_(tid * 1'000'000) {}

void PlantedThread::Call(const std::string& api, int64_t ns) {
  writer_.Add(example::ApiRow{host_, host_ + ns, pid_, tid_, ++correlation_, writer_.Intern(api)});
  host_ += ns;
}

void PlantedThread::OsCall(const std::string& name, int64_t ns) {
  writer_.Add(example::OsCallRow{host_, host_ + ns, pid_, tid_, writer_.Intern(name)});
  host_ += ns;
}

void PlantedThread::Range(const std::string& text, const std::function<void()>& content) {
  const int64_t begin = host_;
  content();
  ranges_.push_back({begin, host_, text});
}

void PlantedThread::Place(example::GpuRow& row, int64_t stream, int64_t ns) {
  int64_t& done = done_[stream];
  row.start = std::max(done, host_ - kCallNs + kLatencyNs);
  row.end = done = row.start + ns;
  row.pid = pid_;
  row.device = device_;
  row.stream = stream;
  row.correlation = correlation_;
}

void PlantedThread::Kernel(const std::string& name, int64_t ns, int64_t stream) {
  Call("cudaLaunchKernel_v7000", kCallNs);
  example::KernelRow row;
  Place(row, stream, ns);
  row.name = row.short_name = writer_.Intern(name);
  row.grid = 132 * 16;
  row.block = 128;
  writer_.Add(row);
}

void PlantedThread::Copy(example::CopyKind kind, int64_t bytes, int64_t ns, int64_t stream) {
  Call("cudaMemcpyAsync_v3020", kCallNs);
  example::CopyRow row;
  Place(row, stream, ns);
  row.bytes = bytes;
  row.kind = kind;
  if (kind == example::CopyKind::kDeviceToHost) std::swap(row.source, row.destination);
  writer_.Add(row);
}

void PlantedThread::ReadScalar() {
  int64_t idle_at = host_;
  for (const auto& [stream, done] : done_) idle_at = std::max(idle_at, done);
  example::CopyRow row;
  row.start = idle_at + kLatencyNs;
  row.end = done_[kComputeStream] = row.start + 2 * kUs;
  row.pid = pid_;
  row.device = device_;
  row.stream = kComputeStream;
  row.bytes = 4;
  row.kind = example::CopyKind::kDeviceToHost;
  row.source = example::MemoryKind::kDevice;
  row.destination = example::MemoryKind::kPageable;
  Call("cudaMemcpy_v3020", row.end + 2 * kUs - host_);
  row.correlation = correlation_;
  writer_.Add(row);
}

void PlantedThread::Allocate(int64_t bytes) {
  example::MemoryRow row;
  row.time = host_;
  row.pid = pid_;
  row.device = device_;
  row.address = 4096;
  row.bytes = bytes;
  writer_.Add(row);
}

void PlantedThread::Wait() {
  int64_t done = host_;
  for (const auto& [stream, end] : done_) done = std::max(done, end);
  const int64_t begin = host_;
  Call("cudaDeviceSynchronize_v3020", done + 2 * kUs - host_);
  example::SyncRow row;
  row.start = begin + 500;
  row.end = host_ - 500;
  row.pid = pid_;
  row.device = device_;
  row.correlation = correlation_;
  row.kind = example::SyncKind::kContext;
  writer_.Add(row);
}

void PlantedThread::Finish() {
  std::ranges::sort(ranges_, [](const Drawn& a, const Drawn& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  for (const Drawn& range : ranges_)
    writer_.Add(example::RangeRow{range.start, range.end, pid_, tid_, range.text, true});
}

void WritePlantedRun(const PlantedRun& run, const std::filesystem::path& path) {
  example::NsysSchema schema = example::DefaultNsysSchema();
  schema.tables.push_back(
      "CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
      "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId "
      "INTEGER)");
  example::NsysWriter writer(path, schema);
  example::SystemInfo system;
  system.environment = run.environment;
  writer.AddSystem(system);
  std::list<PlantedThread> threads;
  std::vector<int64_t> described;
  for (const auto& [pid, device] : run.gpus) {
    if (std::ranges::find(described, device) == described.end()) {
      described.push_back(device);
      example::GpuInfo gpu;
      gpu.device = device;
      gpu.name = "NVIDIA H100 80GB HBM3";
      gpu.memory_bytes = 85'000'000'000;
      gpu.compute_major = 9;
      gpu.sm_count = 132;
      writer.Add(gpu);
    }
    const int64_t tid = pid + device;
    writer.AddProcess(pid, "python");
    writer.AddThread(pid, tid, "python");
    threads.emplace_back(writer, pid, tid, device);
  }
  int64_t end = 0;
  for (PlantedThread& thread : threads) {
    thread.Allocate(run.memory_bytes);
    for (int step = 0; step < run.steps; ++step)
      thread.Range("iteration " + std::to_string(step), [&] {
        run.first(thread, step);
        run.kernels(thread, step);
        run.last(thread, step);
        thread.Wait();
      });
    thread.Finish();
    end = std::max(end, thread.host());
  }
  writer.Finish(end + kMs);
}

}  // namespace dladvisor::test
