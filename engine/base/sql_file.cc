// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sql_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace dladvisor {
namespace {

constexpr const char* kHint = "Correct the file and build again.";

// A statement on one line: white space outside of quotes becomes one space each.
class OneLineSql {
 public:
  void Add(std::string_view line) {
    space_ = !text_.empty();
    for (const char c : line) {
      if (quote_ == '\0' && (c == ' ' || c == '\t')) {
        space_ = !text_.empty();
        continue;
      }
      if (space_) text_ += ' ';
      space_ = false;
      text_ += c;
      if (quote_ == c)
        quote_ = '\0';
      else if (quote_ == '\0' && (c == '\'' || c == '"'))
        quote_ = c;
    }
  }
  bool empty() const { return text_.empty(); }
  bool HasEnded() const { return quote_ == '\0' && text_.ends_with(';'); }
  // Without the semicolon.
  std::string Take() {
    text_.pop_back();
    return std::exchange(text_, {});
  }

 private:
  std::string text_;
  char quote_ = '\0';
  bool space_ = false;
};

class Reader {
 public:
  Reader(std::string_view path, std::span<const std::string_view> keys) : path_(path), keys_(keys) {}

  std::vector<SqlStatement> Read(std::string_view content) {
    while (!content.empty()) {
      const std::string_view line = content.substr(0, content.find('\n'));
      content.remove_prefix(std::min(content.size(), line.size() + 1));
      ++line_;
      if (line.starts_with("--"))
        AddComment(line.substr(2));
      else if (!line.empty())
        AddSql(line);
    }
    if (!sql_.empty() || !statement_.keys.empty()) Fail("the last statement does not end with \";\"");
    return std::move(statements_);
  }

 private:
  [[noreturn]] void Fail(const std::string& reason) const {
    throw Error(fmt::format("{}:{}", path_, line_), reason, kHint);
  }

  void AddComment(std::string_view comment) {
    if (!sql_.empty()) return;
    if (comment.starts_with("   ") && value_ != nullptr) {
      value_->append(1, ' ').append(comment.substr(comment.find_first_not_of(' ')));
      return;
    }
    value_ = nullptr;
    const size_t colon = comment.find(": ");
    if (colon == std::string_view::npos || colon == 0) return;
    const std::string_view key = comment.substr(1, colon - 1);
    if (key != "id" && statement_.keys.empty()) return;  // for readers
    if (key != "id" && std::ranges::find(keys_, key) == keys_.end())
      Fail(fmt::format("unknown key \"{}\"; there are {}", key, fmt::join(keys_, ", ")));
    value_ = &statement_.keys[std::string(key)];
    *value_ = comment.substr(colon + 2);
  }

  void AddSql(std::string_view line) {
    if (statement_.keys.empty()) Fail("a statement has no \"-- id: ...\" before it");
    sql_.Add(line);
    if (!sql_.HasEnded()) return;
    statement_.sql = sql_.Take();
    statements_.push_back(std::exchange(statement_, {}));
    value_ = nullptr;
  }

  std::string path_;
  std::span<const std::string_view> keys_;
  size_t line_ = 0;
  SqlStatement statement_;
  std::string* value_ = nullptr;  // that the next line may continue
  OneLineSql sql_;
  std::vector<SqlStatement> statements_;
};

}  // namespace

const std::string& SqlStatement::Get(std::string_view key) const {
  static const std::string none;
  const auto found = keys.find(key);
  return found == keys.end() ? none : found->second;
}

std::vector<SqlStatement> ReadSqlFile(std::string_view path, std::string_view content,
                                      std::span<const std::string_view> keys) {
  return Reader(path, keys).Read(content);
}

}  // namespace dladvisor
