// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/kernel_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/base/error.h"
#include "src/analysis/context/varint.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

// Steps of which fewer than half run the same kernels say nothing by position.
constexpr double kUsualShare = 0.5;
constexpr size_t kMostCells = 1 << 20;

constexpr uint64_t kFnvOffset = 14695981039346656037u, kFnvPrime = 1099511628211u;

uint64_t Hash(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return (hash ^ 0xff) * kFnvPrime;  // between names
}

// A kernel of a step, as its order needs it.
struct Member {
  Ns launch, start;
  uint32_t kernel;
  auto operator<=>(const Member&) const = default;
};

class Builder {
 public:
  Builder(const Context& context, size_t gpu)
      : context_(context), kernels_(context.trace.kernels), gpu_(context.ranks.gpus[gpu]), work_(gpu) {
    name_hash_.assign(context.trace.names.size(), 0);
  }

  std::optional<KernelSequence> Build() {
    const std::vector<Step>* steps = nullptr;
    for (const auto& [rank, list] : context_.steps.by_rank)
      if (rank == gpu_.rank) steps = &list;
    if (!steps) return std::nullopt;
    Split(*steps);
    std::map<uint64_t, size_t> count;
    for (const uint64_t hash : hashes_) ++count[hash];
    uint64_t usual = 0;
    size_t most = 0;
    for (const uint64_t hash : hashes_)  // of equally many the first
      if (count[hash] > most) std::tie(usual, most) = std::pair(hash, count[hash]);
    if (most == 0 || static_cast<double>(most) < kUsualShare * static_cast<double>(hashes_.size()))
      return std::nullopt;
    KernelSequence sequence;
    sequence.rank = gpu_.rank;
    sequence.device = context_.trace.devices[gpu_.device].ordinal;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (hashes_[i] != usual) {
        ++sequence.other_steps;
        continue;
      }
      if (sequence.names.empty()) Describe(members_[i], sequence);
      if (!sequence.steps.empty() && cells_.duration.size() + sequence.length() > kMostCells) break;
      Add(members_[i], numbers_[i], sequence);
    }
    if (sequence.names.empty()) return std::nullopt;
    for (double& blocks : sequence.blocks) blocks /= static_cast<double>(sequence.steps.size());
    sequence.fingerprint = FingerprintOf(sequence.names);
    sequence.encoded = EncodeCells(cells_, sequence.length());
    return sequence;
  }

 private:
  bool IsCommunication(uint32_t k) const { return context_.kernels[kernels_.name[k]].communication; }

  // The kernels of each steady step in order. A kernel belongs to the step in which it starts.
  void Split(const std::vector<Step>& steps) {
    std::vector<Member> members;
    size_t at = 0;
    const std::vector<uint32_t>& work = context_.work[work_].kernels;
    for (const Step& step : steps) {
      members.clear();
      while (at < work.size() && kernels_.start[work[at]] < step.time.start) ++at;
      for (; at < work.size() && kernels_.start[work[at]] < step.time.end; ++at) {
        const uint32_t k = work[at];
        const uint32_t call = context_.launches.kernel[k];
        members.push_back({call == kNoIndex ? kernels_.start[k] : context_.trace.api_calls.start[call],
                           kernels_.start[k], k});
      }
      if (step.warmup || members.empty()) continue;
      std::sort(members.begin(), members.end());
      uint64_t hash = kFnvOffset;
      for (const Member& member : members) hash = (hash ^ NameHash(member.kernel)) * kFnvPrime;
      hashes_.push_back(hash);
      numbers_.push_back(step.number);
      std::vector<uint32_t>& order = members_.emplace_back();
      order.reserve(members.size());
      for (const Member& member : members) order.push_back(member.kernel);
    }
  }

  uint64_t NameHash(uint32_t k) {
    uint64_t& hash = name_hash_[kernels_.short_name[k]];
    if (hash == 0) hash = Hash(kFnvOffset, context_.trace.names.View(kernels_.short_name[k]));
    return hash;
  }

  void Describe(const std::vector<uint32_t>& order, KernelSequence& sequence) const {
    for (const uint32_t k : order) {
      sequence.names.emplace_back(context_.trace.names.View(kernels_.short_name[k]));
      sequence.communication.push_back(IsCommunication(k));
    }
    sequence.blocks.assign(order.size(), 0);
  }

  void Add(const std::vector<uint32_t>& order, int64_t number, KernelSequence& sequence) {
    const size_t length = order.size(), base = cells_.duration.size();
    for (std::vector<int64_t>* column : {&cells_.duration, &cells_.gap, &cells_.waiting, &cells_.delay})
      column->resize(base + length, 0);
    KernelSequence::Step step;
    step.number = number;
    std::vector<Interval> collectives;
    std::vector<uint32_t> by_start(length);
    std::iota(by_start.begin(), by_start.end(), 0u);
    std::sort(by_start.begin(), by_start.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(kernels_.start[order[a]], a) < std::pair(kernels_.start[order[b]], b);
    });
    for (size_t i = 0; i < length; ++i) {
      const uint32_t k = order[i], call = context_.launches.kernel[k];
      cells_.duration[base + i] = kernels_.end[k] - kernels_.start[k];
      cells_.delay[base + i] =
          call == kNoIndex ? -1 : std::max<Ns>(0, kernels_.start[k] - context_.trace.api_calls.start[call]);
      step.end_ns = i == 0 ? kernels_.end[k] : std::max(step.end_ns, kernels_.end[k]);
      const int64_t blocks = std::max<int64_t>(0, kernels_.grid[k]);
      sequence.blocks[i] += static_cast<double>(blocks);
      if (sequence.communication[i])
        collectives.push_back({kernels_.start[k], kernels_.end[k]});
      else
        step.blocks += blocks;
    }
    const IntervalSet communicating = Union(collectives);
    std::optional<Ns> done;  // latest end of what started before
    size_t next = 0;
    for (const uint32_t i : by_start) {
      if (sequence.communication[i]) continue;
      const Ns start = kernels_.start[order[i]], end = kernels_.end[order[i]];
      if (!done) {
        step.start_ns = start;
      } else if (start > *done) {
        cells_.gap[base + i] = start - *done;
        while (next < communicating.size() && communicating[next].end <= *done) ++next;
        for (size_t c = next; c < communicating.size() && communicating[c].start < start; ++c)
          cells_.waiting[base + i] +=
              std::min(communicating[c].end, start) - std::max(communicating[c].start, *done);
      }
      done = std::max(done.value_or(end), end);
    }
    if (done && !communicating.empty() && communicating.back().end > step.start_ns)
      step.to_sync_ns = communicating.back().end - step.start_ns;
    sequence.steps.push_back(step);
  }

  const Context& context_;
  const Kernels& kernels_;
  const Ranks::Gpu gpu_;
  const size_t work_;
  std::vector<uint64_t> name_hash_;  // by name id, 0 where not yet known
  std::vector<std::vector<uint32_t>> members_;
  std::vector<uint64_t> hashes_;
  std::vector<int64_t> numbers_;
  KernelSequence::Cells cells_;
};

}  // namespace

