// SPDX-License-Identifier: Apache-2.0
#include "src/cli/output_format.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "engine/base/error.h"
#include "engine/base/output_file.h"

namespace dladvisor {
namespace {

const std::map<std::string, ReportFormat> kFormats = {{"html", ReportFormat::kHtml},
                                                      {"md", ReportFormat::kMarkdown},
                                                      {"json", ReportFormat::kJson},
                                                      {"text", ReportFormat::kText}};

}  // namespace

bool TerminalShowsColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

size_t TerminalColumns() {
  constexpr size_t kLeast = 60, kMost = 140;
  winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return TextStyle().width;
  return std::clamp<size_t>(size.ws_col, kLeast, kMost);
}

void OutputOptions::AddTo(CLI::App& command) {
  command.add_option("-o,--output", output, "File to write (.html, .md, .json, .txt); default: terminal")
      ->type_name("FILE");
  command.add_option("--format", format, "html, md, json or text")
      ->check(CLI::IsMember({"html", "md", "json", "text"}));
  command
      .add_option("--color", color,
                  "Colours in text: always, never, or auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

ReportFormat OutputOptions::ToFormat() const {
  if (!format.empty()) return kFormats.at(format);
  if (output.empty()) return ReportFormat::kText;
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".txt") return ReportFormat::kText;
  const auto known = kFormats.find(extension.empty() ? "" : extension.substr(1));
  if (known == kFormats.end())
    throw Error(output, "has no extension that gives the format",
                "End it in .html, .md, .json or .txt, or give --format.");
  return known->second;
}

TextStyle OutputOptions::Style() const {
  TextStyle style;
  style.color = color == "always" || (color == "auto" && output.empty() && TerminalShowsColor());
  if (output.empty()) style.width = TerminalColumns();
  return style;
}

void OutputOptions::Write(const std::string& text) const {
  if (output.empty())
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    WriteFileWhole(output, text);
}

}  // namespace dladvisor
