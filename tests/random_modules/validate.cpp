#include "random_modules/validate.hpp"

#include <algorithm>
#include <vector>

#include "random_modules/values.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

struct Malformed {
  std::string what;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw Malformed{what};
}

std::size_t least_operands(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::int_imm:
    case ExprKind::float_imm:
    case ExprKind::string_imm:
    case ExprKind::var:
    case ExprKind::call:
      return 0;
    case ExprKind::not_:
    case ExprKind::cast:
    case ExprKind::load:
    case ExprKind::broadcast:
    case ExprKind::shuffle:
      return 1;
    case ExprKind::select:
      return 3;
    default:
      return 2;
  }
}

bool takes_more_operands(ExprKind kind) {
  return kind == ExprKind::call || kind == ExprKind::load || kind == ExprKind::shuffle;
}

// The scopes of one module, function by function.
class Validator {
 public:
  explicit Validator(const tir::Module& module) : module_(module), functions_(module.vars.size()), open_(functions_) {}

  void run() {
    const auto is_before = [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; };
    for (std::size_t i = 1; i < module_.functions.size(); ++i) {
      require(is_before(module_.functions[i - 1], module_.functions[i]),
              "functions are not sorted by name: " + module_.functions[i].name);
    }
    require(module_.entry < module_.functions.size() && module_.functions[module_.entry].is_entry, "no entry");
    for (const tir::Function& function : module_.functions) {
      ++current_;
      declared_.clear();
      try {
        for (const tir::Param& param : function.params) declare(param.var);
        walk(function.body, *this);
        for (const tir::Param& param : function.params) --open_[param.var.index()];
      } catch (const Malformed& fault) {
        throw Malformed{function.name + ": " + fault.what};
      }
    }
  }

