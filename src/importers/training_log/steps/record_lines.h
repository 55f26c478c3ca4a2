// SPDX-License-Identifier: Apache-2.0
// Tables of a training's values, a row for each step or epoch, as loggers write them: the first line names
// the columns ("epoch,step,train_loss", "index,iteration,timestamp,training_loss"), or lines of columns that
// blanks part, among others. Weights & Biases and TensorBoard export such tables of what they tracked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::training_log {

class RecordLinesReader {
 public:
  // The line of a row as "name: value" pairs, of which the others read; nothing for what is no row.
  std::optional<std::string> AsPairs(std::string_view line);

  // Whether it is a row of a table that only trainings have, whatever its columns.
  bool of_tracker() const { return of_tracker_; }

  // Whether the last row holds the results of an evaluation, too.
  bool evaluated() const { return evaluated_; }

  // Whether rows are of epochs.
  bool of_epochs() const { return of_epochs_; }

 private:
  std::optional<std::string> Table(std::string_view line);

  bool Head(std::string_view line);

  std::vector<std::string> names_;  // "" for a column that says nothing
  char separator_ = ',';
  bool first_ = true, of_epochs_ = false, evaluated_ = false, of_tracker_ = false;
  // Of a table without commas.
  struct Columns {
    std::vector<std::string> names;
    size_t before = 0;  // words before them on each line
    bool steps = false;
  };
  Columns table_, head_;  // the line above may be a head: if a row follows it
};

}  // namespace dladvisor::training_log
