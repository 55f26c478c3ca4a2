// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/bandwidth_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/trim.h"
#include "src/importers/bytes/plain_json.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestBandwidthLine = 2048, kMostBandwidths = 200;
constexpr double kMega = 1e-3, kGibi = 1.073741824, kMebi = kGibi / 1024, kGigabit = 0.125, kKilo = 1e-6;
constexpr std::string_view kNvbandwidth = "nvbandwidth";

// In GB/s.
double BandwidthScale(std::string_view prefix, bool binary) {
  if (prefix == "G") return binary ? kGibi : 1;
  return binary ? kMebi : kMega;
}

}  // namespace

void AddBandwidth(std::vector<ProgramFigure>& figures, const std::string& name, double gigabytes_per_s) {
  if (gigabytes_per_s <= 0) return;
  auto found = std::ranges::find(figures, name, &ProgramFigure::name);
  if (found == figures.end()) {
    if (figures.size() >= kMostBandwidths) return;
    found = figures.insert(found, {name, "GB/s", 0, 0, gigabytes_per_s, gigabytes_per_s});
  }
  ++found->count;
  found->sum += gigabytes_per_s;
  found->least = std::min(found->least, gigabytes_per_s);
  found->most = std::max(found->most, gigabytes_per_s);
}

void BandwidthLinesReader::Open(Form form, std::string_view program, double scale) {
  form_ = form;
  scale_ = scale;
  if (program_.empty()) program_ = program;
}

void BandwidthLinesReader::Take(const std::string& name, double gigabytes_per_s) {
  AddBandwidth(figures_, name, gigabytes_per_s);
}

bool BandwidthLinesReader::Opens(std::string_view line) {
  static const RE2 test(R"(^Running (\w+)\.\s*$)"), matrix(R"(\((?:row|column)\).*\bbandwidth \(GB/s\))"),
      direction(R"(^\s*(Host|Device) to (Host|Device) Bandwidth, \d+ Device)"),
      memory(R"(^\s*(PINNED|PAGEABLE) Memory Transfers)"),
      sizes(R"(^\s*Transfer Size \(Bytes\)\s+Bandwidth\(([MG])B/s\))"),
      device(R"(^\s*Device: (\d+),.*,\s+[0-9a-f]{1,4}:[0-9a-f]{1,2}\.\d\s*$)"),
      copies(R"(^\s*(Uni|Bi)directional copy peak bandwidth GB/s)"),
      functions(R"(^Function\s+(?:Best )?(?:Rate )?\(?([MG])(i?)B(?:ytes)?/s(?:ec)?\)?\s+\w+)"),
      rdma(R"(^\s+(RDMA_Write|RDMA_Read|Send|Atomic\w*|Write_Imm)(?: Bidirectional)? BW Test)"),
      messages(R"(^\s*#bytes\s+#iterations\s+BW peak\[(MB|Gb)/sec\]\s+BW average\[)");
  std::string word, other;
  int number = 0;
  if (RE2::PartialMatch(line, test, &word)) {
    test_ = word;
    form_ = Form::kNone;
    return false;  // other programs announce what they run in these words, too
  }
  if (!test_.empty() && RE2::PartialMatch(line, matrix)) {
    Open(Form::kMatrix, kNvbandwidth, 1);
  } else if (RE2::PartialMatch(line, direction, &word, &other)) {
    direction_ =
        fmt::format("{} to {}", word == "Host" ? "host" : "device", other == "Host" ? "host" : "device");
    memory_.clear();
  } else if (!direction_.empty() && RE2::PartialMatch(line, memory, &word)) {
    memory_ = word == "PINNED" ? " (pinned)" : " (pageable)";
  } else if (!direction_.empty() && RE2::PartialMatch(line, sizes, &word)) {
    Open(Form::kSizes, "bandwidthTest", BandwidthScale(word, false));
  } else if (RE2::PartialMatch(line, device, &number)) {
    gpus_.insert(number);
  } else if (RE2::PartialMatch(line, copies, &word)) {
    Open(Form::kDevices, "rocm-bandwidth-test", 1);
    test_ = word == "Uni" ? "" : ", both ways at once";
  } else if (RE2::PartialMatch(line, functions, &word, &other)) {
    Open(Form::kFunctions, program_.empty() ? "STREAM" : program_, BandwidthScale(word, !other.empty()));
  } else if (RE2::PartialMatch(line, rdma, &word)) {
    direction_ = word;
  } else if (RE2::PartialMatch(line, messages, &word)) {
    // Its MB are of 2^20 bytes.
    Open(Form::kMessages, "perftest", word == "MB" ? kMebi : kGigabit);
  } else {
    return false;
  }
  return true;
}

