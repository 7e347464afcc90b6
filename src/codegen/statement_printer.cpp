// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Blocks, declarations and control flow.
#include "codegen/statement_printer.hpp"

#include <algorithm>
#include <limits>

#include "codegen/lanes.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Block;
using tir::DataType;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

VarId declared_by(const Stmt& stmt) {
  if (const auto* let = std::get_if<tir::Let>(&stmt.node)) return let->var;
  if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) return allocate->var;
  return {};
}

// Whether evaluating it again may give something else, or do something again.
bool is_unsteady(const tir::Expr& root) {
  bool found = has_side_effects(root);
  tir::for_each_expr(root, [&](const tir::Expr& expr) { found = found || expr.kind == ExprKind::load; });
  return found;
}

// The bounds are evaluated once, before the loop, if a second time would not give the same.
bool has_hoisted_bounds(const tir::For& loop) {
  const bool is_constant = tir::as_int(*loop.min) && tir::as_int(*loop.extent);
  return !is_constant && (is_unsteady(*loop.extent) || is_unsteady(*loop.min));
}

ExprRef last_bound(const tir::For& loop) {
  const ExprRef end = tir::end_of(loop);
  return end ? end : tir::make_binary(ExprKind::add, loop.min, loop.extent);
}

// A few integers next to each other, each added to, as x[i] = x[i] + a * b[i]: with the loop written out, compilers
// that do not make vectors of loops this short do so of the statements.
bool is_short_sum(const tir::For& loop) {
  constexpr std::int64_t most = 8;
  const auto count = tir::as_int(*loop.extent);
  if (!count || *count < 2 || *count > most) return false;
  const tir::Store* sum = nullptr;
  for (const Stmt& stmt : loop.body) {
    if (std::holds_alternative<tir::Let>(stmt.node)) continue;
    if (sum != nullptr) return false;
    sum = std::get_if<tir::Store>(&stmt.node);
    if (sum == nullptr) return false;
  }
  if (sum == nullptr || sum->value->kind != ExprKind::add || !sum->value->type.is_int()) return false;
  const tir::Expr& before = *sum->value->operands[0];
  return before.kind == ExprKind::load && before.var == sum->storage &&
         tir::is_same(*before.operands[0], *sum->index) && tir::mentions(*sum->index, loop.var);
}

}  // namespace

StatementPrinter::StatementPrinter(FileContext& file, std::size_t function)
    : file_(file),
      module_(file.module),
      function_(file.module.functions[function]),
      facts_(file.facts.functions[function]),
      printer_(file, function, text_) {}

void StatementPrinter::print_body() {
  depth_ = 1;
  tir::walk(function_.body, *this);
  if (facts_.gives_status) line("return 0;");
}

// --- Text ------------------------------------------------------------------------------------------------------------

void StatementPrinter::indent() { printer_.put(std::string(2 * depth_, ' ')); }
void StatementPrinter::line(std::string_view text) {
  indent();
  printer_.put(text);
  printer_.put("\n");
}
void StatementPrinter::begin_block(std::string_view head) {
  line(head);
  indent_more();
}
void StatementPrinter::indent_more() {
  if (++depth_ <= max_block_depth) return;
  printer_.unsupported("loops, branches and scopes need more than " + std::to_string(max_block_depth) +
                       " nested blocks, which is the limit: C compilers accept no more");
}
void StatementPrinter::end_block() {
  --depth_;
  line("}");
}

void StatementPrinter::begin_block(std::string_view keyword, const tir::Expr& condition) {
  indent();
  printer_.put(std::string(keyword) + " (");
  printer_.print(condition);
  printer_.put(") {\n");
  indent_more();
}

// Gives back the workspaces held, and returns `value`.
void StatementPrinter::print_return(std::string_view value) {
  for (std::size_t i = workspaces_.size(); i-- > 0;)
    line("(void)TVMBackendFreeWorkspace(1, 0, " + workspaces_[i] + ");");
  line("return " + std::string(value) + ";");
}

// "if (condition) return value;" around a condition that `print_condition` prints.
void StatementPrinter::print_return_if(const std::function<void()>& print_condition, std::string_view value) {
  indent();
  printer_.put("if (");
  print_condition();
  if (workspaces_.empty() || file_.planned.is_unplanned) {
    printer_.put(") return " + std::string(value) + ";\n");
    return;
  }
  printer_.put(") {\n");
  ++depth_;
  print_return(value);
  end_block();
}

// --- Blocks and declarations -----------------------------------------------------------------------------------------

