// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/condition_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "engine/inference/explanation.h"
#include "engine/sql/sql_text.h"
#include "src/report/sections/finding_words.h"

namespace dladvisor {
namespace {

constexpr int kDeepest = 12;
constexpr size_t kLongestWords = 160;

// A name within a sentence: "idle share", "GPU utilization".
std::string Name(std::string_view name) {
  std::string words = NameWords(name);
  if (words.size() > 1 && std::islower(static_cast<unsigned char>(words[1])))
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  return words;
}

std::string OperatorWords(std::string_view op) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords = {
      {{">", "more than"},
       {">=", "at least"},
       {"<", "less than"},
       {"<=", "at most"},
       {"=", "exactly"},
       {"==", "exactly"},
       {"IS", "exactly"},
       {"<>", "other than"},
       {"!=", "other than"},
       {"IS NOT", "other than"}}};
  const auto found = std::ranges::find(kWords, op, [](const auto& word) { return word.first; });
  return std::string(found == kWords.end() ? op : found->second);
}

// Reads an expression and says it. What it has no words for makes the whole nothing.
class Speaker {
 public:
  explicit Speaker(std::string_view sql) : words_(SqlWords(sql)) {}

  std::optional<std::string> Say() {
    auto said = Either();
    return said && At().size == 0 ? said : std::nullopt;
  }

 private:
  using Text = std::optional<std::string>;

  const SqlWord& At() const { return words_[at_]; }
  void Skip() {
    if (At().size > 0) ++at_;
  }
  bool Takes(std::string_view word) {
    if (At().size == 0 || (At().word != word && At().text != word)) return false;
    ++at_;
    return true;
  }

  template <class Part>
  Text Joined(Part part, std::string_view by, const char* words) {
    Text said = part();
    while (said && Takes(by)) {
      const Text next = part();
      said = next ? Text(*said + words + *next) : std::nullopt;
    }
    return said;
  }

  Text Either() {
    return Joined([&] { return All(); }, "OR", " or ");
  }
  Text All() {
    return Joined([&] { return Negated(); }, "AND", " and ");
  }
  Text Negated() {
    if (!Takes("NOT")) return Compared();
    const Text said = Negated();
    return said ? Text("not " + *said) : std::nullopt;
  }

  Text Compared() {
    Text left = Sum();
    if (!left) return left;
    if (Takes("IS")) {
      const bool known = Takes("NOT");
      if (!Takes("NULL")) return std::nullopt;
      return *left + (known ? " is known" : " is unknown");
    }
    const bool none = Takes("NOT");
    if (Takes("IN")) {
      const auto items = Arguments();
      if (!items || items->empty()) return std::nullopt;
      return fmt::format("{} is {} {}", *left,
                         none                 ? "none of"
                         : items->size() == 1 ? ""
                                              : "one of",
                         fmt::join(*items, ", "));
    }
    if (none) return std::nullopt;
    for (const char* op : {">=", "<=", "<>", "!=", "==", ">", "<", "="}) {
      if (!Takes(op)) continue;
      const Text right = Sum();
      if (!right) return right;
      const std::string_view text = op;
      return fmt::format("{} {} {}", *left,
                         text == "=" || text == "=="    ? "is"
                         : text == "<>" || text == "!=" ? "is not"
                                                        : OperatorWords(text),
                         *right);
    }
    return left;
  }

  Text Sum() {
    Text said = Product();
    while (said && (At().text == "+" || At().text == "-")) {
      const std::string op(At().text);
      ++at_;
      const Text next = Product();
      said = next ? Text(*said + " " + op + " " + *next) : std::nullopt;
    }
    return said;
  }

  Text Product() {
    Text said = Primary();
    while (said && (At().text == "*" || At().text == "/")) {
      const char* op = At().text == "*" ? " × " : " / ";
      ++at_;
      const Text next = Primary();
      said = next ? Text(*said + op + *next) : std::nullopt;
    }
    return said;
  }

  Text Primary() {
    if (++depth_ > kDeepest) return std::nullopt;
    Text said = PrimaryWithin();
    --depth_;
    return said;
  }

  Text PrimaryWithin() {
    const SqlWord word = At();
    if (word.size == 0) return std::nullopt;
    ++at_;
    switch (word.kind) {
      case SqlToken::Kind::kNumber:
        return std::string(word.text);
      case SqlToken::Kind::kString:
        return word.text.size() < 2 ? Text() : std::string(word.text.substr(1, word.text.size() - 2));
      case SqlToken::Kind::kParameter:
        return Name(word.text.substr(1));
      default:
        break;
    }
    if (word.text == "-") {
      const Text said = Primary();
      return said ? Text("-" + *said) : std::nullopt;
    }
    if (word.text == "(") return At().word == "SELECT" ? Query() : Bracketed();
    if (!word.is_name || word.word == "CASE" || word.word == "SELECT" || word.word == "EXISTS")
      return std::nullopt;
    if (word.word == "NULL") return "unknown";
    if (At().text == "(") return Function(word.word);
    std::string_view name = word.text;
    while (Takes(".")) {
      name = At().text;
      Skip();
    }
    return Name(name);
  }

  Text Bracketed() {
    const Text said = Either();
    if (!said || !Takes(")")) return std::nullopt;
    return said->find(' ') == std::string::npos ? *said : "(" + *said + ")";
  }

  std::optional<std::vector<std::string>> Arguments() {
    std::vector<std::string> arguments;
    if (!Takes("(")) return std::nullopt;
    while (!Takes(")")) {
      if (!arguments.empty() && !Takes(",")) return std::nullopt;
      if (Takes("*")) {
        arguments.emplace_back("rows");
        continue;
      }
      Takes("DISTINCT");
      Text said = Either();
      if (!said) return std::nullopt;
      if (Takes("AS")) Skip();  // CAST
      arguments.push_back(std::move(*said));
    }
    return arguments;
  }

