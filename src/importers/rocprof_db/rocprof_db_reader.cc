// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_db/rocprof_db_reader.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace dladvisor::rocprof_db {
namespace {

using sqlite::Rows;

constexpr auto kTables = std::to_array<std::string_view>({"KERN", "OPS", "COPY", "HIP", "HSA"});
constexpr int64_t kLastDevice = 4095;

// "void f(int) [clone .kd]" with its quotation marks.
std::string_view WithoutQuotes(std::string_view name) {
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  return name;
}

// Of arguments as "( dst(0x7f) src(0x74) sizeBytes(24) kind(1) )"; 0 where they hold no size.
int64_t BytesOf(std::string_view arguments) {
  static const RE2 size(R"(\b(?:sizeBytes|size)\((\d{1,18})\))");
  int64_t bytes = 0;
  return RE2::PartialMatch(re2::StringPiece(arguments.data(), arguments.size()), size, &bytes) ? bytes : 0;
}

}  // namespace

bool IsRocprof(const sqlite::Database& database) {
  if (!database.Has("KERN")) return false;
  return Rows(database, "KERN", {"KernelName"}).HasColumn(0);
}

Reader::Reader(const sqlite::Database& db) : db_(db), rows_("rocprof", "rocprof") {}

bool Reader::HasRows(std::string_view table) const {
  Rows rows(db_, table, {"BeginNs", "EndNs"});
  return rows.HasColumn(0) && rows.HasColumn(1) && rows.Next();
}

bool Reader::HasTimes() const {
  return std::ranges::any_of(kTables, [&](std::string_view table) { return HasRows(table); });
}

Trace Reader::Read() {
  ReadCalls(HasRows("HIP") ? "HIP" : "HSA");
  ReadRanges();
  // What is traced beside calls is what ran; KERN then repeats it.
  if (HasRows("OPS"))
    ReadOperations("OPS");
  else
    ReadKernels();
  ReadOperations("COPY");
  return rows_.Finish();
}

void Reader::ReadCalls(std::string_view name) {
  enum : size_t { kBegin, kEnd, kPid, kTid, kName, kArguments, kNumber };
  Rows rows(db_, name, {"BeginNs", "EndNs", "pid", "tid", "Name", "args", "Index"});
  rocm::RocmTrace::Table& table = rows_.TableOf(std::string(name));
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kBegin), rows.Integer(kEnd))) continue;
    const int64_t pid = rows.Integer(kPid, 0), number = rows.Integer(kNumber, kNoCorrelation);
    rows_.AddCall(rows_.Thread(pid, rows.Integer(kTid, pid)), rows.Text(kName), *rows.Integer(kBegin),
                  *rows.Integer(kEnd), number);
    if (const int64_t bytes = BytesOf(rows.Text(kArguments)); bytes > 0) bytes_[{pid, number}] = bytes;
  }
}

void Reader::ReadRanges() {
  enum : size_t { kBegin, kEnd, kPid, kTid, kName };
  Rows rows(db_, "rocTX", {"BeginNs", "EndNs", "pid", "tid", "Name"});
  rocm::RocmTrace::Table& table = rows_.TableOf("rocTX");
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kBegin), rows.Integer(kEnd)) || rows.Text(kName).empty()) continue;
    const int64_t pid = rows.Integer(kPid, 0);
    const Ns begin = *rows.Integer(kBegin), end = *rows.Integer(kEnd);
    // A mark takes a nanosecond.
    rows_.AddRange(rows_.Thread(pid, rows.Integer(kTid, pid)), rows.Text(kName), "", begin, end,
                   end - begin <= 1 ? RangeKind::kMark : RangeKind::kPushPop);
  }
}

void Reader::ReadKernels() {
  enum : size_t {
    kBegin,
    kEnd,
    kName,
    kGpu,
    kQueue,
    kPid,
    kItems,
    kBlock,
    kShared,
    kScratch,
    kRegisters,
    kOlder
  };
  Rows rows(db_, "KERN",
            {"BeginNs", "EndNs", "KernelName", "gpu-id", "queue-id", "pid", "grd", "wgr", "lds", "scr",
             "arch_vgpr", "vgpr"});
  rocm::RocmTrace::Table& table = rows_.TableOf("KERN");
  const bool has_shapes = rows.HasColumn(kItems) && rows.HasColumn(kBlock);
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kBegin), rows.Integer(kEnd))) continue;
    const int64_t gpu = rows.Integer(kGpu, 0);
    if (gpu < 0 || gpu > kLastDevice) {
      ++table.skipped;
      continue;
    }
    rocm::KernelLaunch kernel{.name = WithoutQuotes(rows.Text(kName)),
                              .registers = rows.Integer(kRegisters, rows.Integer(kOlder, 0)),
                              .shared_bytes = rows.Integer(kShared, 0),
                              .local_bytes = rows.Integer(kScratch, -1)};
    if (kernel.name.empty()) kernel.name = "[unnamed]";
    if (has_shapes)
      kernel.shape = rocm::ShapeOfItems({rows.Integer(kItems, 1), 1, 1}, {rows.Integer(kBlock, 1), 1, 1});
    rows_.AddKernel({.start = *rows.Integer(kBegin),
                     .end = *rows.Integer(kEnd),
                     .pid = rows.Integer(kPid, 0),
                     .device = gpu,
                     .stream = rows.Integer(kQueue, 0)},
                    kernel);
  }
  if (table.read > table.skipped)
    rows_.trace().health.notes.push_back(
        "rocprof dispatched these kernels itself, one by one: times between them are its own in part.");
}

void Reader::ReadOperations(std::string_view name) {
  enum : size_t { kBegin, kEnd, kName, kGpu, kPid, kStream, kNumber };
  Rows rows(db_, name, {"BeginNs", "EndNs", "Name", "dev-id", "pid", "stream-id", "Index"});
  rocm::RocmTrace::Table& table = rows_.TableOf(std::string(name));
  while (rows.Next()) {
    if (!rows_.Use(table, rows.Integer(kBegin), rows.Integer(kEnd))) continue;
    const std::string_view text = WithoutQuotes(rows.Text(kName));
    const int64_t pid = rows.Integer(kPid, 0), number = rows.Integer(kNumber, kNoCorrelation);
    // Copies that HSA traced name no GPU.
    const int64_t gpu = rows.Integer(kGpu, -1);
    if (gpu < 0 || gpu > kLastDevice) {
      ++table.skipped;
      continue;
    }
    const rocm::Work work{.start = *rows.Integer(kBegin),
                          .end = *rows.Integer(kEnd),
                          .pid = pid,
                          .device = gpu,
                          .stream = rows.Integer(kStream, 0),
                          .correlation = number};
    const auto bytes = bytes_.find({pid, number});
    const int64_t of_call = bytes == bytes_.end() ? 0 : bytes->second;
    if (text == "<barrier packet>" || text == "Marker") continue;
    if (text.starts_with("FillBuffer"))
      rows_.AddSet(work, of_call);
    else if (name == "COPY" || text.starts_with("Copy"))
      rows_.AddCopy(work, rocm::DirectionOf(text), of_call);
    else
      rows_.AddKernel(work, {.name = text.empty() ? "[unnamed]" : text});
  }
}

}  // namespace dladvisor::rocprof_db
