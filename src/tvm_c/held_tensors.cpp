// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/held_tensors_test.cpp.
#include "tvm_c/held_tensors.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <variant>

#include "usmp/tir/builder.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_arguments = 100;  // of one function: compilers need not take more than 127

bool is_memory(const tir::Expr& argument) {
  return argument.kind != tir::ExprKind::string_imm && argument.type.is_handle();
}

class Holder {
 public:
  Holder(const AddressKeepers& keepers, const std::function<bool(const std::string&)>& is_unknown, tir::Module& module)
      : keepers_(keepers), is_unknown_(is_unknown), module_(module) {
    for (const tir::Function& function : module.functions) {
      if (!tir::is_opaque(module, function)) read_.insert(function.name);
    }
  }

  void hold_in(tir::Function& function, bool is_entry) {
    std::set<tir::VarId> visible;
    for (const tir::Param& param : function.params) visible.insert(param.var);
    std::vector<tir::VarId> passed;  // to what may go on
    std::set<tir::VarId> known;
    std::size_t waited_for = 0;  // of `passed`: in front of the last statement that may wait
    std::size_t wait = 0;        // behind that
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const tir::Stmt& stmt = function.body[i];
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) visible.insert(allocate->var);
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) visible.insert(let->var);
      bool may_wait = false;
      std::vector<const tir::Expr*> arguments;
      const auto visit = [&](const tir::Expr& expr) {
        const auto call = tir::named_call(expr);
        if (!call || expr.op == tir::Op::call_pure_extern || read_.contains(*call->name)) return;
        bool gets_memory = false;
        for (const tir::ExprRef& argument : call->arguments) gets_memory = gets_memory || is_memory(*argument);
        may_wait = may_wait || !gets_memory;
        const bool is_keeper = keepers_.contains(*call->name);
        if (!is_keeper && (is_entry || !is_unknown_(*call->name))) return;
        for (const tir::ExprRef& argument : call->arguments) {
          if (!is_memory(*argument)) continue;
          arguments.push_back(argument.get());
          if (is_entry && !is_of_params(*argument, function)) add_function(*call->name);
        }
      };
      tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) { tir::for_each_expr(*expr, visit); });
      for (const tir::Block* block : tir::blocks_of(stmt)) tir::for_each_expr_in(*block, visit);
      if (may_wait) {
        waited_for = passed.size();
        wait = i + 1;
      }
      for (const tir::Expr* argument : arguments) {
        tir::for_each_expr(*argument, [&](const tir::Expr& expr) {
          const bool names_memory = (expr.kind == tir::ExprKind::var && expr.type.is_handle()) ||
                                    expr.kind == tir::ExprKind::load;  // whose address is passed
          if (names_memory && visible.contains(expr.var) && known.insert(expr.var).second) passed.push_back(expr.var);
        });
      }
    }
    passed.resize(waited_for);
    result_.by_entry = result_.by_entry || (is_entry && !passed.empty());
    add_calls(passed, wait, function.body);
  }

  HeldTensors take() && { return std::move(result_); }

 private:
  // The application's memory.
  static bool is_of_params(const tir::Expr& argument, const tir::Function& function) {
    return std::any_of(function.params.begin(), function.params.end(),
                       [&](const tir::Param& param) { return tir::mentions(argument, param.var); });
  }

  void add_function(const std::string& name) {
    if (std::find(result_.functions.begin(), result_.functions.end(), name) == result_.functions.end())
      result_.functions.push_back(name);
  }

  void add_calls(const std::vector<tir::VarId>& passed, std::size_t at, tir::Block& body) {
    for (std::size_t begin = 0; begin < passed.size(); begin += most_arguments) {
      const std::string name = "usmp_held_" + std::to_string(++functions_);
      std::vector<tir::ExprRef> arguments = {tir::make_string(name)};
      std::string params;
      std::string uses;
      for (std::size_t i = begin; i < std::min(begin + most_arguments, passed.size()); ++i) {
        arguments.push_back(tir::make_var(module_, passed[i]));
        const std::string param = "tensor_" + std::to_string(i + 1);
        params += (params.empty() ? "" : ", ") + ("const void* " + param);
        uses += "  (void)" + param + ";\n";
      }
      const tir::Evaluate call{tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments))};
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(at), {call});
      result_.text += "\nstatic inline void " + name + "(" + params + ") {\n" + uses + "}\n";
    }
  }

  const AddressKeepers& keepers_;
  const std::function<bool(const std::string&)>& is_unknown_;
  tir::Module& module_;
  std::set<std::string_view> read_;  // functions that are not opaque
  HeldTensors result_;
  std::size_t functions_ = 0;
};

}  // namespace

HeldTensors hold_tensors(const AddressKeepers& keepers, const std::function<bool(const std::string&)>& is_unknown,
                         const std::string& entry, tir::Module& module) {
  Holder holder(keepers, is_unknown, module);
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) holder.hold_in(function, function.name == entry);
  }
  return std::move(holder).take();
}

}  // namespace usmp::tvm_c
