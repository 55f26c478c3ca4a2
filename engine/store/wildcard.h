// LIKE and GLOB patterns, as SQLite reads them, matched without recursion: at most text times pattern.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dladvisor {

class Wildcard {
 public:
  // `escape` is a character, or 0 for none. ASCII letters match in either case.
  static Wildcard Like(std::string_view pattern, uint32_t escape);
  static Wildcard Glob(std::string_view pattern);

  // Adds the number of steps taken to `work`; nothing where these would exceed `max_work`.
  std::optional<bool> Matches(std::string_view text, int64_t max_work, int64_t& work) const;

 private:
  // kNever: what SQLite's own matcher fails at, such as an escape without a character.
  enum class Kind { kLiteral, kOne, kAll, kSet, kNever };
  struct Range {
    uint32_t first, last;
  };
  struct Token {
    Kind kind;
    uint32_t character = 0;
    std::vector<Range> set = {};
    bool inverted = false;
  };

  static Token ReadSet(std::string_view pattern, size_t& at);
  bool Fits(const Token& token, uint32_t c) const;
  size_t Seek(std::string_view text, size_t from, size_t token) const;

  std::vector<Token> tokens_;
  bool any_case_ = false;
};

// The character at `at`, which moves behind it, read as SQLite does, also where the text is not UTF-8; 0 at
// the end.
uint32_t ReadUtf8(std::string_view text, size_t& at);

}  // namespace dladvisor
