// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/readers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "engine/rules/knowledge_base.h"
#include "engine/rules/yaml_reader.h"
#include "src/analysis/analysis.h"
#include "src/fleet/digest_file.h"
#include "src/fleet/digest_writer.h"
#include "src/fleet/load_profiles.h"
#include "src/gate/judge/policy.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"

namespace dladvisor::fuzz {
namespace {

namespace fs = std::filesystem;

// One file per process, in memory where the system has such a folder.
const fs::path& InputFile() {
  static const fs::path path = [] {
    const fs::path memory = "/dev/shm";
    const fs::path folder = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    return folder / ("dladvisor-fuzz-" + std::to_string(getpid()));
  }();
  return path;
}

// As `dladvisor report` does it: read, checked, and analysed.
void ReadTrace(const std::string& bytes) {
  {
    std::ofstream out(InputFile(), std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  try {
    const Trace trace = ReadProfile(InputFile());
    CheckTrace(trace);
    AnalysedTrace analysed(trace, {});
    analysed.ComputeDigest();
  } catch (const Error&) {
    // as it should be
  }
}

void ReadDigestBytes(const std::string& bytes) {
  try {
    SerializeDigest(ParseDigest(bytes, "input"));
  } catch (const Error&) {
  }
}

void ReadRule(const std::string& bytes) {
  try {
    KnowledgeBase knowledge = EmptyKnowledge();
    const std::array files = {RuleFile{"fuzzed/rule.yaml", bytes}};
    knowledge.AddLayer(files);
  } catch (const Error&) {
  }
}

void ReadPolicy(const std::string& bytes) {
  Problems problems;
  const auto yaml = YamlFile::Parse("dladvisor.yaml", bytes, problems);
  if (yaml) ReadGatePolicy(*yaml, yaml->root(), problems);
  problems.Reasons();
}

constexpr auto kReaders = std::to_array<Reader>({
    {"nsys", ReadTrace, true},
    {"kineto", ReadTrace, false},
    {"xla", ReadTrace, false},
    {"rocprofv3", ReadTrace, true},
    {"rocprof", ReadTrace, true},
    {"rpd", ReadTrace, true},
    {"nvprof", ReadTrace, true},
    {"rocprofv3-text", ReadTrace, false},
    {"gpu-table", ReadTrace, false},
    {"summary", ReadTrace, false},
    {"smi", ReadTrace, false},
    {"training-log", ReadTrace, false},
    {"serving-log", ReadTrace, false},
    {"program-log", ReadTrace, false},
    {"dlprof", ReadTrace, true},
    {"digest", ReadDigestBytes, true},
    {"rules", ReadRule, false},
    {"policy", ReadPolicy, false},
});

}  // namespace

std::span<const Reader> Readers() { return kReaders; }

const Reader* FindReader(std::string_view name) {
  const auto found = std::ranges::find(kReaders, name, &Reader::name);
  return found == kReaders.end() ? nullptr : &*found;
}

namespace {

bool IsSqlite(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string head(kMagic.size(), '\0');
  return std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size())) &&
         head == kMagic;
}

// The reader of a format, which may have files of both kinds.
std::string ReaderName(std::string format, bool is_database) {
  std::ranges::replace(format, ' ', '-');
  if (format == "nvidia-smi" || format == "dcgm") return "smi";
  if (is_database) return format;
  if (format == "rocprofv3") return "rocprofv3-text";
  if (format == "nvprof") return "gpu-table";
  if (format == "rocprof" || format == "timeline" || format == "span-trace") return "kineto";
  return format;
}

}  // namespace

const Reader* ReaderOf(const std::string& path) {
  if (path.ends_with("dladvisor.yaml")) return FindReader("policy");
  if (path.ends_with(".yaml")) return FindReader(path.ends_with(".test.yaml") ? "" : "rules");
  if (IsDigest(path)) return FindReader("digest");
  try {
    return FindReader(ReaderName(ReadProfile(path).format, IsSqlite(path)));
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace dladvisor::fuzz
