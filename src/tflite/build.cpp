// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a function of each operator, and an entry that calls them.
#include "tflite/build.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tflite/operators.hpp"
#include "tflite/prepare.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tflite {
namespace {

constexpr std::size_t most_name_letters = 40;

// "conv1_Relu" of "model/conv1/Relu;model/bn/FusedBatchNorm": the first name's last parts.
std::string short_name(const std::string& name) {
  std::string first = name.substr(0, name.find(';'));
  const std::size_t colon = first.rfind(':');
  if (colon != std::string::npos && colon > 0) first.resize(colon);
  if (first.size() > most_name_letters) {
    const std::size_t cut = first.find('/', first.size() - most_name_letters);
    first = cut == std::string::npos ? first.substr(first.size() - most_name_letters) : first.substr(cut + 1);
  }
  return first.empty() ? "tensor" : c_identifier(first);
}

// Numbers variables in the order in which the functions declare them, as all readers of programs do. What passes tell
// of a module is in this order, and so are ties between buffers.
void number_variables(tir::Module& module) {
  constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> numbers(module.vars.size(), none);
  std::vector<tir::Var> vars;
  vars.reserve(module.vars.size());
  const auto number = [&](tir::VarId var) {
    std::size_t& known = numbers[var.index()];
    if (known == none) {
      known = vars.size();
      vars.push_back(module.var(var));
    }
    return tir::VarId(known);
  };
  for (const tir::Function& function : module.functions) {
    for (const tir::Param& param : function.params) (void)number(param.var);
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      std::visit(
          [&](const auto& one) {
            if constexpr (requires { one.var; }) (void)number(one.var);
          },
          stmt.node);
    });
  }
  tir::ExprRewriter rewriter([&](const tir::ExprRef& expr) -> tir::ExprRef {
    const bool names = expr->kind == tir::ExprKind::var || expr->kind == tir::ExprKind::load;
    if (!names && expr->kind != tir::ExprKind::let) return nullptr;
    tir::Expr renamed = *expr;
    renamed.var = number(renamed.var);
    return tir::make_expr(std::move(renamed));
  });
  for (tir::Function& function : module.functions) {
    for (tir::Param& param : function.params) param.var = number(param.var);
    tir::for_each_block(function.body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        std::visit(
            [&](auto& one) {
              if constexpr (requires { one.var; }) one.var = number(one.var);
              if constexpr (requires { one.storage; }) one.storage = number(one.storage);
            },
            stmt.node);
        tir::for_each_expr_of(stmt, [&](tir::ExprRef& expr) { expr = rewriter.rewritten(expr); });
      }
    });
  }
  module.vars = std::move(vars);
}

// Names that differ from all before.
class Names {
 public:
  std::string add(const std::string& wanted) {
    const std::string base = c_identifier(wanted);
    std::string name = base;
    for (std::size_t& number = numbers_[base]; !taken_.insert(name).second;) {
      name = base + "_" + std::to_string(++number);
    }
    return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> numbers_;
};

class Builder {
 public:
  Builder(const Graph& graph, std::string name, std::vector<Fault>& faults)
      : graph_(graph), name_(std::move(name)), faults_(faults) {}

  ReadModel run() && {
    result_.description.name = name_;
    describe();
    for (const Node& node : graph_.nodes) {
      try {
        add_operator(node);
      } catch (const Error& error) {
        faults_.push_back({node.index, error.message()});
      }
    }
    if (!faults_.empty()) return std::move(result_);
    add_entry();
    sort_functions();
    number_variables(result_.module);
    tir::verify(result_.module);
    return std::move(result_);
  }

 private:
  tir::Module& module() { return result_.module; }

  tir::VarId add_pointer(std::string name, Type element) {
    module().vars.push_back({std::move(name), tir::handle_type, data_type_of(element), "global"});
    return tir::VarId(module().vars.size() - 1);
  }

  void describe() {
    Names names;
    const auto tensor = [&](std::size_t storage, std::size_t value_index) {
      const Value& value = graph_.values[value_index];
      model::Tensor result{.name = names.add(graph_.storages[storage].name),
                           .dtype = tir::to_string(data_type_of(value.type)),
                           .size = value.count() * bytes_of(value.type),
                           .shape = value.shape,
                           .quantization = {}};
      if (value.quantization.scales.size() == 1 && value.type != Type::float32) {
        result.quantization = {value.quantization.scales[0], value.zero_point()};
      }
      names_[storage] = result.name;
      return result;
    };
    model::Description& model = result_.description;
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      model.inputs.push_back(tensor(graph_.inputs[i], graph_.input_values[i]));
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      model.outputs.push_back(tensor(graph_.outputs[i], graph_.output_values[i]));
    }
    for (const std::size_t state : graph_.states) {
      const Storage& storage = graph_.storages[state];
      names_[state] = names.add("state_" + short_name(storage.name));
      model.states.push_back({names_[state], tir::to_string(data_type_of(storage.type)), storage.initial});
    }
  }

