// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions, and statements of them, as trees of module c.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/c/tree.hpp"

namespace usmp::tvm_c {

struct FunctionTree {
  std::vector<Token> tokens;  // that the tree counts, also a name and brackets around what it is made of
  c::Tree tree;
  c::DeclId function;

  // Those of its own block; the function is understood so far.
  [[nodiscard]] const std::vector<c::StmtId>& statements() const { return tree[tree[function].body].body; }
  [[nodiscard]] const std::vector<c::DeclId>& params() const { return tree[tree[function].type].params; }
  [[nodiscard]] std::size_t offset_of(std::size_t token) const { return tokens[token].offset; }
  // What is beyond the grammar: statements, then expressions.
  [[nodiscard]] std::vector<c::TokenRange> opaque_parts() const;
  // Where the first of them begins, in quotes. Empty: there is none.
  [[nodiscard]] std::string opaque_part() const;
};

// `params`: behind the bracket that opens them, with that which closes them. The texts of the tokens have to stay.
// Nothing: brackets do not match, or it is no function. O(tokens · log names).
[[nodiscard]] std::optional<FunctionTree> function_tree(std::span<const Token> params,
                                                        std::span<const Token> statements);

// The same of a function; nothing: it has no body, too.
[[nodiscard]] std::optional<FunctionTree> function_tree(const FunctionText& function);

// The function without its statements. Nothing: its parameters are beyond the grammar.
[[nodiscard]] std::optional<FunctionTree> head_tree(const FunctionText& function);

// Whether the parameters are those of a packed function: (void* args, int32_t* arg_type_ids, int32_t num_args, …)
[[nodiscard]] bool takes_packed(const FunctionText& function);

// Where a name or a literal stands: an expression's tokens have the brackets around it.
[[nodiscard]] std::size_t token_of(const std::vector<Token>& tokens, const c::Expr& operand);

// Without the casts in front.
[[nodiscard]] c::ExprId without_casts(const c::Tree& tree, c::ExprId id);

// A literal, spelled so.
[[nodiscard]] bool is_number(const c::Tree& tree, c::ExprId id, std::string_view text);

// The name of the function that is called; empty: it is no call, or calls something else than a name.
[[nodiscard]] std::string_view called_function(const c::Tree& tree, c::ExprId id);

// Whether the statement is return NAME(…);
[[nodiscard]] bool returns_call_of(std::string_view name, const c::Tree& tree, const c::Stmt& stmt);

// The name of the type behind pointers and arrays, of a struct its tag.
[[nodiscard]] std::string_view name_behind(const c::Tree& tree, c::TypeId id);

// The function, with those parts of conditional groups that are taken. For each of `texts`, places in its own block by
// the offset of the first byte with their ends, it has an empty statement of that offset. Throws SyntaxError.
[[nodiscard]] FunctionTree function_tree(const FunctionText& function, const std::map<std::size_t, std::size_t>& texts);

// The statements of a body as its text has them: with no macro expanded, and no condition known.
struct BodyTree : FunctionTree {
  std::vector<Directive> directives;  // all of them, in order

  // A part's place in the file.
  [[nodiscard]] std::size_t begin_of(c::TokenRange part) const { return tokens[part.begin].offset; }
  [[nodiscard]] std::size_t end_of(c::TokenRange part) const;
  [[nodiscard]] std::vector<Token> without_directives(c::TokenRange part) const;
};

// From what stands in [begin, end) between a function's braces. Nothing: a conditional group divides brackets or
// statements.
[[nodiscard]] std::optional<BodyTree> body_tree(const Code& code, std::size_t begin, std::size_t end);

}  // namespace usmp::tvm_c
