// SPDX-License-Identifier: Apache-2.0
// The option --format and the output's extension, which choose what a report or a comparison is written as.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/render/text_writer.h"
#include "src/report/report.h"

namespace dladvisor {

// Whether what goes to the standard output has colours: on a terminal, unless NO_COLOR is set (no-color.org).
bool TerminalShowsColor();
// Columns of the terminal, within what is easy to read; those of TextStyle where it is none.
size_t TerminalColumns();

struct OutputOptions {
  std::string output;          // "" for the terminal
  std::string format;          // "" for the one that the extension gives
  std::string color = "auto";  // always, never

  void AddTo(CLI::App& command);
  // As asked for, else by the output's extension, else terminal text. Throws Error where neither says it.
  ReportFormat ToFormat() const;
  // Colours as asked for; lines as long as the terminal is wide.
  TextStyle Style() const;
  // Whole to the file, or to the terminal. Throws Error.
  void Write(const std::string& text) const;
};

}  // namespace dladvisor
