// SPDX-License-Identifier: Apache-2.0
// Lines for the terminal: words filled into them, columns, headings, colours.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace dladvisor {

// What is known of where text goes. Where it is no terminal, lines are as long as they are easy to read.
struct TextStyle {
  bool color = false;
  size_t width = 100;  // columns
};

class TextWriter {
 public:
  explicit TextWriter(TextStyle style) : style_(style) {}

  size_t width() const { return style_.width; }

  // `style` is an SGR parameter, e.g. "1" for bold.
  std::string Styled(const std::string& text, const char* style) const;
  void Line(const std::string& line = "") { text_ += line + "\n"; }
  void Heading(const std::string& title);
  // Words of `text` filled into lines, the first after `lead`, the others under it.
  void Wrapped(const std::string& lead, const std::string& text, const char* style = nullptr);
  std::string Take() { return std::move(text_); }

 private:
  TextStyle style_;
  std::string text_;
};

// A rule's or a profile's text as one visible line.
std::string Prose(std::string_view text);

// Padded to `width` columns.
std::string Right(const std::string& text, size_t width);
std::string Left(const std::string& text, size_t width);

// A bar of forty blocks for the whole, of fewer where a line of `width` columns has no room for them.
std::string ShareBar(double share, size_t width);

}  // namespace dladvisor
