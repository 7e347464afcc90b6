// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The TIR tree: the computation of a TVM PrimFunc, in one normal form for all TVM versions.
//
// Differences from TVM's own classes, all made by the reader so that no later stage meets the variants:
//  - Storage is a Var of dtype handle. tir.Buffer does not exist here: BufferLoad and Load are both Load(storage,
//    flat element index), BufferStore and Store are both Store. N-d accesses are flattened with the buffer's
//    strides and elem_offset. The index counts elements of the accessed scalar dtype. A vector access has a
//    vector-typed index (Ramp, …), one lane an element.
//  - Nodes with a body (Allocate, LetStmt, AttrStmt, …) do not nest: a Block is a list, and what a statement
//    declares is visible to the statements after it in the same Block and in the blocks inside those. Where
//    TVM's scope ends earlier than the list, a Scope block holds it. So the depth of a tree is that of its
//    loops, branches and expressions, not the number of its allocates.
//  - DeclBuffer is gone; IterVar thread extents are serial loops.
//
// Integers narrower than int have the values that TVM's C computes: operators work on the promoted operands, and a
// result outside the type is not truncated (int8 100 + 100 is 200 in a comparison, a division, a conversion, a shift, a
// choice) until it is stored, cast, passed, bound by a let, an operand of min or max, or reinterpreted.
//
// Expressions are immutable and may be shared (a DAG); a stage that visits them per use visits a shared node more than
// once. The reader bounds the size of that expansion (see tir_json/reader.hpp). Expressions may be deep: stages walk
// them with the functions of visit.hpp, which do not recurse, nor does their destructor. Blocks nest at most a few
// hundred levels, the limit of C compilers, so copying and destroying them may recurse. Variables are ids into
// Module::vars, which identify and order them; addresses never do.
//
// Front ends make this form with builder.hpp; verify.hpp checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/support/ids.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ops.hpp"

namespace usmp::tir {

enum class TypeCode : std::uint8_t { int_, uint, float_, bfloat, handle, void_ };

struct DataType {
  TypeCode code = TypeCode::void_;
  std::uint8_t bits = 0;    // of one lane; 64 for handle, 0 for void. bool is uint of 1 bit
  std::uint16_t lanes = 1;  // > 1: a vector

  [[nodiscard]] bool is_bool() const { return code == TypeCode::uint && bits == 1; }
  [[nodiscard]] bool is_int() const { return code == TypeCode::int_; }   // signed
  [[nodiscard]] bool is_uint() const { return code == TypeCode::uint; }  // bool included
  [[nodiscard]] bool is_integer() const { return is_int() || is_uint(); }
  [[nodiscard]] bool is_float() const { return code == TypeCode::float_ || code == TypeCode::bfloat; }
  [[nodiscard]] bool is_handle() const { return code == TypeCode::handle; }
  [[nodiscard]] bool is_void() const { return code == TypeCode::void_; }
  [[nodiscard]] bool is_vector() const { return lanes > 1; }
  [[nodiscard]] DataType element() const { return {code, bits, 1}; }  // one lane
  [[nodiscard]] DataType with_lanes(std::uint16_t n) const { return {code, bits, n}; }
  // Bytes of memory of one lane: bits rounded up to whole bytes (a bool takes one).
  [[nodiscard]] Bytes element_bytes() const { return (bits + 7) / 8; }
  [[nodiscard]] Bytes bytes() const { return element_bytes() * lanes; }

