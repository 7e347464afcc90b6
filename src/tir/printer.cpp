#include "usmp/tir/printer.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "usmp/support/text.hpp"
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
      return expr.text;
  }
}

// "i64", "u8", "f16": what tells a literal from the int32 and float32 that are printed bare.
std::string literal_suffix(DataType type) {
  if (type == int32_type || type == DataType{TypeCode::float_, 32, 1}) return "";
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
  return literal + '"';
}

// Names that are unique among the variables asked for so far.
class Names {
 public:
  explicit Names(const Module& module) : module_(module) {}

  const std::string& of(VarId var) {
    const auto [entry, is_new] = names_.try_emplace(var);
    if (is_new) entry->second = unique(printable(module_.var(var).name));
    return entry->second;
  }

 private:
  static std::string printable(std::string name) {
    if (name.empty()) return "_";
    std::replace_if(
        name.begin(), name.end(),
        [](char character) { return static_cast<unsigned char>(character) <= 0x20 || character == 0x7F; }, '_');
    return name;
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

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module), names_(module) {}

  void function(const Function& function);
  void expr(const Expr& expr, int context = loosest);
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void block(const Block& block);
  void statement(const Stmt& stmt);
  void allocate(const Allocate& allocate);
  void allocate_const(const AllocateConst& constant);
  void branch(const IfThenElse& branch);
  void infix(const Expr& expr, const Infix& infix, int context);
  void call(const Expr& expr);
  void vector(const Expr& expr);
  void access(VarId storage, DataType type, const Expr& index, const Expr* predicate);
  template <class Refs>
  void list(const Refs& exprs);
  void pools(const std::vector<std::string>& pools);
  void storage_scope(VarId var);
  void line() { out_.append(2 * indent_, ' '); }
  void nested(const Block& body) {
    out_ += " {\n";
    ++indent_;
    block(body);
    --indent_;
    line();
    out_ += "}";
  }

  const Module& module_;
  Names names_;
  std::string out_;
  std::size_t indent_ = 0;
};

void Printer::function(const Function& function) {
  out_ += "primfn " + function.name + "(";
  for (const Param& param : function.params) {
    if (&param != &function.params.front()) out_ += ", ";
    const Var& var = module_.var(param.var);
    const DataType element = param.is_tensor ? param.element : var.element;
    out_ += names_.of(param.var) + ": ";
    out_ += var.type.is_handle() && !element.is_void() ? to_string(element) + "*" : to_string(var.type);
  }
  out_ += ")";
  if (!function.target.empty()) out_ += " target " + function.target;
  if (function.is_entry) out_ += " entry";
  nested(function.body);
  out_ += "\n";
}

void Printer::block(const Block& block) {
  for (const Stmt& stmt : block) {
    line();
    statement(stmt);
    out_ += "\n";
  }
}

void Printer::statement(const Stmt& stmt) {
  std::visit(Overloaded{[&](const Allocate& s) { allocate(s); }, [&](const AllocateConst& s) { allocate_const(s); },
                        [&](const Let& s) {
                          out_ += "let " + names_.of(s.var) + ": " + to_string(module_.var(s.var).type) + " = ";
                          expr(*s.value);
                        },
                        [&](const Store& s) {
                          access(s.storage, s.value->type, *s.index, s.predicate.get());
                          out_ += " = ";
                          expr(*s.value);
                        },
                        [&](const Evaluate& s) { expr(*s.value); },
                        [&](const For& s) {
                          out_ += "for " + names_.of(s.var) + " in [";
                          expr(*s.min);
                          out_ += ", ";
                          const auto min = as_int(*s.min);
                          if (min != 0) {
                            expr(*s.min, sum_binding);
                            out_ += " + ";
                          }
                          expr(*s.extent, min != 0 ? sum_binding + 1 : loosest);
                          out_ += ")";
                          nested(s.body);
                        },
                        [&](const While& s) {
                          out_ += "while ";
                          expr(*s.condition);
                          nested(s.body);
                        },
                        [&](const IfThenElse& s) { branch(s); },
                        [&](const Assert& s) {
                          out_ += "assert ";
                          expr(*s.condition);
                          out_ += ", " + string_literal(s.message);
                        },
                        [&](const Scope& s) {
                          out_ += "scope";
                          nested(s.body);
                        }},
             stmt.node);
}

void Printer::allocate(const Allocate& allocate) {
  out_ += "allocate " + names_.of(allocate.var) + ": " + to_string(allocate.type) + "[";
  list(allocate.extents);
  out_ += "]";
  storage_scope(allocate.var);
  if (allocate.condition) {
    out_ += " if ";
    expr(*allocate.condition);
  }
  pools(allocate.candidate_pools);
}

