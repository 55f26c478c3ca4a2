// SPDX-License-Identifier: Apache-2.0
// Relations that the engine's tests use: a shop, its orders, its staff. Nothing of the program's own facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"

namespace dladvisor::test {

inline Schema ShopSchema() {
  return {"shop",
          "One row per shop.",
          {"shop"},
          {{"shop", Type::kInteger, Unit::kNone, "Number.", false, ""},
           {"town", Type::kText, Unit::kText, "Town.", true, ""},
           {"open_ns", Type::kInteger, Unit::kNanoseconds, "Time open.", false, ""},
           {"busy_share", Type::kReal, Unit::kRatio, "Busy share.", true, "--count=doors"},
           {"stock_bytes", Type::kInteger, Unit::kBytes, "Stock.", true, "--count=shelves"}}};
}

inline Schema OrderSchema() {
  return {"orders",
          "One row per order.",
          {"shop", "number"},
          {{"shop", Type::kInteger, Unit::kNone, "Shop.", false, ""},
           {"number", Type::kInteger, Unit::kNone, "Number.", false, ""},
           {"price", Type::kReal, Unit::kNone, "Price.", true, ""},
           {"item", Type::kText, Unit::kText, "Item.", false, ""}}};
}

// Two shops, the second of unknown busyness, and three orders.
struct Shops {
  Table shops{ShopSchema()}, orders{OrderSchema()};
  Database database;

  Shops() {
    shops.AddRow({int64_t{1}, std::string("Ulm"), int64_t{36'000'000}, 0.8, int64_t{1536}});
    shops.AddRow({int64_t{2}, Value(), int64_t{18'000'000}, Value(), int64_t{0}});
    orders.AddRow({int64_t{1}, int64_t{1}, 9.5, std::string("tea")});
    orders.AddRow({int64_t{1}, int64_t{2}, 20.0, std::string("it's <b>")});
    orders.AddRow({int64_t{2}, int64_t{1}, Value(), std::string("tea")});
    database.Add(shops);
    database.Add(orders);
  }
};

inline std::vector<const Schema*> ShopSchemas() {
  static const Schema shop = ShopSchema(), orders = OrderSchema();
  return {&shop, &orders};
}

}  // namespace dladvisor::test
