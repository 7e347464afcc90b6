// TIR expressions as C text.
//
// Every operand is printed once: where C would need it twice (min of a large expression, fixed point multiplication) a
// helper function takes it as an argument, so the text is as large as the tree. Vectors are printed lane by lane.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codegen/facts.hpp"
#include "codegen/helpers.hpp"
#include "codegen/names.hpp"
#include "codegen/ranges.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {

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
};

// What the functions of one file share.
struct FileContext {
  const PlannedModule& planned;
  const tir::Module& module;
  ModuleFacts facts;
  NameTable names;  // file scope
  Helpers helpers;
  std::vector<std::pair<std::string, ExternFunction>> externs;           // in order of first use
  std::unordered_set<std::string> imported_names;                        // identifiers in imported C
  std::vector<std::pair<std::string, const tir::Constant*>> constants;   // C name and data, in order of first use
  std::unordered_map<const tir::Constant*, std::string> constant_names;  // looked up only
  bool uses_workspace = false;                                           // TVMBackendAllocWorkspace and its counterpart
  bool uses_restrict = false;                                            // USMP_RESTRICT
  bool uses_fence = false;                                               // USMP_FENCE
};

// Text of one function, beyond which it is refused: shared expressions can make a small module print very large.
inline constexpr std::size_t max_function_text = std::size_t{64} << 20;

class ExpressionPrinter {
 public:
  ExpressionPrinter(FileContext& file, std::size_t function, std::string& out);

  // The value, in parentheses if its operator binds looser than `min`. Of a vector the given lane.
  void print(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  // As print; the expression's type need not be kept since the context converts to it (an index, an initialiser).
  void print_converted(const tir::Expr& expr, int min = prec_any, std::size_t lane = 0);
  // A value for a variable or an element of the expression's type: narrow arithmetic is cut to it.
  void print_assigned(const tir::Expr& expr, std::size_t lane = 0);
  // A pointer, cast where its type differs from `target`.
  void print_pointer(const tir::Expr& expr, const PointerType& target, int min = prec_any);
  [[nodiscard]] PointerType pointer_type_of(const tir::Expr& expr) const;
  // "name(arguments)".
  void print_call(const tir::NamedCall& call, tir::DataType result);

  void put(std::string_view text);
  void put_name(tir::VarId var);
  [[nodiscard]] std::string name_of(tir::VarId var, std::size_t lane = 0);

  // The variable's name in the function from here on, made of `name` or else of TVM's.
  std::string declare(tir::VarId var, std::string_view name = {}, std::size_t lane = 0);
  void declare_constant(tir::VarId var, const tir::Constant& constant);
  // The name without counting as a use; empty if the variable was not declared.
  [[nodiscard]] std::string declared_name(tir::VarId var, std::size_t lane = 0) const;
  [[nodiscard]] std::size_t times_printed(tir::VarId var, std::size_t lane = 0) const;
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

  // Opens a parenthesis if needed; close gives it back.
  bool open(int own, int min);
  void close(bool opened);

  std::string name_of_constant(tir::VarId var);
  void print_var(const tir::Expr& expr, int min, std::size_t lane);
  void print_binary(const tir::Expr& expr, int min, std::size_t lane);
  void print_arithmetic(const tir::Expr& expr, int min, std::size_t lane);
  void print_infix(const tir::Expr& a, std::string_view op, const tir::Expr& b, int own, int left, int right, int min,
                   std::size_t lane);
  void print_comparison(const tir::Expr& expr, int min, std::size_t lane);
  void print_division(const tir::Expr& expr, int min, std::size_t lane);
  bool print_power_of_two_division(const tir::Expr& expr, int min, std::size_t lane);
  void print_min_max(const tir::Expr& expr, int min, std::size_t lane);
  void print_conditional(const tir::Expr& condition, const tir::Expr& yes, const tir::Expr& no, int min,
                         std::size_t lane);
  void print_cast(const tir::Expr& expr, int min, std::size_t lane);
  void print_cast_to_half(const tir::Expr& expr, std::size_t lane);
  void print_load(const tir::Expr& expr, int min, std::size_t lane);
  void print_element(const tir::Expr& expr, int min, std::size_t lane);
  void print_ramp(const tir::Expr& expr, int min, std::size_t lane);
  void print_shuffle(const tir::Expr& expr, int min, std::size_t lane);
  void print_let(const tir::Expr& expr, int min, std::size_t lane);
  void print_let_function(const tir::Expr& expr, std::size_t lane);
  void print_operator(const tir::Expr& expr, int min, std::size_t lane);
  bool print_math(const tir::Expr& expr, int min, std::size_t lane);
  bool print_bit_operator(const tir::Expr& expr, int min, std::size_t lane);
  bool print_fixed_point(const tir::Expr& expr, int min, std::size_t lane);
  bool print_float_test(const tir::Expr& expr, int min, std::size_t lane);
  void print_shift_left(const tir::Expr& expr, int min, std::size_t lane);
  void print_reinterpret(const tir::Expr& expr, int min, std::size_t lane);
  void print_arguments(const std::vector<tir::ExprRef>& operands, std::size_t lane);
  void print_argument(const tir::Expr& argument, const std::string& c_type);
  void print_pointer_as_is(const tir::Expr& expr, int min);
  void print_offset_pointer(const tir::Expr& base, const std::string& element, const tir::Expr& offset, int min);

  std::optional<bool> known_comparison(const tir::Expr& expr);
  const ExternFunction& extern_function(const tir::NamedCall& call, tir::DataType result);
  ExternFunction derive_extern(const tir::NamedCall& call, tir::DataType result);
  void need_operands(const tir::Expr& expr, std::size_t count) const;
  const std::string& literal_true_false(bool value);

  FileContext& file_;
  const tir::Module& module_;
  const tir::Function& function_;
  const FunctionFacts& facts_;
  std::string* out_;
  NameTable names_;
  Ranges ranges_;
  std::map<VarLane, std::string> var_names_;
  std::unordered_map<tir::VarId, const tir::Constant*> constants_;
  std::unordered_map<tir::VarId, const tir::Expr*> substituted_;
  std::unordered_map<tir::VarId, std::size_t> uses_;  // of the variables of let expressions
  std::map<VarLane, std::size_t> printed_;
  // What the let functions that are being printed take from around them, outermost first.
  std::vector<std::vector<VarLane>*> captures_;
  std::string local_functions_;
};

}  // namespace usmp::codegen
