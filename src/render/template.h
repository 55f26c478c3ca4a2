// SPDX-License-Identifier: Apache-2.0
// Mustache templates, which are compiled into the program, and the data that they show. A section sees the
// names of all the sections around it, so every object sets every name that its part uses; absent texts are
// `false`, which is falsy.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>

namespace dladvisor {

using kainjow::mustache::data;

// Content of a file of templates/. Throws Error where there is none.
std::string Template(std::string_view path);
// That template with `page`, in which {{value}} goes through `escape` and {{{value}}} does not. Throws Error
// where the template is malformed.
std::string RenderTemplate(std::string_view path, const data& page, std::string (*escape)(std::string_view));
// A value that the template prints, or false.
data TextOrFalse(const std::string& text);

}  // namespace dladvisor
