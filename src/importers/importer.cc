#include "src/importers/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/bytes/byte_source.h"
#include "src/importers/dcgm.h"
#include "src/importers/dlprof.h"
#include "src/importers/kineto/kineto.h"
#include "src/importers/nsys/nsys.h"
#include "src/importers/nsys_report.h"
#include "src/importers/nvidia_smi/csv_log.h"
#include "src/importers/nvidia_smi/dmon_log.h"
#include "src/importers/nvidia_smi/table_log.h"
#include "src/importers/training_log/training_log.h"

namespace dladvisor {
namespace fs = std::filesystem;

namespace {

constexpr char kReadable[] =
    "dladvisor reads SQLite exports of Nsight Systems (nsys export --type sqlite REPORT.nsys-rep), traces of "
    "PyTorch's profiler (trace.json, trace.json.gz), DLProf databases, logs of nvidia-smi (its table, dmon, "
    "and --format=csv with the line of headers) and of DCGM (dcgmi dmon, its exporter), and what "
    "Megatron-LM, DeepSpeed and Hugging Face's Trainer print";
constexpr std::string_view kSqlite = "SQLite format 3";

bool LooksLikeText(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' && byte != 0x1B;
  });
}

Trace AsFarAsItGoes(Trace trace, const ByteSource& source) {
  if (source.damage().empty()) return trace;
  trace.health.truncated = true;
  trace.health.notes.push_back(
      fmt::format("The log ends early as {}: only what comes before was read.", source.damage()));
  return trace;
}

}  // namespace

Trace ReadProfile(const fs::path& path) {
  ByteSource source(path);
  const std::string where = source.name();
  const std::string_view head = source.Head();
  if (head.starts_with(kSqlite)) {
    if (source.IsCompressed())
      throw Error(where, "a compressed SQLite database", "unpack it first: gunzip -k '" + where + "'");
    if (path == "-" || !fs::is_regular_file(path))
      throw Error(where, "holds a SQLite database, which can only be read from a file",
                  "save it to a file first");
    return IsDlprofDatabase(path) ? ReadDlprofDatabase(path) : ReadNsysExport(path);
  }
  const std::string extension = path.extension().string();
  if (extension == ".nsys-rep" || extension == ".qdrep") return ReadNsysReport(path);
  if (LooksLikeJson(head)) return ReadKinetoTrace(source);
  if (LooksLikeDmonLog(head)) return AsFarAsItGoes(ReadDmonLog(source), source);
  if (LooksLikeDcgmDmon(head)) return AsFarAsItGoes(ReadDcgmDmon(source), source);
  if (LooksLikeDcgmMetrics(head)) return AsFarAsItGoes(ReadDcgmMetrics(source), source);
  if (LooksLikeGpuCsv(head)) return AsFarAsItGoes(ReadGpuCsv(source), source);
  if (LooksLikeText(head))
    if (std::optional<Trace> trace = ReadTrainingLog(source)) return AsFarAsItGoes(std::move(*trace), source);
  if (!source.damage().empty())
    throw Error(where, "by its first bytes a gzip file, but " + source.damage(),
                "copy or export it again; it was cut or changed");
  throw WrongKind(
      where,
      fmt::format("not a profile: {}, neither a SQLite database, JSON, nor an Nsight Systems report",
                  LooksLikeText(head) ? "a text file" : "unknown binary content"),
      kReadable);
}

}  // namespace dladvisor
