// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/hostile_rules.h"

#include <fmt/format.h>

namespace dladvisor::test {
namespace {

std::string Repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// Numbers without end, up to a million, and up to a hundred.
const std::string kEndless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
const std::string kMillion =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000) ";
const std::string kHundred = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100) ";
// A text of more than 80,000 letters.
const std::string kBig =
    "WITH RECURSIVE b(t) AS (SELECT name || '0123456789' UNION ALL SELECT t || t FROM b WHERE length(t) < "
    "80000), "
    "big AS MATERIALIZED (SELECT max(t) AS t FROM b) ";

void AddRecursions(std::vector<std::string>& all) {
  for (const char* sql : {"SELECT count(*) FROM n", "SELECT sum(x * x) FROM n",
                          "SELECT max(length(x || 'a')) FROM n", "SELECT length(group_concat(x)) FROM n",
                          "SELECT median(x) FROM n", "SELECT x FROM n ORDER BY -x LIMIT 1",
                          "SELECT count(DISTINCT x) FROM n", "SELECT count(*) FROM n a, n b",
                          "SELECT x FROM n WHERE x < 0", "SELECT row_number() OVER (ORDER BY -x) FROM n"}) {
    all.push_back(fmt::format("({}{}) > 0", kEndless, sql));
    all.push_back(fmt::format("({}{}) > id", kMillion, sql));
  }
  all.push_back("(WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT count(*) FROM n) > 0");
  all.push_back(
      "(WITH RECURSIVE n(x, t) AS (SELECT 1, name FROM event WHERE id = 1 UNION SELECT x + 1, t || x FROM n) "
      "SELECT "
      "count(*) FROM n) > 0");
  all.push_back(
      "(WITH RECURSIVE n(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM n) SELECT count(*) FROM n) > 0");
  all.push_back(
      "(WITH RECURSIVE n(x) AS (SELECT id FROM event UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n) "
      "> 0");
  all.push_back(
      "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n, event) SELECT count(*) FROM n) > 0");
}

void AddJoins(std::vector<std::string>& all) {
  for (const char* sql :
       {"SELECT count(*) FROM event a, event b", "SELECT count(*) FROM event a, event b, event c",
        "SELECT count(*) FROM event a JOIN event b ON a.value < b.value",
        "SELECT max(length(a.name || b.name)) FROM event a, event b",
        "SELECT count(*) FROM event a JOIN event b ON a.name LIKE '%' || b.id || '%'",
        "SELECT count(*) FROM event a JOIN event b ON a.name REGEXP b.name",
        "SELECT count(*) FROM event a JOIN event b ON abs(a.value - b.value) < 1e-9",
        "SELECT count(*) FROM event a LEFT JOIN event b ON a.id + b.id = 7 LEFT JOIN event c ON b.id * c.id "
        "= 5",
        "SELECT length(group_concat(a.name)) FROM event a, event b",
        "SELECT percentile(a.value * b.value, 90) FROM event a, event b",
        "SELECT count(*) FROM (SELECT a.id FROM event a, event b ORDER BY a.name, b.name)",
        "SELECT count(*) FROM (SELECT DISTINCT a.name, b.name FROM event a, event b)",
        "SELECT count(*) FROM (SELECT a.name FROM event a, event b UNION SELECT b.name || a.name FROM event "
        "a, event b)",
        "SELECT sum(s) FROM (SELECT sum(b.value) OVER (ORDER BY a.value + b.value) AS s FROM event a, event "
        "b)"})
    all.push_back(fmt::format("({}) >= 0", sql));
  // For each row anew.
  for (const char* sql : {"SELECT count(*) FROM event e WHERE e.value > subject.value",
                          "SELECT count(*) FROM event e WHERE e.name < subject.name",
                          "SELECT count(*) FROM event e WHERE e.name LIKE '%' || subject.id",
                          "SELECT max(e.name) FROM event e WHERE e.id <> subject.id",
                          "SELECT median(e.value) FROM event e WHERE e.id <> subject.id",
                          "SELECT percentile(e.value, subject.id % 100) FROM event e",
                          "SELECT group_concat(e.name) FROM event e WHERE e.id > subject.id",
                          "SELECT count(*) FROM event e WHERE e.name REGEXP subject.name",
                          "SELECT count(DISTINCT e.name || subject.id) FROM event e",
                          "SELECT min(abs(e.value - subject.value)) FROM event e ORDER BY e.name LIMIT 1"})
    all.push_back(fmt::format("({}) IS NOT NULL", sql));
}

