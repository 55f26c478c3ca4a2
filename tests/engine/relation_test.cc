// SPDX-License-Identifier: Apache-2.0
// Tables of owned values, and rows of structs as tables.
#include "engine/store/relation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor {
namespace {

Table MixedTable() {
  return Table({"mixed",
                "Every type.",
                {"number"},
                {{"number", Type::kInteger, Unit::kNone, "", true, ""},
                 {"share", Type::kReal, Unit::kRatio, "", true, ""},
                 {"name", Type::kText, Unit::kText, "", true, ""}}});
}

TEST(Table, GivesBackWhatItWasGiven) {
  Table table = MixedTable();
  const std::vector<std::vector<Value>> rows = {
      {Value(), Value(), Value()},  // unknown before anything is known
      {int64_t{-7}, -0.25, std::string("a\0b", 3)},
      {INT64_MAX, 1e300, std::string()},
      {Value(), 0.5, std::string("a\0b", 3)},
      {INT64_MIN, Value(), Value()}};
  for (const auto& row : rows) table.AddRow(row);
  ASSERT_EQ(table.rows(), rows.size());
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t column = 0; column < 3; ++column)
      EXPECT_EQ(table.ValueAt(row, column), rows[row][column]) << row << " " << column;
  EXPECT_EQ(table.SortedColumn(), std::nullopt);
}

TEST(Table, WhatIsOfAnotherTypeIsUnknown) {
  Table table = MixedTable();
  table.AddRow({0.5, int64_t{3}, int64_t{4}});
  EXPECT_TRUE(IsNull(table.ValueAt(0, 0)));
  EXPECT_EQ(table.ValueAt(0, 1), Value(3.0));  // an integer is taken for a real
  EXPECT_TRUE(IsNull(table.ValueAt(0, 2)));
}

struct ShopRow {
  int64_t shop = 0;
  std::string_view town;
  std::optional<std::string> owner;
  std::optional<double> busy;
  bool open = false;
};

const RelationOf<ShopRow>& ShopRelation() {
  static const auto relation = RelationOf<ShopRow>("shop", "One row per shop.")
                                   .Key("shop", &ShopRow::shop, Unit::kNone, "Number.")
                                   .Column("town", &ShopRow::town, Unit::kText, "Where.")
                                   .Column("owner", &ShopRow::owner, Unit::kText, "Whose.")
                                   .Column("busy", &ShopRow::busy, Unit::kRatio, "Share.")
                                   .Column("open", &ShopRow::open, Unit::kNone, "1 where it is.");
  return relation;
}

TEST(CapabilitiesOf, AreThoseOfTheRows) {
  using testing::ElementsAre;
  constexpr char kCapture[] = "doors clock:idle cameras:theft,loss";
  EXPECT_THAT(CapabilitiesOf(kCapture), ElementsAre("doors", "clock", "cameras"));
  EXPECT_THAT(CapabilitiesOf(kCapture, std::vector<std::string>{"busy"}), ElementsAre("doors"));
  EXPECT_THAT(CapabilitiesOf(kCapture, std::vector<std::string>{"loss", "idle"}),
              ElementsAre("doors", "clock", "cameras"));
  EXPECT_THAT(CapabilitiesOf(""), testing::IsEmpty());
}

TEST(RelationOf, RowsAndTablesAreTheSame) {
  const std::vector<ShopRow> rows = {{1, "Rome", "Ada", 0.5, true},
                                     {2, "Oslo", std::nullopt, std::nullopt, false}};
  const Table table = ShopRelation().ToTable(rows);
  EXPECT_EQ(table.SortedColumn(), std::optional<size_t>(0));
  const std::vector<ShopRow> same = ShopRelation().ToRows(table);
  ASSERT_EQ(same.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(same[i].shop, rows[i].shop);
    EXPECT_EQ(same[i].town, rows[i].town);
    EXPECT_EQ(same[i].owner, rows[i].owner);
    EXPECT_EQ(same[i].busy, rows[i].busy);
    EXPECT_EQ(same[i].open, rows[i].open);
  }
}

}  // namespace
}  // namespace dladvisor