  friend bool operator==(const DataType&, const DataType&) = default;
};

inline constexpr DataType int8_type{TypeCode::int_, 8, 1};
inline constexpr DataType int16_type{TypeCode::int_, 16, 1};
inline constexpr DataType int32_type{TypeCode::int_, 32, 1};
inline constexpr DataType int64_type{TypeCode::int_, 64, 1};
inline constexpr DataType float32_type{TypeCode::float_, 32, 1};
inline constexpr DataType uint8_type{TypeCode::uint, 8, 1};
inline constexpr DataType bool_type{TypeCode::uint, 1, 1};
inline constexpr DataType handle_type{TypeCode::handle, 64, 1};
inline constexpr DataType void_type{TypeCode::void_, 0, 1};

// TVM's spelling ("int8", "float32x4", "bool", "handle"; void is ""). parse: nothing if invalid.
[[nodiscard]] std::string to_string(DataType type);
[[nodiscard]] std::optional<DataType> parse_data_type(const std::string& text);

// Whether a C compiler must assume that accesses of the two element types may alias: the types are the same, or one is
// C's signed or unsigned char.
[[nodiscard]] bool may_alias(DataType a, DataType b);

struct Var {
  std::string name;           // TVM's name: neither unique nor a C identifier
  DataType type;              // handle for storage and pointers
  DataType element;           // of a handle: what it points to (void: not known)
  std::string storage_scope;  // of a handle: "", "global", "global.workspace", …
};
using VarId = Id<Var>;  // index into Module::vars

enum class ExprKind : std::uint8_t {
  int_imm,     // int_value
  float_imm,   // float_value
  string_imm,  // text
  var,         // var
  add,
  sub,
  mul,
  div,
  mod,
  floor_div,
  floor_mod,
  min,
  max,  // 2 operands; div and mod truncate
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  and_,
  or_,        // 2 operands
  not_,       // 1 operand
  select,     // condition, true value, false value: both sides are evaluated
  cast,       // 1 operand, to `type`
  load,       // var: storage; operands: flat element index [, predicate]
  ramp,       // base, stride; lanes in `type`
  broadcast,  // value; lanes in `type`
  shuffle,    // n vectors, then m indices; int_value = n
  let,        // var, operands: value, body
  call,       // op: the operator; operands: its arguments
};

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

// The operands of an expression. Unshared operands are destroyed one by one instead of recursively, so a deep tree
// needs no stack.
class Operands : public std::vector<ExprRef> {
 public:
  using std::vector<ExprRef>::vector;
  Operands() = default;
  Operands(std::vector<ExprRef> operands) noexcept : std::vector<ExprRef>(std::move(operands)) {}
  Operands(const Operands&) = default;
  Operands(Operands&&) noexcept = default;
  Operands& operator=(const Operands&) = default;
  Operands& operator=(Operands&&) noexcept = default;
  ~Operands() {
    if (!empty()) destroy();
  }

 private:
  void destroy() noexcept;
};

struct Expr {
  ExprKind kind = ExprKind::int_imm;
  Op op = Op::none;
  DataType type;
  VarId var;
  std::int64_t int_value = 0;  // int_imm: a uint64 above INT64_MAX in two's complement
  double float_value = 0;
  std::string text;  // string_imm; of a call of Op::other the operator's name
  Operands operands;
};

// Raw bytes of a constant, shared between the AllocateConst nodes that use the same data.
struct Constant {
  DataType type;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::string bytes;                // little endian, product(shape) · type.bytes() of them
};

struct Stmt;
using Block = std::vector<Stmt>;

// Storage that holds the newest rows of a tensor. Accesses name the tensor's element e; it is in row (e / stride) mod
// extent of its plane e / (stride · extent), and row r has the place of row r mod rows. So the storage has planes ·
// rows · stride elements, and element e the place
//   e / (stride · extent) · (rows · stride) + ((e / stride) mod extent mod rows) · stride + e mod stride.
// A load must find the element that it names: none with the same place has been stored since.
struct Ring {
  std::int64_t stride = 1;  // elements of a row of one plane, >= 1
  std::int64_t extent = 1;  // rows of the tensor, >= 1
  std::int64_t rows = 1;    // rows held, in [1, extent]
  bool of_pixels = false;   // for reports: the rows are pixels

  // O(1). `element` in [0, planes · extent · stride).
  [[nodiscard]] std::int64_t place(std::int64_t element) const {
    return element / (stride * extent) * (rows * stride) + element / stride % extent % rows * stride + element % stride;
  }

