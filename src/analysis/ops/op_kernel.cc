// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/op_kernel.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/string_pool.h"
#include "src/analysis/context/op_path.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/family/family.h"
#include "src/analysis/family/numbering.h"
#include "src/capture/capability.h"
#include "src/hardware/precision.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

// Where names hardly repeat there is a row for nearly each kernel: what is computed on the way has to be
// small, and is worked on in order of names, since each look into a table of all groups would miss the
// caches.
constexpr size_t kExecutionsAtOnce = 512 << 10, kRowsAtOnce = 1024;

// The kernels of one name in one op.
struct Group {
  uint32_t op = 0;  // index into the ops of its rank
  NameId name = kNoName;
  uint32_t calls = 0, api_calls = 0;
  int64_t gpu_ns = 0, api_ns = 0;
  uint32_t extremes = kNoIndex;  // index, of more than one call
};

struct Extremes {
  int64_t min_ns, max_ns, min_api_ns, max_api_ns;
};

// What is taken from a kernel's row, to be put beside others of its name.
struct Execution {
  uint32_t op;
  int64_t gpu_ns, api_ns;  // -1 where its call is not recorded
};

using GpusOfRank = std::span<const Ranks::Gpu>;

class RankGroups {
 public:
  // `gpus`: of one rank, a part of context.ranks.gpus.
  RankGroups(const Context& context, const KernelNameOrder& names, GpusOfRank gpus)
      : context_(context),
        rank_(gpus.front().rank),
        first_gpu_(static_cast<size_t>(gpus.data() - context.ranks.gpus.data())),
        gpus_(gpus.size()) {
    Collect();
    Sort(names);
  }

  size_t size() const { return groups_.size(); }

  // `texts` keeps the texts of ops.
  void AppendTo(RelationOf<OpKernelRow>::Appender& appender, StringPool& texts) const {
    std::vector<std::string_view> ops;
    for (const std::string& op : ops_) ops.push_back(texts.View(texts.Intern(op)));
    std::vector<OpKernelRow> rows;
    for (size_t i = 0; i < groups_.size();) {
      rows.clear();
      for (; i < groups_.size() && rows.size() < kRowsAtOnce; ++i)
        rows.push_back(RowOf(groups_[i], ops[groups_[i].op]));
      appender.Append(rows);
    }
  }

 private:
  // Calls visit(kernel) for each that starts in its GPU's window.
  template <class Visit>
  void ForEachKernel(Visit visit) const {
    const std::vector<Ns>& start = context_.trace.kernels.start;
    for (size_t gpu = first_gpu_; gpu < first_gpu_ + gpus_; ++gpu) {
      const Interval window = context_.windows[gpu];
      const std::vector<uint32_t>& kernels = context_.work[gpu].kernels;
      const auto before = [&](uint32_t kernel, Ns time) { return start[kernel] < time; };
      const auto last = std::lower_bound(kernels.begin(), kernels.end(), window.end, before);
      for (auto kernel = std::lower_bound(kernels.begin(), last, window.start, before); kernel < last;
           ++kernel)
        visit(*kernel);
    }
  }

  // Puts executions in order of name, those of some names at a time, and sums up each name.
  void Collect() {
    const size_t names = context_.kernels.size();
    const std::vector<NameId>& name_of = context_.trace.kernels.name;
    std::vector<uint32_t> next(names, 0);  // first how many of a name, then where the next one goes
    ForEachKernel([&](uint32_t kernel) { ++next[name_of[kernel]]; });
    std::vector<Execution> executions;
    for (size_t first = 0, last = 0; first < names; first = last) {
      size_t count = 0;
      for (; last < names && (count == 0 || count + next[last] <= kExecutionsAtOnce); ++last)
        count += std::exchange(next[last], static_cast<uint32_t>(count));
      executions.resize(count);
      ForEachKernel([&](uint32_t kernel) {
        if (const NameId name = name_of[kernel]; name >= first && name < last)
          executions[next[name]++] = ExecutionOf(kernel);
      });
      size_t begin = 0;
      for (size_t name = first; name < last; begin = next[name++])
        AddName(static_cast<NameId>(name), std::span(executions).subspan(begin, next[name] - begin));
    }
  }

