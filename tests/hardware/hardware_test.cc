// SPDX-License-Identifier: Apache-2.0
#include "src/hardware/hardware.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "src/hardware/hardware_reader.h"
#include "src/hardware/table/built_in_hardware.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Reading {
  Hardware hardware;
  std::vector<std::string> problems;
};

Reading Read(const std::string& text) {
  Problems problems;
  Reading reading;
  if (const auto yaml = YamlFile::Parse("table.yaml", text, problems))
    reading.hardware = ReadHardware(*yaml, yaml->root(), BuiltInHardware(), problems);
  reading.problems = problems.Lines();
  return reading;
}

// The rows of the table as they are written, each with its indentation.
std::vector<std::string> WrittenRows() {
  const std::string text = test::ReadFile(test::SourceDir() / "rules/hardware.yaml");
  const std::string begin = "  - model:";
  std::vector<std::string> rows;
  for (size_t at = text.find(begin); at != std::string::npos;) {
    const size_t next = text.find(begin, at + 1);
    rows.push_back(text.substr(at, next == std::string::npos ? next : next - at));
    at = next;
  }
  return rows;
}

// A row with each number of a line doubled, as datasheets do by stating peaks with sparsity.
std::string Doubled(const std::string& row, const std::string& key) {
  const size_t begin = row.find("\n    " + key), end = row.find('\n', begin + 1);
  std::string line = row.substr(begin, end - begin), doubled;
  const std::regex number(R"(: ([0-9.]+))");
  auto from = line.cbegin();
  for (std::sregex_iterator it(line.begin(), line.end(), number), last; it != last; ++it) {
    doubled.append(from, line.cbegin() + it->position());
    doubled += fmt::format(": {}", 2 * std::stod((*it)[1]));
    from = line.cbegin() + it->position() + it->length();
  }
  doubled.append(from, line.cend());
  return row.substr(0, begin) + doubled + row.substr(end);
}

const GpuModel* Find(const std::string& name, std::optional<int64_t> multiprocessors = std::nullopt,
                     std::optional<int64_t> memory = std::nullopt) {
  return FindModel(BuiltInHardware(), {name, multiprocessors, memory});
}

TEST(Hardware, EveryPeakFollowsFromItsChip) {
  ASSERT_GT(BuiltInHardware().models.size(), 60U);
  for (const GpuModel& model : BuiltInHardware().models) {
    const Architecture* architecture = BuiltInHardware().FindArchitecture(model.architecture);
    ASSERT_NE(architecture, nullptr) << model.model;
    for (const Rate& peak : model.peaks) {
      const auto derived = DerivePeak(*architecture, model, peak.precision, peak.unit);
      ASSERT_TRUE(derived.has_value()) << model.model << " " << PrecisionName(peak.precision);
      EXPECT_NEAR(peak.value / *derived, 1, kPeakTolerance)
          << model.model << " " << ComputeUnitName(peak.unit) << " " << PrecisionName(peak.precision);
    }
  }
}

TEST(Hardware, EveryRowHasEveryPrecisionOfItsChip) {
  for (const GpuModel& model : BuiltInHardware().models)
    for (const Rate& rate : BuiltInHardware().FindArchitecture(model.architecture)->rates) {
      const bool is_cut = model.model == "H800 SXM5" && rate.precision == Precision::kFp64;
      EXPECT_NE(FindRate(model.peaks, rate.precision, rate.unit).has_value(), is_cut)
          << model.model << " " << ComputeUnitName(rate.unit) << " " << PrecisionName(rate.precision);
    }
}

// Boards of one name with memory of several kinds.
bool HasMemoryOfSeveralKinds(const GpuModel& model) {
  return model.model == "GeForce RTX 3060 Ti" || model.model == "H100 SXM5 96 GB";
}

