// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pointer expressions, and calls of functions by name: module functions, C of the archive, and externs.
//
// Types follow from the declarations that facts.cpp chose. A cast appears where a pointer's type differs from what is
// asked for, through void* where the element changes (so that neither -Wcast-align nor a C++ compiler objects).
#include <algorithm>

#include "codegen/c_library.hpp"
#include "codegen/expressions.hpp"
#include "usmp/program/pointers.hpp"

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

std::string element_of(DataType type) {
  return has_c_type(type.element()) ? storage_type(type.element()) : std::string("void");
}

bool is_access_ptr(const Expr& expr) { return expr.kind == ExprKind::call && expr.op == tir::Op::tvm_access_ptr; }

// C types of the parameters in "int32_t f(const int8_t* a, int n)"; nothing if the text is no such list.
std::optional<std::vector<std::string>> types_of_prototype(const std::string& prototype) {
  const std::size_t open = prototype.find('(');
  const std::size_t close = prototype.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const std::string list = prototype.substr(open + 1, close - open - 1);
  if (list.find_first_of("()[]") != std::string::npos) return std::nullopt;
  std::vector<std::string> types;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string type = list.substr(begin, end - begin);
    while (!type.empty() && type.back() == ' ') type.pop_back();
    const std::size_t name = type.find_last_of("* ");  // the parameter's name follows
    if (name != std::string::npos && name + 1 < type.size()) type.resize(name + 1);
    while (!type.empty() && type.back() == ' ') type.pop_back();
    type.erase(0, type.find_first_not_of(' '));
    types.push_back(type);
    begin = end + 1;
  }
  if (types.size() == 1 && (types[0].empty() || types[0] == "void")) types.clear();
  return types;
}

}  // namespace

bool is_null(const Expr& root) {
  const Expr* expr = &root;
  while (expr->kind == ExprKind::call && expr->op == tir::Op::reinterpret && expr->operands.size() == 1) {
    expr = expr->operands[0].get();
  }
  return expr->kind == ExprKind::int_imm && expr->int_value == 0;
}

bool ExpressionPrinter::is_never_null(const Expr& root) const {
  const Expr* expr = &root;
  while (true) {
    const bool is_pun =
        expr->kind == ExprKind::cast || (expr->kind == ExprKind::call && expr->op == tir::Op::reinterpret);
    const bool is_start = is_access_ptr(*expr) && expr->operands.size() > 2 && tir::as_int(*expr->operands[2]) == 0;
    const auto value = expr->kind == ExprKind::var ? substituted_.find(expr->var) : substituted_.end();
    if (is_pun && expr->operands.size() == 1) {
      expr = expr->operands[0].get();
    } else if (is_start) {
      expr = expr->operands[1].get();
    } else if (value != substituted_.end() && value->second->kind != ExprKind::let) {
      expr = value->second;
    } else {
      break;
    }
  }
  if (expr->kind == ExprKind::var) return constants_.contains(expr->var);
  return expr->kind == ExprKind::call && (expr->op == tir::Op::address_of || is_access_ptr(*expr));
}

PointerType ExpressionPrinter::pointer_type_of(const Expr& root) const {
  const auto parts = [&](const Expr& expr, std::vector<const Expr*>& list) {
    if (expr.kind == ExprKind::var) {
      if (const auto found = substituted_.find(expr.var); found != substituted_.end()) list.push_back(found->second);
    } else if (expr.op != tir::Op::reinterpret || expr.operands.empty() || expr.operands[0]->type.is_handle()) {
      program::append_pointer_parts(expr, list);
    }
  };
  const auto combine = [&](const Expr& expr, std::span<const PointerType> types) -> PointerType {
    if (expr.kind == ExprKind::var) return types.empty() ? pointer(expr.var).type : types[0];
    if (expr.kind == ExprKind::call && expr.op == tir::Op::address_of && expr.operands.size() == 1) {
      const Expr& load = *expr.operands[0];
      return {element_of(load.type), pointer(load.var).type.is_const};
    }
    if (types.empty()) return {};
    if (is_access_ptr(expr)) return {element_of(expr.operands[0]->type), types[0].is_const};
    if (types.size() == 1 || is_null(*expr.operands[2])) return types[0];
    if (is_null(*expr.operands[1])) return types[1];
    return {types[0].element == types[1].element ? types[0].element : "void", types[0].is_const || types[1].is_const};
  };
  return tir::fold<PointerType>(root, parts, combine);
}

void ExpressionPrinter::add_pointer(const Expr& expr, const PointerType& target, int min) {
  later([=, this, &expr] { add_converted_pointer(expr, target, min); });
}

void ExpressionPrinter::add_address(const ExprRef& element, bool is_const) {
  const Expr& address = keep(tir::make_call(tir::handle_type, tir::Op::address_of, {element}));
  add_pointer(address, {c_type(element->type), is_const});
}

