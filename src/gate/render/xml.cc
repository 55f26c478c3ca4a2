// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/xml.h"

#include "src/render/escape.h"

namespace dladvisor {

std::string EscapeXml(std::string_view text) {
  std::string escaped = EscapeHtml(text);
  // Valid in UTF-8 but no characters of XML.
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (size_t at; (at = escaped.find(none)) != std::string::npos;)
      escaped.replace(at, none.size(), "\uFFFD");
  return escaped;
}

void XmlWriter::Open(std::string_view element) {
  EndTag();
  xml_ += std::string(2 * open_.size(), ' ') + "<" + std::string(element);
  open_.emplace_back(element);
  in_tag_ = true;
  in_line_ = false;
}

void XmlWriter::Attribute(std::string_view name, std::string_view value) {
  xml_ += " " + std::string(name) + "=\"" + EscapeXml(value) + "\"";
}

void XmlWriter::Text(const std::vector<std::string>& lines) {
  if (in_tag_) xml_ += ">";
  in_tag_ = false;
  in_line_ = true;
  for (size_t i = 0; i < lines.size(); ++i) xml_ += (i == 0 ? "" : "\n") + EscapeXml(lines[i]);
}

void XmlWriter::Close() {
  const std::string element = open_.back();
  open_.pop_back();
  if (in_tag_) {
    xml_ += "/>\n";
  } else {
    xml_ += (in_line_ ? "" : std::string(2 * open_.size(), ' ')) + "</" + element + ">\n";
  }
  in_tag_ = in_line_ = false;
}

void XmlWriter::EndTag() {
  if (in_tag_) xml_ += ">\n";
  in_tag_ = false;
}

}  // namespace dladvisor