void AddTexts(std::vector<std::string>& all) {
  for (const std::string& call :
       {std::string("t LIKE '%a%b%c%d%e%f%' || x"), "t LIKE '" + Repeat("%_", 200) + "' || x",
        "t GLOB '" + Repeat("*[^b]", 100) + "' || x", std::string("t REGEXP '(a|b|0)*x' || x"),
        std::string("t REGEXP '(.*)(.*)(.*)(.*)(.*)[0-9]z' || x"),
        std::string("instr(t, substr(t, 1, 80000) || x)"),
        std::string("length(replace(t, substr(t, 1, 3), x))"), std::string("length(upper(t) || x)"),
        std::string("length(trim(t || x, t))"), std::string("length(t || x || t)"), std::string("t || x = t"),
        std::string("length(group_concat(t))"), std::string("regexp_extract(t, '(0123)+' || x)"),
        std::string("json_extract('[\"' || t || '\"]', '$[' || x || ']')"),
        std::string("unicode(lower(t) || x)")})
    all.push_back(fmt::format("({}, {}SELECT count({}) FROM big, n) >= 0", kBig.substr(0, kBig.size() - 1),
                              kHundred.substr(std::string_view("WITH RECURSIVE ").size()), call));
  // For each row a text, or a pattern, of its own.
  for (const char* condition :
       {"name REGEXP ('(a|b){' || (id % 900) || '}')", "name REGEXP ('x{900}' || id)",
        "regexp_extract(name, '(.*)(.*)(.*)' || id) IS NULL", "length(replace(name, 'a', name)) > 0",
        "length(replace(replace(name, 'a', name), 'b', name)) > 0", "name LIKE '%' || name || '%' || name",
        "length(replace(replace(replace(name, 'a', name), 'a', name), 'a', name)) > 0",
        "instr(name || name || name, name || id) = 0", "name GLOB '*' || substr(name, 1, 50) || '*'"})
    all.emplace_back(condition);
}

void AddPatterns(std::vector<std::string>& all) {
  for (const std::string& pattern :
       {std::string("a{1000}{1000}"), std::string("((a{100}){100}){100}"), "(" + Repeat("a|", 3000) + "b)",
        Repeat("(", 1500) + "a" + Repeat(")", 1500), std::string("(((((.{1,90}){1,90}))))"),
        std::string("\\pL{900}\\pN{900}"), Repeat("[^a-z]?", 700), std::string("(.*.*.*.*.*.*)*$x"),
        Repeat("(a*)*", 500), std::string("(?i)" + Repeat("ä", 900))})
    all.push_back(fmt::format("name REGEXP '{}'", pattern));
}

