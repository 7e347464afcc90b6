// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that are no operators, and that operators call, such as the kernels of TVM's schedules for Cortex-M. Their
// statements are read where they are called, with the values of the arguments: sizes and strides are constants there.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/values.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// The files as trees, each made when it is first asked for.
class Helpers {
 public:
  explicit Helpers(std::span<const Source> files) : files_(files) {}

  struct Function {
    const c::Tree* tree = nullptr;
    c::DeclId decl;
  };
  // The only function of that name that the file defines, with a body that is parsed; nothing: there is none, or the
  // file is not understood.
  [[nodiscard]] std::optional<Function> find(std::string_view name, std::size_t file);

 private:
  struct Parsed {
    c::Files files;
    c::Unit unit;
    c::Tree tree;
    std::map<std::string_view, std::optional<c::DeclId>> functions;  // nothing: several, or not for certain
  };
  const Parsed& parsed(std::size_t file);

  std::span<const Source> files_;
  std::map<std::size_t, Parsed> parsed_;
};

// The call of a helper is beyond what is read: its C stays, and the function that calls it is read once more.
struct HelperNotRead {
  std::string name;
};

// Adds to `body` what the function does with these arguments. Read are constant conditions, loops from a constant to a
// constant, numbers and pointers that change outside of loops that stay loops, stores, calls of functions of the same
// file, and jumps to the end; it has to return 0. Throws HelperNotRead. O(what it does); beyond most_helper_statements
// it is not read.
inline constexpr std::size_t most_helper_statements = 10'000;
void read_helper_call(Helpers& helpers, const std::string& name, std::size_t file, const std::vector<Value>& arguments,
                      Values& values, BodyNames& names, tir::BodyBuilder& body);

}  // namespace usmp::tvm_c
