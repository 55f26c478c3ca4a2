// SPDX-License-Identifier: Apache-2.0
#include "engine/store/row_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace dladvisor {
namespace {

// So many rows are sorted first, and each time more by this factor.
constexpr size_t kSortedFirst = 64, kSortedMore = 16;

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();

// In the order of the reals; SQLite takes what is not a number for unknown.
int64_t KeyOfReal(double real) {
  if (std::isnan(real)) return kFirst;
  const auto bits = std::bit_cast<int64_t>(real + 0.0);  // one zero
  return bits < 0 ? ~(bits & std::numeric_limits<int64_t>::max()) : bits;
}

int64_t KeyOfText(std::string_view text) {
  uint64_t key = 0;
  std::memcpy(&key, text.data(), std::min(text.size(), sizeof(key)));
  if constexpr (std::endian::native == std::endian::little) key = __builtin_bswap64(key);
  return static_cast<int64_t>(key ^ uint64_t{1} << 63);
}

bool IsUnknown(const CellView& cell) {
  return cell.kind == CellView::Kind::kNull || (cell.kind == CellView::Kind::kReal && std::isnan(cell.real));
}

// Below, at or above 0. REQUIRES: cells of one column, which are of one type or unknown.
int Compare(const CellView& a, const CellView& b) {
  const bool unknown_a = IsUnknown(a), unknown_b = IsUnknown(b);
  if (unknown_a || unknown_b) return static_cast<int>(unknown_b) - static_cast<int>(unknown_a);
  if (a.kind == CellView::Kind::kText) {
    // Relations keep equal texts once, as a rule.
    const bool is_same = a.text.data() == b.text.data() && a.text.size() == b.text.size();
    return is_same ? 0 : a.text.compare(b.text);
  }
  if (a.kind == CellView::Kind::kReal) return a.real < b.real ? -1 : a.real > b.real ? 1 : 0;
  return a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
}

}  // namespace

int64_t RowOrder::KeyOf(size_t row) const {
  const CellView cell = relation_->At(row, terms_[0].column);
  const auto key = [&] {
    switch (cell.kind) {
      case CellView::Kind::kInteger:
        return cell.integer;
      case CellView::Kind::kReal:
        return KeyOfReal(cell.real);
      case CellView::Kind::kText:
        return KeyOfText(cell.text);
      case CellView::Kind::kNull:
        break;
    }
    return kFirst;
  }();
  return terms_[0].descending ? ~key : key;
}

bool RowOrder::IsWhole(int64_t key) const {
  return key != kFirst && key != ~kFirst && relation_->schema().columns[terms_[0].column].type != Type::kText;
}

bool RowOrder::IsBefore(const Entry& a, const Entry& b) const {
  if (a.key != b.key) return a.key < b.key;
  for (size_t i = IsWhole(a.key) ? 1 : 0; i < terms_.size(); ++i) {
    const OrderTerm& term = terms_[i];
    const int order = Compare(relation_->At(a.row, term.column), relation_->At(b.row, term.column));
    if (order != 0) return term.descending ? order > 0 : order < 0;
  }
  return a.row < b.row;
}

bool RowOrder::IsEqualInAll(size_t column) const {
  return std::all_of(rows_.begin(), rows_.end(), [&](const Entry& entry) {
    return entry.key == rows_[0].key &&
           Compare(relation_->At(entry.row, column), relation_->At(rows_[0].row, column)) == 0;
  });
}

void RowOrder::Begin() {
  // A rank or what is unknown of all rows orders none: keys are of the first term that does.
  while (terms_.size() > 1 && IsEqualInAll(terms_[0].column)) {
    terms_.erase(terms_.begin());
    for (Entry& entry : rows_) entry.key = KeyOf(entry.row);
  }
  const bool is_sorted = std::is_sorted(rows_.begin(), rows_.end(),
                                        [&](const Entry& a, const Entry& b) { return IsBefore(a, b); });
  if (is_sorted)
    sorted_ = rows_.size();
  else
    SortMore();
}

void RowOrder::SortMore() {
  const auto is_before = [&](const Entry& a, const Entry& b) { return IsBefore(a, b); };
  const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  auto last = rows_.end();
  if (const size_t more = std::max(kSortedFirst, sorted_ * kSortedMore); more < rows_.size() - sorted_) {
    // By keys alone, which is fast, and then those that have the last one's key.
    const auto nth = first + static_cast<std::ptrdiff_t>(more);
    std::nth_element(first, nth, rows_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    const auto has_key = [key = nth->key](const Entry& entry) { return entry.key == key; };
    const auto with_key = std::partition(first, nth, std::not_fn(has_key));
    std::nth_element(with_key, nth, std::partition(nth, rows_.end(), has_key), is_before);
    last = nth;
  }
  std::sort(first, last, is_before);
  sorted_ = static_cast<size_t>(last - rows_.begin());
}

}  // namespace dladvisor
