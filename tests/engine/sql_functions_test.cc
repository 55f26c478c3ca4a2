// SPDX-License-Identifier: Apache-2.0
#include "engine/store/sql_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/authoring/function_docs.h"
#include "engine/store/sandbox.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {

Value ValueOf(const std::string& sql) {
  test::Shops shops;
  return shops.database.Query("SELECT " + sql).rows.at(0).at(0);
}

TEST(SqlFunctions, MedianAndPercentile) {
  const std::string numbers =
      " FROM (SELECT 4 AS x UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT NULL)";
  EXPECT_EQ(ValueOf("median(x)" + numbers), Value(2.0));
  EXPECT_EQ(ValueOf("percentile(x, 0)" + numbers), Value(1.0));
  EXPECT_EQ(ValueOf("percentile(x, 75)" + numbers), Value(3.0));
  EXPECT_EQ(ValueOf("percentile(x, 100)" + numbers), Value(4.0));
  EXPECT_EQ(ValueOf("median(x)" + numbers + " WHERE x > 9"), Value());
  EXPECT_EQ(ValueOf("median('a')"), Value());
  test::Shops shops;
  EXPECT_THAT(test::WhyRefused(shops.database, "SELECT percentile(shop, 101) FROM shop"),
              testing::HasSubstr("from 0 to 100"));
}

TEST(SqlFunctions, RegexpExtract) {
  EXPECT_EQ(ValueOf("regexp_extract('gemm_128x64', '(\\d+)x')"), Value(std::string("128")));
  EXPECT_EQ(ValueOf("regexp_extract('gemm_128x64', '(\\d+)x(\\d+)', 2)"), Value(std::string("64")));
  EXPECT_EQ(ValueOf("regexp_extract('gemm_128x64', '\\d+x')"), Value(std::string("128x")));
  EXPECT_EQ(ValueOf("regexp_extract('gemm', '(\\d+)')"), Value());
  EXPECT_EQ(ValueOf("regexp_extract(NULL, '(\\d+)')"), Value());
  test::Shops shops;
  EXPECT_EQ(test::WhyRefused(shops.database, "SELECT regexp_extract('a', 'a', 1)"),
            "regexp_extract: the pattern has 0 groups, and no group 1");
}

TEST(SqlFunctions, APatternHasAFewThousandInstructions) {
  test::Shops shops;
  EXPECT_THAT(test::WhyRefused(shops.database, "SELECT 'a' REGEXP '[^a-zäöü]{900}'"),
              testing::HasSubstr("instructions, more than 4000"));
  EXPECT_THAT(test::WhyRefused(shops.database, "SELECT 'a' REGEXP '" + std::string(5000, 'a') + "'"),
              testing::HasSubstr("more than 4000 bytes"));
}

TEST(SqlFunctions, EveryAllowedOneIsDocumented) {
  std::vector<std::string> documented;
  for (const auto& [name, function] : FunctionDocTable()) documented.push_back(name);
  EXPECT_EQ(documented, AllowedFunctions());
}

TEST(SqlErrors, AColumnThatIsElsewhereIsNotSuggestedForItself) {
  test::Shops shops;
  EXPECT_EQ(test::WhyRefused(shops.database, "SELECT price FROM shop"),
            "no such column: price (a column of orders)");
  EXPECT_EQ(test::WhyRefused(shops.database, "SELECT shop.price FROM shop, orders"),
            "no such column: shop.price (a column of orders, but not here)");
}

}  // namespace
}  // namespace dladvisor
