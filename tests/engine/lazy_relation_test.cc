// SPDX-License-Identifier: Apache-2.0
// Relations that compute their rows when these are first read: nothing but reading them may do that.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "engine/inference/inference.h"
#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"

namespace dladvisor {
namespace {

class Counted final : public Relation {
 public:
  explicit Counted(std::string name) : schema_{std::move(name), "Two columns.", {}, Columns()} {}

  const Schema& schema() const override { return schema_; }
  size_t rows() const override {
    ++calls;
    if (fail) fail();
    return 4;
  }
  CellView At(size_t row, size_t column) const override {
    ++calls;
    return CellView::Of(static_cast<int64_t>(column == 0 ? row / 2 : row));
  }

  mutable int calls = 0;
  std::function<void()> fail;

 private:
  static std::vector<Column> Columns() {
    return {{"rank", Type::kInteger, Unit::kNone, "", false, ""},
            {"row", Type::kInteger, Unit::kNone, "", false, ""}};
  }
  Schema schema_;
};

struct Fixture {
  Counted lazy{"lazy"}, other{"other"};
  Database database;
  Fixture() {
    database.Add(lazy);
    database.Add(other);
    database.AddView("seen", "SELECT rank, sum(row) AS s FROM lazy GROUP BY rank");
  }
};

TEST(LazyRelation, IsNotReadWhenItIsAdded) {
  Fixture f;
  f.database.Add(f.lazy);
  EXPECT_EQ(f.database.Relations().size(), 2u);
  EXPECT_EQ(f.lazy.calls, 0);
}

TEST(LazyRelation, IsNotReadWhenAStatementIsPrepared) {
  Fixture f;
  for (const std::string sql :
       {"SELECT * FROM lazy", "SELECT count(*) FROM lazy",
        "SELECT row FROM lazy WHERE rank = 1 ORDER BY rank",
        "SELECT * FROM lazy a JOIN lazy b ON a.rank = b.row WHERE a.rank BETWEEN 1 AND :n",
        "SELECT * FROM seen"})
    f.database.Prepare(sql);
  EXPECT_EQ(f.lazy.calls, 0);
}

TEST(LazyRelation, IsNotReadByStatementsOverOthers) {
  Fixture f;
  EXPECT_EQ(f.database.Query("SELECT count(*) FROM other WHERE rank = 1").rows[0][0], Value(int64_t{2}));
  EXPECT_GT(f.other.calls, 0);
  EXPECT_EQ(f.lazy.calls, 0);
}

TEST(LazyRelation, IsNotReadWhereNoRowOfAnotherAsksForIt) {
  Fixture f;
  const std::string sql = "SELECT (SELECT max(row) FROM lazy) FROM other WHERE row ";
  EXPECT_TRUE(f.database.Query(sql + "> 3").rows.empty());
  EXPECT_EQ(f.lazy.calls, 0);
  EXPECT_EQ(f.database.Query(sql + "= 3").rows[0][0], Value(int64_t{3}));
}

// What a rule says is asked for only where it fires.
TEST(LazyRelation, IsNotReadByARuleWhoseConditionsDoNotHold) {
  Fixture f;
  KnowledgeBase knowledge({&f.lazy.schema(), &f.other.schema()});
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/a.yaml",
       "id: a\ntitle: T\nfor: other\nlet: {most: {sql: '(SELECT max(l.row) FROM lazy AS l)'}}\n"
       "when: [row > 3]\nproblem: 'Up to {{most}}.'\nrecommendation: [R]\n"}});
  EXPECT_TRUE(Infer(knowledge, f.database).findings.empty());
  EXPECT_EQ(f.lazy.calls, 0);
}

TEST(LazyRelation, IsReadByStatementsAndViewsOverIt) {
  Fixture f;
  EXPECT_EQ(f.database.Query("SELECT count(*) FROM lazy").rows[0][0], Value(int64_t{4}));
  EXPECT_EQ(f.database.Query("SELECT s FROM seen ORDER BY rank").rows,
            (std::vector<std::vector<Value>>{{int64_t{1}}, {int64_t{5}}}));
}

