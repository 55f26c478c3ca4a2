// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/views.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "engine/base/embedded.h"
#include "engine/base/sql_file.h"

namespace dladvisor {

std::span<const EmbeddedFile> EmbeddedViews();

namespace {

std::vector<View> ReadViews(std::string_view file) {
  constexpr std::array<std::string_view, 1> keys = {"doc"};
  std::vector<View> views;
  for (const SqlStatement& statement :
       ReadSqlFile(fmt::format("src/analysis/compat/{}", file), FindEmbedded(EmbeddedViews(), file), keys))
    views.push_back({statement.Get("id"), statement.Get("doc"), statement.sql});
  return views;
}

}  // namespace

const std::vector<View>& NsysViews() {
  static const std::vector<View> views = ReadViews("nsys.sql");
  return views;
}

const std::vector<View>& DlprofViews() {
  static const std::vector<View> views = ReadViews("dlprof.sql");
  return views;
}

const std::vector<View>& PytorchViews() {
  static const std::vector<View> views = ReadViews("pytorch.sql");
  return views;
}

const std::vector<View>& TracelensViews() {
  static const std::vector<View> views = ReadViews("tracelens.sql");
  return views;
}

}  // namespace dladvisor