TEST(Hardware, EveryRowHasASourceMemoryAndANameOfItsOwn) {
  for (const GpuModel& model : BuiltInHardware().models) {
    EXPECT_FALSE(model.source.empty()) << model.model;
    EXPECT_TRUE(model.memory_bytes) << model.model;
    EXPECT_NE(model.memory_bytes_per_s.has_value(), HasMemoryOfSeveralKinds(model)) << model.model;
    EXPECT_EQ(model.achievable.empty() && !model.achievable_memory_bytes_per_s,
              model.achievable_source.empty())
        << model.model;
    for (const std::string& name : model.names) EXPECT_EQ(Find(name), &model) << name;
    for (const std::string& name : model.shared_names)
      EXPECT_EQ(Find(name, model.multiprocessors, static_cast<int64_t>(*model.memory_bytes)), &model) << name;
  }
  for (const Architecture& architecture : BuiltInHardware().architectures)
    EXPECT_FALSE(architecture.source.empty()) << architecture.name;
}

// What somebody can look a figure up in: a document by its kind, or an address.
TEST(Hardware, EverySourceNamesADocument) {
  const std::regex document(
      "datasheet|whitepaper|brochure|[Pp]rogramming Guide|technical brief|hardware overview|https://");
  for (const GpuModel& model : BuiltInHardware().models) {
    EXPECT_TRUE(std::regex_search(model.source, document)) << model.model << ": " << model.source;
    if (!model.achievable_source.empty()) {
      EXPECT_THAT(model.achievable_source, HasSubstr("https://")) << model.model;
    }
  }
  for (const Architecture& architecture : BuiltInHardware().architectures)
    EXPECT_TRUE(std::regex_search(architecture.source, document))
        << architecture.name << ": " << architecture.source;
}

// A bandwidth of another board or of several shows here: what was measured lies below, but not far below.
TEST(Hardware, MeasuredBandwidthIsMostOfThePeak) {
  for (const GpuModel& model : BuiltInHardware().models) {
    if (!model.achievable_memory_bytes_per_s) continue;
    EXPECT_LE(*model.achievable_memory_bytes_per_s, *model.memory_bytes_per_s) << model.model;
    EXPECT_GE(*model.achievable_memory_bytes_per_s, 0.75 * *model.memory_bytes_per_s) << model.model;
  }
}

TEST(Hardware, NoRowPassesWithFiguresOfSparsity) {
  const std::vector<std::string> rows = WrittenRows();
  ASSERT_EQ(rows.size(), BuiltInHardware().models.size());
  size_t with_matrix_units = 0;
  for (const std::string& row : rows) {
    EXPECT_THAT(Read("gpus:\n" + row).problems, IsEmpty());
    if (row.find("\n    matrix_tflops:") == std::string::npos) continue;
    ++with_matrix_units;
    const Reading reading = Read("gpus:\n" + Doubled(row, "matrix_tflops"));
    EXPECT_THAT(reading.problems, Each(HasSubstr("it may be the figure with sparsity: give the dense one")));
    const Rates& peaks = reading.hardware.models.at(0).peaks;
    EXPECT_EQ(reading.problems.size(), std::ranges::count(peaks, ComputeUnit::kMatrix, &Rate::unit)) << row;
  }
  EXPECT_GT(with_matrix_units, 60U);
}

