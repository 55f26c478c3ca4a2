// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/capture_section.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "src/capture/capability.h"
#include "src/importers/words/importer_words.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

// What shows that all of the profiles were recorded with capabilities. What is missing all the same, such as
// the totals that old versions of PyTorch did not record, their options do not supply.
struct Evidence {
  const char *sql, *capabilities;
};
constexpr Evidence kEvidence[] = {
    {"(kernels > 0 OR graph_launches > 0) AND api_calls > 0", capability::kGpuWork},
    {"ranges > 0", capability::kRanges},
    {"os_calls > 0", capability::kOsCalls},
    {"python_frames > 0", capability::kPythonStacks},
    {"memory_events > 0", capability::kDeviceMemory},
    {"gpu_metric_samples > 0", capability::kGpuMetrics},
};

std::set<std::string, std::less<>> RecordedIn(const Database& database) {
  std::set<std::string, std::less<>> recorded;
  if (database.FindRelation("profile") == nullptr) return recorded;
  std::vector<std::string> all;
  for (const Evidence& evidence : kEvidence) all.push_back(fmt::format("min({})", evidence.sql));
  const ResultSet rows = database.Query(fmt::format("SELECT {} FROM profile", fmt::join(all, ", ")));
  for (size_t i = 0; i < all.size(); ++i)
    if (AsNumber(rows.rows.at(0).at(i)).value_or(0) != 0)
      for (const std::string_view name : Split(kEvidence[i].capabilities, ' ')) recorded.emplace(name);
  if (database.FindRelation("run") != nullptr &&
      !database.Query("SELECT 1 FROM run WHERE known_work_share > 0").rows.empty())
    recorded.emplace(capability::kOperatorShapes);
  return recorded;
}

}  // namespace

const CaptureWords& WordsOf(const Database& database) {
  if (database.FindRelation("profile") == nullptr) return CaptureWordsOf("");
  const ResultSet formats = database.Query("SELECT DISTINCT format FROM profile", {}, 2);
  const bool is_one = formats.rows.size() == 1 && !IsNull(formats.rows[0][0]);
  return CaptureWordsOf(is_one ? FormatValue(formats.rows[0][0], Unit::kText) : "");
}

const CaptureWords& WordsOf(const ReportModel& model) {
  std::set<std::string> formats;
  if (const ReportTable* profiles = FindTable(model, "profiles"))
    for (size_t row = 0; row < profiles->rows.rows.size(); ++row)
      formats.insert(FormatValue(CellOf(*profiles, row, "format"), Unit::kText));
  return CaptureWordsOf(formats.size() == 1 ? *formats.begin() : "");
}

void TranslateCapture(Advice& advice, const Database& database) {
  const CaptureWords& words = WordsOf(database);
  const auto recorded = RecordedIn(database);
  for (Finding& finding : advice.findings) {
    std::erase_if(finding.capture, [&](const std::string& name) { return recorded.contains(name); });
    finding.capture = CaptureOptions(finding.capture, words);
  }
}

std::string HardwareToDeclare(const ReportModel& model) {
  const Figure* gpus = FindFigure(model, "undeclared_gpus");
  if (gpus == nullptr || IsNull(gpus->value)) return "";
  const std::string names = FormatValue(gpus->value, Unit::kText);
  std::string models;
  bool has_unnamed = false;
  for (const std::string_view name : Split(names, ',')) {
    if (name == "without a name") {
      has_unnamed = true;
      continue;
    }
    models += fmt::format(
        "{0}{{model: \"{1}\", names: [\"{1}\"], vector_tflops: {{fp32: ...}}, matrix_tflops: {{bf16: ...}}, "
        "memory_gb_per_s: ..., source: ...}}",
        models.empty() ? "" : ", ", name);
  }
  return fmt::format("hardware: {{{}{}{}}}", models.empty() ? "" : fmt::format("gpus: [{}]", models),
                     has_unnamed && !models.empty() ? ", " : "", has_unnamed ? "unnamed: MODEL" : "");
}

std::string InputsText(const ReportModel& model) {
  const ReportTable* inputs = FindTable(model, "inputs");
  if (inputs == nullptr || inputs->rows.rows.empty()) return "";
  std::vector<std::string> files;
  for (size_t row = 0; row < inputs->rows.rows.size(); ++row) {
    std::string about = CellText(*inputs, row, "format");
    if (const Value version = CellOf(*inputs, row, "producer_version"); !IsNull(version))
      about += " " + FormatValue(version, Unit::kText);
    if (const auto origin = AsNumber(CellOf(*inputs, row, "clock_origin_utc_ns")))
      about += fmt::format(", recorded {:%Y-%m-%d %H:%M} UTC",
                           fmt::gmtime(static_cast<std::time_t>(*origin / 1e9)));
    files.push_back(
        fmt::format("{} ({})", Ellipsize(Visible(CellText(*inputs, row, "path")), 120), Visible(about)));
  }
  std::string text = fmt::format("Read: {}", fmt::join(files, ", "));
  if (inputs->total_rows > files.size())
    text += fmt::format(" and {} more", inputs->total_rows - files.size());
  if (!IsNull(CellOf(*inputs, 0, "first_step"))) {
    const std::string first = CellText(*inputs, 0, "first_step"), last = CellText(*inputs, 0, "last_step");
    text += fmt::format(". Analysed: {}, found from {}",
                        first == last ? "step " + first : fmt::format("steps {} to {}", first, last),
                        CellText(*inputs, 0, "step_source"));
  }
  if (!IsNull(CellOf(*inputs, 0, "measured")))
    text += fmt::format(
        ". The analysed time begins with what the program says that it measures, after its warm-up or after "
        "a wait for input: {}",
        Ellipsize(Visible(CellText(*inputs, 0, "measured")), 80));
  return text + ".";
}

bool UsesNoGpu(const ReportModel& model) {
  const ReportTable* program = FindTable(model, "program_without_gpu");
  return program != nullptr && !program->rows.rows.empty();
}

bool CalledNoGpu(const ReportModel& model) {
  const ReportTable* profiles = FindTable(model, "traced_without_calls");
  return profiles != nullptr && !profiles->rows.rows.empty();
}

std::vector<std::string> CaptureFlags(const ReportModel& model) {
  if (UsesNoGpu(model) || CalledNoGpu(model)) return {};
  const CaptureWords& words = WordsOf(model);
  std::vector<std::string> wanted;
  for (const Finding& finding : model.advice->findings)
    if (finding.outcome == Outcome::kUnknown)
      wanted.insert(wanted.end(), finding.capture.begin(), finding.capture.end());
  if (const ReportTable* missing = FindTable(model, "missing_capture"))
    for (size_t row = 0; row < missing->rows.rows.size(); ++row)
      wanted.push_back(FormatValue(CellOf(*missing, row, "missing_capture"), Unit::kText));
  std::erase(wanted, "");
  std::vector<std::string> options = MergeOptions(wanted, words);
  // Options of a command line are one; what a program itself must do is not among them.
  if (!options.empty() && options.front().starts_with("--"))
    std::erase_if(options, [](const std::string& option) { return !option.starts_with("--"); });
  return options;
}

}  // namespace dladvisor
