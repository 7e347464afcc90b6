// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR expressions as C text.
//
// Nothing recurses: `add_…` functions say which pieces of text and which operands come next, and a stack works them
// off in order. What nests deeper than compilers of C take is refused.
//
// Every operand is printed once: where C would need it twice (min of a large expression, fixed point multiplication) a
// helper function takes it as an argument, so the text is as large as the tree. Vectors are printed lane by lane.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codegen/facts.hpp"
#include "codegen/fours.hpp"
#include "codegen/helpers.hpp"
#include "codegen/names.hpp"
#include "usmp/arith/ranges.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/support/work_stack.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {

using arith::Ranges;
using tir::range_of_type;

// C's operator precedence; a larger number binds tighter.
enum Precedence : int {
  prec_any = 0,
  prec_ternary = 1,
  prec_or = 2,
  prec_and = 3,
  prec_bits = 4,  // & ^ |: operands get parentheses, as compilers warn without
  prec_equality = 7,
  prec_relation = 8,
  prec_shift = 9,
  prec_add = 10,
  prec_multiply = 11,
  prec_unary = 12,
  prec_postfix = 13,
};

// A function that neither the module nor imported C defines.
struct ExternFunction {
  std::string declaration;              // "int32_t f(void* a0, int32_t a1)", without ';'; empty: a header declares it
  std::vector<std::string> parameters;  // C types; empty entries: not known, the argument is passed as it is
  bool checks_arguments = true;         // false: parameters is not known at all
  bool is_foreign = false;              // another code generator's
};

// What the functions of one file share.
struct FileContext {
  const EmissionInput& planned;
  const tir::Module& module;
  ModuleFacts facts;
  NameTable names;  // file scope
  Helpers helpers;
  std::vector<std::pair<std::string, ExternFunction>> externs;             // in order of first use
  std::unordered_map<std::string, std::size_t> extern_places;              // in `externs`
  std::unordered_map<std::string, const model::ForeignFunction*> foreign;  // by name
  std::unordered_set<std::string> imported_names;                          // identifiers in imported C
  std::vector<std::pair<std::string, const tir::Constant*>> constants;     // C name and data, in order of first use
  std::unordered_map<const tir::Constant*, std::string> constant_names;    // looked up only
  bool uses_workspace = false;   // TVMBackendAllocWorkspace and its counterpart
  bool uses_restrict = false;    // USMP_RESTRICT
  bool uses_comparison = false;  // whose outcome compilers may find out
  bool uses_fence = false;
  bool uses_unroll = false;          // USMP_UNROLL
  bool uses_aligned_arrays = false;  // USMP_ALIGNED_ARRAY
};

// Text of one function, beyond which it is refused: shared expressions can make a small module print very large.
inline constexpr std::size_t max_function_text = std::size_t{64} << 20;

// What compilers take. Clang refuses 256 brackets of a kind inside each other, and crashes on about 2000 casts; gcc
// takes more. Blocks count with the function's own.
inline constexpr std::size_t max_bracket_depth = 250;
inline constexpr std::size_t max_block_depth = 250;
inline constexpr std::size_t max_expression_depth = 1000;

// Whether the expression is the pointer NULL.
[[nodiscard]] bool is_null(const tir::Expr& root);

// TVM's name of the call's operator, for messages.
[[nodiscard]] inline std::string name_of_operator(const tir::Expr& call) {
  return std::string(tir::operator_name(call));
}

// Whether the value of the C expression may lie outside of its type, which is narrower than int.
[[nodiscard]] bool may_leave_type(const tir::Expr& root);

class ExpressionPrinter {
 public:
  ExpressionPrinter(FileContext& file, std::size_t function, std::string& out);

