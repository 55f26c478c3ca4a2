// SPDX-License-Identifier: Apache-2.0
// A typed, nullable fact: what a cell of a relation holds and what SQL reads and returns.
// NULL means unknown, never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace dladvisor {

// Owns its text. Cells of large tables are read as CellView (relation.h) instead, which borrows.
using Value = std::variant<std::monostate, int64_t, double, std::string>;

inline bool IsNull(const Value& v) { return std::holds_alternative<std::monostate>(v); }

// The value as a number, or nothing for NULL and text.
inline std::optional<double> AsNumber(const Value& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&v)) return *d;
  return std::nullopt;
}

enum class Type { kInteger, kReal, kText };

// What a number counts. It decides how a message prints it and which comparisons are refused.
enum class Unit {
  kNone,
  kText,
  kCount,
  kCountPerStep,
  kNanoseconds,
  kBytes,
  kRatio,
  kBytesPerSecond,
  kFlops,
  kFlopsPerSecond,
  kCelsius,
  kWatts,
  kHertz
};

// "ns", "bytes", "ratio", "count", "count/step", "bytes/s", "flops", "flops/s", "celsius", "watts", "hertz",
// "text",
// "" (kNone).
std::string_view UnitName(Unit unit);
std::optional<Unit> ParseUnit(std::string_view name);
std::string_view TypeName(Type type);                  // "integer", "real", "text"
std::optional<Type> ParseType(std::string_view name);  // also accepts "int"

// The value as people read it: 0.31 ratio -> "31.0 %", 12.3e6 ns -> "12.3 ms", 98.4e9 ns -> "1.64 min",
// 1.5 GiB, 1.2 GB/s, 1,234 for counts, 2.50 per step; NULL -> "unknown". Text is returned as it is.
std::string FormatValue(const Value& value, Unit unit);

}  // namespace dladvisor
