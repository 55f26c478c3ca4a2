// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/distinct_operators.h"

#include <algorithm>
#include <array>
#include <bit>

namespace dladvisor {
namespace {

constexpr uint32_t kNoClass = UINT32_MAX;
constexpr uint32_t kAllBits = UINT32_MAX;

constexpr std::array kCounts = {
    &Work::flops,           &Work::model_flops,  &Work::bytes,        &Work::untyped_elements,
    &Work::output_elements, &Work::output_bytes, &Work::output_tiles, &Work::inner};
static_assert(kCounts.size() == kExpertRows);

// Bits of the counts that are known, and one for model FLOPs that are the FLOPs, as most are.
constexpr uint32_t kSameModelFlops = 1U << kWorkNumbers;

uint32_t NumbersOf(const Work& work) {
  uint32_t numbers = work.expert_rows ? 1U << kExpertRows : 0U;
  for (size_t i = 0; i < kCounts.size(); ++i)
    numbers |= static_cast<uint32_t>((work.*kCounts[i]).has_value()) << i;
  if (work.model_flops && work.model_flops == work.flops) numbers |= kSameModelFlops;
  return numbers;
}

// Whether a number of this place in kCounts has one of its own.
bool HasOwnPlace(uint32_t numbers, size_t count) {
  return (numbers >> count & 1) != 0 && (count != kModelFlops || (numbers & kSameModelFlops) == 0);
}

WorkClass ClassFor(const WorkResult& result, uint32_t numbers) {
  WorkClass of;
  of.unknown = result.unknown;
  if (!result.work) return of;
  const Work& work = *result.work;
  of.kind = work.kind;
  of.layout = work.layout;
  of.bytes_unknown = work.bytes_unknown;
  of.assumed = work.assumed;
  of.type = work.data_type;
  of.data_type = of.type;
  of.numbers = numbers;
  uint32_t place = 0;
  for (size_t i = 0; i < kWorkNumbers; ++i) {
    if ((numbers >> i & 1) == 0) continue;
    of.known[i] = kAllBits;
    of.place[i] = HasOwnPlace(numbers, i) ? place++ : of.place[kFlops];
  }
  return of;
}

// Texts of the program are the same ones as a rule: two classes may be equal.
bool IsOf(const WorkClass& of, const WorkResult& result, uint32_t numbers) {
  if (!result.work) return !of.kind && of.unknown.data() == result.unknown.data();
  const Work& work = *result.work;
  return of.kind == work.kind && of.numbers == numbers && of.type.data() == work.data_type.data() &&
         of.layout.data() == work.layout.data() && of.bytes_unknown.data() == work.bytes_unknown.data() &&
         of.assumed.data() == work.assumed.data();
}

}  // namespace

void DistinctOperators::Reserve(size_t operators) {
  constexpr size_t kUsualNumbers = 4;
  operators_.reserve(operators);
  numbers_.reserve(operators * kUsualNumbers);
}

uint32_t DistinctOperators::Add(uint32_t name, uint32_t shapes, const WorkResult& result) {
  const uint32_t numbers = result.work ? NumbersOf(*result.work) : 0;
  if (name >= last_of_name_.size()) last_of_name_.resize(name + 1, kNoClass);
  uint32_t& last = last_of_name_[name];
  if (last == kNoClass || !IsOf(classes_[last], result, numbers)) {
    const auto known =
        std::ranges::find_if(classes_, [&](const WorkClass& of) { return IsOf(of, result, numbers); });
    last = static_cast<uint32_t>(known - classes_.begin());
    if (known == classes_.end()) classes_.push_back(ClassFor(result, numbers));
  }
  operators_.push_back({name, shapes, last, static_cast<uint32_t>(numbers_.size())});
  if (result.work) {
    const Work& work = *result.work;
    for (size_t i = 0; i < kCounts.size(); ++i)
      if (HasOwnPlace(numbers, i)) numbers_.push_back(*(work.*kCounts[i]));
    if (work.expert_rows) numbers_.push_back(std::bit_cast<int64_t>(*work.expert_rows));
  }
  return static_cast<uint32_t>(operators_.size() - 1);
}

WorkResult DistinctOperators::ResultOf(const Operator& of) const {
  const WorkClass& work_class = classes_[of.work];
  if (!work_class.kind) return WorkResult::Unknown(work_class.unknown);
  WorkResult result;
  Work& work = result.work.emplace();
  work.kind = *work_class.kind;
  work.layout = work_class.layout;
  work.data_type = work_class.type;
  work.bytes_unknown = work_class.bytes_unknown;
  work.assumed = work_class.assumed;
  for (size_t i = 0; i < kCounts.size(); ++i) work.*kCounts[i] = NumberOf(of, static_cast<WorkNumber>(i));
  if (work_class.Has(kExpertRows)) work.expert_rows = std::bit_cast<double>(*NumberOf(of, kExpertRows));
  return result;
}

}  // namespace dladvisor
