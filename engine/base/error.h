// SPDX-License-Identifier: Apache-2.0
// The one exception for input that cannot be used: a file, a rule, an argument. It says where, what,
// and what to do next. It is caught in main and around each unit of work that may fail alone (a rule,
// one of several profiles); broken invariants are asserts, never Errors.
#pragma once

#include <stdexcept>
#include <string>

namespace dladvisor {

class Error : public std::runtime_error {
 public:
  // `where` names the file or argument (with line and column where known); `hint` is the next step and
  // may be empty. what() is "where: reason" and, with a hint, a second line "  hint".
  explicit Error(std::string where, std::string reason, std::string hint = {});

  const std::string& where() const { return where_; }
  const std::string& reason() const { return reason_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string where_, reason_, hint_;
};

// The lines of an error's what() as one text.
std::string InOneLine(std::string message);

// The input is of another kind altogether, not a damaged one of the right kind: where a whole folder is
// looked at, it is passed over.
class WrongKind : public Error {
 public:
  using Error::Error;
};

}  // namespace dladvisor