  friend bool operator==(const Ring&, const Ring&) = default;
};

// Storage for `var` from here to the end of the block.
struct Allocate {
  VarId var;
  DataType type;
  std::vector<ExprRef> extents;  // the size is their product times type.bytes(); empty: one element
  ExprRef condition;             // null: unconditional
  // Annotation candidate_memory_pools, by name, best first; empty: none. See Module::annotated_pools.
  std::vector<std::string> candidate_pools;
  // A variable of the C function instead of workspace. Set by transformations, for single elements, by kernels, for
  // windows, and for arrays that the C had on its stack (storage::keep_on_stack).
  bool on_stack = false;
  bool was_on_stack = false;  // an array of a function of the C that was read, or a window
  // What that C declares of the address beyond what the type needs, in bytes: a power of two.
  std::uint16_t alignment = 1;
  // That makes it, from 1 in Function::by_rows; 0: not known. For reports. Placed so that a statement is no larger.
  std::uint32_t row_operator = 0;
  // `extents` are then those of the storage: their product is a multiple of ring->rows · ring->stride.
  std::optional<Ring> ring = {};
};

struct AllocateConst {
  VarId var;
  DataType type;
  std::shared_ptr<const Constant> data;  // never null
  std::vector<std::string> candidate_pools;
  std::uint32_t row_operator = 0;  // that reads it first, as in Allocate
};

struct Let {  // var = value from here to the end of the block
  VarId var;
  ExprRef value;
};

struct Store {
  VarId storage;
  ExprRef index;  // flat, in elements of value's scalar dtype; a vector for a vector store
  ExprRef value;
  ExprRef predicate;  // null: always
};

struct Evaluate {
  ExprRef value;
};

// NOLINTBEGIN(misc-no-recursion): of copies, a level a block; the reader bounds those.
struct For {
  VarId var;
  ExprRef min;
  ExprRef extent;  // the loop runs over [min, min + extent)
  Block body;
  // How often the body runs in one call of the function, in a loop over rows of an operator that runs together with
  // others. What an iteration does stands in scopes of the body, which become functions (lower/outline.hpp). 0: any
  // other loop. Set by transformations.
  std::int64_t row_runs = 0;
  // The operator of the rows that the nest computes, as in Allocate.
  std::uint32_t row_operator = 0;
};

struct While {
  ExprRef condition;
  Block body;
};

struct IfThenElse {
  ExprRef condition;
  Block then_body;
  Block else_body;  // empty: none
};

struct Assert {
  ExprRef condition;
  std::string message;
};

struct Scope {  // ends the scope of its declarations
  Block body;
};

struct Stmt {
  std::variant<Allocate, AllocateConst, Let, Store, Evaluate, For, While, IfThenElse, Assert, Scope> node;
};
// NOLINTEND(misc-no-recursion)

struct Param {
  VarId var;         // the variable that the body uses (for a tensor: its Buffer's data var)
  std::string name;  // TVM's name of the parameter; need not be unique within the function
  // For a tensor parameter (one with an entry in buffer_map):
  bool is_tensor = false;
  DataType element;
  std::optional<std::vector<std::int64_t>> shape;  // nothing if not constant
  // While the function runs, no other pointer of it reaches the same bytes, or nothing writes them.
  bool no_alias = false;
  // The values that an integer has in every call, if known.
  std::optional<Interval> range = {};
};

// An operator whose rows a function computes by turns with those of others.
struct RowOperator {
  std::size_t number = 0;  // among the calls of the entry, from 1
  std::string function;
  std::string kind;  // as of operators::kind_of
};

struct Function {
  std::string name;         // global_symbol
  std::string target;       // TargetKind name: "c", "cmsis-nn", …; empty if the module does not say
  bool is_entry = false;    // attribute runner_function: the AoT main
  bool keep_apart = false;  // compilers are asked not to inline it (see lower/outline.hpp)
  std::vector<Param> params;
  Block body;
  std::vector<std::string> notes;         // changes to it, for readers of the emitted C
  std::vector<std::string> imported_c;    // pragma_import_c sources in order, without repetition
  std::vector<RowOperator> by_rows = {};  // for reports; empty: it is one operator
  std::uint32_t row_operator = 0;         // of the nest that it was, as in For
};

// A pool that the module's own annotations or attributes describe (ir.WorkspacePoolInfo, ir.ConstantPoolInfo); their
// clock frequency, bandwidths, latencies and burst lengths are not read.
struct AnnotatedPool {
  std::string name;
  bool is_constant = false;
  std::optional<Bytes> size_hint;  // nothing: unbounded (-1)
  bool is_internal = false;
  std::vector<std::string> targets;  // TargetKind names; empty: not said
};

struct Module {
  std::vector<Var> vars;                       // owned by all functions
  std::vector<Function> functions;             // sorted by name (TVM's own order is a hash order)
  std::size_t entry = 0;                       // index into functions of the AoT main
  std::vector<AnnotatedPool> annotated_pools;  // in order of appearance; names unique
  std::string tvm_version;                     // "0.12.0"; empty if absent
  std::optional<Bytes> workspace_alignment;    // executor attribute workspace-byte-alignment
  std::optional<Bytes> constant_alignment;     // executor attribute constant-byte-alignment
  Bytes stack_arrays = 0;                      // the largest that stays on the stack: stays_on_stack

