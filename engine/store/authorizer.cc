// SPDX-License-Identifier: Apache-2.0
#include "engine/store/authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "engine/base/text.h"
#include "engine/store/sandbox.h"

namespace dladvisor {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

Authorizer::Authorizer(sqlite3* db, const Catalog& catalog, const RelationModule& module)
    : db_(db), catalog_(catalog), module_(module) {
  sqlite3_exec(
      db, "SELECT lower(name) FROM pragma_module_list",
      [](void* modules, int, char** values, char**) {
        static_cast<std::set<std::string, std::less<>>*>(modules)->emplace(values[0]);
        return 0;
      },
      &modules_, nullptr);
}

void Authorizer::Begin(bool notes_reads) {
  notes_reads_ = notes_reads;
  columns_.clear();
  relations_.clear();
  refusal_.clear();
  refused_word_.clear();
  hint_.clear();
  sqlite3_set_authorizer(
      db_,
      [](void* self, int action, const char* first, const char* second, const char*, const char*) {
        return static_cast<Authorizer*>(self)->Decide(action, first, second);
      },
      this);
}

void Authorizer::End() { sqlite3_set_authorizer(db_, nullptr, nullptr); }

std::optional<SqlError> Authorizer::Refusal(std::string_view sql) const {
  if (refusal_.empty()) return std::nullopt;
  return SqlError(refusal_, refused_word_.empty() ? -1 : FindWord(sql, refused_word_), hint_);
}

int Authorizer::Refuse(std::string why, std::string word, std::string hint) {
  if (refusal_.empty()) {
    refusal_ = std::move(why);
    refused_word_ = std::move(word);
    hint_ = std::move(hint);
  }
  return SQLITE_DENY;
}

// Tables that SQLite brings with it.
bool Authorizer::IsBuiltIn(std::string_view name) const {
  const std::string lower = Lower(name);
  return lower.starts_with("sqlite_") || lower.starts_with("pragma_") || modules_.contains(lower);
}

int Authorizer::Decide(int action, const char* first, const char* second) {
  if (module_.is_declaring()) return SQLITE_OK;  // no part of the statement
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_READ:
      if (catalog_.Find(first)) {
        if (notes_reads_) {
          relations_.insert(first);
          if (second && *second) columns_.insert({first, second});
        }
        return SQLITE_OK;
      }
      if (catalog_.IsView(first)) return SQLITE_OK;
      // A common table expression whose columns are not read, e.g. in count(*), comes by its name alone.
      if (second && !*second && !IsBuiltIn(first)) return SQLITE_OK;
      return Refuse(fmt::format("no such relation: {}{}", first, DidYouMean(first, catalog_.Names())), first);
    case SQLITE_FUNCTION: {
      const auto& allowed = AllowedFunctions();
      const std::string name = Lower(second ? second : "");
      if (std::binary_search(allowed.begin(), allowed.end(), name)) return SQLITE_OK;
      return Refuse(fmt::format("function {} is not allowed{}", name, DidYouMean(name, allowed)), name,
                    fmt::format("Allowed are {}.", fmt::join(allowed, ", ")));
    }
    default:
      return Refuse(kOnlySelect);
  }
}

}  // namespace dladvisor