  Execution ExecutionOf(uint32_t kernel) {
    const Trace& trace = context_.trace;
    const PathId path = context_.paths->Of(context_.attribution.kernel_range[kernel]);
    const uint32_t op = OpOf(path, path == kNoPath ? trace.kernels.short_name[kernel] : kNoName);
    const uint32_t call = context_.launches.kernel[kernel];
    return {op, trace.kernels.end[kernel] - trace.kernels.start[kernel],
            call == kNoIndex ? -1 : trace.api_calls.end[call] - trace.api_calls.start[call]};
  }

  uint32_t OpOf(PathId path, NameId lone_kernel) {
    std::vector<uint32_t>& ops = path == kNoPath ? lone_ : paths_;
    if (ops.empty())
      ops.resize(path == kNoPath ? context_.trace.names.size() : context_.paths->size(), kNoIndex);
    uint32_t& op = ops[path == kNoPath ? lone_kernel : path];
    if (op == kNoIndex) {
      op = static_cast<uint32_t>(ops_.size());
      ops_.push_back(path == kNoPath ? OpOfLoneKernel(context_.trace.names.View(lone_kernel))
                                     : context_.paths->Text(path));
      seen_.push_back({});
    }
    return op;
  }

  void AddName(NameId name, std::span<const Execution> executions) {
    for (const Execution& execution : executions) {
      Seen& seen = seen_[execution.op];
      if (seen.name != name) {
        seen = {name, static_cast<uint32_t>(groups_.size())};
        groups_.push_back({.op = execution.op, .name = name});
      }
      Add(execution, groups_[seen.group]);
    }
  }

  void Add(const Execution& execution, Group& group) {
    const bool has_call = execution.api_ns >= 0;
    if (group.calls > 0) {
      if (group.extremes == kNoIndex) {
        extremes_.push_back(ExtremesOf(group));
        group.extremes = static_cast<uint32_t>(extremes_.size() - 1);
      }
      Extremes& extremes = extremes_[group.extremes];
      extremes.min_ns = std::min(extremes.min_ns, execution.gpu_ns);
      extremes.max_ns = std::max(extremes.max_ns, execution.gpu_ns);
      if (has_call) {
        extremes.min_api_ns = std::min(extremes.min_api_ns, execution.api_ns);
        extremes.max_api_ns = std::max(extremes.max_api_ns, execution.api_ns);
      }
    }
    ++group.calls;
    group.gpu_ns += execution.gpu_ns;
    if (has_call) {
      ++group.api_calls;
      group.api_ns += execution.api_ns;
    }
  }

  Extremes ExtremesOf(const Group& group) const {
    if (group.extremes != kNoIndex) return extremes_[group.extremes];
    const bool has_call = group.api_calls > 0;
    return {group.gpu_ns, group.gpu_ns, has_call ? group.api_ns : std::numeric_limits<int64_t>::max(),
            has_call ? group.api_ns : -1};
  }

  void Sort(const KernelNameOrder& names) {
    std::vector<uint32_t> order(ops_.size()), places(ops_.size());
    for (uint32_t op = 0; op < order.size(); ++op) order[op] = op;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return ops_[a] < ops_[b]; });
    for (uint32_t place = 0; place < order.size(); ++place) places[order[place]] = place;
    std::sort(groups_.begin(), groups_.end(), [&](const Group& a, const Group& b) {
      if (a.gpu_ns != b.gpu_ns) return a.gpu_ns > b.gpu_ns;
      return std::pair(places[a.op], names.place[a.name]) < std::pair(places[b.op], names.place[b.name]);
    });
  }

  OpKernelRow RowOf(const Group& group, std::string_view op) const {
    const KernelTraits& traits = context_.kernels[group.name];
    const Extremes extremes = ExtremesOf(group);
    OpKernelRow row;
    row.rank = rank_;
    row.op = op;
    row.kernel = context_.trace.names.View(group.name);
    row.calls = group.calls;
    row.gpu_ns = group.gpu_ns;
    row.avg_gpu_ns = static_cast<double>(group.gpu_ns) / static_cast<double>(group.calls);
    row.min_gpu_ns = extremes.min_ns;
    row.max_gpu_ns = extremes.max_ns;
    if (group.api_calls > 0) {
      row.api_ns = group.api_ns;
      row.avg_api_ns = static_cast<double>(group.api_ns) / static_cast<double>(group.api_calls);
      row.min_api_ns = extremes.min_api_ns;
      row.max_api_ns = extremes.max_api_ns;
    }
    row.uses_tensor_cores = traits.tensor_core;
    if (traits.precision != Precision::kUnknown) row.precision = PrecisionName(traits.precision);
    return row;
  }

  struct Seen {
    NameId name = std::numeric_limits<NameId>::max();
    uint32_t group = 0;
  };

  const Context& context_;
  int64_t rank_;
  size_t first_gpu_, gpus_;             // of context_.ranks.gpus
  std::vector<std::string> ops_;        // their texts
  std::vector<uint32_t> paths_, lone_;  // index of an op by path, or by name of a kernel outside all ranges
  std::vector<Seen> seen_;              // by op: the last name, and its group
  std::vector<Group> groups_;
  std::vector<Extremes> extremes_;
};

}  // namespace

