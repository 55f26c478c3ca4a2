// SPDX-License-Identifier: Apache-2.0
#include "src/render/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

size_t SequenceLength(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// REQUIRES: `sequence` is one valid UTF-8 sequence.
char32_t CodePoint(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(sequence[i])); };
  switch (sequence.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

bool IsInvisible(char32_t c) {
  return (c >= 0x80 && c < 0xA0) || c == 0xAD || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

// All of it shows as it is, a column each.
bool IsPrintableAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

// What stands for a character in HTML, or nothing where it stands for itself.
std::string_view EntityOf(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

void AddEscapedVisible(std::string& escaped, std::string_view text) {
  size_t from = 0;  // of what is not copied yet
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view entity = EntityOf(text[at]);
    if (entity.empty()) continue;
    escaped.append(text, from, at - from).append(entity);
    from = at + 1;
  }
  escaped.append(text, from);
}

template <class F>
void ForEachCodePoint(std::string_view valid, F f) {
  while (!valid.empty()) {
    const size_t length = std::min(SequenceLength(valid.front()), valid.size());
    f(valid.substr(0, length));
    valid.remove_prefix(length);
  }
}

// A unit stays on the line of its number: a no-break space between a digit and one of them.
std::string WithUnits(const std::string& text) {
  static constexpr std::string_view kUnits[] = {
      "ns",  "µs",   "ms",   "s",    "min",  "h",    "d",  "%", "B",  "KiB", "MiB", "GiB", "TiB",
      "B/s", "kB/s", "KB/s", "MB/s", "GB/s", "TB/s", "°C", "W", "Hz", "MHz", "GHz", "kWh", "percentage"};
  std::string kept;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != ' ' || at == 0 || text[at - 1] < '0' || text[at - 1] > '9') {
      kept += text[at];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && std::string_view(" ,.;:()–").find(text[end]) == std::string_view::npos) ++end;
    const bool unit =
        std::ranges::find(kUnits, std::string_view(text).substr(at + 1, end - at - 1)) != std::end(kUnits);
    kept += unit ? "\u00A0" : " ";
  }
  return kept;
}

// Escapes `text` piece by piece with `escape`, turning `x` into <code>x</code>.
template <class F>
std::string WithCode(std::string_view text, F escape) {
  const std::string line = OneLine(text);
  std::string_view rest = line;
  std::string html;
  while (true) {
    const size_t open = rest.find('`');
    const size_t close = open == std::string_view::npos ? open : rest.find('`', open + 1);
    if (close == std::string_view::npos) return html + escape(rest);
    html += escape(rest.substr(0, open));
    html += "<code>" + escape(rest.substr(open + 1, close - open - 1)) + "</code>";
    rest.remove_prefix(close + 1);
  }
}

}  // namespace

std::string Visible(std::string_view text) {
  if (IsPrintableAscii(text)) return std::string(text);
  const std::string valid = ValidUtf8(text);
  std::string visible;
  visible.reserve(valid.size());
  ForEachCodePoint(valid, [&](std::string_view sequence) {
    const char32_t c = CodePoint(sequence);
    if (c < 0x20) {
      // U+2400 + c: the control picture, three bytes whose last one carries the code.
      visible += "\xE2\x90";
      visible += static_cast<char>(0x80 + c);
    } else if (c == 0x7F) {
      visible += "\xE2\x90\xA1";
    } else if (IsInvisible(c)) {
      visible += fmt::format("<U+{:04X}>", static_cast<uint32_t>(c));
    } else {
      visible += sequence;
    }
  });
  return visible;
}

std::string VisibleLines(std::string_view message) {
  std::string visible;
  while (true) {
    const size_t end = message.find('\n');
    visible += Visible(message.substr(0, end));
    if (end == std::string_view::npos) return visible;
    visible += '\n';
    message.remove_prefix(end + 1);
  }
}

std::string EscapeHtml(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  AddEscapedHtml(html, text);
  return html;
}

void AddEscapedHtml(std::string& html, std::string_view text) {
  if (IsPrintableAscii(text))
    AddEscapedVisible(html, text);
  else
    AddEscapedVisible(html, Visible(text));
}

std::string EscapeMarkdown(std::string_view text) {
  std::string escaped;
  const std::string visible = Visible(text);
  for (size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '@':  // would notify a person on a code host
        escaped += "&#64;";
        break;
      case ':':  // nor may an address become a link
        escaped += visible.compare(i, 3, "://") == 0 ? "&#58;" : ":";
        break;
      case '|':  // some Markdown dialects end the cell at an escaped bar in code or links
        escaped += "&#124;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '~':
      case '!':
      case '$':
        escaped += '\\';
        escaped += c;
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      if (!line.empty() && line.back() != ' ') line += ' ';
    } else {
      line += c;
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string ProseHtml(std::string_view text) {
  return WithCode(text, [](std::string_view piece) { return WithUnits(EscapeHtml(piece)); });
}

std::string ProseMarkdown(std::string_view text) { return WithCode(text, EscapeMarkdown); }

size_t Columns(std::string_view valid_utf8) {
  size_t columns = 0;
  ForEachCodePoint(valid_utf8, [&](std::string_view) { ++columns; });
  return columns;
}

std::string Ellipsize(std::string_view valid_utf8, size_t columns) {
  if (valid_utf8.size() <= columns) return std::string(valid_utf8);
  const size_t total = Columns(valid_utf8);
  if (total <= columns) return std::string(valid_utf8);
  const size_t head = (columns - 1) / 3;
  const size_t tail_from = total - (columns - 1 - head);
  std::string cut;
  size_t index = 0;
  ForEachCodePoint(valid_utf8, [&](std::string_view sequence) {
    if (index == head) cut += "…";
    if (index < head || index >= tail_from) cut += sequence;
    ++index;
  });
  return cut;
}

}  // namespace dladvisor
