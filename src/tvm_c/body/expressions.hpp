// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions of C, from trees to values.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tvm_c/body/values.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "usmp/c/tree.hpp"

namespace usmp::tvm_c {

// What a name stands for: a number, a pointer. Nothing: it is not declared.
using LookUp = std::function<std::optional<Value>(std::string_view name)>;

// As a literal, if it is an operator on literals.
[[nodiscard]] Value folded(Value value);

// ++ or --, in front or behind.
[[nodiscard]] bool is_step(const c::Expr& expr);
// sizeof of a type or an expression, which is not computed.
[[nodiscard]] bool is_size(const c::Expr& expr);

// Computes operands in front of what uses them, from left to right. Nothing recurses.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

 protected:
  Value evaluate(const c::Tree& tree, c::ExprId root);
  // What an operator that changes nothing, or a subscript, gives for these operands. Nothing: it is something else.
  [[nodiscard]] static std::optional<Value> operated(const c::Expr& expr, std::span<const Value> operands,
                                                     const Values& values);
  // With its operands; of a call, the arguments.
  virtual Value value_of(c::ExprId id, std::span<const Value> operands) = 0;
};

// Those of a function whose names are looked up.
class Expressions : Evaluator {
 public:
  Expressions(Values& values, const LookUp& look_up) : values_(values), look_up_(look_up) {}

  // From now on, ids are those of this function.
  void read(const FunctionTree& code) { code_ = &code; }
  [[nodiscard]] const FunctionTree& code() const { return *code_; }
  [[nodiscard]] const c::Tree& tree() const { return code_->tree; }
  [[nodiscard]] const c::Expr& operator[](c::ExprId id) const { return tree()[id]; }
  [[nodiscard]] const c::Stmt& operator[](c::StmtId id) const { return tree()[id]; }
  [[nodiscard]] c::ExprId operand(c::ExprId id, std::size_t i) const { return tree().operands_of(id)[i]; }

  Value evaluate(c::ExprId root);  // throws SyntaxError
  // A call's arguments from `first` on; strings included if it `takes_text`.
  std::vector<Value> arguments(c::ExprId call, bool takes_text = false, std::size_t first = 0);

  // Tokens.
  [[nodiscard]] const Token& token(std::size_t i) const { return code_->tokens[i]; }
  // That of the operator or of the leaf.
  [[nodiscard]] const Token& at(c::ExprId id) const { return token(index(id)); }
  [[nodiscard]] const Token& front(c::ExprId id) const { return token((*this)[id].tokens.begin); }
  [[nodiscard]] const Token& front(c::StmtId id) const { return token((*this)[id].tokens.begin); }
  // Where it is not what is expected.
  [[nodiscard]] const Token& odd(c::StmtId id) const {
    return (*this)[id].kind == c::StmtKind::opaque ? token((*this)[id].at) : front(id);
  }
  [[nodiscard]] const Token& behind(c::ExprId id) const { return token((*this)[id].tokens.end); }
  [[nodiscard]] const Token& behind(c::StmtId id) const { return token((*this)[id].tokens.end); }
  [[nodiscard]] bool has_brackets(c::ExprId id) const;

  // Forms.
  [[nodiscard]] bool is_prefix(c::ExprId id, std::string_view op) const {
    return (*this)[id].kind == c::ExprKind::prefix && (*this)[id].text == op;
  }
  [[nodiscard]] bool is_binary(c::ExprId id, std::string_view op) const {
    return (*this)[id].kind == c::ExprKind::binary && (*this)[id].text == op;
  }
  [[nodiscard]] bool is_number(c::ExprId id, std::string_view text) const { return tvm_c::is_number(tree(), id, text); }
  // The name; empty: it is something else.
  [[nodiscard]] std::string_view name_of(c::ExprId id) const {
    return (*this)[id].kind == c::ExprKind::name ? (*this)[id].text : std::string_view();
  }
  // The name of the function that is called, by a call without brackets around it.
  [[nodiscard]] std::string_view callee(c::ExprId id) const;
  // What is cast to void; else the expression itself.
  [[nodiscard]] c::ExprId without_void(c::ExprId id) const;
  // 5 or -5, of at most int64.
  [[nodiscard]] std::optional<std::int64_t> literal(c::ExprId id) const;

  // A type whose tokens begin at `first`. One that is not read is a name that is not declared.
  [[nodiscard]] CType type(c::TypeId id, std::size_t first) const;
  // Throws SyntaxError for what is no variable of a function, or has attributes or words that are not known.
  void require_plain(const c::Decl& decl) const;
  [[noreturn]] void fail_undeclared(const Token& name) const;
  // For a statement that is beyond the grammar.
  [[noreturn]] void fail_opaque(const c::Stmt& stmt) const;

 private:
  Value value_of(c::ExprId id, std::span<const Value> operands) override;
  Value name(c::ExprId id);
  [[nodiscard]] std::size_t index(c::ExprId id) const;

  Values& values_;
  const LookUp& look_up_;
  const FunctionTree* code_ = nullptr;
};

}  // namespace usmp::tvm_c
