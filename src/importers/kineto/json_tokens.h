// SPDX-License-Identifier: Apache-2.0
// Walks over JSON text from token to token: a bracket, a comma, a colon, or the beginning of a string or
// another scalar. simdjson finds them, many bytes at a time; what lies between two of them is read only where
// it is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace dladvisor::kineto {

// A place among the tokens of a text. A copy of it stays in registers while it walks: every event of a trace
// passes here, so nothing is called.
class JsonCursor {
 public:
  JsonCursor() = default;
  // `at` to `end` are the positions of tokens, *end and end[1] the size of the text.
  JsonCursor(const char* text, const uint32_t* at, const uint32_t* end) : text_(text), at_(at), end_(end) {}

  [[gnu::always_inline]] bool AtEnd() const { return at_ == end_; }
  // The first character of the token; '\0' at the end.
  [[gnu::always_inline]] char Kind() const { return AtEnd() ? '\0' : text_[*at_]; }

  // Passes the token where it is `kind`.
  [[gnu::always_inline]] bool Take(char kind) {
    if (Kind() != kind) return false;
    ++at_;
    return true;
  }

  // Passes the key of a member and its colon.
  [[gnu::always_inline]] bool TakeKey(std::string_view& key) {
    if (Kind() != '"') return false;
    key = Between(at_[0] + 1, at_[1]);
    key.remove_suffix(1);
    ++at_;
    return Take(':');
  }

  // Passes a value with all that is in it: a scalar, strings with their quotes, or a list or an object. False
  // where there is none, or it has no end.
  [[gnu::always_inline]] bool TakeValue(std::string_view& value) {
    const uint32_t* const begin = at_;
    switch (Kind()) {
      case '\0':
      case '}':
      case ']':
      case ',':
      case ':':
        return false;
      case '{':
      case '[':
        if (!Close()) return false;
        value = {text_ + *begin, at_[-1] + 1 - *begin};
        return true;
      default:
        ++at_;
        value = Between(*begin, *at_);
        return true;
    }
  }

 private:
  // Passes the bracket and all up to the one that closes it.
  [[gnu::always_inline]] bool Close() {
    for (int depth = 0; at_ != end_;) {
      const char kind = text_[*at_++];
      if (kind == '{' || kind == '[') ++depth;
      if ((kind == '}' || kind == ']') && --depth == 0) return true;
    }
    return false;
  }

  [[gnu::always_inline]] std::string_view Between(size_t from, size_t to) const {
    while (to > from && static_cast<unsigned char>(text_[to - 1]) <= ' ') --to;
    return {text_ + from, to - from};
  }

  const char* text_ = nullptr;
  const uint32_t *at_ = nullptr, *end_ = nullptr;
};

// Finds the tokens of texts.
class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // `text` lies in a buffer of `capacity` bytes, 64 of them behind it. The cursor is good for as long as both
  // are; it is at its end where a string has none or bytes are not UTF-8.
  JsonCursor Find(std::string_view text, size_t capacity);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace dladvisor::kineto
