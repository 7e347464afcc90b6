// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a function again where a variable turns out to be changed, or a call not to be read.
#include "tvm_c/body/read_function.hpp"

#include <map>
#include <utility>

#include "tvm_c/body/body_reader.hpp"
#include "tvm_c/body/helper_reader.hpp"
#include "tvm_c/body/variables.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

using tir::DataType;
using tir::Tree;
using tir::VarId;

void BodyReader::read_body() {
  read_statements();
  names_.insert_tables();
  unpacked_.insert_into(function_);
}

void BodyReader::read_inlined(const std::vector<Value>& arguments) {
  code_.read(callees_.tree_of(text_));
  open(Open::Kind::function);
  values_.at = text_.offset;
  const std::vector<CParam> params = params_of(code_);
  bind_params(params, arguments, values_, names_, body_);
  read_statements();
  if (!inlined_->has_returned) throw SyntaxError{text_.offset, "found no return at its end, expected one"};
}

ReadFunction read_function(const FunctionText& text, const FileScope& scope, const KeptPools& kept,
                           const Limits& limits, tir::Module& module, bool is_entry, const AddedStatements& added,
                           std::span<const Outlined> outlined, Helpers* helpers, const NestedTexts* nested) {
  const std::size_t vars = module.vars.size();
  Names changing;
  Names called_helpers;
  Names called_nested;
  Callees callees(scope, kept);
  std::map<std::size_t, std::size_t> texts;
  for (const AddedText& one : added.texts) texts.emplace(one.begin, one.end);
  for (const Outlined& one : outlined) texts.emplace(one.place.begin, one.place.end);
  while (true) {
    try {
      ReadFunction result;
      result.function.is_entry = is_entry;
      Reading reading{scope,
                      kept,
                      limits,
                      module,
                      result,
                      changing,
                      helpers,
                      called_helpers,
                      nested,
                      called_nested,
                      {module, result.function, limits.block_depth},
                      callees};
      reading.read_inlined = [&reading](const FunctionText& of, const std::vector<Value>& arguments, NestedCall& call) {
        BodyReader(of, reading, {}, {}, &call).read_inlined(arguments);
      };
      BodyReader reader(text, reading, added, outlined);
      reader.read_params(callees.tree_of(text, texts));
      reader.read_body();
      return result;
    } catch (const HelperNotRead& helper) {
      module.vars.resize(vars);
      called_helpers.insert(helper.name);
    } catch (const NestedNotRead& call) {
      module.vars.resize(vars);
      called_nested.insert(call.name);
      if (called_nested.size() == most_nested_tries) nested = nullptr;
    } catch (const ChangedVariable& variable) {
      module.vars.resize(vars);
      if (!changing.insert(variable.name).second) {
        throw SyntaxError{variable.offset,
                          "found " + in_quotes(variable.name) + " changed, expected an element of storage"};
      }
    }
  }
}

tir::Function read_prototype(const FunctionText& text, const FileScope& scope, const Limits& limits,
                             tir::Module& module) {
  ReadFunction result;
  const Names none;
  const KeptPools kept;
  Callees callees(scope, kept);
  Reading reading{
      scope, kept, limits, module, result, none, nullptr, none, nullptr, none, {module, result.function, 1}, callees};
  const auto tree = head_tree(text);
  if (!tree) fail_at(text.params.empty() ? Token() : text.params.front(), "parameters");
  BodyReader(text, reading).read_params(*tree, true);
  return std::move(result.function);
}

}  // namespace usmp::tvm_c
