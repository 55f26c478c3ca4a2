// SPDX-License-Identifier: Apache-2.0
#include "engine/store/row_member.h"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "engine/store/relation.h"

namespace dladvisor {
namespace {

template <class T>
constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

template <class T>
struct Unwrap {
  using type = T;
  static constexpr bool is_optional = false;
};
template <class T>
struct Unwrap<std::optional<T>> {
  using type = T;
  static constexpr bool is_optional = true;
};

// As Table::AddCells() takes it.
template <class T>
int64_t BitsOf(const T& value, InternedViews& texts, Table& table) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return table.IdOf(value, texts);
  else if constexpr (std::is_same_v<T, std::string>)
    return table.IdOf(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<int64_t>(value);
  else
    return static_cast<int64_t>(value);
}

template <class T>
void Add(const RawRows& members, size_t column, InternedViews& texts, Table& table) {
  constexpr size_t kAtOnce = 64;
  std::array<int64_t, kAtOnce> values;
  std::array<uint8_t, kAtOnce> unknown = {};
  for (size_t first = 0; first < members.count; first += kAtOnce) {
    const size_t count = std::min(kAtOnce, members.count - first);
    for (size_t i = 0; i < count; ++i) {
      const T& member = *reinterpret_cast<const T*>(members.first + (first + i) * members.size);
      if constexpr (Unwrap<T>::is_optional) {
        unknown[i] = !member.has_value();
        values[i] = member ? BitsOf(*member, texts, table) : 0;
      } else {
        values[i] = BitsOf(member, texts, table);
      }
    }
    table.AddCells(column, std::span(values).first(count), std::span(unknown).first(count));
  }
}

template <class T>
void Set(const CellView& cell, std::byte* at) {
  using Plain = typename Unwrap<T>::type;
  T& member = *reinterpret_cast<T*>(at);
  if constexpr (kIsText<Plain>) {
    if (cell.kind == CellView::Kind::kText) member = Plain(cell.text);
  } else if constexpr (std::is_same_v<Plain, double>) {
    if (cell.kind == CellView::Kind::kReal) member = cell.real;
    if (cell.kind == CellView::Kind::kInteger) member = static_cast<double>(cell.integer);
  } else if (cell.kind == CellView::Kind::kInteger) {
    member = static_cast<Plain>(cell.integer);
  }
}

}  // namespace

template <CellMember T>
const RowMember::Access& RowMember::AccessTo() {
  using Plain = typename Unwrap<T>::type;
  constexpr Type type = kIsText<Plain>                  ? Type::kText
                        : std::is_same_v<Plain, double> ? Type::kReal
                                                        : Type::kInteger;
  static constexpr Access access{type, Unwrap<T>::is_optional, Add<T>, Set<T>};
  return access;
}

template const RowMember::Access& RowMember::AccessTo<int64_t>();
template const RowMember::Access& RowMember::AccessTo<double>();
template const RowMember::Access& RowMember::AccessTo<bool>();
template const RowMember::Access& RowMember::AccessTo<std::string>();
template const RowMember::Access& RowMember::AccessTo<std::string_view>();
template const RowMember::Access& RowMember::AccessTo<std::optional<int64_t>>();
template const RowMember::Access& RowMember::AccessTo<std::optional<double>>();
template const RowMember::Access& RowMember::AccessTo<std::optional<bool>>();
template const RowMember::Access& RowMember::AccessTo<std::optional<std::string>>();
template const RowMember::Access& RowMember::AccessTo<std::optional<std::string_view>>();

}  // namespace dladvisor