void ExpressionPrinter::add_converted_pointer(const Expr& expr, const PointerType& target, int min) {
  if (expr.kind == ExprKind::string_imm) return add(expr, min);
  if (is_null(expr)) {
    file_.helpers.need_header("stddef.h");
    return add("NULL");
  }
  const PointerType own = pointer_type_of(expr);
  const bool converts = (own.element == target.element || target.is_void()) && (target.is_const || !own.is_const);
  if (converts) return add_pointer_as_is(expr, min);
  const bool opened = open(prec_unary, min);
  add("(" + to_string(target) + ")");
  const bool changes_element = own.element != target.element && !own.is_void() && !target.is_void();
  if (own.is_const && !target.is_const) {  // of a function of others that does not say that it only reads
    file_.helpers.need_header("stdint.h");
    add("(uintptr_t)");
  } else if (changes_element) {
    add(target.is_const ? "(const void*)" : "(void*)");
  }
  add_pointer_as_is(expr, prec_unary);
  close(opened);
}

void ExpressionPrinter::add_offset_pointer(const Expr& base, const std::string& element, const Expr& offset, int min) {
  const PointerType type{element, pointer_type_of(base).is_const};
  const auto constant = tir::as_int(offset);
  if (constant == 0) return add_pointer(base, type, min);
  const bool opened = open(prec_add, min);
  add_pointer(base, type, prec_add);
  add(constant && *constant < 0 ? " - " : " + ");
  if (constant && *constant < 0 && *constant > INT64_MIN) {
    add(int_literal(-*constant, offset.type, true));
  } else {
    add_converted(offset, prec_multiply);
  }
  close(opened);
}

void ExpressionPrinter::add_pointer_as_is(const Expr& expr, int min) {
  check_depth();
  if (is_null(expr)) {
    file_.helpers.need_header("stddef.h");
    return add("NULL");
  }
  switch (expr.kind) {
    case ExprKind::var:
      return add_var(expr, min, 0);
    case ExprKind::let:
      return add_let(expr, min, 0);
    case ExprKind::cast:
      return later([=, this, &expr] { add_pointer_as_is(*expr.operands[0], min); });
    case ExprKind::select:
    case ExprKind::call:
      break;
    default:
      unsupported("a pointer is computed by an unsupported expression");
  }
  if (expr.op == tir::Op::address_of) {
    need_operands(expr, 1);
    const Expr& load = *expr.operands[0];
    if (load.kind != ExprKind::load) unsupported("operator tir.address_of is not applied to a load");
    ExprRef index = load.operands[0];
    if (index->kind == ExprKind::ramp) index = index->operands[0];
    if (index->type.is_vector()) unsupported("operator tir.address_of is applied to a gather");
    return add_offset_pointer(keep(tir::make_var(module_, load.var)), element_of(load.type), *index, min);
  }
  if (is_access_ptr(expr)) {
    if (expr.operands.size() < 3) unsupported("operator tir.tvm_access_ptr has too few operands");
    const std::string element = element_of(expr.operands[0]->type);
    if (element == "void") unsupported("operator tir.tvm_access_ptr has a type without a C equivalent");
    return add_offset_pointer(*expr.operands[1], element, *expr.operands[2], min);
  }
  if (expr.op == tir::Op::reinterpret && expr.operands.size() == 1) {
    const Expr& value = *expr.operands[0];
    if (value.type.is_handle()) return later([=, this, &value] { add_pointer_as_is(value, min); });
    const bool opened = open(prec_unary, min);
    add("(void*)(uintptr_t)");
    add(value, prec_unary);
    return close(opened);
  }
  if (expr.kind == ExprKind::select || expr.op == tir::Op::if_then_else) {
    if (expr.operands.size() != 3) unsupported("operator " + name_of_operator(expr) + " does not have three operands");
    const PointerType type = pointer_type_of(expr);
    const bool opened = open(prec_ternary, min);
    add_condition(*expr.operands[0], 0);
    add(" ? ");
    const PointerType first = pointer_type_of(*expr.operands[1]);
    if (type.is_void() && !first.is_void()) {  // C joins different types only if one of them is void already
      add("(" + to_string(type) + ")");
      add_pointer(*expr.operands[1], {first.element, type.is_const}, prec_unary);
    } else {
      add_pointer(*expr.operands[1], type, prec_or);
    }
    add(" : ");
    add_pointer(*expr.operands[2], type, prec_or);
    return close(opened);
  }
  if (const auto call = tir::named_call(expr)) return add_call(*call, expr.type);
  if (expr.op == tir::Op::lookup_param) {
    unsupported("operator tir.lookup_param refers to a linked parameter, which archives do not contain");
  }
  unsupported("operator " + name_of_operator(expr) + " is not supported here");
}

// --- Calls -----------------------------------------------------------------------------------------------------------

