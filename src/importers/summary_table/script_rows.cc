// SPDX-License-Identifier: Apache-2.0
#include "src/importers/summary_table/script_rows.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dladvisor::summary_table {
namespace {

bool IsCall(const SummaryRow& row) { return row.kind == SummaryRowKind::kApi; }

// Which rows are totals by their names or times. Of millions of rows each is asked, so that what all add up
// to is known before.
class Totals {
 public:
  explicit Totals(const std::vector<SummaryRow>& rows) : rows_(rows.size()) {
    for (const SummaryRow& row : rows) {
      time_ += row.total_ns;
      calls_ += row.calls;
      if (!IsCall(row)) time_of_gpu_ += row.total_ns;
    }
  }
  bool Has(const SummaryRow& row) const { return IsNamed(row) || IsSumOfOthers(row); }

 private:
  // Times and calls of the others add up to the row's.
  bool IsSumOfOthers(const SummaryRow& row) const {
    constexpr size_t kFewest = 3;
    constexpr double kRounding = 0.01;
    return rows_ >= kFewest && row.total_ns > 0 && calls_ - row.calls == row.calls &&
           std::abs(time_ - 2 * row.total_ns) <= kRounding * row.total_ns;
  }

  // A kernel may have such a name, too; a total is no less than what it is of.
  bool IsNamed(const SummaryRow& row) const {
    static const RE2 total(
        R"((?i)\W*(?:(?:grand |sub-?|overall )?totals?|(?-i:Sum|SUM)|all|overall)(?:[ _](?:of|gpu|cuda|hip|device|all|)"
        R"(time|kernels?|ops|operations|calls|rows|work))*\W*(?: \(.*\))?\W*)");
    constexpr double kRounding = 0.97;
    const double others = time_of_gpu_ - (IsCall(row) ? 0 : row.total_ns);
    return row.total_ns >= kRounding * others && RE2::FullMatch(row.name, total);
  }

  size_t rows_;
  double time_ = 0, time_of_gpu_ = 0;
  int64_t calls_ = 0;
};

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
  const Totals totals(rows);
  double sum = 0;
  for (const SummaryRow& row : rows)
    if (!IsCall(row) && !totals.Has(row)) sum += row.total_ns;
  return std::ranges::any_of(rows, IsCall) ? sum : std::max(sum, by_share);
}

void DropTotals(std::vector<SummaryRow>& rows) {
  if (rows.empty()) return;
  // They stand above the others or below them.
  const bool last = Totals(rows).Has(rows.back());
  const bool first = rows.size() > 1 && Totals(rows).Has(rows.front());
  if (last) rows.pop_back();
  if (first) rows.erase(rows.begin());
  std::erase_if(rows, IsRest);
}

}  // namespace dladvisor::summary_table
