// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Types of what a file declares outside of functions, and the values of its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/tree.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

class TableValues {
 public:
  explicit TableValues(const FileTree& file);

  // Nothing: another type than known_type, or one that the file names itself: where it is compiled, a group that is
  // left out may say what it is, or a macro.
  [[nodiscard]] std::optional<CType> plain_type(c::TypeId type, c::TokenRange spelled) const;

  // { 1, -2, … }, of so many elements, or as many as there are values. Throws SyntaxError: no list of numbers of the
  // type, or a directive inside. O(bytes).
  [[nodiscard]] std::shared_ptr<const tir::Constant> of(c::ExprId id, tir::DataType type,
                                                        std::optional<std::int64_t> given) const;
  void require_no_directives(const c::Expr& values) const;

 private:
  std::size_t many(std::string_view list, std::size_t at, std::int64_t most, std::int64_t& count,
                   tir::Constant& data) const;
  void element(c::ExprId id, tir::Constant& data) const;

  const FileTree& file_;
  const std::vector<Token>& tokens_;
  const c::Tree& tree_;
  std::set<std::string_view> types_;  // that the file names
};

}  // namespace usmp::tvm_c
