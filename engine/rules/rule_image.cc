// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/rule_image.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/base/error.h"

namespace dladvisor {
namespace {

class Writer {
 public:
  std::string bytes;

  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes += text;
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); }
};

class ImageReader {
 public:
  explicit ImageReader(std::string_view bytes) : bytes_(bytes) {}

  void operator()(std::string& text) {
    size_t size = 0;
    (*this)(size);
    text = Take(size);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& number) { std::memcpy(&number, Take(sizeof number).data(), sizeof number); }

  // Throws Error where fewer bytes are left.
  void Expect(size_t bytes) const {
    if (bytes > bytes_.size()) Fail();
  }
  void ExpectEnd() const {
    if (!bytes_.empty()) Fail();
  }

 private:
  [[noreturn]] static void Fail() {
    throw Error("built-in rules", "are damaged in this program", "Install it again.");
  }
  std::string_view Take(size_t bytes) {
    Expect(bytes);
    const std::string_view taken = bytes_.substr(0, bytes);
    bytes_.remove_prefix(bytes);
    return taken;
  }

  std::string_view bytes_;
};

// What a type consists of, once for writing and reading: the fields in order.
template <class A>
constexpr bool kReads = std::is_same_v<A, ImageReader>;

template <class A, class T>
void Fields(A& archive, T& plain) requires std::is_invocable_v<A&, T&> {
  archive(plain);
}
template <class A, class T>
void Fields(A& archive, std::vector<T>& items) {
  size_t size = items.size();
  archive(size);
  if constexpr (kReads<A>) archive.Expect(size);  // an item takes a byte at least
  items.resize(size);
  for (T& item : items) Fields(archive, item);
}
template <class A, class T>
void Fields(A& archive, std::optional<T>& maybe) {
  bool is_there = maybe.has_value();
  archive(is_there);
  if (is_there && !maybe) maybe.emplace();
  if (is_there) Fields(archive, *maybe);
}
template <class A>
void Fields(A& archive, std::map<std::string, Unit>& units) {
  std::vector<std::pair<std::string, Unit>> items(units.begin(), units.end());
  size_t size = items.size();
  archive(size);
  if constexpr (kReads<A>) archive.Expect(size);  // an item takes a byte at least
  items.resize(size);
  for (auto& [name, unit] : items) {
    archive(name);
    archive(unit);
  }
  units = {items.begin(), items.end()};
}
template <class A>
void Fields(A& archive, Value& value) {
  auto kind = static_cast<uint8_t>(value.index());
  archive(kind);
  if (kReads<A>) {
    if (kind == 1) value = int64_t{};
    if (kind == 2) value = double{};
    if (kind == 3) value = std::string();
  }
  if (auto* integer = std::get_if<int64_t>(&value)) archive(*integer);
  if (auto* real = std::get_if<double>(&value)) archive(*real);
  if (auto* text = std::get_if<std::string>(&value)) archive(*text);
}

template <class A, class... T>
void All(A& archive, T&... fields) {
  (Fields(archive, fields), ...);
}

template <class A>
void Fields(A& a, Place& p) {
  All(a, p.file, p.line, p.column, p.exact);
}
template <class A>
void Fields(A& a, Param& p) {
  All(a, p.name, p.value, p.unit, p.doc, p.place, p.set_by, p.is_table);
}
template <class A>
void Fields(A& a, Helper& h) {
  All(a, h.name, h.sql, h.place);
}
template <class A>
void Fields(A& a, Let& l) {
  All(a, l.name, l.sql, l.unit, l.place, l.inferred);
}
template <class A>
void Fields(A& a, Comparison& c) {
  All(a, c.left, c.op, c.right, c.unit);
}
template <class A>
void Fields(A& a, Condition& c) {
  All(a, c.sql, c.place, c.comparisons);
}
template <class A>
void Fields(A& a, RuleReference& r) {
  All(a, r.id, r.place);
}
template <class A>
void Fields(A& a, Saves& s) {
  All(a, s.from, s.from_place, s.high, s.low, s.now);
}
template <class A>
void Fields(A& a, Message& m) {
  All(a, m.text, m.place);
}
template <class A>
void Fields(A& a, Rule& r) {
  All(a, r.id, r.title, r.category, r.doc, r.severity, r.confidence, r.override, r.subject_relation,
      r.subject_sql, r.subject_key, r.subject_place, r.units, r.reads, r.count_sql, r.params, r.helpers,
      r.lets, r.when, r.given, r.unless, r.causes, r.saves, r.problem, r.recommendation, r.code, r.evidence,
      r.references, r.place, r.set_by);
}
template <class A>
void Fields(A& a, Column& c) {
  All(a, c.name, c.type, c.unit, c.doc, c.nullable, c.capture);
}
template <class A>
void Fields(A& a, DerivedRelation& d) {
  All(a, d.schema.name, d.schema.doc, d.schema.key, d.schema.columns, d.category, d.sql, d.place, d.sql_place,
      d.override, d.reads);
}

}  // namespace

std::string WriteRuleImage(const KnowledgeBase& knowledge) {
  Writer writer;
  std::vector<Rule> rules = knowledge.rules();
  std::vector<DerivedRelation> relations;
  for (const auto& relation : knowledge.relations()) relations.push_back(*relation);
  All(writer, rules, relations);
  return std::move(writer.bytes);
}

void ReadRuleImage(std::string_view image, KnowledgeBase& knowledge) {
  ImageReader reader(image);
  std::vector<Rule> rules;
  std::vector<DerivedRelation> relations;
  All(reader, rules, relations);
  reader.ExpectEnd();
  DerivedRelations shared;
  for (DerivedRelation& relation : relations)
    shared.push_back(std::make_shared<const DerivedRelation>(std::move(relation)));
  knowledge.SetChecked(std::move(rules), std::move(shared));
}

}  // namespace dladvisor
