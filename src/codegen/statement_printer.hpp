// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements as C text.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/expressions.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Prints the body of one function, in a walk over its blocks; see print_function in statements.hpp.
class StatementPrinter {
 public:
  StatementPrinter(FileContext& file, std::size_t function);

  // The statements, indented for a function's body.
  void print_body();

  [[nodiscard]] ExpressionPrinter& expressions() { return printer_; }
  [[nodiscard]] const std::string& text() const { return text_; }

  // Called by tir::walk.
  void open(const tir::Block& block, const tir::Stmt* owner);
  void statement(const tir::Stmt& stmt);
  void close(const tir::Block& block, const tir::Stmt* owner);

 private:
  // A variable that a block declares.
  struct Declared {
    tir::VarId var;
    std::size_t lane = 0;
    std::size_t position = 0;  // in the text, after the declaration
    std::size_t uses = 0;      // up to there, as times_read counts
  };

  // A block that is being printed.
  struct OpenBlock {
    std::size_t held = 0;  // workspaces before it
    std::vector<Declared> declared;
    std::set<tir::VarId> names;  // declared in it
    std::size_t braces = 0;      // opened inside it, closed at its end
  };

  // Lines, and blocks in braces.
  void indent();
  void line(std::string_view text);
  void begin_block(std::string_view head = "{");
  void end_block();
  void indent_more();
  // "if (condition) {", "while (condition) {".
  void begin_block(std::string_view keyword, const tir::Expr& condition);

  // Leaving the function: workspaces that are held are given back.
  void print_return(std::string_view value);
  void print_return_if(const std::function<void()>& print_condition, std::string_view value);

  [[nodiscard]] std::size_t times_read(tir::VarId var, std::size_t lane) const;
  void mention_unused(const std::vector<Declared>& declared);

  void print(const tir::Let& let);
  void print(const tir::Allocate& allocate);
  void print(const tir::AllocateConst& constant);
  void print(const tir::Store& store);
  void print(const tir::Evaluate& evaluate);
  void print(const tir::For& loop);
  void print(const tir::While& loop);
  void print(const tir::IfThenElse& branch);
  void print(const tir::Assert& check);
  void print(const tir::Scope& scope);

  void print_pointer_let(const tir::Let& let);
  void print_constant_bounds(const tir::For& loop, const std::string& name, std::int64_t first, std::int64_t count);
  [[nodiscard]] bool copies_to_array(const tir::For& loop) const;
  // Whether it printed the loop for vectors; then the other is printed for compilers without, up to an #endif.
  bool print_lanes(const tir::For& loop, const std::string& name);
  bool print_fours_of_own(const tir::For& loop);
  void print_continued(const std::vector<ContinuedLoops::Loop>& loops);
  std::string print_hoisted_end(const tir::For& loop, const std::string& begin);
  void print_store(const tir::Store& store, const std::function<void()>& print_index,
                   const std::function<void()>& print_value);
  void print_vector_store(const tir::Store& store);
  [[nodiscard]] bool has_float_vectors(const tir::Store& store) const;
  std::string print_temporary(std::string_view base, const tir::Expr& value, std::size_t lane = 0,
                              const std::string& condition = {});
  void print_fence();
  void print_statement_operator(const tir::Expr& call);
  void print_plain_call(const tir::Expr& call);
  void print_check_return(const tir::Expr& call);
  void print_kept_failure(const tir::Expr& call, std::int64_t expected, const tir::KeptFailure& failure);
  void print_ret(const tir::Expr& call);
  void print_evaluation(const tir::Expr& value);

  FileContext& file_;
  const tir::Module& module_;
  const tir::Function& function_;
  const FunctionFacts& facts_;
  std::string text_;
  ExpressionPrinter printer_;
  std::size_t depth_ = 0;
  std::vector<OpenBlock> blocks_;
  std::map<tir::VarId, std::size_t> array_stores_;  // into arrays on the stack, printed so far
  std::set<tir::VarId> constants_;                  // declared so far
  std::set<const tir::For*> of_lanes_;              // that end with an #endif
  std::vector<std::string> workspaces_;             // pointers to be given back, innermost last
};

}  // namespace usmp::codegen
