// SPDX-License-Identifier: Apache-2.0
// Tables of totals by name that profilers print, alone or in the middle of what a program prints.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/summary_table/table_header.h"
#include "src/trace/summary_table.h"

namespace dladvisor::summary_table {

class SummaryLinesReader {
 public:
  // Whether the line is part of a table.
  bool Line(std::string_view line);
  // Those that have rows.
  std::vector<SummaryTable> Finish();

  int64_t rows() const { return rows_; }
  // What nsys stats says that the profile does not hold: "CUDA trace data".
  const std::set<std::string>& missing() const { return missing_; }
  // Whether a line was of headers alone.
  bool has_headers() const { return has_headers_; }

 private:
  struct Open {
    TableHeader header;
    std::string type;  // that a row named last
    std::vector<SummaryRow> rows;
    double longest_ns = 0, whole_ns = 0;  // of the longest row, and what its share says of all
    bool negative = false;                // whether a row has less than no time of the GPU
  };

  bool TakeHeader(std::string_view line);
  bool TakeRow(std::string_view line);
  bool TakeFooter(std::string_view line);
  bool TakeUnits(const std::vector<std::string>& cells);
  void TakeTitle(std::string_view line);
  void Close();
  static void AddRows(std::vector<SummaryRow> rows, bool sizes, SummaryTable& table);
  void MergeWithBefore();
  void GiveTitles();

  std::optional<Open> open_;
  std::vector<SummaryTable> tables_;
  // Where each begins, and whether the GPU's times in it are below 0 in part, so that none holds.
  struct Place {
    int64_t line = 0;
    bool negative = false;
  };
  std::vector<Place> places_;
  int64_t lines_ = 0, title_line_ = 0;
  std::set<std::string> parts_;  // of the last of these: "kernels", "api", ...
  std::string title_, words_, before_,
      file_;  // the last lines with words, and the file that is said to be processed
  std::set<std::string> missing_;
  std::string plain_;  // a line of a drawn table in ASCII
  int64_t rows_ = 0;
  bool footed_ = false;  // whether the last has its totals
  bool has_headers_ = false;
};

}  // namespace dladvisor::summary_table
