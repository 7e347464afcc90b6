// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A file of C as the preprocessor (usmp/c/preprocessor.hpp) makes it, with what it includes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tvm_c/text/included.hpp"
#include "usmp/c/preprocessor.hpp"

namespace usmp::tvm_c {

// Adds the files and headers to `files`, by their numbers. #include finds the only one of its name; those that it finds
// go into `read`.
[[nodiscard]] c::Environment environment_of(const Included& included, c::Files& files, std::set<std::size_t>& read);
// Macros of what the file includes that is not among these, as several have one's name.
[[nodiscard]] Names macros_unread(const Included& included, std::size_t file, const std::set<std::size_t>& read);

class Preprocessed {
 public:
  // `stays`: names that stay as they are, whatever macros they are.
  Preprocessed(const Included& included, std::size_t file, std::function<bool(std::string_view)> stays);
  Preprocessed(const Preprocessed&) = delete;
  Preprocessed& operator=(const Preprocessed&) = delete;

  // What becomes of [begin, end) of the file, where nothing is included. Of a conditional group of which is not known
  // what is taken, each part is a block of its own: what it declares is not known behind it. Nothing: a macro of which
  // is not known what it stands for, other than a number, or the file is not understood. O(log tokens), and the result.
  [[nodiscard]] std::optional<std::vector<c::Token>> tokens(std::size_t begin, std::size_t end) const;

  // Those that are known.
  [[nodiscard]] Conditions conditions() const;

 private:
  // Whatever stands for the name, in whatever way it is defined, is a number: (1 << 4)
  [[nodiscard]] bool is_number(std::string_view name) const;

  const Included& included_;
  std::size_t file_;
  c::Files files_;
  std::optional<c::Unit> unit_;
  Names unread_;                      // macros_unread
  std::vector<std::size_t> reached_;  // by token: how far in the file, at the most, it and those in front stand
};

// Conditions of the preprocessor in the file that hold, or do not, wherever it is compiled.
[[nodiscard]] std::shared_ptr<const Conditions> known_conditions(const Included& included, std::size_t file);

}  // namespace usmp::tvm_c
