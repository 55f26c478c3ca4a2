// SPDX-License-Identifier: Apache-2.0
#include "src/importers/importers.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/freed_memory.h"
#include "src/importers/benchmark_log/benchmark_log.h"
#include "src/importers/dcgm/dcgm.h"
#include "src/importers/dlprof/dlprof.h"
#include "src/importers/gpu_table/gpu_table.h"
#include "src/importers/kineto/kineto.h"
#include "src/importers/memory_timeline/memory_timeline.h"
#include "src/importers/notebook/notebook.h"
#include "src/importers/nsys/nsys.h"
#include "src/importers/nsys_report/nsys_report.h"
#include "src/importers/nvidia_smi/nvidia_smi.h"
#include "src/importers/nvprof/nvprof.h"
#include "src/importers/other_format.h"
#include "src/importers/rocpd/rocpd.h"
#include "src/importers/rocprof_csv/rocprof_csv.h"
#include "src/importers/rocprof_db/rocprof_db.h"
#include "src/importers/rocprof_json/rocprof_json.h"
#include "src/importers/rocprof_pftrace/rocprof_pftrace.h"
#include "src/importers/rpd/rpd.h"
#include "src/importers/trainer_state/trainer_state.h"
#include "src/importers/training_log/training_log_importer.h"
#include "src/importers/xla/xla.h"
#include "src/trace/unrelated_clocks.h"

namespace dladvisor {
namespace fs = std::filesystem;

namespace {

// In the order in which messages list them. Of two that fit equally well the first reads the file.
constexpr auto kImporters = std::to_array<const Importer*>({
    &kNsysImporter,
    &kNvprofImporter,
    &kGpuTableImporter,
    &kXlaImporter,
    &kTrainerStateImporter,
    &kBenchmarkLogImporter,
    &kMemoryTimelineImporter,
    &kRocpdImporter,
    &kRocprofCsvImporter,
    &kRocprofDatabaseImporter,
    &kRocprofJsonImporter,
    &kRocprofPerfettoImporter,
    &kRpdImporter,
    &kNvidiaSmiImporter,
    &kNotebookImporter,
    &kKinetoImporter,
    &kDlprofImporter,
    &kDcgmImporter,
    &kTrainingLogImporter,
    &kNsysReportImporter,
});

std::optional<Trace> ReadWithTheBest(Input& input) {
  std::array<Importer::Fit, kImporters.size()> fits{};
  for (size_t i = 0; i < kImporters.size(); ++i) fits[i] = kImporters[i]->fits(input);
  for (const Importer::Fit fit : {Importer::Fit::kYes, Importer::Fit::kUnlessAnother})
    for (size_t i = 0; i < kImporters.size(); ++i)
      if (fits[i] == fit)
        if (std::optional<Trace> trace = kImporters[i]->read(input)) return trace;
  return std::nullopt;
}

// Calls visit(word) for each of the words.
template <class Visit>
void ForEachWord(std::string_view words, Visit visit) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    visit(word);
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
}

}  // namespace

Trace ReadProfile(const fs::path& path) {
  Input input(path);
  const std::string& damage = input.bytes().damage();
  if (const std::optional<OtherFormat> other = FindOtherFormat(input))
    throw WrongKind(input.name(), fmt::format("{}, which dladvisor does not read", other->what),
                    std::string(other->next_step));
  std::optional<Trace> trace = ReadWithTheBest(input);
  if (trace) {
    if (!damage.empty() && !trace->health.truncated) {
      trace->health.truncated = true;
      trace->health.notes.push_back(
          fmt::format("The log ends early as {}: only what comes before was read.", damage));
    }
    DropHostOfUnrelatedClock(*trace);
    GiveBackFreedMemory();
    return std::move(*trace);
  }
  if (!damage.empty())
    throw Error(input.name(), "by its first bytes a gzip file, but " + damage,
                "copy or export it again; it was cut or changed");
  if (input.IsText())
    throw WrongKind(
        input.name(), "not a profile: a text file in which no line is of a log that dladvisor knows",
        "to see where a program's time goes, record it (nsys profile --trace=cuda,nvtx -o run PROGRAM, "
        "or torch.profiler), or let it print the time of a step or a date on each line; dladvisor --help "
        "lists what is read");
  throw WrongKind(
      input.name(),
      "not a profile: unknown binary content, neither a SQLite database, JSON, nor an Nsight Systems "
      "report",
      "export a report of Nsight Systems by nsys export --type sqlite REPORT.nsys-rep; dladvisor --help "
      "lists "
      "what is read");
}

bool MayBeReadable(const fs::path& path) {
  const std::string extension = path.extension().string();
  bool may_be = false;
  for (const Importer* importer : kImporters)
    for (const std::string_view extensions : {importer->extensions, importer->more_extensions})
      ForEachWord(extensions, [&](std::string_view e) { may_be = may_be || e == extension; });
  return may_be;
}

std::string ReadableExtensions() {
  std::string list;
  for (const Importer* importer : kImporters)
    ForEachWord(importer->extensions,
                [&](std::string_view e) { list.append(list.empty() ? "" : ", ").append(e); });
  return list;
}

std::string ReadableFormats() {
  std::string list;
  for (const Importer* importer : kImporters)
    if (!importer->in_list.empty()) list.append(list.empty() ? "" : ", ").append(importer->in_list);
  return list;
}

}  // namespace dladvisor
