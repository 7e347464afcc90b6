// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a function of C, statement by statement, into TIR: functions (read_function.cpp), blocks, loops and branches
// (body_statements.cpp), calls and what is done with their results (body_calls.cpp), declarations and assignments
// (body_declarations.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/callees.hpp"
#include "tvm_c/body/checks.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/guarded_texts.hpp"
#include "tvm_c/body/memory_calls.hpp"
#include "tvm_c/body/nested_calls.hpp"
#include "tvm_c/body/outlined_call.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/body/read_function.hpp"
#include "tvm_c/body/unpacked_params.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/kept/outlined.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

inline constexpr std::int32_t tvms_failure = -1;  // what TVM returns where a call fails

using Statements = std::span<const c::StmtId>;

// A block of C that is open.
struct Open {
  // rest: what stands in a loop behind a branch that goes on with the next iteration, up to the loop's end; likewise in
  // a function behind one that returns, if it is read in place of its call
  enum class Kind : std::uint8_t { function, loop, then, otherwise, braces, rest };
  Kind kind = Kind::function;
  bool has_braces = true;
  bool continues = false;  // then: its last statement is continue, or a return
};

// What the reader of a function and those of the functions that are read in place of calls in it have in common.
struct Reading {
  const FileScope& scope;
  const KeptPools& kept;
  const Limits& limits;
  tir::Module& module;
  ReadFunction& result;
  const Names& changing;  // variables that statements change
  Helpers* helpers;
  const Names& called_helpers;  // of them, what is beyond what is read
  const NestedTexts* nested;    // null: calls of operators stay calls
  const Names& called_nested;   // of them, as called_helpers
  tir::BodyBuilder body;
  Callees& callees;
  UsedConstants constants = {};
  std::vector<std::string> open = {};  // functions read in place of calls, the innermost last
  std::size_t bytes = 0;               // of them
  // Reads one more of them, inside of at most most_nested_deep.
  std::function<void(const FunctionText&, const std::vector<Value>&, NestedCall&)> read_inlined = {};
};

class BodyReader {
 public:
  BodyReader(const FunctionText& text, Reading& reading, const AddedStatements& added = {},
             std::span<const Outlined> outlined = {}, NestedCall* inlined = nullptr)
      : text_(text),
        added_(added.texts),
        outlined_(outlined),
        guarded_(text.file_text(), added.guarded),
        reading_(reading),
        inlined_(inlined),
        scope_(reading.scope),
        kept_(reading.kept),
        callees_(reading.callees),
        result_(reading.result),
        function_(reading.result.function),
        values_(reading.module, reading.limits.expression_depth),
        body_(reading.body),
        names_(text.file, scope_, reading.module, result_, values_, body_, reading.constants),
        unpacked_(scope_, names_),
        look_up_([this](std::string_view name) {
          require_known(name);
          return names_.look_up(name);
        }),
        code_(values_, look_up_),
        memory_(values_, names_, body_, code_, look_up_),
        changing_(reading.changing),
        helpers_(reading.helpers) {}

  // `has_pools`: those of TVM's are parameters like others.
  void read_params(const FunctionTree& code, bool has_pools = false);
  void read_body();
  // In place of a call that passes these arguments.
  void read_inlined(const std::vector<Value>& arguments);

 private:
  using Kind = Open::Kind;
  // The function's statements; its own block is open.
  void read_statements();

  // --- Statements that stay as text ----------------------------------------------------------------------------------

  // If the empty statement stands for one.
  void keep_text(const Token& mark);
  void call_outlined(const Outlined& statement);
  void keep(std::string text);
  // Under a condition of the model's, where it is all that stands there: of how many statements.
  std::size_t keep_guarded(Statements all);
  // What never happens.
  void drop_failure(const c::Stmt& check, const std::string& declared = {});
  // What is done if the check fails; it `leaves` the function, if it has to.
  OnFailure failure_in(const c::Stmt& check, bool leaves);
  // What an operator has returned, where a statement may be reached that finds it other than 0.
  void require_known(std::string_view name) const;

  // --- Packed interface ----------------------------------------------------------------------------------------------

  // With the values that stand behind `first` arguments.
  void packed_call(const std::string& name, c::ExprId call, std::size_t first, OnFailure failure);

  // --- Blocks --------------------------------------------------------------------------------------------------------

  void open(Kind kind);
  // Whether it has ended with continue or a return.
  bool close();

  void statements(Statements all);
  // Those of the block that is open, or the one that it has without braces.
  void statements_of(c::StmtId id);
  bool block(Kind kind, c::StmtId id);
  void scope(c::StmtId id);

  // --- Statements ----------------------------------------------------------------------------------------------------

  // Reads the first of them, and those that belong to it: how many.
  std::size_t statement(Statements all);
  // A declaration or an expression.
  std::size_t plain_statement(const c::Stmt& stmt, Statements all);
  void expression(c::ExprId id);
  // memcpy(q, p, 64); which the C may not define itself.
  bool read_memory_call(c::ExprId id);
  // At the end of a branch of a loop's own block: if (p[i] == 0) { q[i] = 0; continue; }
  void continue_statement(const Token& at, Statements all);
  // (void)p0;
  bool is_unused(c::ExprId id);
  // for (int32_t i = a; i < b; ++i)
  void loop(const c::Stmt& stmt);
  // while (1) { if (!(c)) { break; } … }
  void while_loop(const c::Stmt& stmt);
  // `all` begins with it.
  std::size_t branch(const c::Stmt& stmt, Statements all);
  std::size_t branch_on(const Value& tested, const c::Stmt& stmt, Statements all);

