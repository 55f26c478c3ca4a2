// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_json/rocprof_json.h"

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "src/importers/rocprof_json/element_reader.h"
#include "src/importers/rocprof_json/records.h"

namespace dladvisor {
namespace {

Trace Read(Input& input) {
  rocprof_json::Records records;
  const bool is_whole = rocprof_json::ForEachElement(
      input.bytes(), [&](const std::vector<std::string>& path, const nlohmann::json& element) {
        records.Add(path, element);
      });
  if (!is_whole)
    throw Error(input.name(), "is damaged: it is not valid JSON to its end",
                "copy the file again, or record it again; it was cut or changed");
  if (records.processes() > 1)
    throw WrongKind(input.name(), "JSON of rocprofv3 that holds several processes",
                    "give dladvisor the file of each process");
  Trace trace = records.Finish();
  trace.path = input.name();
  return trace;
}

}  // namespace

constinit const Importer kRocprofJsonImporter = {
    .in_list = "",
    .extensions = "",
    .more_extensions = ".json .gz",
    .fits =
        [](const Input& input) {
          constexpr size_t kWithin = 80;
          return input.head().substr(0, kWithin).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(Read(input)); },
};

}  // namespace dladvisor
