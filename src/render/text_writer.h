// SPDX-License-Identifier: Apache-2.0
// Lines for the terminal: words filled into them, columns, headings, colours.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace dladvisor {

inline constexpr size_t kTextWidth = 100;

class TextWriter {
 public:
  explicit TextWriter(bool color) : color_(color) {}

  // `style` is an SGR parameter, e.g. "1" for bold.
  std::string Styled(const std::string& text, const char* style) const;
  void Line(const std::string& line = "") { text_ += line + "\n"; }
  void Heading(const std::string& title);
  // Words of `text` filled into lines, the first after `lead`, the others under it.
  void Wrapped(const std::string& lead, const std::string& text, const char* style = nullptr);
  std::string Take() { return std::move(text_); }

 private:
  bool color_;
  std::string text_;
};

// A rule's or a profile's text as one visible line.
std::string Prose(std::string_view text);

// Padded to `width` columns.
std::string Right(const std::string& text, size_t width);
std::string Left(const std::string& text, size_t width);

// A bar of forty blocks for the whole.
std::string ShareBar(double share);

}  // namespace dladvisor
