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

// A rule file of `body`, with what every rule must have where the body lacks it.
inline RuleFile MakeRule(const std::string& id, const std::string& body) {
  std::string text = "id: " + id + "\ntitle: Title of " + id + "\n" + body;
  if (body.find("problem:") == std::string::npos) text += "problem: P\n";
  if (body.find("recommendation:") == std::string::npos) text += "recommendation: [R]\n";
  return {"r/" + id + ".yaml", text};
}

inline std::vector<std::string> ProblemsOf(const std::vector<RuleFile>& files) {
  KnowledgeBase knowledge(ShopSchemas());
  try {
    knowledge.AddLayer(files);
  } catch (const RuleErrors& errors) {
    return errors.problems();
  }
  return {};
}

inline std::string WhyRefused(const Database& database, const std::string& sql, int* offset = nullptr) {
  try {
    database.Query(sql);
  } catch (const SqlError& error) {
    if (offset) *offset = error.offset();
    return error.what();
  }
  return "accepted: " + sql.substr(0, 200);
}

}  // namespace dladvisor::test
