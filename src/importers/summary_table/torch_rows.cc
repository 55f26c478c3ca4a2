// SPDX-License-Identifier: Apache-2.0
#include "src/importers/summary_table/torch_rows.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace dladvisor::summary_table {

void DropSpans(std::vector<SummaryRow>& rows) {
  static const RE2 span(
      R"(^(?:ProfilerStep|## |execute_|step\[|Optimizer\.|nccl:|gloo:|DistributedDataParallel\.))");
  std::set<std::string, std::less<>> on_host;
  for (const SummaryRow& row : rows)
    if (row.kind == SummaryRowKind::kOperator) on_host.insert(row.name);
  std::erase_if(rows, [&](const SummaryRow& row) {
    return row.kind == SummaryRowKind::kKernel &&
           (on_host.contains(row.name) || RE2::PartialMatch(row.name, span));
  });
}

void DropSpansByTotal(SummaryTable& table) {
  static const RE2 kernel(R"((?i)kernel|gemm|[<(]|cutlass|triton|nvjet|nccl|^_Z|_sm\d\d|sm\d\d_|\.\.\.$)");
  constexpr double kRounding = 1.01;
  if (!table.device_ns) return;
  double sum = 0;
  for (const SummaryRow& row : table.rows)
    if (row.device_self_ns && row.kind != SummaryRowKind::kOperator && row.kind != SummaryRowKind::kApi)
      sum += row.total_ns;
  std::vector<size_t> longest_first;
  for (size_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].kind == SummaryRowKind::kKernel && !RE2::PartialMatch(table.rows[i].name, kernel))
      longest_first.push_back(i);
  std::ranges::stable_sort(longest_first, std::ranges::greater(),
                           [&](size_t i) { return table.rows[i].total_ns; });
  std::set<size_t> spans;
  for (const size_t i : longest_first) {
    if (sum <= kRounding * *table.device_ns) break;
    sum -= table.rows[i].total_ns;
    spans.insert(i);
  }
  std::erase_if(table.rows, [&](const SummaryRow& row) {
    return spans.contains(static_cast<size_t>(&row - table.rows.data()));
  });
}

void JoinRowsOfOneName(std::vector<SummaryRow>& rows) {
  const auto add = [](std::optional<double>& to, const std::optional<double>& more) {
    if (more) to = to.value_or(0) + *more;
  };
  std::map<std::pair<SummaryRowKind, std::string>, size_t> first;
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [known, is_new] = first.try_emplace({rows[i].kind, rows[i].name}, kept);
    if (is_new) {
      if (kept != i) rows[kept] = std::move(rows[i]);
      ++kept;
      continue;
    }
    SummaryRow& to = rows[known->second];
    const SummaryRow& more = rows[i];
    to.calls += more.calls;
    to.total_ns += more.total_ns;
    add(to.self_ns, more.self_ns);
    add(to.device_ns, more.device_ns);
    add(to.device_self_ns, more.device_self_ns);
    add(to.bytes, more.bytes);
    to.average_ns.reset();
    to.median_ns.reset();
    if (more.min_ns) to.min_ns = std::min(to.min_ns.value_or(*more.min_ns), *more.min_ns);
    if (more.max_ns) to.max_ns = std::max(to.max_ns.value_or(*more.max_ns), *more.max_ns);
  }
  rows.resize(kept);
}

bool HasTimesOfViews(const SummaryTable& table) {
  static const RE2 view(
      "aten::(?:as_strided|select|slice|narrow|view|_unsafe_view|reshape|_reshape_alias|expand|transpose|t|"
      "permute|unsqueeze|squeeze|detach|alias|empty|empty_strided|empty_like|unbind|split|chunk)");
  constexpr double kMuch = 0.2;
  double all = 0, views = 0;
  for (const SummaryRow& row : table.rows) {
    if (row.kind == SummaryRowKind::kKernel) return false;
    all += row.device_self_ns.value_or(0);
    if (RE2::FullMatch(row.name, view)) views += row.device_self_ns.value_or(0);
  }
  return views > kMuch * all;
}

void ForgetTimesOfGpu(SummaryTable& table) {
  table.device_ns.reset();
  for (SummaryRow& row : table.rows) {
    row.device_ns.reset();
    row.device_self_ns.reset();
  }
}

}  // namespace dladvisor::summary_table
