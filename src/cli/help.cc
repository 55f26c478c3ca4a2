// SPDX-License-Identifier: Apache-2.0
#include "src/cli/help.h"

#include "src/cli/output_format.h"
#include "src/render/text_writer.h"

namespace dladvisor {
namespace {

constexpr size_t kNameColumns = 26;

// A name and what it means, beside it or below.
std::string Entry(std::string name, const std::string& description) {
  name = "  " + name;
  TextWriter writer({.width = TerminalColumns()});
  if (name.size() >= kNameColumns) {
    writer.Line(name);
    name.clear();
  }
  writer.Wrapped(Left(name, kNameColumns), description);
  return writer.Take();
}

std::string Filled(const std::string& text) {
  TextWriter writer({.width = TerminalColumns()});
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    writer.Wrapped("", text.substr(begin, end - begin));
    begin = end + 1;
  }
  return writer.Take();
}

}  // namespace

HelpFormatter::HelpFormatter() { label("SUBCOMMAND", "COMMAND"); }

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return Filled(app->get_description());
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  if (app->get_parent() != nullptr) return Formatter::make_usage(app, name);
  return "Usage: " + name + " COMMAND [OPTIONS] ...\n       " + name +
         " PROFILE... [OPTIONS]      the report of a profile\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return Filled(app->get_footer()); }

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return Entry(command->get_display_name(true), command->get_description());
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return Entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
}

// A positional's name says what it is; what it may be several times has the dots in its name.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_type_size() == 0) return "";
  const std::string type = option->get_type_name();
  const size_t choices = type.find(":{");
  return " " + (choices == std::string::npos ? type : type.substr(choices + 1)) +
         (option->get_required() ? " (required)" : "");
}

std::string HelpFormatter::make_option_usage(const CLI::Option* option) const {
  const std::string name = make_option_name(option, /*is_positional=*/true);
  return option->get_required() ? name : "[" + name + "]";
}

}  // namespace dladvisor
