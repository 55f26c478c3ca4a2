// SPDX-License-Identifier: Apache-2.0
// What rules of strangers may try: all of it is refused or stopped, with a message, within the budget.
#include "engine/store/sandbox.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "engine/inference/inference.h"
#include "engine/store/heap_budget.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::Shops;
using test::WhyRefused;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kOnlySelect = "only SELECT over relations is allowed";
constexpr const char* kTooManySteps = "was stopped after 2 million steps: it does too much";

std::string Repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

struct Attempt {
  std::string sql, message;
};

class Sandbox : public testing::TestWithParam<Attempt> {};

TEST_P(Sandbox, Refuses) {
  Shops shops;
  shops.database.SetStepBudget(2'000'000);
  shops.database.SetMemoryLimit(16 << 20);
  EXPECT_THAT(WhyRefused(shops.database, GetParam().sql), HasSubstr(GetParam().message));
  // The database is whole and usable afterwards.
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM shop").rows[0][0], Value(int64_t{2}));
}

INSTANTIATE_TEST_SUITE_P(
    OtherThanSelect, Sandbox,
    testing::Values(
        Attempt{"ATTACH 'x.db' AS x", kOnlySelect}, Attempt{"ATTACH ':memory:' AS x", kOnlySelect},
        Attempt{"DETACH temp", kOnlySelect}, Attempt{"PRAGMA user_version", kOnlySelect},
        Attempt{"PRAGMA writable_schema = 1", kOnlySelect}, Attempt{"PRAGMA temp_store = 2", kOnlySelect},
        Attempt{"DELETE FROM shop", kOnlySelect}, Attempt{"INSERT INTO shop VALUES(1,2,3,4,5)", kOnlySelect},
        Attempt{"UPDATE shop SET town = 'x'", kOnlySelect}, Attempt{"DROP TABLE shop", kOnlySelect},
        Attempt{"CREATE TABLE t(x)", kOnlySelect}, Attempt{"CREATE TEMP TABLE t AS SELECT 1", kOnlySelect},
        Attempt{"CREATE VIRTUAL TABLE t USING fts5(x)", kOnlySelect},
        Attempt{"VACUUM INTO 'x.db'", kOnlySelect}, Attempt{"BEGIN", kOnlySelect},
        Attempt{"EXPLAIN SELECT 1", kOnlySelect},
        Attempt{"SELECT 1; DELETE FROM shop", "only one statement"}));

INSTANTIATE_TEST_SUITE_P(
    OtherThanRelations, Sandbox,
    testing::Values(Attempt{"SELECT * FROM pragma_table_info('shop')", kOnlySelect},
                    Attempt{"SELECT * FROM pragma_database_list", kOnlySelect},
                    Attempt{"SELECT count(*) FROM pragma_database_list", kOnlySelect},
                    Attempt{"SELECT * FROM sqlite_master", "no such relation: sqlite_master"},
                    Attempt{"SELECT * FROM sqlite_temp_master", "no such relation: sqlite_temp_master"},
                    Attempt{"SELECT * FROM sqlite_schema", "no such relation: sqlite_"},
                    Attempt{"SELECT count(*) FROM sqlite_master", "no such relation: sqlite_master"},
                    Attempt{"SELECT count(*) FROM json_each('[1]')", kOnlySelect},
                    Attempt{"SELECT * FROM json_tree('[1]')", kOnlySelect},
                    Attempt{"SELECT * FROM dbstat", kOnlySelect},
                    Attempt{"SELECT * FROM sqlite_stmt", kOnlySelect}));