  // The value, in parentheses if its operator binds looser than `min`. Of a vector the given lane.
  void print(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  // As print; the expression's type need not be kept since the context converts to it (an index, an initialiser).
  void print_converted(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  // A value for a variable or an element of the expression's type: narrow arithmetic is cut to it.
  void print_assigned(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  [[nodiscard]] bool is_computed_wider(const tir::Expr& root) const;
  // A pointer, cast where its type differs from `target`.
  void print_pointer(const tir::Expr& expr, const PointerType& target, int min = prec_any);
  [[nodiscard]] PointerType pointer_type_of(const tir::Expr& expr) const;
  // Whether the archive's C declares the function as void.
  [[nodiscard]] bool gives_nothing(const std::string& function) const;
  // A store of four neighbours, from the element on that the index is at, as store_of_lanes() (lanes.hpp) returns it.
  void print_lane_store(const tir::Store& store, tir::VarId i);
  // A store that sets or reads a vector of floats (float_vectors.hpp).
  void print_floats(const tir::Store& store);
  // All of a loop of so many elements, as fours_of() (fours.hpp) returns it.
  void print_fours(const tir::Store& store, const Fours& fours, const tir::Expr& count, tir::VarId i);
  // Sets or copies up to 16 of the bytes that are left of so many (lanes.hpp: is_copy).
  void print_copy(const tir::Store& store, const tir::Expr& count, tir::VarId i);
  // "name(arguments)".
  void print_call(const tir::NamedCall& call, tir::DataType result);

  void put(std::string_view text);
  [[nodiscard]] std::string name_of(tir::VarId var, std::size_t lane = 0);

  // The variable's name in the function from here on, made of `name` or else of TVM's.
  std::string declare(tir::VarId var, std::string_view name = {}, std::size_t lane = 0);
  void declare_constant(tir::VarId var, const tir::Constant& constant);
  // The name without counting as a use; empty if the variable was not declared.
  [[nodiscard]] std::string declared_name(tir::VarId var, std::size_t lane = 0) const;
  [[nodiscard]] std::size_t times_printed(tir::VarId var, std::size_t lane = 0) const;
  // Calls `print`, of which nothing counts as printed: other compilers leave it out.
  template <class Print>
  void uncounted(const Print& print) {
    counts_ = false;
    print();
    counts_ = true;
  }
  std::string temporary(std::string_view name) { return names_.unique(name); }

  [[nodiscard]] const PointerFacts& pointer(tir::VarId var) const;
  [[nodiscard]] Ranges& ranges() { return ranges_; }
  [[nodiscard]] const std::string& local_functions() const { return local_functions_; }
  [[noreturn]] void unsupported(const std::string& what) const;
  // Fails if there is no C for the type's elements.
  void check_type(tir::DataType type) const;
  // C type of values; marks its header as needed.
  std::string c_type(tir::DataType type);

 private:
  using VarLane = std::pair<tir::VarId, std::size_t>;

  // What is still to be printed: the value of an expression, whatever a function adds when its turn comes, or text.
  struct Piece {
    std::string text = {};
    bool is_code = true;              // false: a string literal, whose brackets do not count
    const tir::Expr* expr = nullptr;  // null: no value
    int min = prec_any;
    std::size_t lane = 0;
    std::shared_ptr<const std::function<void()>> action = {};  // null: none
    std::size_t depth = 0;                                     // number of expressions around it
  };
  struct LetFunction;

  void add(std::string_view text) { pieces_.add({.text = std::string(text), .depth = depth_}); }
  void add(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0) {
    pieces_.add({.expr = &expr, .min = min, .lane = lane, .depth = depth_});
  }
  void later(std::function<void()> action) {
    pieces_.add({.action = std::make_shared<const std::function<void()>>(std::move(action)), .depth = depth_});
  }
  void flush();
  void count_brackets(std::string_view text);
  void check_depth() const;
  // An expression made here, which lives until everything is printed.
  const tir::Expr& keep(tir::ExprRef expr) { return *kept_.emplace_back(std::move(expr)); }

  void add_value(const tir::Expr& expr, int min, std::size_t lane);
  void add_converted(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  // As add_assigned, where nothing but the type takes the value.
  void add_passed(const tir::Expr& expr, int min, std::size_t lane);
  void add_assigned(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  // The value with a cast where C would compute with one that lies outside of its type.
  const tir::Expr& cut_to_type(const tir::ExprRef& value);
  void add_literal(std::int64_t value, tir::DataType type, int min, bool wide_sibling);
  bool is_folded(const tir::Expr& expr);
  void add_pointer(const tir::Expr& expr, const PointerType& target, int min = prec_any);
  // To the element that a load reads, as a pointer to its type.
  void add_address(const tir::ExprRef& element, bool is_const);
  void add_call(const tir::NamedCall& call, tir::DataType result);

  // Opens a parenthesis if needed; close gives it back.
  bool open(int own, int min);
  void close(bool opened);

  std::string name_of_constant(tir::VarId var);
  void add_var(const tir::Expr& expr, int min, std::size_t lane);
  void add_logic(const tir::Expr& expr, int min, std::size_t lane);
  void add_binary(const tir::Expr& expr, int min, std::size_t lane);
  void add_arithmetic(const tir::Expr& expr, int min, std::size_t lane);
  void add_infix(const tir::Expr& a, std::string_view op, const tir::Expr& b, int own, int left, int right, int min,
                 std::size_t lane);
  void add_comparison(const tir::Expr& expr, int min, std::size_t lane);
  void add_division(const tir::Expr& expr, int min, std::size_t lane);
  bool add_power_of_two_division(const tir::Expr& expr, int min, std::size_t lane);
  void add_min_max(const tir::Expr& expr, int min, std::size_t lane);
  void add_conditional(const tir::Expr& condition, const tir::Expr& yes, const tir::Expr& no, int min,
                       std::size_t lane);
  void add_condition(const tir::Expr& condition, std::size_t lane);
  void add_cast(const tir::Expr& expr, int min, std::size_t lane);
  void add_cast_to_half(const tir::Expr& expr, std::size_t lane);
  void add_load(const tir::Expr& expr, int min, std::size_t lane);
  void add_element(const tir::Expr& expr, int min, std::size_t lane);
  void add_ramp(const tir::Expr& expr, int min, std::size_t lane);
  void add_shuffle(const tir::Expr& expr, int min, std::size_t lane);
  void add_let(const tir::Expr& expr, int min, std::size_t lane);
  void add_let_function(const tir::Expr& expr, std::size_t lane);
  void begin_let_body(const tir::Expr& expr, LetFunction& function);
  void end_let_body(const tir::Expr& expr, LetFunction& function);
  void add_operator(const tir::Expr& expr, int min, std::size_t lane);
  void add_products(const tir::Expr& expr);
  void add_lanes(const tir::Expr& expr, tir::VarId i);
  void add_fixed_point_lanes(const tir::Expr& expr, tir::VarId i);
  void add_floats(const tir::Expr& expr);
  bool add_math(const tir::Expr& expr, int min, std::size_t lane);
  bool add_bit_operator(const tir::Expr& expr, int min, std::size_t lane);
  bool add_fixed_point(const tir::Expr& expr, int min, std::size_t lane);
  bool add_float_test(const tir::Expr& expr, int min, std::size_t lane);
  void add_shift_left(const tir::Expr& expr, int min, std::size_t lane);
  void add_reinterpret(const tir::Expr& expr, int min, std::size_t lane);
  void add_arguments(const std::vector<tir::ExprRef>& operands, std::size_t lane);
  void add_argument(const tir::Expr& argument, const std::string& c_type);
  void add_converted_pointer(const tir::Expr& expr, const PointerType& target, int min);
  void add_pointer_as_is(const tir::Expr& expr, int min);
  void add_offset_pointer(const tir::Expr& base, const std::string& element, const tir::Expr& offset, int min);

  [[nodiscard]] bool is_unsigned_and_extended(const tir::Expr& complement) const;
  // Whether the text may call a function, if only a helper.
  [[nodiscard]] bool may_call(const tir::Expr& root) const;
  std::optional<bool> known_comparison(const tir::Expr& expr);
  [[nodiscard]] const tir::Expr& peeled(const tir::Expr& root) const;
  // Pointers of which compilers know so, too, and warn of a comparison with NULL.
  [[nodiscard]] bool is_never_null(const tir::Expr& root) const;
  const ExternFunction& extern_function(const tir::NamedCall& call, tir::DataType result);
  ExternFunction derive_extern(const tir::NamedCall& call, tir::DataType result);
  void need_operands(const tir::Expr& expr, std::size_t count) const;
  const std::string& literal_true_false(bool value);

  FileContext& file_;
  const tir::Module& module_;
  const tir::Function& function_;
  const FunctionFacts& facts_;
  std::string* out_;
  WorkStack<Piece> pieces_;
  std::size_t depth_ = 0;     // of the pieces that are added
  std::size_t brackets_ = 0;  // open in the text so far
  std::vector<tir::ExprRef> kept_;
  NameTable names_;
  Ranges ranges_;
  std::map<VarLane, std::string> var_names_;
  std::unordered_map<tir::VarId, const tir::Constant*> constants_;
  std::unordered_map<tir::VarId, const tir::Expr*> substituted_;
  std::unordered_map<tir::VarId, std::size_t> uses_;  // of the variables of let expressions
  std::map<VarLane, std::size_t> printed_;
  bool counts_ = true;  // what is printed is in `printed_`
  // What the let functions that are being printed take from around them, outermost first.
  std::vector<std::vector<VarLane>*> captures_;
  std::string local_functions_;
};

}  // namespace usmp::codegen