  // --- Operators that operators call ---------------------------------------------------------------------------------

  // The name of one whose statements may be read in place of the call; empty: it is something else.
  std::string nested_name(std::optional<c::ExprId> call);
  [[nodiscard]] bool is_nested(const std::string& name) const;
  // Whether the call would say less than the statements: of what becomes of memory that TVM has planned; or a function
  // that returns early is not read.
  [[nodiscard]] bool says_less(const std::string& name, c::ExprId call) const;
  // Reads statements in place of a call; if that is beyond what is read, it is called.
  template <class Read>
  void tried(const std::string& name, const Read& read);
  // if (f(…) != 0) return -1; False: it is something else, or it is called.
  bool read_nested_check(const c::Stmt& stmt);
  // One of the arguments is memory that TVM has planned.
  [[nodiscard]] bool passes_pool(c::ExprId call) const;
  // f(…) == 0, if that is no check as TVM's, which leaves the operator, too.
  std::optional<Value> nested_condition(const c::Stmt& stmt);
  // A value that a variable gets: f(…), or an expression.
  Value value_of(c::ExprId id, bool* is_nested = nullptr);
  // What the function returns.
  Value nested_call(const std::string& name, c::ExprId id);
  // return -1; at the end of a branch of the function's own block, or of the function.
  void inlined_result(const c::Stmt& stmt, Statements all);

  // --- Calls, and what is done with their results -------------------------------------------------------------------

  // int ret = f(…); if (ret != 0) return ret; or if ((ret = f(…)) != 0) return ret; where the check may be the
  // statement.
  bool read_checked_result(const c::Stmt& stmt, const c::Stmt& check);
  static bool is_zero(const Value& value);
  // if (f(…) != 0) return -1; False: the function is part of an expression.
  bool read_check(const c::Stmt& stmt, c::ExprId call);
  // x == NULL || …, of pointers that are what their names say.
  std::optional<std::vector<tir::VarId>> tested_pointers(c::ExprId condition);
  [[nodiscard]] bool is_param(tir::VarId var) const;
  // Workspace is always there. Whether the caller passes something is asked as before.
  void null_check(const std::vector<tir::VarId>& tested, const c::Stmt& check);
  // return 0; and return f(…); at the end of the function.
  void result(const c::Stmt& stmt, Statements all);
  // (1, 0, sid_1), which planned C does not: TVM's allocator has not given it.
  void give_back(c::ExprId call);
  void call(const std::string& name, c::ExprId id, OnFailure failure);
  // Whether it is a function of the files whose statements may be read in place of the call.
  [[nodiscard]] bool is_helper(const std::string& name) const;
  void checked_call(const std::string& name, const std::vector<Value>& given, OnFailure failure);

  // --- Declarations and assignments ---------------------------------------------------------------------------------

  // `all` begins with it. Of how many of them.
  std::size_t declaration(const c::Stmt& stmt, Statements all);
  // int ret_type_code; behind TVMValue ret_val;
  bool declare_type_code(const c::Stmt& stmt);
  // Its type; of an array, that of its elements.
  CType declarator(const c::Decl& decl);
  void number(const Token& name, tir::DataType type, c::ExprId init);
  void pointer(const Token& name, CType type, c::ExprId init);
  // (device type, device, bytes, type code, bits)
  void workspace(const Token& name, CType type, c::ExprId call);
  void array(const c::Decl& decl, CType type);
  void store(const Value& place, const Value& value);
  // place = value; where the place is one of a record. Shapes, types, devices are of no account. `may_not_happen`: it
  // stands in a loop or a branch.
  void packed_assignment(c::ExprId id, const Value& place, bool may_not_happen);
  // place = value; place += value; or ++place;
  void assignment(c::ExprId id);

  const FunctionText& text_;
  std::span<const AddedText> added_;
  std::span<const Outlined> outlined_;
  const GuardedTexts guarded_;
  Reading& reading_;
  NestedCall* inlined_;  // of a function that is read in place of its call; else null
  const FileScope& scope_;
  const KeptPools& kept_;
  Callees& callees_;
  ReadFunction& result_;
  tir::Function& function_;
  Values values_;
  tir::BodyBuilder& body_;
  BodyNames names_;
  UnpackedParams unpacked_;
  LookUp look_up_;
  Expressions code_;
  MemoryCalls memory_;
  const Names& changing_;
  Helpers* helpers_;
  std::size_t texts_ = 0;  // that have been kept
  ElementTypes c_types_;   // of pointers, as the function's own block spells them
  Names unknown_;          // variables that are not known to be 0 where their declaration says so
  std::vector<Open> open_;
  bool is_packed_ = false;
  PackedState packed_;
};

}  // namespace usmp::tvm_c
