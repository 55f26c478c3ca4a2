// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/generation_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestRow = 1024, kMostTests = 10'000, kMostColumns = 100;
constexpr double kMostOfRate = 1e9, kMostBytes = 1e15;

std::vector<std::string> CellsOfRow(std::string_view line) {
  std::vector<std::string> cells;
  line = Trim(line);
  if (line.size() < 3 || line.front() != '|' || line.back() != '|') return cells;
  line.remove_prefix(1);
  while (!line.empty() && cells.size() < kMostColumns) {
    const size_t end = line.find('|');
    cells.emplace_back(Trim(line.substr(0, end)));
    line.remove_prefix(std::min(line.size(), end + 1));
  }
  return cells;
}

// "3.56 GiB".
double BytesOf(const std::string& text) {
  static const RE2 form(R"((\d{1,9}(?:\.\d+)?) ([KMGT])iB)");
  double number = 0;
  std::string unit;
  if (!RE2::FullMatch(text, form, &number, &unit)) return 0;
  return number * std::pow(1024.0, 1 + static_cast<double>(std::string_view("KMGT").find(unit[0])));
}

// "pp512", "tg128 @ d4096", "pp512+tg128".
bool TakeTest(const std::string& text, GenerationTest& test) {
  static const RE2 form(R"((?:pp(\d{1,9}))?\+?(?:tg(\d{1,9}))?(?: @ d\d{1,9})?(?: \(?c\d{1,6}\)?)?)");
  std::string prompt, generated;
  if (!RE2::FullMatch(text, form, &prompt, &generated) || (prompt.empty() && generated.empty())) return false;
  test.test = text;
  test.prompt_tokens = std::atoll(prompt.c_str());
  test.generated_tokens = std::atoll(generated.c_str());
  return true;
}

bool IsUsable(const GenerationTest& test) {
  return std::isfinite(test.tokens_per_s) && test.tokens_per_s > 0 && test.tokens_per_s < kMostOfRate &&
         test.model_bytes >= 0 && test.model_bytes < kMostBytes &&
         (test.prompt_tokens > 0 || test.generated_tokens > 0);
}

// The arguments that change how fast it is, by the names of JSON and CSV and those of the table.
struct Argument {
  std::string_view json, table;
};
constexpr auto kArguments = std::to_array<Argument>({{"n_gpu_layers", "ngl"},
                                                     {"n_cpu_moe", "n_cpu_moe"},
                                                     {"flash_attn", "fa"},
                                                     {"n_threads", "threads"},
                                                     {"n_batch", "n_batch"},
                                                     {"n_ubatch", "n_ubatch"},
                                                     {"type_k", "type_k"},
                                                     {"type_v", "type_v"},
                                                     {"split_mode", "sm"},
                                                     {"no_kv_offload", "nkvo"},
                                                     {"use_mmap", "mmap"}});

using Record = std::map<std::string, std::string, std::less<>>;

std::optional<GenerationTest> TestOf(const Record& record) {
  const auto text = [&](std::string_view name) {
    const auto found = record.find(name);
    return found == record.end() ? std::string() : found->second;
  };
  GenerationTest test;
  test.tokens_per_s = std::strtod(text("avg_ts").c_str(), nullptr);
  const auto tokens = [&](std::string_view name) {
    const double number = std::strtod(text(name).c_str(), nullptr);
    return number > 0 && number < 1e9 ? static_cast<int64_t>(number) : 0;
  };
  test.prompt_tokens = tokens("n_prompt");
  test.generated_tokens = tokens("n_gen");
  if (test.prompt_tokens > 0) test.test = fmt::format("pp{}", test.prompt_tokens);
  if (test.generated_tokens > 0)
    test.test += fmt::format("{}tg{}", test.test.empty() ? "" : "+", test.generated_tokens);
  if (const int64_t depth = tokens("n_depth"); depth > 0) test.test += fmt::format(" @ d{}", depth);
  test.model = text("model_type");
  test.model_bytes = std::strtod(text("model_size").c_str(), nullptr);
  test.backend = text("backends");
  if (test.backend.empty())
    for (const auto& [name, backend] : {std::pair{"cuda", "CUDA"}, {"metal", "Metal"}, {"vulkan", "Vulkan"}})
      if (text(name) == "1" || text(name) == "true") test.backend = backend;
  test.gpu = text("gpu_info");
  if (test.gpu.find(", ") != std::string::npos) test.gpu.clear();
  for (const Argument& argument : kArguments)
    if (const std::string value = text(argument.json); !value.empty())
      test.settings += fmt::format("{}{}={}", test.settings.empty() ? "" : ", ", argument.table, value);
  return IsUsable(test) ? std::optional(std::move(test)) : std::nullopt;
}

// What all have alike tells nothing of them.
void KeepWhatDiffers(std::vector<GenerationTest>& tests) {
  std::vector<std::vector<std::string>> all;
  for (const GenerationTest& test : tests) {
    std::vector<std::string>& parts = all.emplace_back();
    for (std::string_view rest = test.settings; !rest.empty();) {
      const size_t end = rest.find(", ");
      parts.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 2);
    }
  }
  for (size_t i = 0; i < tests.size(); ++i) {
    std::string kept;
    for (const std::string& part : all[i]) {
      const bool alike = std::ranges::all_of(
          all, [&](const auto& parts) { return std::ranges::find(parts, part) != parts.end(); });
      if (!alike) kept += (kept.empty() ? "" : ", ") + part;
    }
    tests[i].settings = std::move(kept);
  }
}