TEST(Hardware, PeaksAreThoseOfTheModelAndNotOfItsFamily) {
  const auto bf16 = [](const std::string& name) {
    const GpuModel* model = Find(name);
    return model == nullptr ? 0 : *FindRate(model->peaks, Precision::kBf16, ComputeUnit::kMatrix) / 1e12;
  };
  EXPECT_NEAR(bf16("NVIDIA H100 80GB HBM3"), 989, 1);
  EXPECT_NEAR(bf16("NVIDIA H100 PCIe"), 756, 1);
  EXPECT_NEAR(bf16("NVIDIA H100 NVL"), 835, 1);
  EXPECT_NEAR(bf16("NVIDIA B200"), 2250, 1);
  EXPECT_NEAR(bf16("NVIDIA GB200"), 2500, 1);
  EXPECT_NEAR(bf16("NVIDIA GeForce RTX 3090"), 71, 1);
  EXPECT_NEAR(bf16("NVIDIA GeForce RTX 4090"), 165, 1);
  EXPECT_NEAR(bf16("NVIDIA GeForce RTX 5090"), 209.5, 1);
  EXPECT_NEAR(bf16("NVIDIA RTX A6000"), 154.8, 1);
  EXPECT_NEAR(bf16("NVIDIA L4"), 121, 1);
  EXPECT_NEAR(bf16("NVIDIA A10"), 125, 1);
  EXPECT_NEAR(bf16("NVIDIA A10G"), 70, 1);
  EXPECT_NEAR(bf16("AMD Instinct MI300X"), 1307, 1);
  EXPECT_DOUBLE_EQ(*Find("NVIDIA L4")->memory_bytes_per_s, 300e9);
  EXPECT_DOUBLE_EQ(*Find("NVIDIA B200")->memory_bytes_per_s, 7700e9);
  EXPECT_DOUBLE_EQ(*Find("NVIDIA GB200")->memory_bytes_per_s, 8000e9);
}

TEST(Hardware, ANameIsFoundWholeWhateverItsCaseAndVendor) {
  EXPECT_EQ(Find("geforce rtx 3080 ti")->model, "GeForce RTX 3080 Ti");
  EXPECT_EQ(Find("A100-SXM4-40GB")->model, "A100 SXM4 40 GB");
  EXPECT_EQ(Find("NVIDIA A100-SXM4-40GB MIG 1g.5gb")->model, "A100 SXM4 40 GB");
  for (const char* unknown :
       {"", "NVIDIA", "GPU", "NVIDIA GeForce RTX 3080 Laptop GPU", "NVIDIA GeForce RTX 4060 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D", "NVIDIA L20"})
    EXPECT_EQ(Find(unknown), nullptr) << unknown;
}

TEST(Hardware, ASharedNameIsDecidedByMultiprocessorsAndMemory) {
  const char* name = "NVIDIA GeForce RTX 3080";
  EXPECT_EQ(Find(name, 68, int64_t{10} << 30)->model, "GeForce RTX 3080 10 GB");
  EXPECT_EQ(Find(name, 70, int64_t{12} << 30)->model, "GeForce RTX 3080 12 GB");
  EXPECT_EQ(Find(name, 60, int64_t{10} << 30), nullptr);
  EXPECT_EQ(Find(name), nullptr);
  EXPECT_EQ(Find("NVIDIA H100", 132, int64_t{95} << 30)->model, "H100 SXM5 96 GB");
  EXPECT_EQ(Find("Tesla V100-SXM2...", {}, int64_t{32510} << 20)->model, "Tesla V100 SXM2 32 GB");
  EXPECT_EQ(Find("Tesla V100-SXM2..."), nullptr);
  EXPECT_EQ(Find("NVIDIA H100", 114, int64_t{80} << 30), nullptr);
  EXPECT_EQ(Find("gfx942", 304, 206141652992)->model, "Instinct MI300X");
  EXPECT_EQ(Find("gfx942", 304, int64_t{256} << 30)->model, "Instinct MI325X");
  EXPECT_EQ(Find("gfx942", 304), nullptr) << "two models";
  EXPECT_EQ(Find("AMD Radeon Graphics", 104, 68702699520)->model, "Instinct MI210, or one die of an MI250");
}

TEST(HardwareReader, DerivesPeaksThatARowLeavesOut) {
  const Reading reading = Read(R"(gpus:
  - model: Half
    names: [NVIDIA Half]
    architecture: sm80
    multiprocessors: 54
    boost_clock_mhz: 1000
    source: our lab
)");
  EXPECT_THAT(reading.problems, IsEmpty());
  ASSERT_EQ(reading.hardware.models.size(), 1U);
  EXPECT_DOUBLE_EQ(*FindRate(reading.hardware.models[0].peaks, Precision::kBf16, ComputeUnit::kMatrix),
                   54 * 1e9 * 2048);
}