INSTANTIATE_TEST_SUITE_P(
    OtherFunctions, Sandbox,
    testing::Values(
        Attempt{"SELECT load_extension('x')", "function load_extension is not allowed"},
        Attempt{"SELECT readfile('/etc/passwd')", "no such function: readfile"},
        Attempt{"SELECT writefile('x', 'y')", "no such function: writefile"},
        Attempt{"SELECT edit('x')", "no such function: edit"},
        Attempt{"SELECT fts3_tokenizer('x')", "function fts3_tokenizer is not allowed"},
        Attempt{"SELECT random()", "function random is not allowed"},
        Attempt{"SELECT randomblob(9)", "function randomblob is not allowed"},
        Attempt{"SELECT datetime('now')", "function datetime is not allowed"},
        Attempt{"SELECT strftime('%s', 'now')", "function strftime is not allowed"},
        Attempt{"SELECT CURRENT_TIMESTAMP", "function current_timestamp is not allowed"},
        Attempt{"SELECT sqlite_version()", "function sqlite_version is not allowed"},
        Attempt{"SELECT last_insert_rowid()", "function last_insert_rowid is not allowed"},
        Attempt{"SELECT length(printf('%.*c', 1000000000, 'x'))", "function printf is not allowed"},
        Attempt{"SELECT length(format('%.*c', 1000000000, 'x'))", "function format is not allowed"},
        Attempt{"SELECT length(zeroblob(1000000000))", "function zeroblob is not allowed"},
        Attempt{"SELECT hex(town) FROM shop", "function hex is not allowed"},
        Attempt{"SELECT json_group_array(town) FROM shop", "function json_group_array is not allowed"}));

// A text of 20,480 a's and a few thousand numbers.
const std::string kBig =
    "WITH RECURSIVE b(x) AS (SELECT '" + Repeat("a", 160) +
    "' UNION ALL SELECT x || x FROM b WHERE length(x) < 20000), big AS (SELECT max(x) AS t FROM b), "
    "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) ";
constexpr const char* kTooBig = "string or blob too big";

