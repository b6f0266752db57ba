// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with an input, as readers report it: a list, because `fovea
// check` names everything unsupported at once. Holds no policy: whether a
// problem stops the work is its severity, decided where it is found.
#ifndef FOVEA_FRONTEND_PROBLEM_H
#define FOVEA_FRONTEND_PROBLEM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// One fault of one input file.
struct Problem {
  enum class Severity {
    Error, ///< The input cannot be used.
    Note,  ///< The input can be used; the user may want to know.
  };
  Severity severity = Severity::Error;
  std::string file;    ///< As the user would name it; a path.
  std::string place;   ///< Config key, tensor, byte offset; may be empty.
  std::string message; ///< A lower-case sentence: "expects ..., got ...".

  /// "FILE: PLACE: MESSAGE"; who prints it says what it is.
  std::string text() const;
};

using Problems = std::vector<Problem>;

/// True if any problem of the list is an error.
bool hasErrors(const Problems &problems);

void addError(Problems &problems, std::string file, std::string place, std::string message);
void addNote(Problems &problems, std::string file, std::string place, std::string message);

/// `text` made safe to print on a terminal: control characters and bytes that
/// are no UTF-8 are escaped, and what goes past `maxBytes` is cut.
std::string printable(std::string_view text, size_t maxBytes = 120);

/// `printable` text between double quotes.
std::string quote(std::string_view text);

/// "0.5": at most twelve digits.
std::string printNumber(double value);

/// "[2, 3, 5]".
std::string printShape(const std::vector<int64_t> &shape);

} // namespace fovea

#endif // FOVEA_FRONTEND_PROBLEM_H
