// SPDX-License-Identifier: Apache-2.0
#include "src/trace/reorder.h"

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

// From so many runs on, merging them two by two reads the times at random more often than sorting copies of
// them does.
constexpr size_t kManyRuns = 1000;

struct Start {
  uint64_t time;  // from the earliest that there can be, as differences of any two must be numbers
  uint32_t row;
};

// Rows that are worth a thread of their own.
constexpr size_t kRowsOfThread = 100'000;

void SortPart(std::span<Start> part) {
  const auto by_time = [](const Start& a, const Start& b) { return a.time < b.time; };
  boost::sort::spreadsort::integer_sort(
      part.begin(), part.end(), [](const Start& s, unsigned bits) { return s.time >> bits; }, by_time);
  for (auto first = part.begin(); first != part.end();) {
    const auto last =
        std::find_if(first + 1, part.end(), [&](const Start& s) { return s.time != first->time; });
    if (last - first > 1)
      std::sort(first, last, [](const Start& a, const Start& b) { return a.row < b.row; });
    first = last;
  }
}

// On up to `threads` threads: the earlier half on one half of them, the later on the others.
void SortStarts(std::span<Start> starts, size_t threads) {
  if (threads < 2 || starts.size() < 2 * kRowsOfThread) return SortPart(starts);
  // Halves of about the same size by the middle of a sample.
  std::vector<uint64_t> sample;
  for (size_t i = 0; i < starts.size(); i += starts.size() / 1000) sample.push_back(starts[i].time);
  std::ranges::nth_element(sample, sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2));
  const uint64_t middle = sample[sample.size() / 2];
  const auto later =
      std::partition(starts.begin(), starts.end(), [&](const Start& s) { return s.time < middle; });
  const std::span<Start> halves[] = {{starts.begin(), later}, {later, starts.end()}};
  if (halves[0].empty()) return SortPart(starts);  // most rows start together
  ParallelFor(2, [&](size_t half) { SortStarts(halves[half], (threads + 1 - half) / 2); });
}

std::vector<uint32_t> Sorted(const std::vector<Ns>& start) {
  std::vector<Start> sorted(start.size());
  for (size_t i = 0; i < start.size(); ++i)
    sorted[i] = {static_cast<uint64_t>(start[i]) ^ (uint64_t{1} << 63), static_cast<uint32_t>(i)};
  SortStarts(sorted, ThreadCount());
  std::vector<uint32_t> order(sorted.size());
  std::transform(sorted.begin(), sorted.end(), order.begin(), [](const Start& s) { return s.row; });
  return order;
}

// `runs` holds where each begins.
std::vector<uint32_t> Merged(const std::vector<Ns>& start, std::vector<size_t> runs) {
  const auto earlier = [&](uint32_t a, uint32_t b) { return start[a] < start[b]; };
  std::vector<uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::vector<uint32_t> merged(order.size()); runs.size() > 1; order.swap(merged)) {
    std::vector<size_t> longer;
    for (size_t r = 0; r < runs.size(); r += 2) {
      const auto at = [&](size_t run) {
        return static_cast<std::ptrdiff_t>(run < runs.size() ? runs[run] : order.size());
      };
      const auto first = order.begin();
      std::merge(first + at(r), first + at(r + 1), first + at(r + 1), first + at(r + 2),
                 merged.begin() + at(r), earlier);
      longer.push_back(runs[r]);
    }
    runs = std::move(longer);
  }
  return order;
}

}  // namespace

std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start) {
  // Profilers write the rows of one process or thread after those of another, each in order: runs.
  std::vector<size_t> runs;
  for (size_t i = 0; i < start.size() && runs.size() <= kManyRuns; ++i)
    if (i == 0 || start[i] < start[i - 1]) runs.push_back(i);
  if (runs.size() < 2) return {};
  return runs.size() > kManyRuns ? Sorted(start) : Merged(start, std::move(runs));
}

}  // namespace dladvisor