void Printer::allocate_const(const AllocateConst& constant) {
  out_ += "constant " + names_.of(constant.var) + ": " + to_string(constant.type) + "[";
  for (std::size_t i = 0; i < constant.data->shape.size(); ++i) {
    out_ += (i == 0 ? "" : ", ") + std::to_string(constant.data->shape[i]);
  }
  out_ += "] of " + std::to_string(constant.data->bytes.size()) + " bytes";
  storage_scope(constant.var);
  pools(constant.candidate_pools);
}

void Printer::branch(const IfThenElse& branch) {
  out_ += "if ";
  expr(*branch.condition);
  nested(branch.then_body);
  if (branch.else_body.empty()) return;
  out_ += " else";
  nested(branch.else_body);
}

void Printer::storage_scope(VarId var) {
  const std::string& scope = module_.var(var).storage_scope;
  if (!scope.empty() && scope != "global") out_ += " scope " + scope;
}

void Printer::pools(const std::vector<std::string>& pools) {
  if (pools.empty()) return;
  out_ += " pools";
  for (const std::string& pool : pools) out_ += (&pool == &pools.front() ? " " : ", ") + pool;
}

template <class Refs>
void Printer::list(const Refs& exprs) {
  bool is_first = true;
  for (const ExprRef& element : exprs) {
    if (!is_first) out_ += ", ";
    is_first = false;
    expr(*element);
  }
}

void Printer::expr(const Expr& expr, int context) {
  switch (expr.kind) {
    case ExprKind::int_imm:
      out_ += int_literal(expr.int_value, expr.type);
      break;
    case ExprKind::float_imm:
      out_ += float_literal(expr.float_value, expr.type);
      break;
    case ExprKind::string_imm:
      out_ += string_literal(expr.text);
      break;
    case ExprKind::var:
      out_ += names_.of(expr.var);
      break;
    case ExprKind::not_:
      if (context > not_binding) out_ += "(";
      out_ += "not ";
      this->expr(*expr.operands[0], not_binding);
      if (context > not_binding) out_ += ")";
      break;
    case ExprKind::load:
      access(expr.var, expr.type, *expr.operands[0], expr.operands.size() > 1 ? expr.operands[1].get() : nullptr);
      break;
    case ExprKind::ramp:
    case ExprKind::broadcast:
    case ExprKind::shuffle:
      vector(expr);
      break;
    case ExprKind::let:
      out_ += "(let " + names_.of(expr.var) + " = ";
      this->expr(*expr.operands[0]);
      out_ += " in ";
      this->expr(*expr.operands[1]);
      out_ += ")";
      break;
    default:
      if (const Infix* const found = find_infix(expr.kind)) return infix(expr, *found, context);
      call(expr);
  }
}

void Printer::infix(const Expr& expr, const Infix& infix, int context) {
  const bool in_parentheses = context > infix.binding;
  if (in_parentheses) out_ += "(";
  // Operators group to the left; comparisons do not chain.
  this->expr(*expr.operands[0], infix.binding + (infix.binding == compare_binding ? 1 : 0));
  out_ += infix.symbol;
  this->expr(*expr.operands[1], infix.binding + 1);
  if (in_parentheses) out_ += ")";
}

void Printer::call(const Expr& expr) {
  out_ += function_name(expr);
  // The type of a call is shown where its operands do not let one guess it.
  if (expr.kind == ExprKind::call) {
    const bool is_plain = std::any_of(expr.operands.begin(), expr.operands.end(), [&](const ExprRef& operand) {
      return expr.type == int32_type || operand->type == expr.type;
    });
    if (!is_plain) out_ += "<" + to_string(expr.type) + ">";
  }
  out_ += "(";
  list(expr.operands);
  out_ += ")";
}

void Printer::vector(const Expr& expr) {
  if (expr.kind != ExprKind::shuffle) {
    out_ += expr.kind == ExprKind::ramp ? "ramp(" : "broadcast(";
    list(expr.operands);
    out_ += ", " + std::to_string(expr.type.lanes) + ")";
    return;
  }
  const auto split = expr.operands.begin() + expr.int_value;
  out_ += "shuffle([";
  list(std::vector<ExprRef>(expr.operands.begin(), split));
  out_ += "], [";
  list(std::vector<ExprRef>(split, expr.operands.end()));
  out_ += "])";
}

void Printer::access(VarId storage, DataType type, const Expr& index, const Expr* predicate) {
  const DataType declared = module_.var(storage).element.element();
  out_ += names_.of(storage);
  if (!declared.is_void() && declared != type.element()) out_ += ".as<" + to_string(type.element()) + ">";
  out_ += "[";
  expr(index);
  if (predicate != nullptr) {
    out_ += " where ";
    expr(*predicate);
  }
  out_ += "]";
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