void ExpressionPrinter::add_call(const tir::NamedCall& call, DataType result) {
  const auto callee = module_.find(*call.name);
  const bool is_module_function = callee && !tir::is_opaque(module_, module_.functions[*callee]);
  if (is_module_function) {
    const tir::Function& function = module_.functions[*callee];
    const FunctionFacts& facts = file_.facts.functions[*callee];
    add(c_identifier(function.name) + "(");
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (i > 0) add(", ");
      const tir::VarId param = function.params[i].var;
      if (module_.var(param).type.is_handle() != call.arguments[i]->type.is_handle()) {
        unsupported("argument " + std::to_string(i) + " of a call of '" + *call.name + "' is " +
                    tir::to_string(call.arguments[i]->type) + ", but the parameter is " +
                    tir::to_string(module_.var(param).type));
      }
      if (module_.var(param).type.is_handle()) {
        add_pointer(*call.arguments[i], facts.pointers.at(param).type);
      } else {
        add_assigned(*call.arguments[i]);
      }
    }
    return add(")");
  }
  const ExternFunction& function = extern_function(call, result);
  if (function.checks_arguments && function.parameters.size() != call.arguments.size()) {
    unsupported("a call passes " + std::to_string(call.arguments.size()) + " arguments to '" + *call.name +
                "', which takes " + std::to_string(function.parameters.size()) +
                (function.is_foreign && function.parameters.size() > call.arguments.size()
                     ? ": C that TVM planned takes its pools, too; read the archive with --from c"
                     : ""));
  }
  add(*call.name + "(");
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) add(", ");
    add_argument(*call.arguments[i], function.checks_arguments ? function.parameters[i] : std::string());
  }
  add(")");
}

// To a parameter of that C type; of an unknown type if it is empty: then a pointer is passed without const, since a
// function that only reads is often declared without it.
void ExpressionPrinter::add_argument(const Expr& argument, const std::string& c_type) {
  if (argument.kind == ExprKind::string_imm) return add(argument);
  if (!argument.type.is_handle()) return add_assigned(argument);
  const std::size_t star = c_type.rfind('*');
  if (star == std::string::npos) return add_pointer(argument, {pointer_type_of(argument).element, false});
  std::string element = c_type.substr(0, star);
  while (!element.empty() && element.back() == ' ') element.pop_back();
  const bool is_const = element.starts_with("const ");
  if (is_const) element.erase(0, 6);
  add_pointer(argument, {element, is_const});
}

bool ExpressionPrinter::gives_nothing(const std::string& function) const {
  const auto found = file_.foreign.find(function);
  if (found == file_.foreign.end()) return false;
  const std::string& prototype = found->second->prototype;
  return prototype.starts_with("void ") && prototype.find('*') > prototype.find('(');
}

const ExternFunction& ExpressionPrinter::extern_function(const tir::NamedCall& call, DataType result) {
  const std::string& name = *call.name;
  const auto known = file_.extern_places.find(name);
  if (known != file_.extern_places.end()) return file_.externs[known->second].second;
  if (name != c_identifier(name)) unsupported("the called function '" + name + "' has no name in C");
  file_.externs.emplace_back(name, derive_extern(call, result));
  file_.extern_places.emplace(name, file_.externs.size() - 1);
  return file_.externs.back().second;
}

ExternFunction ExpressionPrinter::derive_extern(const tir::NamedCall& call, DataType result) {
  const std::string& name = *call.name;
  ExternFunction function{.declaration = {}, .parameters = {}, .checks_arguments = false, .is_foreign = false};
  if (const std::string_view header = standard_header_of(name); !header.empty()) {
    file_.helpers.need_header(header);
    return function;
  }
  const bool is_imported = file_.imported_names.contains(name);
  if (const auto foreign = file_.foreign.find(name); foreign != file_.foreign.end()) {
    const std::string& prototype = foreign->second->prototype;
    if (prototype.empty()) return function;  // a header that the imported C includes has it
    const auto types = types_of_prototype(prototype);
    return {.declaration = is_imported ? std::string() : prototype,
            .parameters = types.value_or(std::vector<std::string>()),
            .checks_arguments = types.has_value(),
            .is_foreign = true};
  }
  if (is_imported) return function;
  if (is_reserved_name(name) && !name.starts_with("TVMBackend")) {
    unsupported("the called function '" + name + "' has a name that is reserved in C");
  }
  function.checks_arguments = true;
  std::string list;
  for (const ExprRef& argument : call.arguments) {
    std::string type = argument->type.is_handle() ? "void*" : c_type(argument->type);
    if (argument->kind == ExprKind::string_imm) type = "const char*";
    list += (list.empty() ? "" : ", ") + type;
    function.parameters.push_back(type);
  }
  const std::string returned = result.is_void() ? "void" : c_type(result);
  function.declaration = returned + " " + name + "(" + (list.empty() ? "void" : list) + ")";
  return function;
}

}  // namespace usmp::codegen