  [[nodiscard]] const Var& var(VarId id) const { return vars[id.index()]; }
  // Index into functions; nothing if no function has that name. O(log n).
  [[nodiscard]] std::optional<std::size_t> find(const std::string& function_name) const;
};

// Product of constant extents times the element size. Nothing if an extent is not a constant, is negative, or the
// product overflows: `why` then says which. O(extents).
struct AllocationSize {
  std::optional<Bytes> bytes;
  enum class Unknown { none, not_constant, negative, overflow } why = Unknown::none;
};
[[nodiscard]] AllocationSize allocation_size(const Allocate& allocate);
// Bytes of a tensor of this shape and type. Nothing if an extent is negative or the size overflows. O(extents).
[[nodiscard]] std::optional<Bytes> size_of(const std::vector<std::int64_t>& shape, DataType type);
// Bytes of a parameter. Nothing: it is no tensor, its shape is not constant, or as above.
[[nodiscard]] std::optional<Bytes> size_of(const Param& param);
// Whether it is no storage that is planned: a variable of C (on_stack), or an array that the C which was read has on
// its stack (was_on_stack), of at most Module::stack_arrays bytes, in an operator, that holds no rows of a larger
// tensor and is there in any case. Such arrays become variables when the program is final (storage::keep_on_stack).
// O(extents).
[[nodiscard]] bool stays_on_stack(const Module& module, std::size_t function, const Allocate& allocate);
// In elements of its type. Nothing: allocation_size is unknown, or the type has no size.
[[nodiscard]] std::optional<std::int64_t> element_count(const Allocate& allocate);

// The value if the expression is an int_imm.
[[nodiscard]] std::optional<std::int64_t> as_int(const Expr& expr);

// --- Construction ----------------------------------------------------------------------------------------------

[[nodiscard]] ExprRef make_expr(Expr expr);
[[nodiscard]] ExprRef make_int(std::int64_t value, DataType type = int32_type);
[[nodiscard]] ExprRef make_float(double value, DataType type);
[[nodiscard]] ExprRef make_string(std::string text);
[[nodiscard]] ExprRef make_var(const Module& module, VarId var);
[[nodiscard]] ExprRef make_binary(ExprKind kind, ExprRef a, ExprRef b);  // comparison and logic kinds give bool
[[nodiscard]] ExprRef make_cast(DataType type, ExprRef value);
[[nodiscard]] ExprRef make_load(DataType type, VarId storage, ExprRef index);
[[nodiscard]] ExprRef make_call(DataType type, Op op, std::vector<ExprRef> arguments);
// By TVM's name, which may be missing from the table.
[[nodiscard]] ExprRef make_call(DataType type, std::string_view op, std::vector<ExprRef> arguments);

// TVM's name of a call's operator; empty: not a call.
[[nodiscard]] std::string_view operator_name(const Expr& expr);

}  // namespace usmp::tir
