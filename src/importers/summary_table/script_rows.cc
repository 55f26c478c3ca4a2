// SPDX-License-Identifier: Apache-2.0
#include "src/importers/summary_table/script_rows.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>

namespace dladvisor::summary_table {
namespace {

bool IsCall(const SummaryRow& row) { return row.kind == SummaryRowKind::kApi; }

// Times and calls of the others add up to the row's.
bool IsSumOfOthers(const std::vector<SummaryRow>& rows, const SummaryRow& row) {
  constexpr size_t kFewest = 3;
  constexpr double kRounding = 0.01;
  if (rows.size() < kFewest || row.total_ns <= 0) return false;
  double time = 0;
  int64_t calls = 0;
  for (const SummaryRow& other : rows) {
    if (&other == &row) continue;
    time += other.total_ns;
    calls += other.calls;
  }
  return calls == row.calls && std::abs(time - row.total_ns) <= kRounding * row.total_ns;
}

// A kernel may have such a name, too; a total is no less than what it is of.
bool IsNamedTotal(const std::vector<SummaryRow>& rows, const SummaryRow& row) {
  static const RE2 total(
      R"((?i)\W*(?:(?:grand |sub-?|overall )?totals?|(?-i:Sum|SUM)|all|overall)(?:[ _](?:of|gpu|cuda|hip|device|all|)"
      R"(time|kernels?|ops|operations|calls|rows|work))*\W*(?: \(.*\))?\W*)");
  constexpr double kRounding = 0.97;
  if (!RE2::FullMatch(row.name, total)) return false;
  double others = 0;
  for (const SummaryRow& other : rows)
    if (&other != &row && !IsCall(other)) others += other.total_ns;
  return row.total_ns >= kRounding * others;
}

bool IsRest(const SummaryRow& row) {
  static const RE2 rest(
      R"((?i)\W*(?:all )?(?:others?|the rest|rest|remaining|remainder)(?:[ _](?:kernels?|ops|operations|rows))?\W*(?: \(.*\))?\W*)");
  return RE2::FullMatch(row.name, rest);
}

}  // namespace

bool SaysHost(std::string_view title, std::string_view before) {
  static const RE2 none(R"((?i)\b(?:no|without(?: an?y?)?) gpus?\b|\bcpu[- ]only\b)"),
      host(R"((?i)\b(?:openmp|mpi|n?jit|cpus?|epyc|xeon|ryzen|threadripper)\b)"),
      gpu(R"((?i)\b(?:gpus?|nvidia|cuda|geforce|radeon|instinct|hip|rocm|nsys|nsight)\b|\bmi\d{3}|\b[abhv]\d{2,3}\b)");
  const auto shows = [&](const RE2& sign) {
    return RE2::PartialMatch(re2::StringPiece(title.data(), title.size()), sign) ||
           RE2::PartialMatch(re2::StringPiece(before.data(), before.size()), sign);
  };
  return shows(none) || (shows(host) && !shows(gpu));
}

bool IsOfGpu(const std::vector<SummaryRow>& rows) {
  static const RE2 kernel(
      R"((?i)gemm|cutlass|at::native|triton_|nccl|rccl|flash|attn|sm_?\d\d|Cijk_|nvjet|ampere_|elementwise|softmax|)"
      R"(kernel|^void |^_Z|^\w+(?:::\w+)*<.*>|\w\(.*\*)"),
      host("^aten::|^torch::|_op$|^P?MPI_[A-Z]|^(?:cl|ze|ur|vk)[A-Z]");
  bool any = false;
  for (const SummaryRow& row : rows) {
    if (RE2::PartialMatch(row.name, host)) return false;
    any = any || row.kind == SummaryRowKind::kCopy || row.kind == SummaryRowKind::kSet ||
          (!IsCall(row) && RE2::PartialMatch(row.name, kernel));
  }
  return any;
}

double WholeOf(const std::vector<SummaryRow>& rows, double by_share) {
  double sum = 0;
  for (const SummaryRow& row : rows)
    if (!IsCall(row) && !IsNamedTotal(rows, row) && !IsSumOfOthers(rows, row)) sum += row.total_ns;
  return std::ranges::any_of(rows, IsCall) ? sum : std::max(sum, by_share);
}

void DropTotals(std::vector<SummaryRow>& rows) {
  if (rows.empty()) return;
  // They stand above the others or below them.
  const auto is_total = [&](const SummaryRow& row) {
    return IsNamedTotal(rows, row) || IsSumOfOthers(rows, row);
  };
  const bool last = is_total(rows.back()), first = rows.size() > 1 && is_total(rows.front());
  if (last) rows.pop_back();
  if (first) rows.erase(rows.begin());
  std::erase_if(rows, IsRest);
}

}  // namespace dladvisor::summary_table