void StatementPrinter::open(const Block& block, const Stmt* owner) {
  const auto* branch = owner == nullptr ? nullptr : std::get_if<tir::IfThenElse>(&owner->node);
  if (branch != nullptr && &block == &branch->else_body && !block.empty()) {
    --depth_;
    line("} else {");
    ++depth_;
  }
  blocks_.push_back({.held = workspaces_.size(), .declared = {}, .names = {}});
}

void StatementPrinter::statement(const Stmt& stmt) {
  OpenBlock& block = blocks_.back();
  const VarId var = declared_by(stmt);
  if (var.valid() && !block.names.insert(var).second) {  // C has one declaration of a name a block
    begin_block();
    ++block.braces;
  }
  std::visit([&](const auto& node) { print(node); }, stmt.node);
  for (std::size_t lane = 0; var.valid() && !printer_.declared_name(var, lane).empty(); ++lane) {
    block.declared.push_back({var, lane, text_.size(), times_read(var, lane)});
  }
}

void StatementPrinter::close(const Block& block, const Stmt* owner) {
  const OpenBlock closed = std::move(blocks_.back());
  blocks_.pop_back();
  while (workspaces_.size() > closed.held) {
    const std::string name = workspaces_.back();
    workspaces_.pop_back();
    print_return_if([&] { printer_.put("TVMBackendFreeWorkspace(1, 0, " + name + ") != 0"); }, "-1");
  }
  for (std::size_t i = 0; i < closed.braces; ++i) end_block();
  mention_unused(closed.declared);
  if (owner == nullptr) return;
  const auto* branch = std::get_if<tir::IfThenElse>(&owner->node);
  if (branch != nullptr && &block == &branch->then_body) return;
  if (std::holds_alternative<tir::Scope>(owner->node) && block.empty()) return;
  end_block();
  const auto* loop = std::get_if<tir::For>(&owner->node);
  if (loop != nullptr && has_hoisted_bounds(*loop)) end_block();
  if (loop != nullptr && of_lanes_.contains(loop)) printer_.put("#endif\n");
}

// How often the variable was printed, but for stores into an array: compilers warn of arrays that are only written.
std::size_t StatementPrinter::times_read(VarId var, std::size_t lane) const {
  const auto stores = array_stores_.find(var);
  return printer_.times_printed(var, lane) - (stores == array_stores_.end() ? 0 : stores->second);
}

// A variable may remain without use after all, when what used it turned out to be constant.
void StatementPrinter::mention_unused(const std::vector<Declared>& declared) {
  for (std::size_t i = declared.size(); i-- > 0;) {  // backwards: earlier positions stay right
    const Declared& d = declared[i];
    if (times_read(d.var, d.lane) != d.uses) continue;
    text_.insert(d.position, std::string(2 * depth_, ' ') + "(void)" + printer_.declared_name(d.var, d.lane) + ";\n");
  }
}

void StatementPrinter::print(const tir::Let& let) {
  if (!facts_.used.contains(let.var)) {
    if (has_side_effects(*let.value)) print_evaluation(*let.value);
    return;
  }
  if (let.value->type.is_handle()) return print_pointer_let(let);
  const bool hides_outer = tir::mentions(*let.value, let.var);
  for (std::size_t lane = 0; lane < let.value->type.lanes; ++lane) {
    // In C, the new variable would stand in its own initialiser.
    const std::string value = hides_outer ? print_temporary("value", *let.value, lane) : std::string();
    indent();
    printer_.put("const " + printer_.c_type(let.value->type) + " ");
    printer_.put(printer_.declare(let.var, {}, lane) + " = " + value);
    if (!hides_outer) printer_.print_assigned(*let.value, prec_any, lane);
    printer_.put(";\n");
  }
  printer_.ranges().bind_let(let.var, *let.value);
}

void StatementPrinter::print_pointer_let(const tir::Let& let) {
  if (tir::mentions(*let.value, let.var)) {
    printer_.unsupported("pointer '" + module_.var(let.var).name + "' is bound to a value that contains itself");
  }
  const PointerType type = printer_.pointer(let.var).type;
  const std::string name = printer_.declare(let.var);
  indent();
  printer_.put(to_string(type) + " const " + name + " = ");
  printer_.print_pointer(*let.value, type);
  printer_.put(";\n");
}

void StatementPrinter::print(const tir::AllocateConst& constant) {
  printer_.declare_constant(constant.var, *constant.data);
  constants_.insert(constant.var);
}

