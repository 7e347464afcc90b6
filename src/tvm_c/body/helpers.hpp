// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that are no operators, and that operators call, such as the kernels of TVM's schedules for Cortex-M: where
// they are, as trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/included.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// The files as trees, each made when it is first asked for.
class Helpers {
 public:
  // `included`: headers of the same files; null: none is here, and names that they may define are not known.
  explicit Helpers(std::span<const Source> files, const Included* included = nullptr)
      : files_(files), included_(included) {}

  // Where expressions change a variable by its name, or take its address, by their first token.
  using Changes = std::vector<std::pair<std::uint32_t, c::DeclId>>;
  struct Parsed {
    c::Files files;
    c::Unit unit;
    c::Tree tree;                                                    // of the unit's tokens
    std::uint32_t main = 0;                                          // the file among `files`
    std::map<std::string_view, std::optional<c::DeclId>> functions;  // nothing: several, or not for certain
    Changes changes;
    std::vector<std::uint32_t> calls;  // first tokens, in order; but of instructions
    std::string fault;                 // "config.h, line 3, column 5: found …"; empty: the file is understood
  };
  struct Function {
    const Parsed* in = nullptr;
    c::DeclId decl;
  };
  // The only function of that name that the file defines, with a body that is parsed; nothing: there is none, or the
  // file is not understood.
  [[nodiscard]] std::optional<Function> find(std::string_view name, std::size_t file);
  // Then: "a call of 'f', which this file does not define".
  [[nodiscard]] std::string why_not_found(std::string_view name, std::size_t file);
  // Whether the file defines functions and nothing else.
  [[nodiscard]] bool has_only_functions(std::size_t file);

  // Functions whose statements stand where they were called.
  void note_read(const std::set<std::string, std::less<>>& names) { read_.insert(names.begin(), names.end()); }
  [[nodiscard]] bool is_read(std::string_view name) const { return read_.contains(name); }

  // A call of the function stays, since `message` is found at the token of the file; without one, at none of them.
  void note_not_read(const std::string& name, std::size_t file, std::optional<std::uint32_t> token,
                     const std::string& message);
  // Adds these functions, by name, with the first reason of each.
  void add_not_read(std::vector<UnreadCall>& to) const;

 private:
  const Parsed& parsed(std::size_t file);

  std::span<const Source> files_;
  const Included* included_;
  std::map<std::size_t, Parsed> parsed_;
  std::set<std::string, std::less<>> read_;
  std::map<std::string, UnreadCall> not_read_;
};

}  // namespace usmp::tvm_c
