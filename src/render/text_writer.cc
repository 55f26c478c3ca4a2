// SPDX-License-Identifier: Apache-2.0
#include "src/render/text_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/render/escape.h"

namespace dladvisor {

std::string TextWriter::Styled(const std::string& text, const char* style) const {
  return style_.color ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : text;
}

void TextWriter::Heading(const std::string& title) {
  Line();
  Line(Styled(title, "1"));
}

void TextWriter::Wrapped(const std::string& lead, const std::string& text, const char* style) {
  const size_t indent = Columns(lead);
  std::string line;
  std::string prefix = lead;
  const auto flush = [&] {
    Line(prefix + (style != nullptr ? Styled(line, style) : line));
    prefix.assign(indent, ' ');
    line.clear();
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (!line.empty() && indent + Columns(line) + 1 + Columns(word) > style_.width) flush();
    if (!line.empty()) line += ' ';
    line += Ellipsize(word, style_.width - indent);
  }
  flush();
}

std::string Prose(std::string_view text) { return Visible(OneLine(text)); }

std::string Right(const std::string& text, size_t width) {
  const size_t columns = Columns(text);
  return std::string(columns < width ? width - columns : 0, ' ') + text;
}

std::string Left(const std::string& text, size_t width) {
  const size_t columns = Columns(text);
  return text + std::string(columns < width ? width - columns : 0, ' ');
}

std::string ShareBar(double share, size_t width) {
  constexpr size_t kLead = 48, kLeast = 8, kMost = 40;
  const auto whole = static_cast<double>(std::clamp(width < kLead ? 0 : width - kLead, kLeast, kMost));
  std::string bar;
  for (int i = 0; i < static_cast<int>(std::clamp(share, 0.0, 1.0) * whole + 0.5); ++i) bar += "█";
  return bar;
}

}  // namespace dladvisor
