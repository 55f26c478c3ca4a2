// SPDX-License-Identifier: Apache-2.0
// Members of the structs that are rows of relations, read and set as cells by where they lie in the struct:
// compiled once for each type of member, not for each struct.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/string_pool.h"
#include "engine/base/value.h"

namespace dladvisor {

struct CellView;
class Table;

// What is a cell; a string_view is of what outlives the rows.
template <class T>
concept PlainMember = std::same_as<T, int64_t> || std::same_as<T, double> || std::same_as<T, bool> ||
    std::same_as<T, std::string> || std::same_as<T, std::string_view>;
template <class T>
concept CellMember = PlainMember<T> ||
    (std::same_as<T, std::optional<typename T::value_type>>&& PlainMember<typename T::value_type>);

// Rows of some struct one after another.
struct RawRows {
  const std::byte* first;
  size_t count, size;  // bytes of each
};

struct RowMember {
  struct Access {
    Type type;
    bool nullable;
    void (*add)(const RawRows& members, size_t column, InternedViews& texts, Table& table);
    // Cells of another type, and NULL where the member cannot be unknown, leave it as it is.
    void (*set)(const CellView& cell, std::byte* member);
  };

  const Access* access;
  size_t offset;

  template <class Row, CellMember T>
  static RowMember Of(T Row::*member) {
    // Such a pointer is the offset: the Itanium C++ ABI, which GCC and Clang keep to.
    static_assert(sizeof member == sizeof(size_t));
    return {&AccessTo<T>(), std::bit_cast<size_t>(member)};
  }

 private:
  template <CellMember T>
  static const Access& AccessTo();
};

}  // namespace dladvisor
