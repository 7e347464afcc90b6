// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The generator's parts. It keeps, for every place in the program, which storage may be read or written there and in
// which interval each integer lies; expressions are made so that they stay inside bounds and types.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/generate.hpp"
#include "random_modules/random.hpp"
#include "random_modules/values.hpp"

namespace usmp::random_modules {

using tir::Block;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

[[nodiscard]] constexpr DataType type_of(tir::TypeCode code, int bits) {
  return {code, static_cast<std::uint8_t>(bits), 1};
}
inline constexpr DataType int8_type = type_of(tir::TypeCode::int_, 8);
inline constexpr DataType uint64_type = type_of(tir::TypeCode::uint, 64);
inline constexpr DataType float32_type = type_of(tir::TypeCode::float_, 32);

// A pointer variable that may be used.
struct Storage {
  VarId var;
  DataType element;
  std::int64_t elements = 0;
  bool readable = false;  // every byte was written
  bool writable = true;
  std::int64_t alignment = 8;  // bytes; of the address, as far as the program knows
  bool has_nan = false;        // perhaps one that was stored as a float: its bits are open, so nothing else reads them

  [[nodiscard]] std::int64_t bytes() const { return elements * element.element_bytes(); }
  // As elements of another type: how many there are.
  [[nodiscard]] std::int64_t elements_of(DataType type) const { return bytes() / type.element_bytes(); }
  [[nodiscard]] bool is_aligned_for(DataType type) const { return alignment % type.element_bytes() == 0; }
};

// New storage, of which nothing is written.
[[nodiscard]] inline Storage storage_of(VarId var, DataType element, std::int64_t elements) {
  return {.var = var, .element = element, .elements = elements, .has_nan = element.is_float()};
}

// A variable that is no pointer, and the values that it takes (integers and bools).
struct Number {
  VarId var;
  DataType type;
  Wide low = 0;
  Wide high = 0;
};

struct Scope {
  std::vector<Storage> storages;
  std::vector<Number> numbers;
  std::int64_t times = 1;  // how often a statement here runs, at most
  int depth = 0;           // of loops and branches
  bool is_entry = false;
};

struct Parameter {
  enum class Mode { in, out, inout, number } mode = Mode::in;
  DataType element;
  std::int64_t elements = 0;
  std::int64_t alignment = 1;  // bytes, a multiple of the element's; what callers must pass

  [[nodiscard]] std::int64_t bytes() const { return elements * element.element_bytes(); }
};
[[nodiscard]] inline Parameter parameter(Parameter::Mode mode, DataType element, std::int64_t elements) {
  return {.mode = mode, .element = element, .elements = elements, .alignment = element.element_bytes()};
}

struct Operator {
  std::string name;
  std::vector<Parameter> params;
  std::int64_t cost = 0;  // statements that a call runs, at most
};

// An integer or bool expression and the interval that it lies in; of floats the interval says nothing. It is that of
// what C computes, so `low` and `high` of a narrow type may lie outside of it.
struct Typed {
  ExprRef expr;
  Wide low = 0;
  Wide high = 0;
};

[[nodiscard]] inline Stmt store(VarId storage, ExprRef index, ExprRef value, ExprRef predicate = {}) {
  return {tir::Store{storage, std::move(index), std::move(value), std::move(predicate)}};
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed, Contents contents = Contents::all)
      : is_in_c_(contents == Contents::in_c), random_(seed) {}
  TestModule run() &&;
  TestModule run_expression() &&;

 private:
  // --- Names, types, nodes (generate_module.cpp)
  VarId new_var(const std::string& name, DataType type);
  VarId new_pointer(const std::string& name, DataType element);
  std::string some_name(const char* kind);
  DataType some_type();
  DataType some_integer_type();
  DataType some_float_type();
  std::int64_t some_count();
  std::string random_bytes(DataType element, std::int64_t elements);
  std::vector<std::string> some_candidates();

  // --- Functions (generate_module.cpp)
  void make_operator(std::size_t index);
  void make_opaque();
  void make_entry(TestModule& test);
  void finish_outputs(Block& body, Scope& scope);

  // --- Statements (generate_statements.cpp)
  void statements(Block& body, Scope& scope, std::int64_t count);
  void statement(Block& body, Scope& scope);
  void add_loop(Block& body, Scope& scope);
  void add_reduction(Block& body, Scope& scope);
  void add_history(Block& body, Scope& scope);
  void add_while(Block& body, Scope& scope);
  void add_branch(Block& body, Scope& scope);
  void add_nested_scope(Block& body, Scope& scope);
  void add_let(Block& body, Scope& scope);
  void add_store(Block& body, Scope& scope);
  void add_vector_store(Block& body, Scope& scope);
  void add_assert(Block& body, Scope& scope);
  void add_dropped(Block& body, Scope& scope);
  void add_extern(Block& body, Scope& scope);
  void add_return(Block& body, Scope& scope);
  // Runs `make` on an inner block. What it makes readable stays so if the block runs for sure.
  template <class Make>
  Block inner(Scope& scope, std::int64_t times, bool is_sure, const Make& make);
  void count(const Scope& scope, std::int64_t statements = 1) { cost_ += scope.times * statements; }

  // --- Storage (generate_storage.cpp)
  std::size_t add_allocate(Block& body, Scope& scope, DataType element, std::int64_t elements);
  void add_dynamic_allocate(Block& body, Scope& scope);
  std::size_t add_constant(Block& body, Scope& scope, DataType element, std::int64_t elements);
  void add_alias(Block& body, Scope& scope);
  void fill(Block& body, Scope& scope, std::size_t storage);
  bool fill_by_extern(Block& body, Scope& scope, std::size_t storage);
  void fill_by_loop(Block& body, Scope& scope, std::size_t storage);
  void fill_by_vectors(Block& body, Scope& scope, std::size_t storage);
  void fill_by_nest(Block& body, Scope& scope, std::size_t storage);

