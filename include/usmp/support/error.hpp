// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The exception type for bad input, and the location of the bad input.
//
// Bad input (archive, pools file, command line) throws Error. An infeasible problem is a result, never an
// exception. Bugs are assertions. The driver catches Error at one place and turns its kind into an exit code.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace usmp {

// What went wrong, which decides the exit code of the program (see docs/cli.md).
enum class ErrorKind {
  usage,    // command line, a file that it names and that is not there, or pools file: exit code 2
  archive,  // malformed or unsupported archive: exit code 3
  // A valid archive whose program is too large to be processed: also exit code 3. A separate kind, so that a variant of
  // a program that is only tried can be dropped instead.
  too_large,
  output,  // a result could not be written: exit code 5
};

// Where the fault was found. Every part may be empty; a lower layer fills the parts it knows and the layer
// above adds its own with Error::with_file / with_member.
struct Location {
  std::string file;    // path as the user gave it
  std::string member;  // archive member, without leading "./"
  std::string place;   // JSON path ("nodes[17].attrs.body"), "line 3, column 5", byte offset, …

  friend bool operator==(const Location&, const Location&) = default;
};

// what() is "file: member: place: message", the empty parts left out, and each of the details on a separate indented
// line. Messages are lower case, have no full stop, and say what was found and what was expected. All parts may contain
// text of input files: what() applies message_line().
class Error : public std::exception {
 public:
  Error(ErrorKind kind, Location where, std::string message, std::vector<std::string> details = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const Location& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::vector<std::string>& details() const noexcept { return details_; }
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

  // Copies of this error with the part set, if it was empty.
  [[nodiscard]] Error with_file(std::string_view file) const;
  [[nodiscard]] Error with_member(std::string_view member) const;

 private:
  ErrorKind kind_;
  Location where_;
  std::string message_;
  std::vector<std::string> details_;
  std::string what_;
};

}  // namespace usmp