INSTANTIATE_TEST_SUITE_P(
    Endless, Sandbox,
    testing::Values(
        Attempt{"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
                kTooManySteps},
        Attempt{"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000) SELECT "
                "count(*) FROM n a, n b, n c",
                kTooManySteps},
        Attempt{"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000) SELECT "
                "a.x FROM n a, n b, n c",
                "was stopped"},
        Attempt{"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, 'a text' FROM n",
                "was stopped"},
        Attempt{"WITH RECURSIVE x(n, t) AS (SELECT 1, '" + Repeat("t", 50'000) +
                    "' UNION SELECT n + 1, t FROM x) SELECT count(*) FROM x",
                "was stopped"},
        Attempt{"WITH RECURSIVE x(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM x) SELECT count(*) FROM x",
                kTooBig},
        Attempt{kBig + "SELECT group_concat(t) FROM big, n", kTooBig},
        Attempt{kBig + "SELECT replace(t, 'a', 'aaaaaaaaaaaaaaaaaaaa') FROM big", kTooBig}));

INSTANTIATE_TEST_SUITE_P(Patterns, Sandbox,
                         testing::Values(Attempt{"SELECT 'a' LIKE '" + Repeat("%", 50'000) + "'",
                                                 "LIKE or GLOB pattern too complex"},
                                         Attempt{"SELECT 'a' GLOB '" + Repeat("*", 1'001) + "'",
                                                 "LIKE or GLOB pattern too complex"},
                                         Attempt{"SELECT 'a' REGEXP 'a{1000}{1000}'", "regexp: "},
                                         Attempt{"SELECT 'a' REGEXP '((a{100}){100}){100}'", "regexp: "},
                                         Attempt{
                                             kBig + "SELECT t || t || t REGEXP '(a|b)*a(a|b){900}c' FROM big",
                                             "regexp: the pattern is too large for a text of this length"}));

// Calls of functions that take long, each a single step: the watchdog ends what steps do not. They are so
// many that none ends before it wakes on a machine with other work.
class LongCalls : public testing::TestWithParam<std::string> {};

TEST_P(LongCalls, AreStoppedByTheWatchdog) {
  Shops shops;
  shops.database.SetTimeLimit(std::chrono::milliseconds(1));
  EXPECT_EQ(
      WhyRefused(shops.database, kBig + "SELECT sum(" + GetParam() + ") FROM big, n, (SELECT i AS j FROM n)"),
      "was stopped after 0.001 s: it takes too long");
  shops.database.SetTimeLimit(std::chrono::minutes(1));
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM shop").rows[0][0], Value(int64_t{2}));
}

INSTANTIATE_TEST_SUITE_P(
    Sandbox, LongCalls,
    testing::Values("t LIKE '" + Repeat("%a", 400) + "%b'", "t LIKE '%" + Repeat("a", 900) + "b'",
                    "t GLOB '" + Repeat("*[^b]", 180) + "*b'", "t GLOB '*" + Repeat("[a-z]", 190) + "0'",
                    "t REGEXP '(a*)*b'", "'a' REGEXP ('a{900}' || i)", "t || i = t",
                    "instr(t, substr(t, 1, 10000) || 'b')", "replace(t, substr(t, 1, 10000) || 'b', 'c') = i",
                    "trim(t || i, 'xyza') = i", "ltrim(t, 'a' || replace(t, 'a', 'b')) = i",
                    "length(upper(t)) + length(substr(t, i))", "('[\"' || t || '\"]') ->> 0 = i"));

// Each table of the chain names the one before twice, or its column many times.
std::string Chain(int length, const std::string& column, const std::string& tables) {
  std::string sql = "WITH c0 AS (SELECT shop AS a FROM shop)";
  for (int i = 1; i <= length; ++i) {
    const std::string before = "c" + std::to_string(i - 1);
    sql += ", c" + std::to_string(i) + " AS (SELECT " + column + " AS a FROM " + before + " x" +
           (tables.empty() ? "" : ", " + before + " y") + ")";
  }
  return sql + " SELECT count(a) FROM c" + std::to_string(length);
}

INSTANTIATE_TEST_SUITE_P(
    TooLarge, Sandbox,
    testing::Values(
        Attempt{"SELECT " + Repeat("(", 1000) + "1" + Repeat(" + 1)", 1000), "parser stack overflow"},
        Attempt{"SELECT 1" + Repeat(" + 1", 1000), "Expression tree is too large (maximum depth 100)"},
        Attempt{Repeat("SELECT * FROM (", 60) + "SELECT 1" + Repeat(")", 60), "parser stack overflow"},
        Attempt{Repeat("SELECT * FROM (", 200) + "SELECT 1" + Repeat(")", 200),
                "has 201 SELECTs, more than 100"},
        Attempt{Chain(300, "a" + Repeat("+1", 90), ""), "has 302 SELECTs, more than 100"},
        Attempt{"SELECT 1" + Repeat(" UNION ALL SELECT 1", 60), "too many terms in compound SELECT"},
        Attempt{"SELECT '" + Repeat("x", 300'000) + "'", "statement too long"},
        Attempt{"SELECT max(" + Repeat("1,", 40) + "1)", "too many arguments on function max"}));

TEST(SandboxLimits, DeepestExpressionsFitTheStack) {
  Shops shops;
  EXPECT_EQ(shops.database.Query(Chain(97, "a" + Repeat("+1", 90), "")).rows[0][0], Value(int64_t{2}));
}

// What a statement unfolds to while it is prepared is bounded by the memory limit.
TEST(SandboxLimits, UnfoldingIsStoppedByTheMemoryLimit) {
  Shops shops;
  shops.database.SetMemoryLimit(16 << 20);
  for (const std::string& sql : {Chain(40, "x.a", "twice"), Chain(9, "a" + Repeat("+a", 20), "")}) {
    EXPECT_EQ(WhyRefused(shops.database, sql), "unfolds to too much: what it names is too large");
    EXPECT_EQ(shops.database.Query("SELECT count(*) FROM shop").rows[0][0], Value(int64_t{2}));
  }
}

// The limits are those of a statement, not of SQLite in the whole process.
TEST(SandboxLimits, OtherUsersOfSqliteHaveAllMemory) {
  Shops shops;
  shops.database.SetMemoryLimit(1 << 20);
  EXPECT_EQ(sqlite3_hard_heap_limit64(-1), 0);
  EXPECT_EQ(sqlite3_soft_heap_limit64(-1), 0);
  const auto allocates = [] {
    void* memory = sqlite3_malloc(8 << 20);
    sqlite3_free(memory);
    return memory != nullptr;
  };
  const HeapBudget budget(1 << 20);
  EXPECT_FALSE(allocates());
  bool elsewhere = false;
  std::thread([&] { elsewhere = allocates(); }).join();
  EXPECT_TRUE(elsewhere);
  {
    const HeapBudget larger(16 << 20);
    EXPECT_TRUE(allocates());
    void* memory = sqlite3_malloc(1 << 20);
    EXPECT_GE(larger.used(), 1 << 20);
    memory = sqlite3_realloc(memory, 2 << 20);
    EXPECT_GE(larger.used(), 2 << 20);
    EXPECT_EQ(sqlite3_realloc(memory, 32 << 20), nullptr);
    sqlite3_free(memory);
    EXPECT_EQ(larger.used(), 0);
  }
  EXPECT_FALSE(allocates());
}

// A rule may ask for evidence of each of many findings.
TEST(SandboxLimits, ManyShortStatementsShareABudget) {
  Shops shops;
  shops.database.SetStepBudget(5000);
  const auto ask_often = [&] {
    for (int i = 0; i < 100; ++i) shops.database.Query("SELECT 1");
  };
  EXPECT_NO_THROW(ask_often());
  const Database::SharedBudget shared(shops.database);
  EXPECT_THROW(ask_often(), SqlError);
}

// What the allocator keeps beside each piece counts, too.
TEST(SandboxLimits, SmallPiecesTakeMoreThanTheirSize) {
  constexpr int kPieces = 1000, kSize = 8;
  const HeapBudget budget(1 << 20);
  std::vector<void*> pieces;
  for (int i = 0; i < kPieces; ++i) pieces.push_back(sqlite3_malloc(kSize));
  EXPECT_GE(budget.used(), kPieces * 2 * kSize);
  for (void* piece : pieces) sqlite3_free(piece);
  EXPECT_EQ(budget.used(), 0);
}

// An endless UNION keeps all its rows; a sort and a result do too.
TEST(SandboxLimits, MemoryIsBounded) {
  Shops shops;
  shops.database.SetMemoryLimit(16 << 20);
  const std::string rows =
      "WITH RECURSIVE x(n, t) AS (SELECT 1, '" + Repeat("t", 50'000) + "' UNION SELECT n + 1, t FROM x) ";
  const std::string all = "WITH RECURSIVE x(n, t) AS (SELECT 1, '" + Repeat("t", 50'000) +
                          "' UNION ALL SELECT n + 1, t FROM x WHERE n < 2000) ";
  for (int i = 0; i < 2; ++i)
    for (const std::string& sql : {rows + "SELECT count(*) FROM x", all + "SELECT n, t FROM x ORDER BY -n",
                                   all + "SELECT n, t FROM x"}) {
      sqlite3_memory_highwater(1);
      EXPECT_EQ(WhyRefused(shops.database, sql), "was stopped: it needs more than 16 MiB of memory");
      EXPECT_LT(sqlite3_memory_highwater(0), 32 << 20);
    }
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM shop").rows[0][0], Value(int64_t{2}));
}

TEST(SandboxLimits, LargeTablesAndSortsAreRight) {
  Shops shops;
  const std::string sql =
      "WITH RECURSIVE x(n, t) AS (SELECT 1, '" + Repeat("t", 5'000) +
      "' UNION SELECT n + 1, t FROM x WHERE n < 2000) SELECT n, length(t) FROM x ORDER BY t, n % 10, -n";
  const ResultSet result = shops.database.Query(sql);
  ASSERT_EQ(result.rows.size(), 2000u);
  for (int64_t i = 0; i < 2000; ++i)
    EXPECT_THAT(result.rows[static_cast<size_t>(i)],
                ElementsAre(Value(2000 - (10 - i / 200) % 10 - i % 200 * 10), Value(int64_t{5000})));
}

TEST(SandboxLimits, EndlessRecursionIsStoppedByTheBudget) {
  Shops shops;
  shops.database.SetStepBudget(5'000'000);
  try {
    shops.database.Query(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n");
    ADD_FAILURE() << "not stopped";
  } catch (const SqlError& error) {
    EXPECT_STREQ(error.what(), "was stopped after 5 million steps: it does too much");
    EXPECT_THAT(error.hint(), HasSubstr("WITH a AS MATERIALIZED (SELECT ...)"));
  }
  EXPECT_EQ(shops.database.Query("WITH n AS (SELECT 1 UNION ALL SELECT 2) SELECT count(*) FROM n").rows[0][0],
            Value(int64_t{2}));
}

// A stopped statement leaves nothing of its steps to the next one.
TEST(SandboxLimits, EveryStatementHasTheWholeBudget) {
  Shops shops;
  shops.database.SetStepBudget(1'000'000);
  const std::string endless =
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
  const std::string most =
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 40000) SELECT "
      "count(*) FROM n";
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(WhyRefused(shops.database, endless), HasSubstr("was stopped after 1 million steps"));
    EXPECT_EQ(shops.database.Query(most).rows[0][0], Value(int64_t{40000}));
    shops.database.Prepare(endless);
  }
}

TEST(SandboxLimits, ParametersAreNamed) {
  Shops shops;
  int offset = -2;
  EXPECT_EQ(WhyRefused(shops.database, "SELECT '?', ?", &offset), "? is not a parameter: write :name");
  EXPECT_EQ(offset, 12);
  EXPECT_EQ(WhyRefused(shops.database, "SELECT ?2"), "?2 is not a parameter: write :name");
  EXPECT_EQ(WhyRefused(shops.database, "SELECT @shop"), "@shop is not a parameter: write :name");
  EXPECT_EQ(WhyRefused(shops.database, "SELECT $shop"), "$shop is not a parameter: write :name");
}

RuleFile MakeWhen(const std::string& id, const std::string& when) {
  return test::MakeRule(id, "for: shop\nwhen: [\"" + when + "\"]\n");
}

// Among them rules of endless steps, of endless memory, and of one long call.
TEST(SandboxRules, AFailingRuleLeavesTheOthersAndFailsAlike) {
  const std::vector<RuleFile> files = {
      MakeWhen("endless",
               "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM "
               "n) > 0"),
      MakeWhen("fires", "shop = 1"),
      MakeWhen("large", "(WITH RECURSIVE n(x, t) AS (SELECT 1, '" + Repeat("t", 50'000) +
                            "' UNION SELECT x + 1, t FROM n) SELECT count(*) FROM n) > 0"),
      MakeWhen("wrong", "town REGEXP ('(' || shop)")};
  const auto run = [&] {
    Shops shops;
    shops.database.SetStepBudget(5'000'000);
    shops.database.SetMemoryLimit(8 << 20);
    KnowledgeBase knowledge(test::ShopSchemas());
    knowledge.AddLayer(files);
    std::vector<std::string> outcomes;
    for (const Finding& finding : Infer(knowledge, shops.database).findings)
      outcomes.push_back(finding.rule + " " + std::string(OutcomeName(finding.outcome)) +
                         (finding.error.empty() ? "" : ": " + finding.error));
    return outcomes;
  };
  const std::vector<std::string> first = run();
  EXPECT_THAT(
      first, ElementsAre("endless failed: was stopped after 5 million steps: it does too much", "fires fired",
                         "large failed: was stopped: it needs more than 8 MiB of memory",
                         HasSubstr("wrong failed: regexp: ")));
  EXPECT_EQ(run(), first);
}

TEST(SandboxRules, SectionsNestedWithoutEndAreRefused) {
  std::string open, close;
  for (int i = 0; i < 10'000; ++i) open += "{{#town}}", close += "{{/town}}";
  KnowledgeBase knowledge(test::ShopSchemas());
  try {
    knowledge.AddLayer(
        std::vector<RuleFile>{{"r/deep.yaml", "id: deep\ntitle: T\nfor: shop\nwhen: [shop > 1]\nproblem: \"" +
                                                  open + "x" + close + "\"\nrecommendation: R\n"}});
    ADD_FAILURE() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(),
                ElementsAre(HasSubstr("r/deep.yaml:5:11: deep: has sections nested deeper than 16")));
  }
}

TEST(SandboxRules, YamlAliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}]\n", i, i - 1);
  KnowledgeBase knowledge(test::ShopSchemas());
  try {
    knowledge.AddLayer(std::vector<RuleFile>{{"r/bomb.yaml", bomb}});
    ADD_FAILURE() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(),
                ElementsAre(HasSubstr("r/bomb.yaml:2:10: aliases (*name) are not allowed")));
  }
}

}  // namespace
}  // namespace dladvisor
