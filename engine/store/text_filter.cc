// SPDX-License-Identifier: Apache-2.0
#include "engine/store/text_filter.h"

#include <re2/re2.h>

#include "engine/store/text_match.h"

namespace dladvisor {
namespace {

// SQLite sees nothing of the time that passes here, and matching may visit each instruction of a pattern for
// each byte: what takes longer, by any of these, is left to it.
constexpr auto kMostTime = std::chrono::milliseconds(100);
constexpr size_t kBetweenLooks = 64, kLongestText = 4096, kLongestPattern = 1000;
constexpr int kMostInstructions = 1000;

}  // namespace

TextFilter::TextFilter(const Table& table, char sign, size_t column, std::string_view pattern)
    : table_(&table), column_(column) {
  if (sign == kLike) {
    part_ = PartAskedFor(pattern.substr(0, pattern.find('\0')));
    if (part_.empty()) return;
  } else {
    if (pattern.size() > kLongestPattern) return;
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(1 << 20);
    pattern_ = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    if (!pattern_->ok() || pattern_->ProgramSize() > kMostInstructions) return;
  }
  is_on_ = true;
  begin_ = std::chrono::steady_clock::now();
  verdicts_.resize(table.texts(), Verdict::kOpen);
}

TextFilter::TextFilter(TextFilter&&) noexcept = default;
TextFilter& TextFilter::operator=(TextFilter&&) noexcept = default;
TextFilter::~TextFilter() = default;

bool TextFilter::Matches(std::string_view text) const {
  if (!pattern_) return HasPart(text.substr(0, text.find('\0')), part_);
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern_);
}

void TextFilter::WatchTime() const {
  if (++tested_ % kBetweenLooks == 0) is_on_ = std::chrono::steady_clock::now() - begin_ < kMostTime;
}

bool TextFilter::Holds(size_t row) const {
  if (!is_on_) return true;
  const auto stored = table_->StoredText(row, column_);
  if (!stored) return false;  // nothing is true of what is unknown
  Verdict& verdict = verdicts_[*stored];
  if (verdict == Verdict::kOpen) {
    const std::string_view text = table_->TextOf(*stored);
    if (text.size() > kLongestText) return true;
    WatchTime();
    verdict = Matches(text) ? Verdict::kYes : Verdict::kNo;
  }
  return verdict == Verdict::kYes;
}

}  // namespace dladvisor
