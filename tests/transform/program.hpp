// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small programs for the tests of transformations: an entry that calls one operator, printed, and run before and after
// by the reference interpreter.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/generate.hpp"
#include "random_modules/interpreter.hpp"
#include "random_modules/transformed.hpp"
#include "tir_support/module_builder.hpp"
#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::transform::testing {

using tir::bool_type;
using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::int64_type;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)
// --- Programs --------------------------------------------------------------------------------------------------------

class Program : public tir::testing::ModuleBuilder {
 public:
  // Parameters of the operator "f", each with storage of its own.
  VarId input(const std::string& name, std::int64_t elements, tir::DataType type = int32_type) {
    return parameter(name, elements, type, true);
  }
  VarId output(const std::string& name, std::int64_t elements, tir::DataType type = int32_type) {
    return parameter(name, elements, type, false);
  }
  // Another parameter for the storage of an earlier one.
  VarId same_storage(const std::string& name, VarId earlier) {
    const VarId id = pointer(name, module().var(earlier).element);
    for (const Parameter& other : std::vector(parameters_)) {
      if (other.id == earlier) parameters_.push_back({id, other.argument, other.elements, other.is_input});
    }
    return id;
  }
  VarId buffer(const std::string& name, tir::DataType type = int32_type) { return pointer(name, type); }
  VarId number(const std::string& name, tir::DataType type = int32_type) {
    module().vars.push_back({name, type, tir::void_type, ""});
    return VarId(module().vars.size() - 1);
  }
  // A loop over [min, min + extent).
  [[nodiscard]] tir::Stmt loop_from(VarId id, std::int64_t min, std::int64_t extent, tir::Block body) {
    const tir::DataType type = module().var(id).type;
    return {tir::For{id, tir::make_int(min, type), tir::make_int(extent, type), std::move(body)}};
  }
  [[nodiscard]] tir::Stmt loop_to(VarId id, ExprRef extent, tir::Block body) {
    return {tir::For{id, tir::make_int(0, extent->type), std::move(extent), std::move(body)}};
  }

  // Call once.
  void body(tir::Block body) {
    std::vector<VarId> own;
    std::vector<VarId> arguments;
    std::vector<VarId> tensors;
    for (const Parameter& parameter : parameters_) {
      own.push_back(parameter.id);
      arguments.push_back(parameter.argument);
      if (std::find(tensors.begin(), tensors.end(), parameter.argument) == tensors.end()) {
        tensors.push_back(parameter.argument);
      }
    }
    function("f", own, std::move(body));
    entry(tensors, block(call("f", arguments)));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      for (const Parameter& parameter : parameters_) {
        if (parameter.argument != tensors[i]) continue;
        module().functions.back().params[i].shape = std::vector<std::int64_t>{parameter.elements};
        (parameter.is_input ? test_.inputs : test_.outputs).push_back(i);
        break;
      }
    }
    before_ = build();
    test_.module = before_;
  }

  // What a pass changes.
  [[nodiscard]] tir::Module& changed() { return test_.module; }
  [[nodiscard]] tir::Function& op() { return changed().functions[index()]; }
  [[nodiscard]] std::size_t index() const { return *before_.find("f"); }
  [[nodiscard]] ParamAliases aliases() const { return ParamAliases(before_); }
  [[nodiscard]] bool simple() const { return is_simple(before_, index(), aliases()); }
  [[nodiscard]] std::string text() { return body_text(changed()); }
  [[nodiscard]] bool is_unchanged() { return text() == body_text(before_); }
  [[nodiscard]] std::string names(const std::vector<VarId>& vars) {
    std::string all;
    for (const VarId var : vars) all += (all.empty() ? "" : " ") + changed().var(var).name;
    return all;
  }

  // That the changed module is well formed and computes what the one before did, on several inputs.
  void check_same() {
    const auto fault = random_modules::fault_of(changed());
    REQUIRE_MESSAGE(!fault, fault.value_or("") << "\n" << text());
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      const auto arguments = contents(seed);
      const random_modules::Outcome reference = random_modules::Interpreter(before_).run(arguments);
      const auto difference = random_modules::difference_to(reference, arguments, changed());
      REQUIRE_MESSAGE(!difference, difference.value_or("") << "\n" << text());
    }
  }

 private:
  struct Parameter {
    VarId id;
    VarId argument;
    std::int64_t elements;
    bool is_input;
  };

  VarId parameter(const std::string& name, std::int64_t elements, tir::DataType type, bool is_input) {
    const VarId id = pointer(name, type);
    parameters_.push_back({id, pointer("main_" + name, type), elements, is_input});
    return id;
  }

  // Small integers, so that sums and products of a few do not overflow; of int8 any. Floats are not needed.
  [[nodiscard]] std::vector<random_modules::Argument> contents(std::uint32_t seed) const {
    std::mt19937 random(seed);
    std::vector<random_modules::Argument> arguments;
    const auto& params = before_.functions[before_.entry].params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const auto width = static_cast<std::size_t>(params[i].element.element_bytes());
      std::string bytes;
      for (std::int64_t n = 0; n < (*params[i].shape)[0]; ++n) {
        const auto value = static_cast<std::int32_t>(random() % 255) - 127;
        for (std::size_t byte = 0; byte < width; ++byte) {
          bytes += static_cast<char>(byte < 4 ? value >> (8 * byte) : value >> 31);
        }
      }
      random_modules::Argument argument;
      argument.bytes = bytes.size();
      const bool is_input = std::find(test_.inputs.begin(), test_.inputs.end(), i) != test_.inputs.end();
      if (is_input) argument.contents = std::move(bytes);
      arguments.push_back(std::move(argument));
    }
    return arguments;
  }

  // Without the function's first line and the last brace.
  [[nodiscard]] std::string body_text(const tir::Module& module) const {
    const std::string all = tir::print(module, module.functions[index()]);
    const std::size_t begin = all.find('\n') + 1;
    return "\n" + all.substr(begin, all.rfind('}') - begin);
  }

  std::vector<Parameter> parameters_;
  random_modules::TestModule test_;
  tir::Module before_;
};

}  // namespace usmp::transform::testing