bool BandwidthLinesReader::TakesRow(std::string_view line) {
  static const RE2 row(R"(^\s*(\d{1,4})((?:\s+(?:\d+\.\d+|N/A))+)\s*$)"), cell(R"(\s*(\S+))"),
      size(R"(^\s*\d+\s+(\d+(?:\.\d+)?)\s*$)"), function(R"(^(\w+):?\s+(\d+(?:\.\d+)?)\s+\d+\.\d+\s)"),
      message(R"(^\s*\d+\s+\d+\s+\d+\.\d+\s+(\d+\.\d+)(?:\s|$))");
  int from = 0;
  double number = 0;
  std::string name;
  re2::StringPiece cells;
  switch (form_) {
    case Form::kNone:
      return false;
    case Form::kMatrix:
    case Form::kDevices: {
      if (!RE2::PartialMatch(line, row, &from, &cells)) return false;
      int to = 0;
      for (std::string text; RE2::Consume(&cells, cell, &text); ++to) {
        const double value = std::strtod(text.c_str(), nullptr);
        const bool source = gpus_.contains(from), target = gpus_.contains(to);
        if (form_ == Form::kMatrix)
          Take(test_, value);
        else if (source || target)
          Take((source ? (target ? (from == to ? "within a device" : "device to device") : "device to host")
                       : "host to device") +
                   test_,
               value);
      }
      return true;
    }
    case Form::kSizes:
      if (!RE2::PartialMatch(line, size, &number)) return false;
      Take(direction_ == "device to device" ? direction_ : direction_ + memory_, number * scale_);
      return true;
    case Form::kFunctions:
      if (!RE2::PartialMatch(line, function, &name, &number)) return false;
      Take(name, number * scale_);
      return true;
    case Form::kMessages:
      if (!RE2::PartialMatch(line, message, &number)) return false;
      Take(direction_.empty() ? "messages" : direction_, number * scale_);
      return true;
  }
  return false;
}

bool BandwidthLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestBandwidthLine) return false;
  if (line.starts_with("BabelStream") && TrimAll(line, " \t\r") == "BabelStream") {
    program_ = "BabelStream";
    return true;
  }
  // "bandwidthTest-H2D-Pinned, Bandwidth = 25.2 GB/s, Time = ...".
  static const RE2 csv(
      R"(^bandwidthTest-([HD])2([HD])(?:-(Pinned|Paged))?, Bandwidth = (\d+\.\d+) ([MG])B/s)"),
      disk(R"(^\s*(READ|WRITE): bw=\S+ \((\d+(?:\.\d+)?)([kKMG])B/s\))");
  std::string from, to, memory, unit;
  double number = 0;
  if (line.starts_with("bandwidthTest-") &&
      RE2::PartialMatch(line, csv, &from, &to, &memory, &number, &unit)) {
    program_ = "bandwidthTest";
    std::string name =
        fmt::format("{} to {}", from == "H" ? "host" : "device", to == "H" ? "host" : "device");
    if (from != to && !memory.empty()) name += memory == "Pinned" ? " (pinned)" : " (pageable)";
    Take(name, number * BandwidthScale(unit, false));
    return true;
  }
  if (line.find(": bw=") != std::string_view::npos && RE2::PartialMatch(line, disk, &from, &number, &unit)) {
    if (program_.empty()) program_ = "fio";
    Take(from == "READ" ? "reading" : "writing",
         number * (unit == "k" || unit == "K" ? kKilo : BandwidthScale(unit, false)));
    return true;
  }
  return Opens(line) || TakesRow(line);
}

void BandwidthLinesReader::AddTo(ProgramOutput& output) const {
  if (figures_.empty() || output.measured() || output.timed() || !output.error.empty()) return;
  output.figures = figures_;
  output.scaling.reset();
  output.program = program_;
}

bool LooksLikeBandwidthJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '{' &&
         head.find("\"nvbandwidth\"") != std::string_view::npos &&
         head.find("\"traceEvents\"") == std::string_view::npos;
}

std::optional<ProgramOutput> BandwidthsOfJson(std::string_view text) {
  const auto document = nlohmann::json::parse(PlainJson(text), nullptr, false);
  if (!document.is_object() || !document.contains(kNvbandwidth)) return std::nullopt;
  const auto& all = document[kNvbandwidth];
  if (!all.is_object() || !all.contains("testcases") || !all["testcases"].is_array()) return std::nullopt;
  ProgramOutput output;
  output.program = kNvbandwidth;
  const auto text_of = [](const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  for (const auto& test : all["testcases"]) {
    if (!test.is_object() ||
        text_of(test, "bandwidth_description").find("bandwidth (GB/s)") == std::string::npos)
      continue;
    const auto matrix = test.find("bandwidth_matrix");
    if (matrix == test.end() || !matrix->is_array()) continue;
    for (const auto& row : *matrix) {
      if (!row.is_array()) continue;
      for (const auto& cell : row)
        AddBandwidth(output.figures, text_of(test, "name"),
                     cell.is_number()   ? cell.get<double>()
                     : cell.is_string() ? std::strtod(cell.get_ref<const std::string&>().c_str(), nullptr)
                                        : 0);
    }
  }
  return output.figures.empty() ? std::nullopt : std::optional(std::move(output));
}

}  // namespace dladvisor::benchmark_log
