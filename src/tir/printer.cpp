// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lays expressions out as pieces on a stack, and puts parentheses where an operand binds less tightly.
#include "usmp/tir/printer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"
#include "usmp/support/work_stack.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tir {
namespace {

// How tightly an operator binds; an operand that binds less tightly is put in parentheses.
enum Binding : int { loosest = 0, or_binding, and_binding, not_binding, compare_binding, sum_binding, product_binding };

struct Infix {
  ExprKind kind;
  const char* symbol;
  Binding binding;
};
constexpr Infix infixes[] = {{ExprKind::add, " + ", sum_binding},     {ExprKind::sub, " - ", sum_binding},
                             {ExprKind::mul, " * ", product_binding}, {ExprKind::div, " / ", product_binding},
                             {ExprKind::mod, " % ", product_binding}, {ExprKind::eq, " == ", compare_binding},
                             {ExprKind::ne, " != ", compare_binding}, {ExprKind::lt, " < ", compare_binding},
                             {ExprKind::le, " <= ", compare_binding}, {ExprKind::gt, " > ", compare_binding},
                             {ExprKind::ge, " >= ", compare_binding}, {ExprKind::and_, " and ", and_binding},
                             {ExprKind::or_, " or ", or_binding}};

const Infix* find_infix(ExprKind kind) {
  const auto* const found =
      std::find_if(std::begin(infixes), std::end(infixes), [&](const Infix& infix) { return infix.kind == kind; });
  return found == std::end(infixes) ? nullptr : found;
}

// The name of an operator that is printed like a call.
std::string function_name(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::floor_div:
      return "floordiv";
    case ExprKind::floor_mod:
      return "floormod";
    case ExprKind::min:
      return "min";
    case ExprKind::max:
      return "max";
    case ExprKind::select:
      return "select";
    case ExprKind::cast:
      return to_string(expr.type);
    default:
      return printable(operator_name(expr));
  }
}

// "i64", "u8", "f16": what tells a literal from the int32 and float32 that are printed bare.
std::string literal_suffix(DataType type) {
  if (type == int32_type || type == float32_type) return "";
  const char* const letter = type.code == TypeCode::int_     ? "i"
                             : type.code == TypeCode::uint   ? "u"
                             : type.code == TypeCode::float_ ? "f"
                                                             : "bf";
  return letter + std::to_string(type.bits);
}

std::string int_literal(std::int64_t value, DataType type) {
  if (type.is_bool()) return value != 0 ? "true" : "false";
  const bool is_large = type.is_uint() && value < 0;
  return (is_large ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value)) + literal_suffix(type);
}

std::string float_literal(double value, DataType type) {
  std::string text = type.bits == 32 ? shortest_decimal(static_cast<float>(value)) : shortest_decimal(value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text + literal_suffix(type);
}

std::string string_literal(const std::string& text) {
  constexpr const char* hex_digits = "0123456789abcdef";
  std::string literal = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      literal += '\\';
      literal += character;
    } else if (character == '\n') {
      literal += "\\n";
    } else if (code < 0x20 || code == 0x7F) {
      literal += "\\x";
      literal += hex_digits[code >> 4U];
      literal += hex_digits[code & 0xFU];
    } else {
      literal += character;
    }
  }
  return printable(literal + '"');
}

// Names that are unique among the variables asked for so far.
class Names {
 public:
  explicit Names(const Module& module) : module_(module) {}

  const std::string& of(VarId var) {
    const auto [entry, is_new] = names_.try_emplace(var);
    if (is_new) entry->second = unique(without_blanks(module_.var(var).name));
    return entry->second;
  }

 private:
  static std::string without_blanks(std::string name) {
    if (name.empty()) return "_";
    std::replace_if(
        name.begin(), name.end(),
        [](char character) { return static_cast<unsigned char>(character) <= 0x20 || character == 0x7F; }, '_');
    return printable(name);
  }
  std::string unique(const std::string& name) {
    std::string candidate = name;
    std::size_t& suffix = suffixes_[name];
    while (!taken_.insert(candidate).second) candidate = name + "_" + std::to_string(++suffix);
    return candidate;
  }

  const Module& module_;
  std::unordered_map<VarId, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> suffixes_;  // the last one given to a name
};

// What stands in a text: characters, or an expression in a context.
struct Piece {
  std::string text;
  const Expr* expr = nullptr;  // null: `text`
  int context = loosest;
};

// Expressions are laid out as pieces, see support/work_stack.hpp; statements follow the walk over the blocks.
class Printer {
 public:
  explicit Printer(const Module& module) : module_(module), names_(module) {}