TEST(LazyRelation, AFailureToComputeEndsTheStatementOnly) {
  Fixture f;
  f.lazy.fail = [] { throw std::runtime_error("cannot be computed"); };
  EXPECT_THROW(f.database.Query("SELECT * FROM seen"), std::runtime_error);
  EXPECT_EQ(f.database.Query("SELECT count(*) FROM other").rows[0][0], Value(int64_t{4}));
  f.lazy.fail = nullptr;
  EXPECT_EQ(f.database.Query("SELECT count(*) FROM seen").rows[0][0], Value(int64_t{2}));
}

// What is wrong with the facts fails the rule that reads them; what is wrong with the program ends it.
TEST(LazyRelation, AFailureToComputeFailsTheRuleUnlessMemoryIsShort) {
  Fixture f;
  KnowledgeBase knowledge({&f.lazy.schema()});
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/a.yaml", "id: a\ntitle: T\nfor: lazy\nwhen: [row = 1]\nproblem: P\nrecommendation: [R]\n"}});
  EXPECT_EQ(Infer(knowledge, f.database).findings.at(0).outcome, Outcome::kFired);
  f.lazy.fail = [] { throw std::runtime_error("cannot be computed"); };
  const Advice advice = Infer(knowledge, f.database);
  EXPECT_EQ(advice.findings.at(0).outcome, Outcome::kFailed);
  EXPECT_EQ(advice.findings.at(0).error, "cannot be computed");
  f.lazy.fail = [] { throw std::bad_alloc(); };
  EXPECT_THROW(Infer(knowledge, f.database), std::bad_alloc);
}

// Nor is it the time of statements that share a budget with what counts the rows.
TEST(LazyRelation, ComputingTheRowsIsNotTheTimeOfAStatement) {
  Fixture f;
  bool is_computed = false;
  f.lazy.fail = [&] {
    if (!std::exchange(is_computed, true)) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  };
  f.database.SetTimeLimit(std::chrono::seconds(1));
  const Database::SharedBudget shared(f.database);
  EXPECT_EQ(f.database.RowCount("lazy"), 4u);
  EXPECT_EQ(f.database
                .Query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
                       "SELECT count(*) FROM n")
                .rows[0][0],
            Value(int64_t{1000}));
}

// Tables know without a search whether their first column is sorted.
TEST(Table, KnowsWhetherItsFirstColumnIsSorted) {
  const auto make = [](const std::vector<Value>& values, Type type = Type::kInteger) {
    Table table({"t", "Rows.", {}, {{"x", type, Unit::kNone, "", true, ""}}});
    for (const Value& value : values) table.AddRow({value});
    return table;
  };
  const auto integers = [](std::initializer_list<int64_t> values) {
    return std::vector<Value>(values.begin(), values.end());
  };
  EXPECT_EQ(make(integers({-3, 1, 1, 1, 7, 7})).SortedColumn(), std::optional<size_t>(0));
  EXPECT_EQ(make(integers({-3, 1, 1, 1, 7, 7})).EstimatedRows().per_value, 2);
  EXPECT_EQ(make(integers({-3, 1, 1, 1, 7, 7})).EstimatedRows().rows, 6);
  EXPECT_EQ(make(integers({2, 1, 3})).SortedColumn(), std::nullopt);
  EXPECT_EQ(make({int64_t{1}, Value(), int64_t{2}}).SortedColumn(), std::nullopt);
  EXPECT_EQ(make({Value(), int64_t{2}}).SortedColumn(), std::nullopt);
  EXPECT_EQ(make({1.0, 2.0}, Type::kReal).SortedColumn(), std::nullopt);
  EXPECT_EQ(make(integers({1, 2}), Type::kReal).SortedColumn(), std::nullopt);
  EXPECT_EQ(make({"a", "b"}, Type::kText).SortedColumn(), std::nullopt);
  EXPECT_EQ(make({}).SortedColumn(), std::nullopt);
  EXPECT_EQ(make({}).EstimatedRows().rows, 0);
}

}  // namespace
}  // namespace dladvisor