  static void add_param(tir::Function& function, tir::VarId var, std::string name, Type type, Shape shape) {
    tir::Param param;
    param.var = var;
    param.name = std::move(name);
    param.is_tensor = true;
    param.element = data_type_of(type);
    param.shape = std::move(shape);
    function.params.push_back(std::move(param));
  }

  void add_operator(const Node& node) {
    tir::Function function;
    function.name = "tvmgen_" + c_identifier(name_) + "_" + node.kind->function + "_" + std::to_string(node.index);
    if (node.kind == &copy_kind()) function.name += "_" + std::to_string(copies_++);
    function.target = "c";
    std::map<std::size_t, Array> arrays;
    std::vector<std::size_t> arguments;
    const auto pass = [&](std::size_t index) {
      const Value& value = graph_.values[index];
      if (!value.storage || arrays.contains(*value.storage)) return;
      const std::string name = "p" + std::to_string(arguments.size());
      const tir::VarId var = add_pointer(name, value.type);
      add_param(function, var, name, value.type, value.shape);
      arrays.emplace(*value.storage, Array{var, data_type_of(value.type)});
      arguments.push_back(*value.storage);
    };
    for (const auto& input : node.inputs) {
      if (input) pass(*input);
    }
    for (const std::size_t output : node.outputs) pass(output);
    Nest nest(module(), function);
    Emitter emitter(graph_, node, nest, std::move(arrays));
    emitter.require_elements();
    node.kind->emit(emitter);
    calls_.push_back({function.name, std::move(arguments)});
    module().functions.push_back(std::move(function));
  }

  void add_entry() {
    tir::Function entry;
    entry.name = "tvmgen_" + c_identifier(name_) + "___tvm_main__";
    entry.target = "c";
    entry.is_entry = true;
    std::map<std::size_t, tir::VarId> vars;
    const auto param = [&](std::size_t index, const Shape& shape) {
      const Storage& storage = graph_.storages[index];
      vars[index] = add_pointer(names_[index], storage.type);
      add_param(entry, vars[index], names_[index], storage.type, shape);
    };
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      param(graph_.inputs[i], graph_.values[graph_.input_values[i]].shape);
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      param(graph_.outputs[i], graph_.values[graph_.output_values[i]].shape);
    }
    for (const std::size_t state : graph_.states) param(state, {graph_.storages[state].count});
    tir::BodyBuilder body(module(), entry, 2);
    for (const Call& call : calls_) {
      for (const std::size_t index : call.arguments) {
        if (vars.contains(index)) continue;
        const Storage& storage = graph_.storages[index];
        vars[index] = add_pointer(short_name(storage.name), storage.type);
        module().vars[vars[index].index()].storage_scope = "global.workspace";
        body.allocate(vars[index], data_type_of(storage.type),
                      {tir::make_int(std::max<std::int64_t>(storage.count, 1))}, nullptr, {});
      }
    }
    for (const Call& call : calls_) {
      std::vector<tir::ExprRef> operands = {tir::make_string(call.function)};
      for (const std::size_t index : call.arguments) operands.push_back(tir::make_var(module(), vars[index]));
      const tir::ExprRef status = tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(operands));
      body.evaluate(
          tir::make_call(tir::int32_type, tir::Op::tvm_check_return, {tir::make_int(0), tir::make_int(-1), status}));
    }
    module().functions.push_back(std::move(entry));
  }

  void sort_functions() {
    std::ranges::sort(module().functions, {}, &tir::Function::name);
    for (std::size_t i = 0; i < module().functions.size(); ++i) {
      if (module().functions[i].is_entry) module().entry = i;
    }
  }

  struct Call {
    std::string function;
    std::vector<std::size_t> arguments;  // storages
  };

  const Graph& graph_;
  std::string name_;
  std::vector<Fault>& faults_;
  ReadModel result_;
  std::map<std::size_t, std::string> names_;  // of storages of the interface
  std::vector<Call> calls_;
  std::size_t copies_ = 0;
};

}  // namespace

ReadModel build(const Model& file, const std::string& name, std::vector<Fault>& faults) {
  const Graph graph = prepare(file, faults);
  ReadModel result = Builder(graph, name, faults).run();
  std::ranges::stable_sort(faults, {}, &Fault::index);
  return result;
}

}  // namespace usmp::tflite