  // --- Called by walk
  void open(const tir::Block& /*block*/, const tir::Stmt* owner) {
    marks_.push_back(declared_.size());
    const auto* const loop = owner == nullptr ? nullptr : std::get_if<tir::For>(&owner->node);
    if (loop != nullptr) declare(loop->var);
  }
  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) {
    for (; declared_.size() > marks_.back(); declared_.pop_back()) --open_[declared_.back().index()];
    marks_.pop_back();
  }
  void statement(const tir::Stmt& stmt) {
    for_each_expr_of(stmt, [this](const ExprRef& expr) { check_tree(*expr); });
    std::visit(tir::Overloaded{
                   [&](const tir::Allocate& s) {
                     require_pointer(s.var);
                     declare(s.var);
                   },
                   [&](const tir::AllocateConst& s) {
                     require_pointer(s.var);
                     require(s.data != nullptr, "a constant without data");
                     require(s.data->type.element_bytes() == s.type.element_bytes(),
                             "a constant of another type than its data: " + name(s.var));
                     declare(s.var);
                   },
                   [&](const tir::Let& s) {
                     require(s.value->type == module_.var(s.var).type, "a let of another type");
                     declare(s.var);
                   },
                   [&](const tir::Store& s) { check_store(s); },
                   [&](const tir::For& s) {
                     require(s.min->type.is_integer() && s.extent->type.is_integer(), "a loop over no integers");
                     require(module_.var(s.var).type == s.extent->type, "a loop of another type than its variable");
                   },
                   [&](const tir::IfThenElse& s) {
                     require(s.condition->type == tir::bool_type, "a condition that is no bool");
                   },
                   [](const auto&) {}},
               stmt.node);
  }

 private:
  std::string name(VarId var) const {
    return var.index() < module_.vars.size() ? module_.var(var).name : "variable " + std::to_string(var.index());
  }

  void declare(VarId var) {
    require(var.index() < module_.vars.size(), "a variable that there is not");
    require(open_[var.index()] == 0, "declared inside of its own scope: " + name(var));
    require(functions_[var.index()] == 0 || functions_[var.index()] == current_,
            "declared by another function too: " + name(var));
    functions_[var.index()] = current_;
    ++open_[var.index()];
    declared_.push_back(var);
  }

  void require_open(VarId var) const {
    require(var.index() < module_.vars.size(), "a variable that there is not");
    require(open_[var.index()] > 0 && functions_[var.index()] == current_, "used outside of its scope: " + name(var));
  }
  void require_pointer(VarId var) const {
    require(var.index() < module_.vars.size() && module_.var(var).type.is_handle(), "no pointer: " + name(var));
  }

  void check_store(const tir::Store& store) const {
    require_open(store.storage);
    require_pointer(store.storage);
    require(store.index->type.is_integer(), "a store at no integer: " + name(store.storage));
    require(store.index->type.lanes == store.value->type.lanes, "lanes of a store differ: " + name(store.storage));
  }

  // What a let binds is in scope in its body only.
  void check_tree(const Expr& root) {
    struct Step {
      const Expr* expr;  // null: the let of `var` begins, or ends
      VarId var;
      bool begins;
    };
    std::vector<Step> steps = {{&root, VarId(0), false}};
    while (!steps.empty()) {
      const Step step = steps.back();
      steps.pop_back();
      if (step.expr == nullptr) {
        if (step.begins) {
          declare(step.var);
          declared_.pop_back();  // closed here, not with the block
        } else {
          --open_[step.var.index()];
        }
        continue;
      }
      check(*step.expr);
      const tir::Operands& operands = step.expr->operands;
      if (step.expr->kind == ExprKind::let) {
        steps.push_back({nullptr, step.expr->var, false});
        steps.push_back({operands[1].get(), step.expr->var, false});
        steps.push_back({nullptr, step.expr->var, true});
        steps.push_back({operands[0].get(), step.expr->var, false});
        continue;
      }
      for (std::size_t i = operands.size(); i-- > 0;) steps.push_back({operands[i].get(), step.expr->var, false});
    }
  }

  void check(const Expr& expr) const {
    const tir::Operands& operands = expr.operands;
    const std::size_t least = least_operands(expr);
    require(operands.size() >= least && (operands.size() == least || takes_more_operands(expr.kind)),
            "a wrong number of operands");
    require(std::all_of(operands.begin(), operands.end(), [](const ExprRef& operand) { return operand != nullptr; }),
            "an operand is missing");
    const auto type = [&](std::size_t i) { return operands[i]->type; };
    switch (expr.kind) {
      case ExprKind::int_imm:
        require(expr.type.is_integer() && wrapped(expr.int_value, expr.type) == expr.int_value,
                "a literal that does not fit its type: " + std::to_string(expr.int_value));
        return;
      case ExprKind::float_imm:
        require(expr.type.is_float(), "a literal of another type");
        return;
      case ExprKind::string_imm:
        return;
      case ExprKind::var:
        require_open(expr.var);
        require(expr.type == module_.var(expr.var).type, "a variable of another type: " + name(expr.var));
        return;
      case ExprKind::select:
        require(type(0).is_bool() && type(1) == expr.type && type(2) == expr.type, "types of a select differ");
        return;
      case ExprKind::not_:
        require(expr.type.is_bool() && type(0) == expr.type, "not of no bool");
        return;
      case ExprKind::cast:
        require(type(0).lanes == expr.type.lanes && type(0).is_handle() == expr.type.is_handle(), "an odd cast");
        return;
      case ExprKind::load:
        require_open(expr.var);
        require_pointer(expr.var);
        require(type(0).is_integer() && type(0).lanes == expr.type.lanes, "an odd load: " + name(expr.var));
        return;
      case ExprKind::let:
        require(type(0) == module_.var(expr.var).type && type(1) == expr.type, "types of a let differ");
        return;
      case ExprKind::call:
        check_call(expr);
        return;
      case ExprKind::ramp:
      case ExprKind::broadcast:
      case ExprKind::shuffle:
        return;
      default:
        check_binary(expr);
    }
  }

  static void check_binary(const Expr& expr) {
    const DataType operand = expr.operands[0]->type;
    require(expr.operands[1]->type == operand, "operands of different types");
    const bool is_logic = expr.kind == ExprKind::and_ || expr.kind == ExprKind::or_;
    const bool compares = expr.kind >= ExprKind::eq && expr.kind <= ExprKind::ge;
    require(!is_logic || operand.is_bool(), "logic of no bools");
    require(expr.type == (compares ? tir::bool_type.with_lanes(operand.lanes) : operand), "a result of another type");
  }

  void check_call(const Expr& expr) const {
    if (expr.op == tir::Op::address_of) {
      require(expr.operands.size() == 1 && expr.operands[0]->kind == ExprKind::load, "the address of no element");
    }
    if (expr.op == tir::Op::tvm_access_ptr) {
      require(expr.operands.size() == 5 && expr.operands[0]->op == tir::Op::type_annotation &&
                  expr.operands[1]->type.is_handle(),
              "an odd tvm_access_ptr");
    }
    const auto call = tir::named_call(expr);
    if (!call) return;
    require(
        expr.op != tir::Op::tvm_call_cpacked || (expr.operands.size() >= 2 && expr.operands.back()->type.is_handle()),
        "a packed call without its resource handle");
    const auto callee = module_.find(*call->name);
    if (!callee) return;
    const tir::Function& function = module_.functions[*callee];
    require(function.params.size() == call->arguments.size(), "a wrong number of arguments for " + function.name);
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      require(call->arguments[i]->type.is_handle() == module_.var(function.params[i].var).type.is_handle(),
              "an argument of another type for " + function.name);
    }
  }

  const tir::Module& module_;
  std::size_t current_ = 0;             // function, from 1
  std::vector<std::size_t> functions_;  // by VarId: which declares it; 0: none so far
  std::vector<std::size_t> open_;       // by VarId: 1 while in scope
  std::vector<VarId> declared_;         // in scope
  std::vector<std::size_t> marks_;      // number of these when a block began
};

}  // namespace

std::optional<std::string> fault_of(const tir::Module& module) {
  try {
    Validator(module).run();
    return std::nullopt;
  } catch (const Malformed& fault) {
    return fault.what;
  }
}

std::optional<std::string> difference_of_interfaces(const tir::Module& before, const tir::Module& after) {
  const tir::Function& old_entry = before.functions[before.entry];
  const tir::Function& new_entry = after.functions[after.entry];
  if (old_entry.name != new_entry.name) return "the entry is now " + new_entry.name;
  if (old_entry.params.size() != new_entry.params.size()) return "the entry has another number of parameters";
  for (std::size_t i = 0; i < old_entry.params.size(); ++i) {
    const tir::Param& a = old_entry.params[i];
    const tir::Param& b = new_entry.params[i];
    const bool is_same = a.name == b.name && a.is_tensor == b.is_tensor && a.element == b.element &&
                         a.shape == b.shape && before.var(a.var).type == after.var(b.var).type;
    if (!is_same) return "parameter " + std::to_string(i) + " of the entry is another: " + a.name;
  }
  return std::nullopt;
}

}  // namespace usmp::random_modules
