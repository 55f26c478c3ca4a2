// SPDX-License-Identifier: Apache-2.0
// Writes XML 1.0. Text is made visible first (src/render/escape.h), which leaves no character that XML
// forbids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dladvisor {

std::string EscapeXml(std::string_view text);

class XmlWriter {
 public:
  XmlWriter() : xml_("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") {}

  void Open(std::string_view element);
  // REQUIRES: no content since Open.
  void Attribute(std::string_view name, std::string_view value);
  // Lines of text, each made visible on its own.
  void Text(const std::vector<std::string>& lines);
  void Close();
  std::string Take() { return std::move(xml_); }

 private:
  void EndTag();

  std::string xml_;
  std::vector<std::string> open_;
  bool in_tag_ = false, in_line_ = false;
};

}  // namespace dladvisor
