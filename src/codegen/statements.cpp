// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Prints signature, comment and body of a function; parameters that the body never names are cast to void.
#include "codegen/statements.hpp"

#include "codegen/statement_printer.hpp"

namespace usmp::codegen {
namespace {

// Names of parameters, each once in the function.
std::vector<std::string> parameter_names(const tir::Function& function, NameTable& names) {
  std::vector<std::string> result;
  for (const tir::Param& param : function.params) result.push_back(names.unique(param.name));
  return result;
}

std::string parameter_type(const tir::Module& module, const FunctionFacts& facts, const tir::Param& param) {
  const tir::DataType type = module.var(param.var).type;
  if (!type.is_handle()) return value_type(type);
  return to_string(facts.pointers.at(param.var).type) + (param.no_alias ? " USMP_RESTRICT" : "");
}

std::string signature_with(const tir::Module& module, const FunctionFacts& facts, const tir::Function& function,
                           const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += ", ";
    list += parameter_type(module, facts, function.params[i]) + " " + names[i];
  }
  return (facts.gives_status ? "int32_t " : "void ") + c_identifier(function.name) + "(" +
         (list.empty() ? "void" : list) + ")";
}

// What the function is and where its buffers are.
std::string comment_for(const FileContext& file, std::size_t index, const ExpressionPrinter& printer) {
  std::string text = "// " + comment_text(file.module.functions[index].name) + "\n";
  for (const std::string& note : file.module.functions[index].notes) text += "//   " + comment_text(note) + "\n";
  for (const lower::Placement& placement : file.planned.lowered.functions[index].placements) {
    if (printer.times_printed(placement.var) == 0) continue;
    const placement::Table& table = file.planned.placements;
    const placement::Storage& storage = table.storage(placement.storage);
    const Allocation& where = storage.place;
    text += "//   " + printer.declared_name(placement.var) + ": " + comment_text(table.pool(where.pool).name) + "[" +
            std::to_string(where.offset) + ", " + std::to_string(where.offset + storage.size) + ")" +
            (storage.rows ? ", a ring of " + to_string(*storage.rows) : std::string()) + "\n";
  }
  return text;
}

}  // namespace

std::string signature(const tir::Module& module, const FunctionFacts& facts, const tir::Function& function) {
  NameTable names;
  return signature_with(module, facts, function, parameter_names(function, names));
}

// Operators are static: the entry, in the same file, is their only caller, and compilers may inline them.
std::string print_function(FileContext& file, std::size_t index) {
  const tir::Function& function = file.module.functions[index];
  StatementPrinter statements(file, index);
  ExpressionPrinter& printer = statements.expressions();
  std::vector<std::string> names;
  for (const tir::Param& param : function.params) {
    (void)printer.c_type(file.module.var(param.var).type);
    file.uses_restrict = file.uses_restrict || param.no_alias || function.keep_apart;
    names.push_back(printer.declare(param.var, param.name));
    if (param.range) printer.ranges().bind(param.var, param.range);
  }
  statements.print_body();

  const std::string head = signature_with(file.module, file.facts.functions[index], function, names);
  std::string text = printer.local_functions() + comment_for(file, index, printer);
  const std::string qualifiers = function.keep_apart ? "static USMP_NOINLINE " : "static ";
  text += index == file.module.entry ? head + ";\n" + head : qualifiers + head;
  text += " {\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (printer.times_printed(function.params[i].var) == 0) text += "  (void)" + names[i] + ";\n";
  }
  return text + statements.text() + "}\n";
}

}  // namespace usmp::codegen
