// SPDX-License-Identifier: Apache-2.0
#include "random_modules/tvm_spelling.hpp"

#include <bit>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "random_modules/values.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;

struct NoSpelling {};

std::string c_type(DataType type) {
  if (type.is_vector() || type.is_handle() || type.is_void()) throw NoSpelling();
  if (type.is_bool()) return "bool";
  if (type.is_integer()) return std::string(type.is_uint() ? "u" : "") + "int" + std::to_string(type.bits) + "_t";
  if (type.code != tir::TypeCode::float_ || type.bits < 32) throw NoSpelling();
  return type.bits == 64 ? "double" : "float";
}

std::string_view infix_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::add:
      return " + ";
    case ExprKind::sub:
      return " - ";
    case ExprKind::mul:
      return " * ";
    case ExprKind::div:
      return " / ";
    case ExprKind::mod:
      return " % ";
    case ExprKind::eq:
      return " == ";
    case ExprKind::ne:
      return " != ";
    case ExprKind::lt:
      return " < ";
    case ExprKind::le:
      return " <= ";
    case ExprKind::gt:
      return " > ";
    case ExprKind::ge:
      return " >= ";
    case ExprKind::and_:
      return " && ";
    case ExprKind::or_:
      return " || ";
    default:
      throw NoSpelling();
  }
}

// Statements before the one that is printed hold what TVM's C puts into variables.
class Speller {
 public:
  explicit Speller(const tir::Module& module) : module_(module) {}

  void name(tir::VarId var, std::string text) { names_[var] = std::move(text); }
  [[nodiscard]] const std::string& statements() const { return statements_; }

