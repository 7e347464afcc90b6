// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A file of C as a tree: declarations, statements, expressions and types, each with its tokens.
//
// The grammar is C11 with some of GCC's words. What is beyond it is one node `opaque`, of which nothing is known but
// its tokens: the smallest of an expression, an initialiser, a statement or an item of the file that holds it. Nothing
// is checked: a tree may be no valid program.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "usmp/c/token.hpp"
#include "usmp/support/ids.hpp"

namespace usmp::c {

using ExprId = Id<struct ExprTag>;
using StmtId = Id<struct StmtTag>;
using DeclId = Id<struct DeclTag>;
using TypeId = Id<struct TypeTag>;

// [begin, end) of the tokens that were parsed.
struct TokenRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

enum class ExprKind : std::uint8_t {
  opaque,
  name,         // text; decl: what it means here
  number,       // text
  character,    // text
  string,       // of one literal or several in a row, also with the names of <inttypes.h> that stand for some
  numbers,      // text: a long list of numbers, an element of `braces`
  call,         // operands: what is called, arguments
  subscript,    // operands: array, index
  member,       // operand; text: "." or "->", and `name`
  prefix,       // text: + - ! ~ * & ++ -- sizeof; operand
  postfix,      // text: ++ --; operand
  cast,         // type, operand
  size_of,      // type
  binary,       // text: * / % + - << >> < > <= >= == != & ^ | && || and the comma; operands
  assign,       // text: = *= /= …; operands
  conditional,  // operands: condition, then, else
  braces,       // an initialiser; operands: elements
  literal,      // (type){…}; operand: braces
  designated,   // an element: .name = value, operand; or [index] = value, operands
};

struct Expr {
  ExprKind kind = ExprKind::opaque;
  TokenRange tokens;
  std::string_view text = {};
  std::string_view name = {};  // of a member, also one that is designated
  DeclId decl = {};            // none: not declared in this file
  TypeId type = {};
  std::uint32_t first_operand = 0;  // in Tree::operands
  std::uint32_t operand_count = 0;
};

enum class StmtKind : std::uint8_t {
  opaque,
  empty,        // also _Static_assert(…);
  block,        // body
  expression,   // expr
  declaration,  // decls
  if_else,      // expr, body (one), other (none or one)
  for_loop,     // other (none or one: a declaration or an expression), expr, step, body (one)
  while_loop,   // expr, body (one)
  do_loop,      // body (one), expr
  switch_of,    // expr, body (one)
  case_of,      // expr: the value; body (one): the statement behind it
  default_of,   // body (one)
  label,        // text, body (one)
  jump_to,      // text: of goto
  break_out,
  continue_on,
  return_to,  // expr or none
  linkage,    // body: of extern "C" { … }
  group,      // parts of a conditional group of which is not known what is taken: each a block in body
};

struct Stmt {
  StmtKind kind = StmtKind::opaque;
  TokenRange tokens;
  ExprId expr = {};
  ExprId step = {};
  std::string_view text = {};
  std::vector<StmtId> body = {};
  std::vector<StmtId> other = {};
  std::vector<DeclId> decls = {};
  std::uint32_t at = 0;  // of opaque: the token that is beyond the grammar
};

enum class DeclKind : std::uint8_t { variable, function, type, parameter, enumerator, member };
enum class Storage : std::uint8_t { none, external, internal, automatic, thread };  // extern, static, auto or register

struct Decl {
  DeclKind kind = DeclKind::variable;
  std::string_view name;  // of a parameter or a bit field: perhaps none
  TypeId type = {};
  Storage storage = Storage::none;
  bool is_inline = false;
  bool is_at_file_scope = false;
  bool is_conditional = false;              // in a group of which is not known whether it is taken
  std::uint32_t at = 0;                     // the name's token, or where it would stand
  TokenRange tokens;                        // of the declaration, with what it shares with those beside it
  TokenRange declarator;                    // of this one, without its initialiser
  ExprId init = {};                         // of an enumerator: what stands behind '='
  StmtId body = {};                         // of a function that is defined here
  std::optional<std::int64_t> value = {};   // of an enumerator, if known
  std::vector<TokenRange> attributes = {};  // __attribute__((…)), _Alignas(…), asm(…), …
  std::vector<TokenRange> unknown = {};     // words around it that may be macros, such as IRAM_ATTR
};

enum class TypeKind : std::uint8_t { unknown, nothing, integer, real, pointer, array, function, record, enumeration };

struct Type {
  TypeKind kind = TypeKind::unknown;
  bool is_const = false;
  bool is_volatile = false;
  bool is_bool = false;
  bool is_unsigned = false;
  std::uint8_t bits = 0;       // of numbers; 0: not the same on all machines (long, size_t)
  std::string_view name = {};  // as it is written: "int32_t"; of a record or an enumeration its tag
  TypeId of = {};              // what a pointer points to, an array holds, a function returns
  ExprId extent = {};          // of an array; none: []
  std::vector<DeclId> params = {};
  bool is_variadic = false;
  bool has_prototype = false;  // f(void), and not f()
  std::uint32_t record = 0;    // Tree::records
};

struct Record {
  std::string_view tag;
  bool is_union = false;
  bool is_complete = false;
  bool is_known = true;  // no member is opaque, and no attribute or pragma changes its layout
  std::vector<DeclId> members;
};

class Tree {
 public:
  std::vector<Expr> exprs;  // operands stand in front of what uses them
  std::vector<Stmt> stmts;
  std::vector<Decl> decls;  // also of what turned out to be opaque: `items` has those of the file
  std::vector<Type> types;
  std::vector<Record> records;
  std::vector<ExprId> operands;
  std::vector<StmtId> items;         // of the file: declarations, linkage, group, opaque, empty
  std::vector<TokenRange> unheeded;  // attributes that no declaration has: of pointers, and of types in expressions

  [[nodiscard]] const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
  [[nodiscard]] const Stmt& operator[](StmtId id) const { return stmts[id.index()]; }
  [[nodiscard]] const Decl& operator[](DeclId id) const { return decls[id.index()]; }
  [[nodiscard]] const Type& operator[](TypeId id) const { return types[id.index()]; }
  [[nodiscard]] std::span<const ExprId> operands_of(ExprId id) const {
    const Expr& expr = (*this)[id];
    return std::span(operands).subspan(expr.first_operand, expr.operand_count);
  }
  // The expression and all that it is made of: each in front of its operands. O(these).
  [[nodiscard]] std::vector<ExprId> parts_of(ExprId root) const {
    std::vector<ExprId> parts = {root};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto more = operands_of(parts[i]);
      parts.insert(parts.end(), more.begin(), more.end());
    }
    return parts;
  }
};

}  // namespace usmp::c
