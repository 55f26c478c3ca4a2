#include "engine/store/wildcard.h"

#include <algorithm>

namespace dladvisor {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

uint32_t LowerAscii(uint32_t c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

// Text ends at its first NUL, as SQLite's does.
std::string_view UpToNul(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace

uint32_t ReadUtf8(std::string_view text, size_t& at) {
  if (at >= text.size()) return 0;
  uint32_t c = static_cast<unsigned char>(text[at++]);
  if (c < 0xc0) return c;
  c = c < 0xe0 ? c & 0x1f : c < 0xf0 ? c & 0x0f : c < 0xf8 ? c & 0x07 : c < 0xfc ? c & 0x03 : c == 0xfd;
  while (at < text.size() && IsContinuation(text[at]))
    c = (c << 6) + (static_cast<unsigned char>(text[at++]) & 0x3f);
  return c < 0x80 || (c & 0xfffff800) == 0xd800 || (c & 0xfffffffe) == 0xfffe ? 0xfffd : c;
}

Wildcard Wildcard::Like(std::string_view pattern, uint32_t escape) {
  pattern = UpToNul(pattern);
  Wildcard wildcard;
  wildcard.any_case_ = true;
  for (size_t at = 0; at < pattern.size();) {
    uint32_t c = ReadUtf8(pattern, at);
    if (c == '%' && c != escape) {
      wildcard.tokens_.push_back({Kind::kAll});
    } else if (escape != 0 && c == escape) {
      c = ReadUtf8(pattern, at);
      wildcard.tokens_.push_back({c == 0 ? Kind::kNever : Kind::kLiteral, c});
    } else {
      wildcard.tokens_.push_back({c == '_' ? Kind::kOne : Kind::kLiteral, c});
    }
  }
  return wildcard;
}

Wildcard Wildcard::Glob(std::string_view pattern) {
  pattern = UpToNul(pattern);
  Wildcard wildcard;
  for (size_t at = 0; at < pattern.size();) {
    const uint32_t c = ReadUtf8(pattern, at);
    if (c == '[')
      wildcard.tokens_.push_back(ReadSet(pattern, at));
    else
      wildcard.tokens_.push_back({c == '*' ? Kind::kAll : c == '?' ? Kind::kOne : Kind::kLiteral, c});
  }
  return wildcard;
}

// Reads what follows `[`, up to and with `]`.
Wildcard::Token Wildcard::ReadSet(std::string_view pattern, size_t& at) {
  Token token{Kind::kSet};
  uint32_t c = ReadUtf8(pattern, at);
  if (c == '^') {
    token.inverted = true;
    c = ReadUtf8(pattern, at);
  }
  if (c == ']') {
    token.set.push_back({c, c});
    c = ReadUtf8(pattern, at);
  }
  uint32_t prior = 0;
  while (c != 0 && c != ']') {
    if (c == '-' && prior > 0 && at < pattern.size() && pattern[at] != ']') {
      token.set.push_back({prior, ReadUtf8(pattern, at)});
      prior = 0;
    } else {
      token.set.push_back({c, c});
      prior = c;
    }
    c = ReadUtf8(pattern, at);
  }
  if (c == 0) token.kind = Kind::kNever;
  return token;
}

bool Wildcard::Fits(const Token& token, uint32_t c) const {
  switch (token.kind) {
    case Kind::kLiteral:
      return token.character == c || (any_case_ && LowerAscii(token.character) == LowerAscii(c));
    case Kind::kOne:
      return true;
    case Kind::kSet:
      for (const Range& range : token.set)
        if (c >= range.first && c <= range.last) return !token.inverted;
      return token.inverted;
    default:
      return false;
  }
}

// The first place at or behind `from` where the token may fit: quick where it is an ASCII character.
size_t Wildcard::Seek(std::string_view text, size_t from, size_t token) const {
  if (token >= tokens_.size() || tokens_[token].kind != Kind::kLiteral || tokens_[token].character >= 0x80)
    return from;
  const uint32_t c = tokens_[token].character;
  if (!any_case_) return std::min(text.find(static_cast<char>(c), from), text.size());
  while (from < text.size() && LowerAscii(static_cast<unsigned char>(text[from])) != LowerAscii(c)) ++from;
  return from;
}

// Greedy: what follows the last star so far is tried at every place behind it; what precedes that star never
// needs to be tried again.
std::optional<bool> Wildcard::Matches(std::string_view text, int64_t max_work, int64_t& work) const {
  text = UpToNul(text);
  constexpr size_t kNoStar = SIZE_MAX;
  size_t at = 0, token = 0, star = kNoStar, star_at = 0;
  const auto restart = [&](size_t from) {
    star_at = Seek(text, from, star + 1);
    work += static_cast<int64_t>(star_at - from);
    at = star_at;
    token = star + 1;
  };
  while (true) {
    if (work > max_work) return std::nullopt;
    if (token < tokens_.size() && tokens_[token].kind == Kind::kAll) {
      star = token;
      restart(at);
      continue;
    }
    if (at == text.size()) break;
    if (token < tokens_.size()) {
      size_t next = at;
      const uint32_t c = ReadUtf8(text, next);
      work += 1 + static_cast<int64_t>(tokens_[token].set.size());
      if (Fits(tokens_[token], c)) {
        at = next;
        ++token;
        continue;
      }
    } else if (star != kNoStar && token == star + 1) {
      return true;  // the pattern ends with a star
    }
    if (star == kNoStar) return false;
    ReadUtf8(text, star_at);
    restart(star_at);
  }
  while (token < tokens_.size() && tokens_[token].kind == Kind::kAll) ++token;
  return token == tokens_.size();
}

}  // namespace dladvisor