  // NOLINTBEGIN(misc-no-recursion): over expressions of the generator, a few levels deep.
  std::string value(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::int_imm:
        return literal(expr.int_value, expr.type);
      case ExprKind::float_imm:
        return real(expr.float_value, expr.type);
      case ExprKind::var:
        return names_.at(expr.var);
      case ExprKind::load:
        if (expr.operands.size() != 1) throw NoSpelling();
        return element(expr);
      case ExprKind::cast:
        return "((" + c_type(expr.type) + ")" + value(*expr.operands[0]) + ")";
      case ExprKind::not_:
        return "!(" + value(*expr.operands[0]) + ")";
      case ExprKind::select:
        return choice(*expr.operands[0], *expr.operands[1], *expr.operands[2]);
      case ExprKind::let: {
        const std::string outer = names_[expr.var];
        names_[expr.var] = variable(*expr.operands[0]);
        std::string body = value(*expr.operands[1]);
        names_[expr.var] = outer;
        return body;
      }
      case ExprKind::min:
      case ExprKind::max: {
        const std::string a = variable(*expr.operands[0]);
        const std::string b = variable(*expr.operands[1]);
        return "((" + a + (expr.kind == ExprKind::min ? ") < (" : ") > (") + b + ") ? (" + a + ") : (" + b + "))";
      }
      case ExprKind::floor_div:
      case ExprKind::floor_mod:
        return expr.type.is_float() ? float_floor(expr) : floor(expr);
      case ExprKind::mod:
        if (expr.type.is_float()) return call(expr.type.bits == 64 ? "fmod" : "fmodf", expr);
        return infix(expr, " % ");
      case ExprKind::call:
        return operation(expr);
      default:
        return infix(expr, infix_of(expr.kind));
    }
  }

 private:
  static std::string literal(std::int64_t bits, DataType type) {
    const std::int64_t number = wrapped(bits, type);
    if (type.is_bool()) return number != 0 ? "(bool)1" : "(bool)0";
    if (type.is_uint() && type.bits == 64) return std::to_string(static_cast<std::uint64_t>(number)) + "ULL";
    if (number == INT64_MIN) return "(-9223372036854775807LL - 1)";
    return type == tir::int32_type && number > INT32_MIN
               ? (number < 0 ? "(" + std::to_string(number) + ")" : std::to_string(number))
               : "((" + c_type(type) + ")" + std::to_string(number) + "LL)";
  }

  // TVM prints seven digits; here all of them.
  static std::string real(double number, DataType type) {
    const double exact = rounded(number, type);
    if (exact - exact != 0) throw NoSpelling();
    std::ostringstream text;
    text.precision(17);
    text << std::scientific << exact;
    return "((" + c_type(type) + ")" + text.str() + ")";
  }

  // Inputs are any bytes, and a bool that is neither 0 nor 1 is undefined in C.
  std::string element(const Expr& load) {
    const std::string type = load.type.is_bool() ? "uint8_t" : c_type(load.type);
    const std::string at = "((" + type + "*)" + names_.at(load.var) + ")[" + value(*load.operands[0]) + "]";
    return load.type.is_bool() ? "(" + at + " != 0)" : at;
  }

  // "int8_t v_ = p0[i] + p1[i];"
  std::string variable(const Expr& expr) {
    const std::string text = value(expr);
    std::string name = "v_" + std::to_string(count_++);
    statements_ += "    " + c_type(expr.type) + " " + name + " = " + text + ";\n";
    return name;
  }

  std::string infix(const Expr& expr, std::string_view op) {
    return "(" + value(*expr.operands[0]) + std::string(op) + value(*expr.operands[1]) + ")";
  }

  std::string choice(const Expr& condition, const Expr& yes, const Expr& no) {
    return "(" + value(condition) + " ? " + value(yes) + " : " + value(no) + ")";
  }

  std::string call(const std::string& function, const Expr& expr, std::size_t first = 0) {
    std::string text = function + "(";
    for (std::size_t i = first; i < expr.operands.size(); ++i)
      text += (i > first ? ", " : "") + value(*expr.operands[i]);
    return text + ")";
  }

  // Lowered before TVM prints it: a shift or a mask for powers of two, else C's quotient and remainder, corrected.
  std::string floor(const Expr& expr) {
    const bool is_quotient = expr.kind == ExprKind::floor_div;
    const std::string a = value(*expr.operands[0]);
    const auto divisor = tir::as_int(*expr.operands[1]);
    if (divisor && *divisor > 0 && std::has_single_bit(static_cast<std::uint64_t>(*divisor))) {
      const int bits = std::countr_zero(static_cast<std::uint64_t>(*divisor));
      return "(" + a + (is_quotient ? " >> " + std::to_string(bits) : " & " + literal(*divisor - 1, expr.type)) + ")";
    }
    const std::string b = value(*expr.operands[1]);
    const std::string quotient = "(" + a + " / " + b + ")";
    const std::string rest = "(" + a + " % " + b + ")";
    const std::string is_floor = "((" + b + " >= 0 && " + rest + " >= 0) || (" + b + " < 0 && " + rest + " <= 0))";
    return "(" + is_floor + " ? " +
           (is_quotient ? quotient + " : (" + quotient + " - 1)" : rest + " : (" + rest + " + " + b + ")") + ")";
  }

  std::string float_floor(const Expr& expr) {
    const std::string quotient =
        std::string(expr.type.bits == 64 ? "floor" : "floorf") + "(" + infix(expr, " / ") + ")";
    if (expr.kind == ExprKind::floor_div) return quotient;
    return "(" + value(*expr.operands[0]) + " - (" + quotient + " * " + value(*expr.operands[1]) + "))";
  }

  std::string operation(const Expr& expr) {
    const std::string op(tir::operator_name(expr).substr(4));
    static const std::map<std::string, std::string> infixes = {
        {"bitwise_and", " & "}, {"bitwise_or", " | "}, {"bitwise_xor", " ^ "}, {"shift_right", " >> "}};
    if (const auto found = infixes.find(op); found != infixes.end()) return infix(expr, found->second);
    if (op == "shift_left") {  // TVM's "a << b", where that is defined
      const DataType computed = promoted_type(expr.type);
      const DataType bits{tir::TypeCode::uint, computed.bits, 1};
      return "((" + c_type(computed) + ")((" + c_type(bits) + ")" + value(*expr.operands[0]) + " << " +
             value(*expr.operands[1]) + "))";
    }
    if (op == "bitwise_not") return (expr.type.is_bool() ? "(!" : "(~") + value(*expr.operands[0]) + ")";
    if (op == "likely") return value(*expr.operands[0]);
    if (op == "if_then_else") return choice(*expr.operands[0], *expr.operands[1], *expr.operands[2]);
    if (op == "reinterpret") {
      const std::string source = variable(*expr.operands[0]);
      return "(*(" + c_type(expr.type) + " *)(&(" + source + ")))";
    }
    if (op == "q_multiply_shift" || expr.op == tir::Op::q_multiply_shift_half) return fixed_point(expr);
    if (op == "call_pure_extern") return call(expr.operands[0]->text, expr, 1);
    if (op == "isnan") return "(" + value(*expr.operands[0]) + " != " + value(*expr.operands[0]) + ")";
    static const std::map<std::string, bool> functions = {{"ceil", true},  {"fabs", true}, {"floor", true},
                                                          {"round", true}, {"sqrt", true}, {"trunc", true},
                                                          {"exp", true},   {"tanh", true}, {"pow", true}};
    if (!expr.type.is_float() || !functions.contains(op)) throw NoSpelling();
    (void)c_type(expr.type);
    return call(op + (expr.type.bits == 64 ? "" : "f"), expr);
  }

  // In 64 bits, rounded with halves up; by one half in 32.
  std::string fixed_point(const Expr& expr) {
    const auto factor = tir::as_int(*expr.operands[1]);
    const auto shift = tir::as_int(*expr.operands[3]);
    const auto q = tir::as_int(*expr.operands[2]);
    if (!factor || !shift || !q) throw NoSpelling();
    const std::string x = value(*expr.operands[0]);
    if (expr.op == tir::Op::q_multiply_shift_half) {
      const std::int64_t e = *shift - 1;
      if (e >= 0) return "(" + x + " * (1 << " + std::to_string(e) + "))";
      return "((" + x + " + (1 << " + std::to_string(-e - 1) + ")) >> " + std::to_string(-e) + ")";
    }
    const std::string left =
        "((int64_t)" + x + " * ((int64_t)1 << " + std::to_string(std::max<std::int64_t>(*shift, 0)) + "))";
    const std::string right = std::to_string(*q + std::max<std::int64_t>(-*shift, 0));
    return "((int32_t)((" + left + " * " + literal(*factor, tir::int64_type) + " + ((int64_t)1 << (" + right +
           " - 1))) >> " + right + "))";
  }
  // NOLINTEND(misc-no-recursion)

  const tir::Module& module_;
  std::map<tir::VarId, std::string> names_;
  std::string statements_;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<Emitted> in_tvm_spelling(const TestModule& test) {
  const tir::Function& entry = test.module.functions[test.module.entry];
  const auto& loop = std::get<tir::For>(entry.body.at(0).node);
  const auto& store = std::get<tir::Store>(loop.body.at(0).node);
  Speller speller(test.module);
  const std::string symbol = std::string("tvmgen_") + module_name;
  std::string members[2];
  const auto declare = [&](const std::vector<std::size_t>& params, const char* side, std::string& text) {
    for (const std::size_t i : params) {
      text += "  void* " + entry.params[i].name + ";\n";
      speller.name(entry.params[i].var, std::string(side) + "->" + entry.params[i].name);
    }
  };
  declare(test.inputs, "inputs", members[0]);
  declare(test.outputs, "outputs", members[1]);
  speller.name(loop.var, "i");
  Emitted emitted{.origin = "TVM's spelling",
                  .workspace_io = false,
                  .external_pools = {},
                  .header = {},
                  .entry = {},
                  .operators = {}};
  try {
    const DataType type = store.value->type;
    const std::string value = speller.value(*store.value);
    const std::string target = "outputs->" + entry.params[test.outputs.at(0)].name;
    emitted.header = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\nstruct " + symbol + "_inputs {\n" +
                     members[0] + "};\nstruct " + symbol + "_outputs {\n" + members[1] + "};\n";
    emitted.operators = "static int32_t " + symbol + "_run(struct " + symbol + "_inputs* inputs, struct " + symbol +
                        "_outputs* outputs) {\n  int32_t i;\n  for (i = 0; i < " +
                        std::to_string(*tir::as_int(*loop.extent)) + "; ++i) {\n" + speller.statements() + "    ((" +
                        (type.is_bool() ? std::string("uint8_t") : c_type(type)) + "*)" + target + ")[i] = " + value +
                        ";\n  }\n  return 0;\n}\n";
    return emitted;
  } catch (const NoSpelling&) {
    return std::nullopt;
  }
}

}  // namespace usmp::random_modules
