// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/element_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <utility>

namespace dladvisor {
namespace {

constexpr ElementType kDouble{"fp64", 8, 1, true}, kFloat{"fp32", 4, 1, true}, kHalf{"fp16", 2, 1, true},
    kBfloat16{"bf16", 2, 1, true}, kFp8{"fp8", 1, 1, true}, kFp4{"fp4", 1, 2, true}, kInt64{"int64", 8},
    kInt32{"int32", 4}, kInt16{"int16", 2}, kInt8{"int8", 1}, kUint8{"uint8", 1}, kBool{"bool", 1},
    kComplex32{"complex32", 4, 1, true}, kComplex64{"complex64", 8, 1, true},
    kComplex128{"complex128", 16, 1, true};

}  // namespace

std::optional<ElementType> ParseElementType(std::string_view text) {
  static const std::map<std::string, ElementType, std::less<>> types = {
      {"double", kDouble},
      {"float64", kDouble},
      {"float", kFloat},
      {"float32", kFloat},
      {"half", kHalf},
      {"float16", kHalf},
      {"bfloat16", kBfloat16},
      {"float8_e4m3fn", kFp8},
      {"float8_e4m3fnuz", kFp8},
      {"float8_e5m2", kFp8},
      {"float8_e5m2fnuz", kFp8},
      {"float8_e8m0fnu", kFp8},
      {"float4_e2m1fn_x2", kFp4},
      {"long", kInt64},
      {"long int", kInt64},
      {"int64", kInt64},
      {"int", kInt32},
      {"int32", kInt32},
      {"short", kInt16},
      {"short int", kInt16},
      {"int16", kInt16},
      {"signed char", kInt8},
      {"char", kInt8},
      {"int8", kInt8},
      {"unsigned char", kUint8},
      {"byte", kUint8},
      {"uint8", kUint8},
      {"bool", kBool},
      {"complex<half>", kComplex32},
      {"complex<c10::half>", kComplex32},
      {"complex<float>", kComplex64},
      {"complex<double>", kComplex128},
      {"complex64", kComplex64},
      {"complex128", kComplex128},
  };
  std::string name;
  for (const char c : text) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view prefix : {"c10::", "torch.", "cuda."})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  if (name.ends_with("tensor")) name.resize(name.size() - std::string_view("tensor").size());
  const auto known = types.find(name);
  if (known == types.end()) return std::nullopt;
  return known->second;
}

std::optional<ElementType> ElementTypeOfName(std::string_view name) {
  for (const ElementType& type : {kDouble, kFloat, kHalf, kBfloat16, kFp8, kFp4, kInt64, kInt32, kInt16,
                                  kInt8, kUint8, kBool, kComplex32, kComplex64, kComplex128})
    if (type.name == name) return type;
  return std::nullopt;
}

std::optional<ElementType> ElementTypeOfNumber(std::string_view number) {
  // c10/core/ScalarType.h.
  static const std::map<std::string_view, ElementType> types = {
      {"0", kUint8},       {"1", kInt8},  {"2", kInt16},     {"3", kInt32},     {"4", kInt64},
      {"5", kHalf},        {"6", kFloat}, {"7", kDouble},    {"8", kComplex32}, {"9", kComplex64},
      {"10", kComplex128}, {"11", kBool}, {"15", kBfloat16}, {"23", kFp8},      {"24", kFp8},
      {"25", kFp8},        {"26", kFp8},
  };
  const auto known = types.find(number);
  if (known == types.end()) return std::nullopt;
  return known->second;
}

ElementType Promote(const ElementType& a, const ElementType& b) {
  if (a.name == b.name) return a;
  if (a.is_float != b.is_float) return a.is_float ? a : b;
  if (a.name == kBool.name) return b;
  if (b.name == kBool.name) return a;
  // FP16 and BF16 meet in FP32.
  if (a.bytes == b.bytes) return a.is_float && a.bytes == 2 ? kFloat : a;
  return a.bytes > b.bytes ? a : b;
}

}  // namespace dladvisor