  Text Function(const std::string& name) {
    const auto arguments = Arguments();
    if (!arguments || arguments->empty()) return std::nullopt;
    const std::vector<std::string>& a = *arguments;
    // What is taken where the first is unknown, a type and a rounding say nothing of what is meant.
    static const std::set<std::string> kSilent = {"COALESCE", "CAST",  "ABS",   "ROUND",
                                                  "UPPER",    "LOWER", "LOOKUP"};
    if (kSilent.contains(name)) return a[0];
    if (name == "RATIO" && a.size() == 2) return a[0] + " / " + a[1];
    if (name == "SUM" || name == "TOTAL") return "all " + a[0];
    if (name == "COUNT") return "number of " + a[0];
    if (name == "AVG") return "mean " + a[0];
    if (name == "MAX" || name == "MIN") {
      const bool most = name == "MAX";
      if (a.size() == 1) return (most ? "largest " : "least ") + a[0];
      return fmt::format("the {} of {}", most ? "larger" : "smaller", fmt::join(a, " and "));
    }
    if (name != "IIF" || a.size() != 3) return std::nullopt;
    if (a[1] == "unknown") return a[2];
    if (a[2] == "unknown") return a[1];
    if (a[2] == "0") return a[1] == "1" ? a[0] : fmt::format("{} where {}", a[1], a[0]);
    if (a[1] == "0") return fmt::format("{} but where {}", a[2], a[0]);
    return fmt::format("{} if {}, else {}", a[1], a[0], a[2]);
  }

  // "(SELECT r.kind FROM run AS r WHERE ...)" by its column, its relation and the texts that it selects by.
  Text Query() {
    Takes("SELECT");
    Text said = Either();
    if (said && Takes("AS")) Skip();
    if (!said || !Takes("FROM")) return std::nullopt;
    std::string of;
    if (At().is_name) of = Name(At().text);
    std::vector<std::string> texts;
    for (int open = 1; open > 0; ++at_) {
      if (At().size == 0) return std::nullopt;
      if (At().text == "(") ++open;
      if (At().text == ")") --open;
      if (At().kind == SqlToken::Kind::kString && At().text.size() > 2)
        texts.emplace_back(At().text.substr(1, At().text.size() - 2));
    }
    // Of tables of one row, and of sub-queries, the column says it.
    if (of.empty() || of == "run" || of == "profile" || of == "system") return said;
    return fmt::format("{} ({}{}{})", *said, of, texts.empty() ? "" : ": ", fmt::join(texts, ", "));
  }

  std::vector<SqlWord> words_;
  size_t at_ = 0;
  int depth_ = 0;
};

bool IsNumber(std::string_view sql) {
  return !sql.empty() && std::ranges::all_of(sql, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+' || c == 'e';
  });
}

// Sides of comparisons that are no fact: a number, a param.
bool IsLimit(std::string_view sql) {
  return IsNumber(sql) || (sql.starts_with(':') && IsName(sql.substr(1)));
}

void LowerFirst(std::string& text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
}

std::string_view Mirrored(std::string_view op) {
  return op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op;
}

// Of what has no words, the facts that it rests on.
std::string WordsOfFacts(const ConditionTrace& condition) {
  std::string words = "A condition";
  for (const NamedValue& fact : condition.facts)
    words += (words.ends_with("condition") ? " on " : ", ") + Name(fact.name);
  return words;
}

ConditionWords WordsOf(const ConditionTrace& condition, const ComparedValues& values) {
  ComparedValues compared = values;
  if (IsLimit(compared.left) && !IsLimit(compared.right)) {
    std::swap(compared.left, compared.right);
    std::swap(compared.left_value, compared.right_value);
    compared.op = std::string(Mirrored(compared.op));
  }
  ConditionWords words;
  words.what = ExpressionWords(compared.left);
  if (words.what.empty()) words.what = WordsOfFacts(condition);
  words.here = FormatValue(compared.left_value, compared.unit);
  words.wanted = OperatorWords(compared.op) + " " + FormatValue(compared.right_value, compared.unit);
  if (!IsLimit(compared.right))
    if (std::string right = ExpressionWords(compared.right); !right.empty()) {
      LowerFirst(right);
      if (right != FormatValue(compared.right_value, compared.unit)) words.wanted += " (" + right + ")";
    }
  words.apart = DistanceText(compared);
  words.limit = compared.limit;
  return words;
}

}  // namespace

std::string ExpressionWords(std::string_view sql) {
  std::string words = Speaker(sql).Say().value_or("");
  if (words.size() > kLongestWords) return "";
  if (!words.empty()) words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

std::vector<ConditionWords> WordsOf(const ConditionTrace& condition) {
  std::vector<ConditionWords> all;
  for (const ComparedValues& compared : condition.compared) all.push_back(WordsOf(condition, compared));
  if (!all.empty()) return all;
  std::string_view sql = condition.sql;
  const bool negated = sql.starts_with("NOT ") && sql.find(" OR ") == std::string_view::npos &&
                       sql.find(" AND ") == std::string_view::npos;
  if (negated) sql.remove_prefix(4);
  ConditionWords words;
  words.here = !condition.holds ? "unknown" : *condition.holds != negated ? "yes" : "no";
  words.wanted = negated ? "no" : "yes";
  words.what = ExpressionWords(sql);
  if (words.what.empty()) words.what = WordsOfFacts(condition);
  return {words};
}

}  // namespace dladvisor