// On the stack, or of a size that was not known when the plan was made: then the runtime's workspace provides it.
void StatementPrinter::print(const tir::Allocate& allocate) {
  if (!facts_.used.contains(allocate.var)) return;
  const PointerType type = printer_.pointer(allocate.var).type;
  const std::string name = printer_.declare(allocate.var);
  if (facts_.float_vectors.contains(allocate.var)) {
    array_stores_.try_emplace(allocate.var, 0);
    return line(file_.helpers.floats() + " " + name + ";");
  }
  if (allocate.on_stack) {
    array_stores_.try_emplace(allocate.var, 0);
    const Bytes bytes = tir::allocation_size(allocate).bytes.value_or(0);
    const Bytes element = size_of_storage_type(type.element).value_or(allocate.type.element_bytes());
    const std::string first = facts_.initialised.contains(allocate.var) ? " = {0};" : ";";
    const Bytes alignment = std::max<Bytes>(allocate.alignment, alignment_of(facts_, allocate.var));
    if (alignment > element) file_.uses_aligned_arrays = true;
    const std::string aligned =
        alignment > element ? "USMP_ALIGNED_ARRAY(" + std::to_string(alignment) + ") " : std::string();
    line(aligned + type.element + " " + name + "[" + std::to_string((bytes + element - 1) / element) + "]" + first);
    return;
  }
  file_.uses_workspace = true;
  file_.helpers.need_header("stddef.h");
  indent();
  printer_.put(type.element + "* const " + name + " = ");
  if (!type.is_void()) printer_.put("(" + type.element + "*)");
  printer_.put("TVMBackendAllocWorkspace(1, 0, ");
  if (const auto bytes = tir::allocation_size(allocate).bytes) {
    printer_.put("(uint64_t)" + std::to_string(*bytes));
  } else {
    for (const ExprRef& extent : allocate.extents) {
      printer_.put("(uint64_t)");
      printer_.print(*extent, prec_unary);
      printer_.put(" * ");
    }
    printer_.put(std::to_string(allocate.type.bytes()));
  }
  const DataType element = allocate.type.element();
  printer_.put(", " + std::to_string(static_cast<int>(element.code)) + ", " +
               std::to_string(static_cast<int>(element.bits)) + ");\n");
  print_return_if([&] { printer_.put(name + " == NULL"); }, "-1");
  workspaces_.push_back(name);
}

// --- Control flow ----------------------------------------------------------------------------------------------------

void StatementPrinter::print(const tir::For& loop) {
  const DataType type = module_.var(loop.var).type;
  if (type.is_vector() || (!type.is_int() && !type.is_uint())) {
    printer_.unsupported("a loop variable is of type " + tir::to_string(type));
  }
  const auto first = tir::as_int(*loop.min);
  const auto count = tir::as_int(*loop.extent);
  std::string begin;
  std::string end;
  const bool is_constant = first && count;
  const bool is_hoisted = has_hoisted_bounds(loop);
  if (!is_constant && type.is_uint()) file_.uses_comparison = true;
  printer_.ranges().bind_loop(loop.var, *loop.min, *loop.extent);
  const ExprRef last = first == 0 ? loop.extent : last_bound(loop);
  if (is_hoisted) {
    begin_block();
    begin = print_temporary("begin", *loop.min);
    end = print_hoisted_end(loop, begin);
  }
  if (is_short_sum(loop)) {
    file_.uses_unroll = true;
    line("USMP_UNROLL");
  }
  const auto inside = facts_.continued.declared_at.find(loop.var);
  if (inside != facts_.continued.declared_at.end()) print_continued(inside->second);
  const bool is_continued = facts_.continued.vars.contains(loop.var);
  const std::string name = is_continued ? printer_.declared_name(loop.var) : printer_.declare(loop.var);
  if (!is_continued && !is_hoisted && print_lanes(loop, name)) of_lanes_.insert(&loop);
  indent();
  printer_.put("for (");
  if (!is_continued) printer_.put(printer_.c_type(type) + " " + name + " = ");
  if (is_continued) {
    printer_.put("; " + name + " < ");
    printer_.print_converted(*last, prec_add);
  } else if (is_constant) {
    print_constant_bounds(loop, name, *first, *count);
  } else {
    if (is_hoisted) {
      printer_.put(begin);
    } else {
      printer_.print_converted(*loop.min);
    }
    printer_.put("; " + name + " < ");
    if (is_hoisted) {
      printer_.put(end);
    } else {
      printer_.print_converted(*last, prec_add);
    }
  }
  printer_.put("; ++" + name + ") {\n");
  indent_more();
}

// Whether the loop copies to an array on the stack, to which there is no other pointer.
bool StatementPrinter::copies_to_array(const tir::For& loop) const {
  return is_copy(module_, function_, loop) && array_stores_.contains(std::get<tir::Store>(loop.body[0].node).storage);
}

