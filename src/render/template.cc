// SPDX-License-Identifier: Apache-2.0
#include "src/render/template.h"

#include <span>

#include "engine/base/embedded.h"
#include "engine/base/error.h"

namespace dladvisor {

std::span<const EmbeddedFile> EmbeddedTemplates();

std::string Template(std::string_view path) { return std::string(FindEmbedded(EmbeddedTemplates(), path)); }

std::string RenderTemplate(std::string_view path, const data& page, std::string (*escape)(std::string_view)) {
  kainjow::mustache::mustache content(Template(path));
  content.set_custom_escape([escape](const std::string& text) { return escape(text); });
  std::string text = content.is_valid() ? content.render(page) : "";
  if (!content.is_valid())
    throw Error("templates/" + std::string(path), content.error_message(),
                "Correct the template and build again.");
  return text;
}

data TextOrFalse(const std::string& text) { return text.empty() ? data{false} : data{text}; }

}  // namespace dladvisor
