// SPDX-License-Identifier: Apache-2.0
// Text from profiles made safe to show. Op and kernel names can hold anything: markup, terminal escapes,
// bidirectional overrides that make a line read as another, bytes that are not UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

// Valid UTF-8 in which every character that does not show is made visible: C0 controls as their control
// pictures (ESC -> ␛), C1 controls, bidirectional and zero-width characters as <U+202E>. All renderers but
// JSON, whose readers want the bytes, go through it.
std::string Visible(std::string_view text);
// The same of each line: messages have several, and name files, tables and columns that anybody named.
std::string VisibleLines(std::string_view message);

// Visible text for HTML content and quoted attributes.
std::string EscapeHtml(std::string_view text);
// The same behind what `html` has.
void AddEscapedHtml(std::string& html, std::string_view text);

// Visible text for one Markdown line or table cell: no markup, no link, no mention, no end of the cell.
std::string EscapeMarkdown(std::string_view text);

// Text that a rule's author wrote, perhaps folded over several lines, as one line.
std::string OneLine(std::string_view text);

// One line of a rule's text in HTML (or Markdown, which takes the same tags), with `code` as <code>.
std::string ProseHtml(std::string_view text);
std::string ProseMarkdown(std::string_view text);

// Number of code points: the columns that text takes, but for wide and combining characters.
size_t Columns(std::string_view valid_utf8);

// At most `columns` (>= 8) code points, with "…" in place of the middle: op paths differ at either end.
std::string Ellipsize(std::string_view valid_utf8, size_t columns);

}  // namespace dladvisor