  void function(const Function& function);
  void expr(const Expr& expr) {
    add(expr);
    flush();
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

  // Called by tir::walk.
  void open(const Block& block, const Stmt* owner);
  void statement(const Stmt& stmt);
  void close(const Block& block, const Stmt* owner);

 private:
  void lay_out(const Stmt& stmt);
  void allocate(const Allocate& allocate);
  void allocate_const(const AllocateConst& constant);
  void lay_out(const Expr& expr, int context);
  void infix(const Expr& expr, const Infix& infix, int context);
  void call(const Expr& expr);
  void vector(const Expr& expr);
  void access(VarId storage, DataType type, const Expr& index, const Expr* predicate);
  void list(std::span<const ExprRef> exprs);
  void pools(const std::vector<std::string>& pools);
  void storage_scope(VarId var);
  void line() { out_.append(2 * indent_, ' '); }

  void add(std::string text) { pieces_.add({.text = std::move(text), .expr = nullptr, .context = loosest}); }
  void add(const Expr& expr, int context = loosest) { pieces_.add({.text = {}, .expr = &expr, .context = context}); }
  void flush() {
    pieces_.run([&](const Piece& piece) {
      if (piece.expr == nullptr) {
        out_ += piece.text;
      } else {
        lay_out(*piece.expr, piece.context);
      }
    });
  }

  const Module& module_;
  Names names_;
  WorkStack<Piece> pieces_;
  std::string out_;
  std::size_t indent_ = 0;
};

void Printer::function(const Function& function) {
  out_ += "primfn " + printable(function.name) + "(";
  for (const Param& param : function.params) {
    if (&param != &function.params.front()) out_ += ", ";
    const Var& var = module_.var(param.var);
    const DataType element = param.is_tensor ? param.element : var.element;
    out_ += names_.of(param.var) + ": ";
    out_ += var.type.is_handle() && !element.is_void() ? to_string(element) + "*" : to_string(var.type);
  }
  out_ += ")";
  if (!function.target.empty()) out_ += " target " + printable(function.target);
  if (function.is_entry) out_ += " entry";
  walk(function.body, *this);
}

// --- Statements ------------------------------------------------------------------------------------------------------

// The branch whose else part `block` is.
const IfThenElse* branch_of_else(const Block& block, const Stmt* owner) {
  const auto* branch = owner == nullptr ? nullptr : std::get_if<IfThenElse>(&owner->node);
  return branch != nullptr && &block == &branch->else_body ? branch : nullptr;
}

void Printer::open(const Block& block, const Stmt* owner) {
  const bool is_else = branch_of_else(block, owner) != nullptr;
  if (is_else && block.empty()) return;
  out_ += is_else ? " else {\n" : " {\n";
  ++indent_;
}

void Printer::close(const Block& block, const Stmt* owner) {
  const bool is_else = branch_of_else(block, owner) != nullptr;
  if (!is_else || !block.empty()) {
    --indent_;
    line();
    out_ += "}";
  }
  const bool goes_on = !is_else && owner != nullptr && std::holds_alternative<IfThenElse>(owner->node);
  if (!goes_on) out_ += "\n";
}

void Printer::statement(const Stmt& stmt) {
  line();
  lay_out(stmt);
  flush();
  if (blocks_of(stmt).empty()) out_ += "\n";
}

void Printer::lay_out(const Stmt& stmt) {
  std::visit(Overloaded{[&](const Allocate& s) { allocate(s); }, [&](const AllocateConst& s) { allocate_const(s); },
                        [&](const Let& s) {
                          add("let " + names_.of(s.var) + ": " + to_string(module_.var(s.var).type) + " = ");
                          add(*s.value);
                        },
                        [&](const Store& s) {
                          access(s.storage, s.value->type, *s.index, s.predicate.get());
                          add(" = ");
                          add(*s.value);
                        },
                        [&](const Evaluate& s) { add(*s.value); },
                        [&](const For& s) {
                          add("for " + names_.of(s.var) + " in [");
                          add(*s.min);
                          add(", ");
                          const auto min = as_int(*s.min);
                          if (min != 0) {
                            add(*s.min, sum_binding);
                            add(" + ");
                          }
                          add(*s.extent, min != 0 ? sum_binding + 1 : loosest);
                          add(")");
                        },
                        [&](const While& s) {
                          add("while ");
                          add(*s.condition);
                        },
                        [&](const IfThenElse& s) {
                          add("if ");
                          add(*s.condition);
                        },
                        [&](const Assert& s) {
                          add("assert ");
                          add(*s.condition);
                          add(", " + string_literal(s.message));
                        },
                        [&](const Scope&) { add("scope"); }},
             stmt.node);
}

void Printer::allocate(const Allocate& allocate) {
  add("allocate " + names_.of(allocate.var) + ": " + to_string(allocate.type) + "[");
  list(allocate.extents);
  add("]");
  if (const auto& ring = allocate.ring) {
    add(" holds " + std::to_string(ring->rows) + " of " + std::to_string(ring->extent) + " rows of " +
        std::to_string(ring->stride));
  }
  if (allocate.on_stack) add(" on stack");
  if (allocate.alignment > 1) add(" aligned to " + std::to_string(allocate.alignment));
  storage_scope(allocate.var);
  if (allocate.condition) {
    add(" if ");
    add(*allocate.condition);
  }
  pools(allocate.candidate_pools);
}

void Printer::allocate_const(const AllocateConst& constant) {
  std::string text = "constant " + names_.of(constant.var) + ": " + to_string(constant.type) + "[";
  for (std::size_t i = 0; i < constant.data->shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(constant.data->shape[i]);
  }
  add(text + "] of " + std::to_string(constant.data->bytes.size()) + " bytes");
  storage_scope(constant.var);
  pools(constant.candidate_pools);
}

void Printer::storage_scope(VarId var) {
  const std::string& scope = module_.var(var).storage_scope;
  if (!scope.empty() && scope != "global") add(" scope " + printable(scope));
}

void Printer::pools(const std::vector<std::string>& pools) {
  if (pools.empty()) return;
  add(" pools");
  for (const std::string& pool : pools) add((&pool == &pools.front() ? " " : ", ") + printable(pool));
}

// --- Expressions -----------------------------------------------------------------------------------------------------

void Printer::list(std::span<const ExprRef> exprs) {
  for (const ExprRef& element : exprs) {
    if (&element != &exprs.front()) add(", ");
    add(*element);
  }
}

void Printer::lay_out(const Expr& expr, int context) {
  switch (expr.kind) {
    case ExprKind::int_imm:
      return add(int_literal(expr.int_value, expr.type));
    case ExprKind::float_imm:
      return add(float_literal(expr.float_value, expr.type));
    case ExprKind::string_imm:
      return add(string_literal(expr.text));
    case ExprKind::var:
      return add(names_.of(expr.var));
    case ExprKind::not_:
      add(context > not_binding ? "(not " : "not ");
      add(*expr.operands[0], not_binding);
      if (context > not_binding) add(")");
      return;
    case ExprKind::load:
      return access(expr.var, expr.type, *expr.operands[0],
                    expr.operands.size() > 1 ? expr.operands[1].get() : nullptr);
    case ExprKind::ramp:
    case ExprKind::broadcast:
    case ExprKind::shuffle:
      return vector(expr);
    case ExprKind::let:
      add("(let " + names_.of(expr.var) + " = ");
      add(*expr.operands[0]);
      add(" in ");
      add(*expr.operands[1]);
      return add(")");
    default:
      if (const Infix* const found = find_infix(expr.kind)) return infix(expr, *found, context);
      call(expr);
  }
}

void Printer::infix(const Expr& expr, const Infix& infix, int context) {
  const bool in_parentheses = context > infix.binding;
  if (in_parentheses) add("(");
  // Operators group to the left; comparisons do not chain.
  add(*expr.operands[0], infix.binding + (infix.binding == compare_binding ? 1 : 0));
  add(infix.symbol);
  add(*expr.operands[1], infix.binding + 1);
  if (in_parentheses) add(")");
}

void Printer::call(const Expr& expr) {
  add(function_name(expr));
  // The type of a call is shown where its operands do not let one guess it.
  if (expr.kind == ExprKind::call) {
    const bool is_plain = std::any_of(expr.operands.begin(), expr.operands.end(), [&](const ExprRef& operand) {
      return expr.type == int32_type || operand->type == expr.type;
    });
    if (!is_plain) add("<" + to_string(expr.type) + ">");
  }
  add("(");
  list(expr.operands);
  add(")");
}

void Printer::vector(const Expr& expr) {
  if (expr.kind != ExprKind::shuffle) {
    add(expr.kind == ExprKind::ramp ? "ramp(" : "broadcast(");
    list(expr.operands);
    return add(", " + std::to_string(expr.type.lanes) + ")");
  }
  const std::span<const ExprRef> operands(expr.operands);
  const auto vectors = static_cast<std::size_t>(expr.int_value);
  add("shuffle([");
  list(operands.first(vectors));
  add("], [");
  list(operands.subspan(vectors));
  add("])");
}

void Printer::access(VarId storage, DataType type, const Expr& index, const Expr* predicate) {
  const DataType declared = module_.var(storage).element.element();
  add(names_.of(storage));
  if (!declared.is_void() && declared != type.element()) add(".as<" + to_string(type.element()) + ">");
  add("[");
  add(index);
  if (predicate != nullptr) {
    add(" where ");
    add(*predicate);
  }
  add("]");
}

}  // namespace

std::string print(const Module& module, const Function& function) {
  Printer printer(module);
  printer.function(function);
  return printer.take();
}

std::string print(const Module& module) {
  std::string text;
  if (module.entry < module.functions.size()) text = print(module, module.functions[module.entry]);
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (i == module.entry) continue;
    if (!text.empty()) text += "\n";
    text += print(module, module.functions[i]);
  }
  return text;
}

std::string print_expr(const Module& module, const Expr& expr) {
  Printer printer(module);
  printer.expr(expr);
  return printer.take();
}

}  // namespace usmp::tir