const RelationOf<OpKernelRow>& OpKernelRelation() {
  static const auto relation =
      RelationOf<OpKernelRow>("op_kernel", "Kernels by the op that launched them, in the analysed window.")
          .Key("rank", &OpKernelRow::rank, kRankNumber, "Rank.")
          .Key("op", &OpKernelRow::op, Unit::kText, "Path of the op.")
          .Key("kernel", &OpKernelRow::kernel, Unit::kText, "Demangled name of the kernel.")
          .Column("calls", &OpKernelRow::calls, Unit::kCount, "Executions.")
          .Column("gpu_ns", &OpKernelRow::gpu_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("avg_gpu_ns", &OpKernelRow::avg_gpu_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("min_gpu_ns", &OpKernelRow::min_gpu_ns, Unit::kNanoseconds, "Shortest.")
          .Column("max_gpu_ns", &OpKernelRow::max_gpu_ns, Unit::kNanoseconds, "Longest.")
          .Column("api_ns", &OpKernelRow::api_ns, Unit::kNanoseconds,
                  "Sum of the launching calls' durations.", capability::kGpuWork)
          .Column("avg_api_ns", &OpKernelRow::avg_api_ns, Unit::kNanoseconds,
                  "Mean duration of the launching call.", capability::kGpuWork)
          .Column("min_api_ns", &OpKernelRow::min_api_ns, Unit::kNanoseconds, "Shortest launching call.",
                  capability::kGpuWork)
          .Column("max_api_ns", &OpKernelRow::max_api_ns, Unit::kNanoseconds, "Longest launching call.",
                  capability::kGpuWork)
          .Column("uses_tensor_cores", &OpKernelRow::uses_tensor_cores, Unit::kNone,
                  "1 or 0; unknown where the name does not show it.")
          .Column("precision", &OpKernelRow::precision, Unit::kText, "Precision, where the name shows it.");
  return relation;
}

Table ComputeOpKernels(const Context& context, const KernelNameOrder& names) {
  std::vector<GpusOfRank> ranks;
  const std::vector<Ranks::Gpu>& gpus = context.ranks.gpus;
  for (size_t first = 0, last = 0; first < gpus.size(); first = last) {
    while (last < gpus.size() && gpus[last].rank == gpus[first].rank) ++last;
    ranks.push_back(std::span(gpus).subspan(first, last - first));
  }
  const RelationOf<OpKernelRow>& relation = OpKernelRelation();
  Table table(relation.schema());
  StringPool texts;
  RelationOf<OpKernelRow>::Appender appender(relation, table);
  std::vector<std::optional<RankGroups>> groups(ThreadCount());
  for (size_t first = 0; first < ranks.size(); first += groups.size()) {
    const size_t count = std::min(groups.size(), ranks.size() - first);
    ParallelFor(count, [&](size_t i) { groups[i].emplace(context, names, ranks[first + i]); });
    // As if the other ranks had as many: a column that has to grow is twice there meanwhile.
    size_t rows = table.rows();
    for (size_t i = 0; i < count; ++i) rows += groups[i]->size();
    table.Reserve(rows * ranks.size() / (first + count));
    for (size_t i = 0; i < count; ++i) {
      groups[i]->AppendTo(appender, texts);
      groups[i].reset();
    }
  }
  return table;
}

const Family& OpKernelFamily() {
  static const Family family = FamilyOf(OpKernelRelation(), ComputeOpKernels).Detail();
  return family;
}

}  // namespace dladvisor
