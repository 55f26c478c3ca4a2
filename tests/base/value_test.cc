// SPDX-License-Identifier: Apache-2.0
#include "engine/base/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace dladvisor {
namespace {

TEST(FormatValue, PrintsByUnit) {
  EXPECT_EQ(FormatValue(0.31, Unit::kRatio), "31.0 %");
  EXPECT_EQ(FormatValue(0.0004, Unit::kRatio), "<0.1 %");
  EXPECT_EQ(FormatValue(0.0005, Unit::kRatio), "0.1 %");
  EXPECT_EQ(FormatValue(0.0, Unit::kRatio), "0.0 %");
  EXPECT_EQ(FormatValue(12.3e6, Unit::kNanoseconds), "12.3 ms");
  EXPECT_EQ(FormatValue(int64_t{98'400'000'000}, Unit::kNanoseconds), "1.64 min");
  EXPECT_EQ(FormatValue(97'200e9, Unit::kNanoseconds), "27.0 h");
  EXPECT_EQ(FormatValue(int64_t{640}, Unit::kNanoseconds), "640 ns");
  EXPECT_EQ(FormatValue(int64_t{1610612736}, Unit::kBytes), "1.50 GiB");
  EXPECT_EQ(FormatValue(2.039e12, Unit::kBytesPerSecond), "2.04 TB/s");
  EXPECT_EQ(FormatValue(2.25e15, Unit::kFlopsPerSecond), "2250 TFLOP/s");
  EXPECT_EQ(FormatValue(int64_t{34'359'738'368}, Unit::kFlops), "34.4 GFLOP");
  EXPECT_EQ(FormatValue(int64_t{1234567}, Unit::kCount), "1,234,567");
  EXPECT_EQ(FormatValue(int64_t{1234567}, Unit::kNone), "1234567");
  EXPECT_EQ(FormatValue(41.0, Unit::kCelsius), "41 °C");
  EXPECT_EQ(FormatValue(std::string("a < b"), Unit::kText), "a < b");
}

TEST(FormatValue, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(FormatValue(999'999.0, Unit::kNanoseconds), "1.00 ms");
  EXPECT_EQ(FormatValue(9.999e6, Unit::kNanoseconds), "10.0 ms");
  EXPECT_EQ(FormatValue(99.99e6, Unit::kNanoseconds), "100 ms");
}

TEST(FormatValue, UnknownIsNeverZero) {
  EXPECT_EQ(FormatValue(Value(), Unit::kRatio), "unknown");
  EXPECT_EQ(FormatValue(std::numeric_limits<double>::quiet_NaN(), Unit::kNanoseconds), "unknown");
  EXPECT_EQ(FormatValue(std::numeric_limits<double>::infinity(), Unit::kNone), "unknown");
  EXPECT_EQ(FormatValue(int64_t{0}, Unit::kNanoseconds), "0 ns");
}

TEST(FormatValue, NegativeAndExtremeNumbers) {
  EXPECT_EQ(FormatValue(int64_t{-1500}, Unit::kNanoseconds), "-1.50 µs");
  EXPECT_EQ(FormatValue(int64_t{-1234}, Unit::kCount), "-1,234");
  EXPECT_EQ(FormatValue(std::numeric_limits<int64_t>::min(), Unit::kNone), "-9223372036854775808");
}

TEST(Units, NamesRoundTrip) {
  for (Unit unit : {Unit::kNone, Unit::kText, Unit::kCount, Unit::kNanoseconds, Unit::kBytes, Unit::kRatio,
                    Unit::kBytesPerSecond, Unit::kCelsius, Unit::kWatts, Unit::kHertz})
    EXPECT_EQ(ParseUnit(UnitName(unit)), unit);
  EXPECT_FALSE(ParseUnit("furlongs").has_value());
  EXPECT_EQ(ParseType("int"), Type::kInteger);
  EXPECT_FALSE(ParseType("blob").has_value());
}

}  // namespace
}  // namespace dladvisor
