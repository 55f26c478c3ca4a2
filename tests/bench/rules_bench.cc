// SPDX-License-Identifier: Apache-2.0
// 500 rules over a relation of 10,000 rows, against bare SQLite stepping the same conditions over the same
// virtual table: CPU time, one thread each. One subject in a hundred fires.
#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/store/virtual_table.h"
#include "tests/bench/bench.h"
#include "tests/bench/child.h"

namespace dladvisor {
namespace {

constexpr int kRules = 500, kRows = 10'000;

Table Widgets() {
  Table table({"widget",
               "A relation of many rows.",
               {"id"},
               {{"id", Type::kInteger, Unit::kNone, "", false, ""},
                {"name", Type::kText, Unit::kText, "", false, ""},
                {"calls", Type::kInteger, Unit::kCount, "", false, ""},
                {"busy_ns", Type::kInteger, Unit::kNanoseconds, "", false, ""},
                {"wait_ns", Type::kInteger, Unit::kNanoseconds, "", true, ""}}});
  std::mt19937 random(1);
  for (int64_t id = 0; id < kRows; ++id) {
    const auto number = [&](int64_t below) {
      return static_cast<int64_t>(random() % static_cast<uint32_t>(below));
    };
    table.AddRow({id, fmt::format("widget {}", number(100)), number(1000), number(1'000'000),
                  number(10) ? Value(number(1'000'000)) : Value()});
  }
  return table;
}

// About one row in a hundred: a tenth of one and a tenth of the other.
std::vector<std::string> Conditions(int rule) {
  return {fmt::format("busy_ns + {} > 900000", rule),
          fmt::format("ratio(wait_ns, 1000000.0) > 0.9 - 0.00001 * {}", rule)};
}

int64_t StepBare(const Table& table) {
  const RelationMap relations = {{"widget", &table}};
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  RelationModule module(relations, [](const Relation&) {});
  module.Register(db, "widget");
  sqlite3_create_function_v2(
      db, "ratio", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
      [](sqlite3_context* context, int, sqlite3_value** argv) {
        if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_double(argv[1]) == 0)
          return sqlite3_result_null(context);
        sqlite3_result_double(context, sqlite3_value_double(argv[0]) / sqlite3_value_double(argv[1]));
      },
      nullptr, nullptr, nullptr);
  int64_t fired = 0;
  for (int rule = 0; rule < kRules; ++rule) {
    const std::vector<std::string> conditions = Conditions(rule);
    const std::string sql = fmt::format("SELECT ({}), ({}) FROM widget", conditions[0], conditions[1]);
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
    while (sqlite3_step(statement) == SQLITE_ROW)
      fired += sqlite3_column_int(statement, 0) != 0 && sqlite3_column_int(statement, 1) != 0;
    sqlite3_finalize(statement);
  }
  sqlite3_close(db);
  return fired;
}

}  // namespace

void MeasureRules() {
  const Table table = Widgets();
  std::vector<RuleFile> files;
  for (int rule = 0; rule < kRules; ++rule) {
    const std::vector<std::string> conditions = Conditions(rule);
    files.push_back(
        {fmt::format("bench/r{}.yaml", rule),
         fmt::format("id: r{}\ntitle: T\nfor: widget\nwhen:\n  - {}\n  - {}\nproblem: Widget {{{{name}}}} is "
                     "busy for {{{{busy_ns}}}}.\nrecommendation: R\n",
                     rule, conditions[0], conditions[1])});
  }
  const Schema schema = table.schema();
  KnowledgeBase knowledge({&schema});
  const double load = BestOf(1, [&] { knowledge.AddLayer(files); });
  int64_t fired = 0;
  const double bare = LeastCpu(5, [&] { fired = StepBare(table); });
  size_t findings = 0;
  const double infer = LeastCpu(5, [&] {
    Database database;
    database.Add(table);
    findings = 0;
    for (const RuleSummary& rule : Infer(knowledge, database).rules) findings += rule.fired;
  });
  fmt::print(
      "{:>11} rules over {} rows  stepping their conditions {:.3f} s  inference {:.3f} s  ratio {:.2f}  ({} "
      "and "
      "{} fired; reading and checking the YAML {:.3f} s)\n",
      kRules, kRows, bare, infer, infer / bare, fired, findings, load);
}

}  // namespace dladvisor
