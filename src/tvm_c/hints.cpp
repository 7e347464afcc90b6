// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Says what may be done about statements of the entry, and about variables, that are not read.
#include "tvm_c/hints.hpp"

#include <algorithm>
#include <optional>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/kept/outlined.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// The last name in capitals that is called and no function of the files.
std::optional<std::string> called_in_capitals(std::string_view text, const FileScope& scope) {
  std::optional<std::string> found;
  try {
    const std::vector<Token> tokens = taken_tokens(split(text), 0, text.size(), true).tokens;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const Token& token = tokens[i];
      const bool is_called = token.is_identifier() && is_in_capitals(token.text) && tokens[i + 1].is("(") &&
                             !scope.functions.contains(token.text);
      if (is_called) found = token.text;
    }
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
  return found;
}

// An operator that the statement calls; empty: none.
std::string operator_called(std::string_view statement, const FileScope& scope) {
  std::string found;
  for_each_identifier(statement, [&](std::string_view name) {
    if (found.empty() && is_generated(name) && scope.functions.contains(name)) found = name;
  });
  return found;
}

}  // namespace

std::string entry_hint(const FilesRead& read, const FunctionText& text, std::size_t offset, bool are_kept) {
  std::string hint =
      "move the addition out of " + in_quotes(read.entry) +
      ": it calls operators as TVM does, if (f(…) != 0) return -1;, and between these calls stand only calls of "
      "other functions";
  if (!are_kept) return hint;
  hint += ", and statements that use nothing of the model's or only pass on its tensors and access their elements";
  const AddedStatements added = added_statements(text, read.scope, read.included);
  for (const GuardedText& guarded : added.guarded) {
    const bool is_here = guarded.place.begin <= offset && offset < guarded.place.end;
    if (is_here && !guarded.reason.empty()) return hint + ": what stands under this condition " + guarded.reason;
  }
  const std::string_view file = read.files[text.file].text;
  for (const AddedStatements::Other& other : added.others) {
    if (other.place.begin > offset || offset >= other.place.end) continue;
    Outlined statement{.place = other.place};
    const Reason own =
        other.reason.uses_model ? read_outlined(file, read.included.all_definitions(text.file), statement) : Reason();
    std::string reason = own.empty() || own.uses_model ? other.reason.text : own.text;
    const std::string_view all = file.substr(other.place.begin, other.place.end - other.place.begin);
    if (const std::string called = operator_called(all, read.scope); !called.empty()) {
      reason = "calls " + in_quotes(called) + " in another form: write if (" + called +
               "(…) != 0) return -1; and put what else it does in front or behind";
    }
    hint += ": this one " + reason;
    if (file.substr(other.place.begin).starts_with("assert")) {
      hint += "; call the operator in front of assert, which calls nothing where NDEBUG is defined";
    }
    const std::string_view front = file.substr(other.place.begin, offset - other.place.begin);
    if (const auto macro = called_in_capitals(front, read.scope)) {
      hint += "; " + in_quotes(*macro) + " around it may be a macro, which no file here defines";
    }
  }
  return hint;
}

LastingVariables::LastingVariables(const FilesRead& read) : read_(read) {
  for (const Item& item : read.scope.items) {
    if (!item.is_variable || item.kind == Item::Kind::function) continue;
    if (has_name(item.text.substr(0, item.text.find('=')), "const")) continue;
    for_each_identifier(item.text, [&](std::string_view name) {
      variables_.try_emplace({item.file, name}, item.begin);
    });
  }
}

std::string LastingVariables::expected(std::size_t file, const SyntaxError& error) const {
  const std::string_view text = read_.files[file].text;
  const std::string_view name = leading_name(text.substr(std::min(error.offset, text.size())));
  if (!error.is_undeclared) return {};
  if (name == "static") {
    const std::string_view rest = text.substr(error.offset);
    const std::string_view declaration = rest.substr(0, rest.find_first_of("=;"));
    return has_name(declaration, "const") && declaration.find('*') == std::string_view::npos
               ? ", expected constants in front of the function"
               : ", expected variables that begin anew with each call";
  }
  const auto found = variables_.find({file, name});
  if (found == variables_.end()) return {};
  return ", expected a variable of the function: that of the file (" + read_.places.at(file, found->second) +
         ") may change between its calls; declare it in the function, and pass it on as a parameter";
}

}  // namespace usmp::tvm_c