TEST(HardwareReader, SaysWhatAGpuWithoutANameIs) {
  EXPECT_EQ(Find(""), nullptr);
  for (const char* text : {"unnamed: Instinct MI300X\n", "unnamed: AMD Instinct MI300X\n"}) {
    const Reading reading = Read(text);
    EXPECT_THAT(reading.problems, IsEmpty());
    const GpuModel* model = FindModel(reading.hardware, {});
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(model->model, "Instinct MI300X");
    EXPECT_EQ(FindModel(reading.hardware, {.name = "NVIDIA L4", .multiprocessors = {}, .memory_bytes = {}}),
              nullptr);
  }
  EXPECT_EQ(Read("gpus:\n  - {model: A, names: [B], source: s}\nunnamed: A\n").hardware.unnamed->model, "A");
  EXPECT_THAT(Read("unnamed: Instinct MI3000X\n").problems,
              ElementsAre(HasSubstr(
                  "table.yaml:1:10: no GPU model 'Instinct MI3000X' (did you mean Instinct MI300X?)")));
}

TEST(HardwareReader, SaysWhereAndWhatToDo) {
  EXPECT_THAT(
      Read("gpus:\n  - {model: A, names: [A], architecture: sm80, multiprocessors: 108, boost_clock_mhz: "
           "1410,\n     matrix_tflops: {bf16: 624}, source: s}\n")
          .problems,
      ElementsAre("table.yaml:3:28: A: bf16 of 624 TFLOP/s is 2.00 times the 311.9 that 108 "
                  "multiprocessors of sm80 give; it may be the figure with sparsity: give the dense one"));
  EXPECT_THAT(
      Read("gpus:\n  - {model: A, names: [A], architecture: sm80, multiprocessors: 108, boost_clock_mhz: "
           "1410,\n     matrix_tflops: {bf16: 200}, source: s}\n")
          .problems,
      ElementsAre(HasSubstr("correct it, the multiprocessors or the clock")));
  EXPECT_THAT(
      Read("gpus:\n  - {model: A, names: [A], architecture: sm8, multiprocessors: 1, boost_clock_mhz: 1, "
           "source: s}\n")
          .problems,
      ElementsAre(HasSubstr("table.yaml:2:42: no architecture 'sm8' (did you mean sm80?); known: sm60,")));
  EXPECT_THAT(Read("gpus:\n  - {model: A, names: [A], bandwidth: 3}\n").problems,
              ElementsAre("table.yaml:2:5: a GPU model lacks 'source'",
                          HasSubstr("table.yaml:2:28: a GPU model has no key 'bandwidth'")));
  EXPECT_THAT(Read("gpus:\n  - {model: A, source: s, matrix_tflops: {half: 3}}\n").problems,
              ElementsAre("table.yaml:2:5: A lacks 'names', as profilers print them",
                          HasSubstr("table.yaml:2:43: no precision 'half'")));
  EXPECT_THAT(Read("gpus:\n  - {model: A, names: [A], source: s, memory_gib: none}\n").problems,
              ElementsAre("table.yaml:2:51: 'memory_gib' must be a number above 0"));
  EXPECT_THAT(
      Read("gpus:\n  - {model: A, names: [A], source: s}\n  - {model: B, names: [A], source: s}\n").problems,
      ElementsAre("table.yaml:3:24: 'A' names another model, too: list it under shared_names of both"));
  EXPECT_THAT(Read("gpus: {A: 1}\n").problems,
              ElementsAre("table.yaml:1:7: 'gpus' must be a list of GPU models"));
  EXPECT_THAT(Read("gpus:\n  - {model: A, names: [A], source: s, matrix_tflops: {bf16: 100}, achievable: "
                   "{matrix_tflops: {bf16: 120}, source: s}}\n")
                  .problems,
              ElementsAre(HasSubstr("achievable matrix bf16 is above the peak")));
}

}  // namespace
}  // namespace dladvisor
