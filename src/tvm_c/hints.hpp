// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What may be done about C that is not read: ends of messages.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tvm_c/text/files_read.hpp"

namespace usmp::tvm_c {

// About the statement at `offset` of the entry, which has this text. `are_kept`: Unread::kept.
[[nodiscard]] std::string entry_hint(const FilesRead& read, const FunctionText& text, std::size_t offset,
                                     bool are_kept);

// Variables that live longer than a call. The scope does not change.
class LastingVariables {
 public:
  explicit LastingVariables(const FilesRead& read);  // O(text of variables · log)

  // What is expected in place of the one that the error is about; empty: it is about something else.
  [[nodiscard]] std::string expected(std::size_t file, const SyntaxError& error) const;

 private:
  const FilesRead& read_;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> variables_;  // by file and name: the item's begin
};

}  // namespace usmp::tvm_c
