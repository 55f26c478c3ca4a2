// SPDX-License-Identifier: Apache-2.0
// Traces of rocprofv3 for Perfetto, packet by packet.
#include "src/importers/rocprof_pftrace/rocprof_pftrace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::HasSubstr;

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7f) | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string Field(uint64_t field, uint64_t value) { return Varint(field << 3) + Varint(value); }
std::string Field(uint64_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

class PftraceWriter {
 public:
  using Value = std::variant<int64_t, std::string>;
  using Annotations = std::vector<std::pair<std::string, Value>>;

  PftraceWriter() {
    const std::string config = Field(1, Field(1, std::string("track_event")));
    file_ += Field(1, Field(10, 1) + Field(33, config));
    file_ += Field(1, Field(10, 2) + Field(13, 1) + Field(60, Field(1, 77) + Field(3, Field(1, 908))));
  }
  // A slice, its names in full the first time and by number from then on.
  void Slice(const std::string& category, const std::string& name, int64_t begin, int64_t end,
             const Annotations& more = {}) {
    std::string interned;
    std::string event = Field(9, 1) + Field(3, Number(1, category, interned)) + Field(11, 77) +
                        Field(10, Number(2, name, interned));
    Annotations all = {{"begin_ns", begin}, {"end_ns", end}};
    all.insert(all.end(), more.begin(), more.end());
    for (const auto& [key, value] : all) {
      const auto* number = std::get_if<int64_t>(&value);
      event += Field(4, Field(1, Number(3, key, interned)) + (number != nullptr
                                                                  ? Field(3, static_cast<uint64_t>(*number))
                                                                  : Field(6, std::get<std::string>(value))));
    }
    std::string packet = Field(8, static_cast<uint64_t>(begin)) + Field(10, 2) + Field(11, event);
    if (!interned.empty()) packet += Field(12, interned);
    file_ += Field(1, packet);
    file_ += Field(
        1, Field(8, static_cast<uint64_t>(end)) + Field(10, 2) + Field(11, Field(9, 2) + Field(11, 77)));
  }
  const std::string& file() const { return file_; }

 private:
  uint64_t Number(uint64_t kind, const std::string& text, std::string& interned) {
    std::map<std::string, uint64_t>& known = known_[kind];
    const auto [entry, is_new] = known.emplace(text, known.size() + 1);
    if (is_new) interned += Field(kind, Field(1, entry->second) + Field(2, text));
    return entry->second;
  }

  std::string file_;
  std::map<uint64_t, std::map<std::string, uint64_t>> known_;
};

class RocprofPftrace : public testing::Test {
 protected:
  Trace Read(const std::string& bytes) {
    const auto file = dir_.path() / (std::to_string(++files_) + "_results.pftrace");
    test::WriteFile(file, bytes);
    Trace trace = ReadProfile(file);
    EXPECT_THAT(CheckTrace(trace), testing::IsEmpty());
    return trace;
  }
  static PftraceWriter OneRound() {
    PftraceWriter w;
    w.Slice("hsa_api", "hsa_signal_load_relaxed", 1001, 1002, {{"tid", 909}, {"corr_id", 4}});
    w.Slice("hip_api", "hipLaunchKernel", 1000, 1010, {{"tid", 909}, {"corr_id", 3}});
    w.Slice("marker_api", "step 5", 990, 1300, {{"tid", 909}, {"corr_id", 5}});
    w.Slice("kernel_dispatch", "scale(float*) [clone .kd]", 1020, 1090,
            {{"agent", std::string("Agent-4")},
             {"agent_type", std::string("GPU")},
             {"corr_id", 3},
             {"queue", 1},
             {"stream_ID", 2},
             {"VGPR_Count", 12},
             {"LDS_Block_Size", 64},
             {"workgroup_size", 128},
             {"grid_size", 1000}});
    w.Slice("memory_copy", "MEMORY_COPY_HOST_TO_DEVICE", 1100, 1200,
            {{"src_agent", 0}, {"dst_agent", 4}, {"copy_bytes", 4096}, {"corr_id", 9}, {"tid", 909}});
    return w;
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(RocprofPftrace, KernelIsOfTheCallThatLaunchesIt) {
  const Trace t = Read(OneRound().file());
  EXPECT_EQ(t.format, "rocprofv3");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "scale(float*)");
  EXPECT_EQ(t.kernels.end[0] - t.kernels.start[0], 70);
  EXPECT_EQ(t.kernels.grid[0], 8);
  EXPECT_EQ(t.kernels.block[0], 128);
  EXPECT_EQ(t.kernels.stream[0], 2);
  ASSERT_EQ(t.api_calls.size(), 1u) << "calls of HSA are within those of HIP";
  EXPECT_EQ(t.names.View(t.api_calls.name[0]), "hipLaunchKernel");
  EXPECT_EQ(t.kernels.correlation[0], t.api_calls.correlation[0]);
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "step 5");
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 4096);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.devices.size(), 1u);
}

TEST_F(RocprofPftrace, ReadsWhatComesBeforeAnEarlyEnd) {
  const std::string file = OneRound().file();
  const Trace t = Read(file.substr(0, file.size() - 3));
  EXPECT_TRUE(t.health.truncated);
  EXPECT_EQ(t.kernels.size(), 1u);
  for (size_t size = 30; size < file.size(); size += 7) {
    const auto cut = dir_.path() / "cut.pftrace";
    test::WriteFile(cut, file.substr(0, size));
    try {
      EXPECT_THAT(CheckTrace(ReadProfile(cut)), testing::IsEmpty()) << size;
    } catch (const Error&) {  // too little of it
    }
  }
}

TEST_F(RocprofPftrace, RefusesTracesOfOthers) {
  PftraceWriter w;
  w.Slice("sched", "swapper", 10, 20);
  const auto file = dir_.path() / "phone.pftrace";
  test::WriteFile(file, w.file());
  try {
    ReadProfile(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.reason(), HasSubstr("Perfetto"));
    EXPECT_THAT(error.hint(), HasSubstr("rocprofv3"));
  }
}

}  // namespace
}  // namespace dladvisor
