// SPDX-License-Identifier: Apache-2.0
#include "engine/base/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

constexpr size_t kLongestName = size_t{64} << 10;
constexpr uint64_t kLongestText = uint64_t{1} << 18;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// How long a name becomes where each reference to an earlier part (S_, S0_, T_) is written out. A part that
// is referred to is at most as long as all that stands before the first reference to it or to a later part,
// and at most as long as the longest part that is complete there.
class Expansion {
 public:
  explicit Expansion(std::string_view name) : name_(name.substr(0, name.find('.'))) { Read(); }

  // At least so long; no less than kLongestText where it is not known.
  uint64_t length() const {
    if (whole_ < kLongestText) return whole_;
    const bool is_known = frames_.size() == 1 && !is_unknown_;
    return is_known ? frames_.front().sum : kLongestText;
  }

 private:
  struct Frame {
    char kind;
    uint64_t sum, last;  // of all parts, and of the last one
    bool joins;          // a pointer to a member is of two parts
  };
  struct Part {
    uint64_t whole, longest;
  };

  static uint64_t Sum(uint64_t a, uint64_t b) { return std::min(a + b, kLongestText); }

  char At(size_t i) const { return i < name_.size() ? name_[i] : '\0'; }

  void Add(uint64_t part, bool continues) {
    Frame& top = frames_.back();
    top.sum = Sum(top.sum, part);
    top.last = continues ? Sum(top.last, part) : part;
    longest_ = std::max(longest_, top.kind == 'N' || top.joins ? top.sum : top.last);
  }

  void AddLiteral(uint64_t length) {
    whole_ = Sum(whole_, length);
    Add(length, false);
  }

  void Refuse() {
    is_unknown_ = true;
    whole_ = kLongestText;
  }

  void Close() {
    if (frames_.size() == 1) {
      is_unknown_ = true;
      return;
    }
    const Frame closed = frames_.back();
    frames_.pop_back();
    Add(closed.sum, closed.kind == 'I');
  }

  // The place after a reference's number and '_'; `at` itself where there is none.
  size_t AfterReference(size_t at) const {
    size_t i = at + 1;
    while (IsDigit(At(i)) || (At(i) >= 'A' && At(i) <= 'Z')) ++i;
    return At(i) == '_' ? i + 1 : at;
  }

  void Refer(bool is_template, std::string_view number) {
    Part part{whole_, longest_};
    if (!is_template) {
      const auto found = parts_.lower_bound({number.size(), std::string(number)});
      if (found != parts_.end()) part = found->second;
      parts_.insert_or_assign({number.size(), std::string(number)}, part);
    }
    whole_ = Sum(whole_, part.whole);
    Add(std::min(part.whole, part.longest), false);
  }

  void Read() {
    size_t i = 2;
    while (i < name_.size()) {
      const char c = name_[i];
      const char next = At(i + 1);
      if (IsDigit(c)) {
        size_t length = 0, end = i;
        for (; IsDigit(At(end)); ++end)
          length = std::min(length * 10 + static_cast<size_t>(At(end) - '0'), name_.size());
        const bool is_literal = frames_.back().kind == 'L' && name_[i - 1] != 'L';
        const bool is_name = !is_literal && (name_[i - 1] != '_' || after_reference_ == i);
        if (is_name) end = std::min(end + length, name_.size());
        AddLiteral(end - i);
        i = end;
      } else if ((c == 'S' || c == 'T') && AfterReference(i) != i) {
        const size_t after = AfterReference(i);
        Refer(c == 'T', name_.substr(i + 1, after - i - 2));
        i = after_reference_ = after;
      } else if (c == 'D' && (next == 'F' || next == 'v')) {
        for (i += 2; IsDigit(At(i)); ++i) {
        }
        AddLiteral(4);
      } else if (c == 'A' && IsDigit(next)) {
        for (++i; IsDigit(At(i)); ++i) {
        }
      } else if (c == 'E') {
        Close();
        ++i;
      } else if (c == 'I' || c == 'N' || c == 'F' || c == 'J' || c == 'L' || c == 'Z' ||
                 (c == 'U' && next == 'l')) {
        frames_.push_back({c, 0, 0, false});
        i += c == 'U' ? 2 : 1;
      } else {
        // Expressions and packs have brackets and lengths of their own.
        if (c == 'X' || (c == 'D' && (next == 't' || next == 'T' || next == 'O')) ||
            (c == 'm' && next == 'I'))
          is_unknown_ = true;
        if (c == 'D' && next == 'p' && ++packs_ > kMostPacks) Refuse();
        if (c == 'M') frames_.back().joins = true;
        AddLiteral(1);
        ++i;
      }
    }
  }

  static constexpr int kMostPacks = 3;

  std::string_view name_;
  std::vector<Frame> frames_{{'_', 0, 0, false}};
  std::map<std::pair<size_t, std::string>, Part> parts_;  // by the reference's number, shorter ones first
  uint64_t whole_ = 0, longest_ = 1;
  size_t after_reference_ = 0;
  int packs_ = 0;
  bool is_unknown_ = false;
};

}  // namespace

std::string Demangled(std::string_view name) {
  std::string text(name);
  if (!IsMangled(name) || name.size() > kLongestName || Expansion(name).length() >= kLongestText) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(readable.get()) : text;
}

}  // namespace dladvisor
