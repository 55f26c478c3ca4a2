// SPDX-License-Identifier: Apache-2.0
#include "src/cli/price.h"

#include <gtest/gtest.h>

#include <tuple>

namespace dladvisor {
namespace {

TEST(Price, IsAnAmountWithOrWithoutItsCurrency) {
  for (const auto& [text, amount, currency] :
       {std::tuple{"2.5", 2.5, ""}, {"2.50 €", 2.5, "€"}, {" 3 USD ", 3.0, "USD"}, {"0.9$", 0.9, "$"}}) {
    const auto price = ParsePrice(text);
    ASSERT_TRUE(price.has_value()) << text;
    EXPECT_EQ(price->per_gpu_hour, amount);
    EXPECT_EQ(price->currency, currency);
  }
}

TEST(Price, RefusesWhatIsNone) {
  for (const char* text :
       {"", "free", "-2", "0", "inf", "nan", "2 € per hour", "2,50", "2.5 a-long-currency-name", "1e400"})
    EXPECT_FALSE(ParsePrice(text).has_value()) << text;
}

}  // namespace
}  // namespace dladvisor