  // --- Storage seen as another type (generate_views.cpp)
  void add_view(Block& body, Scope& scope);
  ExprRef view_pointer(const Storage& storage, const Storage& view, std::int64_t offset);
  void use_view(Block& body, Scope& scope, const Storage& storage, const Storage& view);

  // --- Calls (generate_calls.cpp)
  // A storage that can be passed; made if there is none.
  std::size_t readable_storage(Block& body, Scope& scope, const Parameter& param);
  std::size_t writable_storage(Block& body, Scope& scope, const Parameter& param);
  bool may_pass(const Storage& storage, const Parameter& param, bool is_mixed) const;
  void add_call(Block& body, Scope& scope);
  void call_operator(Block& body, Scope& scope, const Operator& callee);
  // `is_checked`: C compares the pointer's type with that of the parameter.
  ExprRef pointer_to(const Storage& storage, const Parameter& param, bool is_checked = false);
  Stmt call_statement(const Scope& scope, const std::string& name, std::vector<ExprRef> arguments);

  // --- Expressions (generate_expressions.cpp, generate_integers.cpp, generate_floats.cpp)
  ExprRef constant(Wide value, DataType type);
  ExprRef real_constant(double value, DataType type);
  ExprRef broadcast(ExprRef value, std::uint16_t lanes);
  ExprRef call(const std::string& op, DataType type, std::vector<ExprRef> operands);
  ExprRef node(ExprKind kind, DataType type, std::vector<ExprRef> operands, VarId var = {});
  Typed value(DataType type, Scope& scope, int depth);
  // What the variable holds that the value is assigned to.
  static Number held(VarId var, DataType type, const Typed& value);
  ExprRef condition(Scope& scope, int depth, std::uint16_t lanes = 1);
  ExprRef comparison(Scope& scope, int depth, std::uint16_t lanes);
  ExprRef bounds_check(const Typed& index, std::int64_t elements);
  VarId let_var(DataType type);
  Typed let(DataType type, Scope& scope, int depth);
  Typed crossed_lets(DataType type, Scope& scope, int depth);
  ExprRef choice(DataType type, const ExprRef& condition, ExprRef yes, ExprRef no);
  Typed shuffled(DataType type, Scope& scope, int depth);
  // A load, or a leaf of another kind if nothing fits.
  Typed load(DataType type, Scope& scope, int depth);
  Typed converted_load(DataType type, Scope& scope, int depth);
  bool guarded_load(DataType type, Scope& scope, Typed& result);
  // In [0, elements).
  Typed index(std::int64_t elements, Scope& scope, int depth);
  ExprRef vector_index(std::int64_t elements, std::uint16_t lanes, Scope& scope, bool distinct);
  Typed leaf(DataType type, Scope& scope);

  Typed integer(DataType type, Scope& scope, int depth);
  Typed integer_operation(DataType type, Scope& scope, int depth);
  Typed sum_or_product(DataType type, Scope& scope, int depth);
  Typed division(DataType type, Scope& scope, int depth);
  Typed min_or_max(DataType type, Scope& scope, int depth);
  Typed bitwise(DataType type, Scope& scope, int depth);
  Typed shift(DataType type, Scope& scope, int depth);
  Typed counted_bits(DataType type, Scope& scope, int depth);
  Typed integer_cast(DataType type, Scope& scope, int depth);
  Typed integer_reinterpret(DataType type, Scope& scope, int depth);
  Typed fixed_point(DataType type, Scope& scope, int depth);
  Typed fixed_point_per_axis(DataType type, Scope& scope, int depth);
  Typed extern_sum(Scope& scope);
  // Brought into [-bound, bound] (unsigned: [0, bound]) if it is not there.
  Typed limited(Typed value, DataType type, Wide bound);
  Typed whole(ExprRef expr, DataType type);

  ExprRef floating(DataType type, Scope& scope, int depth);
  ExprRef float_math(DataType type, Scope& scope, int depth);
  ExprRef clamped(ExprRef value, DataType type, double bound);  // never NaN

  // A storage that `accept` holds for; SIZE_MAX: none.
  template <class Accept>
  std::size_t find_storage(const Scope& scope, const Accept& accept);

  bool is_in_c_;
  Random random_;
  tir::Module module_;
  std::vector<Operator> operators_;
  std::vector<Storage> outputs_;   // of the function that is made, to be filled before it ends
  std::set<std::string> imports_;  // imported C that the function calls
  std::vector<VarId> ended_lets_;  // variables of the function's lets in expressions that are out of scope
  bool has_opaque_ = false;
  bool packed_ = false;    // the packed interface: the entry calls by tvm_call_cpacked, as TVM has it
  std::int64_t cost_ = 0;  // of the function that is made
  std::int64_t budget_ = 0;
  std::size_t next_name_ = 0;
};

template <class Accept>
std::size_t Generator::find_storage(const Scope& scope, const Accept& accept) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < scope.storages.size(); ++i) {
    if (accept(scope.storages[i])) found.push_back(i);
  }
  return found.empty() ? SIZE_MAX : random_.pick(found);
}

template <class Make>
Block Generator::inner(Scope& scope, std::int64_t times, bool is_sure, const Make& make) {
  Scope inside = scope;
  inside.times *= std::max<std::int64_t>(times, 1);
  ++inside.depth;
  Block body;
  make(body, inside);
  if (is_sure) {
    for (std::size_t i = 0; i < scope.storages.size(); ++i) scope.storages[i].readable = inside.storages[i].readable;
  }
  return body;
}

}  // namespace usmp::random_modules