Record RecordOf(const nlohmann::json& object) {
  Record record;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) record.emplace(name, value.get<std::string>().substr(0, kLongestRow));
    if (value.is_number() || value.is_boolean()) record.emplace(name, value.dump());
  }
  return record;
}

// Each cell is quoted, and a quote within one doubled.
std::vector<std::string> CellsOfCsv(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted && cells.size() < kMostColumns)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

}  // namespace

bool GenerationLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestRow) return false;
  TakeDevice(line);
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '|') {
    names_.clear();
    return false;
  }
  const std::vector<std::string> cells = CellsOfRow(line);
  if (cells.size() >= 3 && cells[0] == "model" && std::ranges::count(cells, "test") == 1 &&
      std::ranges::count(cells, "t/s") == 1) {
    names_ = cells;
    return true;
  }
  if (names_.empty()) return false;
  static const RE2 rule(R"([\s|:-]+)");
  return RE2::FullMatch(re2::StringPiece(line.data(), line.size()), rule) || TakeRow(cells);
}

// "  Device 0: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes", "ggml_vulkan: 0 = AMD Radeon RX
// 7900 XTX (RADV NAVI31) (radv) | uma: 0 | ...", "ggml_metal_init: GPU name:   Apple M2".
void GenerationLinesReader::TakeDevice(std::string_view line) {
  static const RE2 device(
      R"(^\s*Device (\d+): ([^,]+), (?:compute capability|gfx|CC )|^ggml_vulkan: (\d+) = (.+?) \(.*\| uma:|GPU name: +(\S.*?)\s*$)");
  if (line.find("Device ") == line.npos && !line.starts_with("ggml_")) return;
  std::string number, name, vulkan_number, vulkan_name, metal;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), device, &number, &name, &vulkan_number,
                         &vulkan_name, &metal))
    return;
  several_ = number + vulkan_number != "0" && metal.empty();
  gpu_ = several_ ? "" : name + vulkan_name + metal;
}

bool GenerationLinesReader::TakeRow(const std::vector<std::string>& cells) {
  if (cells.size() != names_.size() || tests_.size() >= kMostTests) return false;
  GenerationTest test;
  bool named = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& name = names_[i];
    if (name == "model")
      test.model = cells[i];
    else if (name == "size")
      test.model_bytes = BytesOf(cells[i]);
    else if (name == "backend")
      test.backend = cells[i];
    else if (name == "test")
      named = TakeTest(cells[i], test);
    else if (name == "t/s")
      test.tokens_per_s = std::strtod(cells[i].c_str(), nullptr);
    else if (name != "params" && name.find("t/s") == name.npos && name.find("(ms)") == name.npos)
      test.settings += fmt::format("{}{}={}", test.settings.empty() ? "" : ", ", name, cells[i]);
  }
  test.gpu = gpu_;
  if (!named || !IsUsable(test)) return false;
  tests_.push_back(std::move(test));
  return true;
}

std::vector<GenerationTest> GenerationLinesReader::Finish() const {
  std::vector<GenerationTest> tests = tests_;
  KeepWhatDiffers(tests);
  return tests;
}

bool LooksLikeGenerationJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && (head[first] == '[' || head[first] == '{') &&
         head.find("\"build_commit\"") != head.npos && head.find("\"n_gen\"") != head.npos &&
         head.find("\"model_type\"") != head.npos;
}

bool LooksLikeGenerationCsv(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.starts_with("build_commit,") && line.find(",n_gen,") != line.npos &&
         line.find("avg_ts") != line.npos;
}

std::vector<GenerationTest> GenerationsOfJson(std::string_view text) {
  std::vector<GenerationTest> tests;
  const auto take = [&](const nlohmann::json& object) {
    if (!object.is_object() || tests.size() >= kMostTests) return;
    if (auto test = TestOf(RecordOf(object))) tests.push_back(std::move(*test));
  };
  const auto whole = nlohmann::json::parse(PlainJson(text), nullptr, false);
  if (whole.is_array()) {
    for (const auto& object : whole) take(object);
  } else if (whole.is_object()) {
    take(whole);
  } else {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      take(nlohmann::json::parse(PlainJson(line), nullptr, false));
    }
  }
  KeepWhatDiffers(tests);
  return tests;
}

std::vector<GenerationTest> GenerationsOfCsv(std::string_view text) {
  std::vector<GenerationTest> tests;
  std::vector<std::string> names;
  while (!text.empty() && tests.size() < kMostTests) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::vector<std::string> cells = CellsOfCsv(line);
    if (line.starts_with("build_commit,")) {
      names = cells;
      continue;
    }
    if (cells.size() != names.size()) continue;
    Record record;
    for (size_t i = 0; i < cells.size(); ++i) record.emplace(names[i], cells[i]);
    if (auto test = TestOf(record)) tests.push_back(std::move(*test));
  }
  KeepWhatDiffers(tests);
  return tests;
}

}  // namespace dladvisor::benchmark_log