bool StatementPrinter::print_lanes(const tir::For& loop, const std::string& name) {
  const bool copies = copies_to_array(loop);
  const std::optional<tir::Store> found =
      copies ? std::get<tir::Store>(loop.body[0].node) : store_of_lanes(module_, function_, loop, printer_.ranges());
  if (!found) return print_fours_of_own(loop);
  const tir::Store& store = *found;
  std::vector<tir::VarId> storages = {store.storage};
  tir::for_each_expr(*store.value, [&](const tir::Expr& expr) {
    if (expr.kind == ExprKind::load) storages.push_back(expr.var);
  });
  if (std::ranges::any_of(storages, [&](VarId storage) { return printer_.pointer(storage).mixed_types; })) return false;
  printer_.put("#ifdef USMP_MVE\n");
  indent();
  printer_.uncounted([&] {
    printer_.put("for (int32_t " + name + " = 0; " + name + " < ");
    printer_.print_converted(*loop.extent, prec_add);
    printer_.put("; " + name + " += " + std::to_string(copies ? bytes_at_once : lane_count) + ") {\n");
    ++depth_;
    indent();
    if (copies) {
      printer_.print_copy(store, *loop.extent, loop.var);
    } else {
      printer_.print_lane_store(store, loop.var);
    }
    --depth_;
    line("}");
  });
  const auto fours = copies ? std::nullopt : fours_of(store, loop.var, printer_.ranges());
  if (fours) {
    printer_.put("#elif defined(USMP_DSP_RUNS)\n");
    indent();
    printer_.uncounted([&] { printer_.print_fours(store, *fours, *loop.extent, loop.var); });
  }
  printer_.put("#else\n");
  return true;
}

// Prints fours that are read of arrays on the stack and constants: no store elsewhere reaches these.
bool StatementPrinter::print_fours_of_own(const tir::For& loop) {
  const auto is_own = [&](VarId var) {
    return (array_stores_.contains(var) || constants_.contains(var)) && !printer_.pointer(var).mixed_types;
  };
  const std::optional<tir::Store> store = store_of_own(module_, loop, printer_.ranges(), is_own);
  if (!store || printer_.pointer(store->storage).mixed_types) return false;
  const auto fours = fours_of(*store, loop.var, printer_.ranges());
  if (!fours) return false;
  printer_.put("#if defined(USMP_DSP_RUNS) && !defined(USMP_MVE)\n");
  indent();
  printer_.uncounted([&] { printer_.print_fours(*store, *fours, *loop.extent, loop.var); });
  printer_.put("#else\n");
  return true;
}

void StatementPrinter::print_continued(const std::vector<ContinuedLoops::Loop>& loops) {
  for (const auto& [var, first] : loops) {
    const DataType type = module_.var(var).type;
    line(printer_.c_type(type) + " " + printer_.declare(var) + " = " + int_literal(first, type, true) + ";");
  }
}

std::string StatementPrinter::print_hoisted_end(const tir::For& loop, const std::string& begin) {
  std::string name = printer_.temporary("end");
  indent();
  printer_.put("const " + printer_.c_type(module_.var(loop.var).type) + " " + name + " = " + begin + " + ");
  printer_.print_converted(*loop.extent, prec_multiply);
  printer_.put(";\n");
  return name;
}

void StatementPrinter::print_constant_bounds(const tir::For& loop, const std::string& name, std::int64_t first,
                                             std::int64_t count) {
  const DataType type = module_.var(loop.var).type;
  const auto range = range_of_type(type).value_or(Interval{0, std::numeric_limits<std::int64_t>::max()});
  const auto end = checked_add(first, std::max<std::int64_t>(count, 0));
  if (!end || first < range.low || *end > range.high) {
    printer_.unsupported("a loop from " + std::to_string(first) + " of " + std::to_string(count) +
                         " iterations does not fit its variable's type " + tir::to_string(type));
  }
  // An empty unsigned loop would compare "i < 0", which compilers warn of.
  const bool is_empty_unsigned = type.is_uint() && *end == 0;
  printer_.put(int_literal(is_empty_unsigned ? 1 : first, type, true) + "; " + name + " < " +
               int_literal(is_empty_unsigned ? 1 : *end, type, true));
}

void StatementPrinter::print(const tir::While& loop) { begin_block("while", *loop.condition); }

void StatementPrinter::print(const tir::IfThenElse& branch) { begin_block("if", *branch.condition); }

void StatementPrinter::print(const tir::Assert& check) {
  print_return_if(
      [&] {
        printer_.put("!");
        printer_.print(*check.condition, prec_unary);
      },
      "-1");
}

void StatementPrinter::print(const tir::Scope& scope) {
  if (!scope.body.empty()) begin_block();
}

}  // namespace usmp::codegen