std::string EncodeCells(const KernelSequence::Cells& cells, size_t length) {
  std::string out;
  out.reserve(cells.duration.size() * 7);
  for (const std::vector<int64_t>* column : {&cells.duration, &cells.gap, &cells.waiting, &cells.delay})
    for (size_t i = 0; i < column->size(); ++i)
      PutVarint(out, (*column)[i] - (i < length ? 0 : (*column)[i - length]));
  return out;
}

KernelSequence::Cells DecodeCells(const KernelSequence& sequence) {
  CellColumns columns(sequence);
  KernelSequence::Cells cells;
  for (std::vector<int64_t>* column : {&cells.duration, &cells.gap, &cells.waiting, &cells.delay})
    *column = columns.Next();
  return cells;
}

CellColumns::CellColumns(const KernelSequence& sequence)
    : length_(sequence.length()),
      count_(length_ * sequence.steps.size()),
      reader_(sequence.encoded, "kernel sequence") {
  // A value takes a byte at least: damaged counts do not ask for memory that is not there.
  if (sequence.encoded.size() < 4 * count_)
    throw Error("kernel sequence", "is damaged", "Write the digest again from the profile.");
}

const std::vector<int64_t>& CellColumns::Next() {
  column_.resize(count_);
  for (size_t i = 0; i < count_; ++i) column_[i] = reader_.Next() + (i < length_ ? 0 : column_[i - length_]);
  return column_;
}

uint64_t FingerprintOf(const std::vector<std::string>& names) {
  uint64_t hash = kFnvOffset;
  for (const std::string& name : names) hash = Hash(hash, name);
  return hash;
}

std::vector<KernelSequence> ComputeKernelSequences(const Context& context) {
  std::vector<std::optional<KernelSequence>> by_gpu(context.work.size());
  ParallelFor(by_gpu.size(), [&](size_t gpu) { by_gpu[gpu] = Builder(context, gpu).Build(); });
  std::vector<KernelSequence> sequences;
  for (std::optional<KernelSequence>& sequence : by_gpu)
    if (sequence) sequences.push_back(std::move(*sequence));
  return sequences;
}

}  // namespace dladvisor