void AddLargeStatements(std::vector<std::string>& all) {
  all.push_back("id IN (" + Repeat("1,", 20'000) + "2)");
  all.push_back("id > " + Repeat("abs(", 90) + "value" + Repeat(")", 90));
  all.push_back("id " + Repeat("+ id ", 90) + "> 0");
  all.push_back("id IN (SELECT id FROM event" + Repeat(" UNION ALL SELECT id FROM event", 45) + ")");
  all.push_back("coalesce(" + Repeat("nullif(name, name), ", 31) + "name) = '" + Repeat("x", 100'000) + "'");
  all.push_back("max(" + Repeat("name || ", 80) + "name, name) > 'z'");
  all.push_back("(SELECT count(*) FROM event" + Repeat(", event AS e", 0) +
                " a, event b, event c, event d, event e) > 0");
  all.push_back("CASE " + Repeat("WHEN name LIKE '%a%' || id THEN 1 ", 300) + "END = 1");
  all.push_back("(SELECT sum(x) FROM (SELECT length(name || name) AS x FROM event ORDER BY name || id)) > 0");
  all.push_back("(SELECT count(*) FROM (SELECT name || id || name AS t FROM event GROUP BY t)) > 0");
}

void AddWindowsAndSets(std::vector<std::string>& all) {
  for (
      const char* sql :
      {"SELECT max(s) FROM (SELECT sum(value) OVER (ORDER BY name ROWS BETWEEN 50000 PRECEDING AND 50000 "
       "FOLLOWING) AS s FROM event)",
       "SELECT max(s) FROM (SELECT max(name) OVER (ORDER BY value RANGE BETWEEN 5000 PRECEDING AND 5000 "
       "FOLLOWING EXCLUDE CURRENT ROW) AS s FROM event)",
       "SELECT max(s) FROM (SELECT group_concat(name) OVER (ORDER BY id) AS s FROM event)",
       "SELECT max(s) FROM (SELECT count(name) OVER (ORDER BY name, value ROWS 9999 PRECEDING) AS s FROM "
       "event)",
       "SELECT max(s) FROM (SELECT lag(name, id) OVER (PARTITION BY value % 3 ORDER BY name) AS s FROM "
       "event)",
       "SELECT max(s) FROM (SELECT nth_value(name, 50000) OVER (ORDER BY name GROUPS BETWEEN 900 PRECEDING "
       "AND 900 FOLLOWING EXCLUDE TIES) AS s FROM event)",
       "SELECT count(*) FROM (SELECT a.id FROM event a, event b EXCEPT SELECT id FROM event)",
       "SELECT count(*) FROM (SELECT a.name || b.id FROM event a, event b INTERSECT SELECT name FROM event)",
       "SELECT count(*) FROM (SELECT name FROM event GROUP BY name, value, id HAVING max(name) > min(name))",
       "SELECT length(name) FROM event ORDER BY length(name) * value, name LIMIT 1 OFFSET 99999",
       "SELECT count(*) FROM event a WHERE EXISTS (SELECT 1 FROM event b WHERE b.value = a.value AND NOT "
       "EXISTS (SELECT 1 FROM event c WHERE c.name > b.name AND c.id < a.id))",
       "SELECT count(*) FROM event a WHERE (a.name, a.value) IN (SELECT b.name || '', b.value + 0 FROM event "
       "b WHERE b.id <> a.id)",
       "SELECT sum((SELECT count(*) FROM event b WHERE b.id % 7 = a.id % 7)) FROM event a",
       "SELECT count(*) FROM event a NATURAL JOIN event b NATURAL JOIN (SELECT id + 0 AS id FROM event)",
       "SELECT count(*) FROM event a FULL JOIN event b ON a.name = b.name || 'x'",
       "SELECT count(*) FILTER (WHERE a.name > b.name) FROM event a CROSS JOIN event b",
       // Relations that double, and recursions that do.
       "WITH a AS (SELECT id FROM event), b AS (SELECT x.id FROM a x, a y), c AS (SELECT x.id FROM b x, b y) "
       "SELECT count(*) FROM c",
       "WITH RECURSIVE f(a, b) AS (SELECT 'a', 'b' UNION ALL SELECT b, a || b FROM f) SELECT count(*) FROM f",
       "WITH RECURSIVE g(n) AS (SELECT 1 UNION SELECT (n * 1103515245 + 12345) % 2147483648 FROM g) SELECT "
       "count(*) FROM g",
       "WITH RECURSIVE q(i, d) AS (SELECT 1, 0 UNION ALL SELECT i * 2, d + 1 FROM q UNION ALL SELECT i * 2 + "
       "1, d + 1 FROM q ORDER BY 2) SELECT max(d) FROM q"})
    all.push_back(fmt::format("({}) IS NOT NULL", sql));
  for (const char* condition :
       {"name LIKE '%' || upper(name) || '!_%' ESCAPE '!'", "regexp_extract(name, name) = name",
        "CAST(name || id AS REAL) + CAST(replace(name, 'a', id) AS INTEGER) > 0",
        "id << 60 >> id & id | (SELECT sum(e.id | subject.id) FROM event e) > 0"})
    all.emplace_back(condition);
}

// What looks small: functions of text and numbers over what grows, orders that nothing uses, many levels.
void AddSmallLookingOnes(std::vector<std::string>& all) {
  all.insert(
      all.end(),
      {"(SELECT count(DISTINCT a.name || b.id) FROM event AS a CROSS JOIN event AS b) > id",
       "(SELECT group_concat(name, char(10)) FROM event WHERE id >= subject.id) LIKE '%zz%'",
       "(SELECT max(length(group_concat)) FROM (SELECT group_concat(name) AS group_concat FROM event GROUP "
       "BY id "
       "% 3)) > id",
       "(SELECT percentile(a.value * b.value, 50) FROM event AS a CROSS JOIN event AS b) > id",
       "(SELECT median(b.value) FROM event AS b WHERE b.id <= subject.id) > value",
       "(SELECT percentile(b.value, 90) FROM event AS b WHERE b.name <> subject.name) > value",
       "(SELECT sum(regexp_extract(b.name, '([0-9]+)_') > id) FROM event AS b) > value",
       "(SELECT count(*) FROM event AS b WHERE b.name REGEXP subject.name) > 3",
       "(SELECT count(*) FROM event AS b WHERE subject.name LIKE '%' || b.name || '%') > 3",
       "(SELECT count(*) FROM event AS b WHERE instr(b.name, subject.name) > 0) > 3",
       "(SELECT count(*) FROM event AS b WHERE replace(b.name, 'a', subject.name) GLOB '*k*k*k*k*z') > 3",
       "(SELECT count(*) FROM event AS b WHERE b.name GLOB '*a*b*a*b*a*b*a*b*a*b*a*b*z') > 3",
       "(SELECT count(*) FROM event AS b WHERE b.name LIKE '%a%b%a%b%a%b%a%b%a%b%z') > 3",
       "length(printf('%0300000000d', id)) > 5",
       "length(printf('%*d', 1000000000, id)) > 5",
       "length(hex(zeroblob(400000000))) > id",
       "length(replace(replace(hex(zeroblob(4000)), '0', hex(zeroblob(4000))), '0', name)) > 3",
       "length(quote(zeroblob(200000000))) > 3",
       "(WITH RECURSIVE t(x, s) AS (SELECT 1, name UNION ALL SELECT x + 1, s || s FROM t WHERE x < 60) "
       "SELECT "
       "max(length(s)) FROM t) > 3",
       "(WITH RECURSIVE t(x) AS (SELECT id UNION SELECT (x * 1103515245 + 12345) % 2147483648 FROM t) SELECT "
       "count(*) FROM t) > 3",
       "(SELECT sum(rank) FROM (SELECT row_number() OVER (ORDER BY a.value, b.name) AS rank FROM event AS a "
       "CROSS "
       "JOIN event AS b)) > 3",
       "(SELECT max(s) FROM (SELECT sum(b.value) OVER (ORDER BY b.id ROWS BETWEEN 50000 PRECEDING AND 50000 "
       "FOLLOWING) AS s FROM event AS b)) > value",
       "(SELECT max(s) FROM (SELECT group_concat(b.name) OVER (ORDER BY b.id) AS s FROM event AS b)) > name",
       "(SELECT count(*) FROM event AS a WHERE NOT EXISTS (SELECT 1 FROM event AS b WHERE b.value > a.value "
       "+ "
       "subject.value)) > 3",
       "(SELECT count(*) FROM (SELECT name FROM event EXCEPT SELECT b.name || subject.id FROM event AS b)) > "
       "3",
       "(SELECT count(*) FROM (SELECT id, name FROM event ORDER BY name || name || name || name DESC)) > "
       "value",
       "abs(id) + (SELECT max(abs(a.id - b.id)) FROM event AS a, event AS b WHERE a.name > b.name) > 3",
       "(SELECT count(*) FROM event WHERE upper(lower(upper(lower(upper(lower(name)))))) = "
       "upper(subject.name)) > "
       "3"});
}

}  // namespace

const std::vector<std::string>& HostileConditions() {
  static const std::vector<std::string> conditions = [] {
    std::vector<std::string> all;
    AddRecursions(all);
    AddJoins(all);
    AddTexts(all);
    AddPatterns(all);
    AddLargeStatements(all);
    AddWindowsAndSets(all);
    AddSmallLookingOnes(all);
    return all;
  }();
  return conditions;
}

Schema EventSchema() {
  return {"event",
          "One row per event.",
          {"id"},
          {{"id", Type::kInteger, Unit::kNone, "Number.", false, ""},
           {"name", Type::kText, Unit::kText, "Name.", false, ""},
           {"value", Type::kReal, Unit::kNone, "Value.", false, ""}}};
}

Table Events(size_t rows) {
  Table table(EventSchema());
  for (size_t i = 0; i < rows; ++i)
    table.AddRow({static_cast<int64_t>(i),
                  fmt::format("kernel_{}_{}", i % 997, Repeat("ab<int, float>", static_cast<int>(i % 20))),
                  static_cast<double>((i * 7919) % 10'007)});
  return table;
}

RuleFile HostileRule(const std::string& condition) {
  std::string quoted;
  for (const char c : condition) quoted += c == '\'' ? "''" : std::string(1, c);
  return {"r/hostile.yaml",
          fmt::format("id: hostile\ntitle: T\nfor: event\nwhen: ['{}']\n"
                      "problem: \"{{{{name}}}} {{{{value}}}}\"\nrecommendation: [\"{{{{name}}}}\"]\n"
                      "evidence: SELECT name FROM event WHERE id <= :id ORDER BY name\n",
                      quoted)};
}

}  // namespace dladvisor::test
