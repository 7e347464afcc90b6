// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Files with helpers as trees, and which functions of them may be read where they are called.
#include "tvm_c/body/helpers.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/words.hpp"
#include "tvm_c/text/preprocessed.hpp"
#include "tvm_c/text/section_words.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Not replaced by another function of the program.
bool is_own(const c::Decl& function, const std::vector<c::Token>& tokens) {
  for (const c::TokenRange& attribute : function.attributes) {
    for (std::uint32_t i = attribute.begin; i < attribute.end; ++i) {
      const std::string_view text = tokens[i].text;
      const bool is_harmless = text == "__attribute__" || text == "(" || text == ")" || text == "," ||
                               text == "inline" || text == "always_inline" || text == "__always_inline__" ||
                               text == "noinline" || text == "unused" || text == "__unused__" || text == "hot" ||
                               text == "optimize" || tokens[i].kind == c::TokenKind::string;
      if (!is_harmless) return false;
    }
  }
  return true;
}

// __pkhbt(a, b, n) and __pkhtb(a, b, n) are macros with the instruction of that name as assembly, in CMSIS and in TVM's
// own C: known by the texts in it.
bool is_pack(const c::Macro& macro) {
  const bool is_bottom = macro.name == "__pkhbt" || macro.name == "__PKHBT";
  const bool is_top = macro.name == "__pkhtb" || macro.name == "__PKHTB";
  if ((!is_bottom && !is_top) || !macro.is_function || macro.params.size() != 3) return false;
  std::string texts;
  for (const c::Token& token : macro.body) {
    if (token.kind == c::TokenKind::string) texts += token.text;
  }
  const std::string operands = R"("=r""r""r")";
  if (is_bottom) return texts == R"("pkhbt %0, %1, %2, lsl %3")" + operands + R"("I")";
  return texts == R"("pkhtb %0, %1, %2")" + operands + R"("pkhtb %0, %1, %2, asr %3")" + operands + R"("I")";
}

// O(expressions · log).
Helpers::Changes changes_of(const c::Tree& tree) {
  Helpers::Changes changes;
  for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
    const c::Expr& expr = tree.exprs[i];
    const bool is_address = expr.kind == c::ExprKind::prefix && expr.text == "&";
    if (expr.kind != c::ExprKind::assign && !is_step(expr) && !is_address) continue;
    const c::Expr& target = tree[tree.operands_of(c::ExprId(i))[0]];
    if (target.kind == c::ExprKind::name && target.decl.valid()) changes.emplace_back(expr.tokens.begin, target.decl);
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

}  // namespace

const Helpers::Parsed& Helpers::parsed(std::size_t file) {
  const auto [entry, is_new] = parsed_.try_emplace(file);
  Parsed& result = entry->second;
  if (!is_new) return result;
  c::Environment environment;
  std::set<std::size_t> read = {file};
  if (included_ != nullptr) {
    environment = environment_of(*included_, result.files, read);
    result.main = static_cast<std::uint32_t>(file);
  } else {
    result.main = result.files.add({files_[file].name, files_[file].text});
  }
  std::set<std::string_view> own;
  environment.is_undefined = [&](std::string_view name) { return own.contains(name); };
  environment.calls_stay = is_pack;
  try {
    own = defined_as_nothing(result.files.tokens(result.main));
    result.unit = c::preprocess(result.files, result.main, environment);
    result.tree = c::parse(result.unit.tokens);
    result.changes = changes_of(result.tree);
  } catch (const c::SyntaxError& error) {
    const c::File& in = result.files[error.file];
    result.fault = std::string(in.name) + ", " + line_and_column(in.text, error.offset + 1) + ": " + error.message;
    return result;
  }
  const Names unread = included_ != nullptr ? macros_unread(*included_, file, read) : Names();
  const auto has_unread = [&](c::TokenRange range) {
    const std::span<const c::Token> tokens =
        std::span(result.unit.tokens).subspan(range.begin, range.end - range.begin);
    return std::ranges::any_of(tokens, [&](const c::Token& token) { return unread.contains(token.text); });
  };
  for (std::size_t i = 0; i < result.tree.decls.size(); ++i) {
    const c::Decl& decl = result.tree.decls[i];
    if (decl.kind != c::DeclKind::function || !decl.body.valid()) continue;
    const bool is_sure = result.unit.tokens[decl.at].file == result.main && !has_unread(decl.tokens) &&
                         !has_unread(result.tree[decl.body].tokens) && !decl.is_conditional && decl.unknown.empty() &&
                         is_own(decl, result.unit.tokens) && result.tree[decl.body].kind == c::StmtKind::block;
    const auto [one, is_first] = result.functions.try_emplace(decl.name);
    one->second = is_first && is_sure ? std::optional(c::DeclId(i)) : std::nullopt;
  }
  for (std::size_t i = 0; i < result.tree.exprs.size(); ++i) {
    const c::Expr& expr = result.tree.exprs[i];
    if (expr.kind != c::ExprKind::call) continue;
    const std::string_view name = result.tree[result.tree.operands_of(c::ExprId(i))[0]].text;
    if (!Words::is_instruction(name) || result.functions.contains(name)) result.calls.push_back(expr.tokens.begin);
  }
  std::sort(result.calls.begin(), result.calls.end());
  return result;
}

std::optional<Helpers::Function> Helpers::find(std::string_view name, std::size_t file) {
  const Parsed& in = parsed(file);
  const auto found = in.functions.find(name);
  if (found == in.functions.end() || !found->second) return std::nullopt;
  return Function{&in, *found->second};
}

std::string Helpers::why_not_found(std::string_view name, std::size_t file) {
  const Parsed& in = parsed(file);
  const std::string function = "a call of " + in_quotes(name) + ", ";
  if (!in.fault.empty()) return function + "in a file that is not understood: " + in.fault;
  return function + (in.functions.contains(name) ? "which this file does not define for certain: an attribute, a "
                                                   "condition or a macro that is not known, or more than one definition"
                                                 : "which this file does not define");
}

void Helpers::note_not_read(const std::string& name, std::size_t file, std::optional<std::uint32_t> token,
                            const std::string& message) {
  std::string place;
  if (token) {
    const Parsed& in = parsed(file);
    const c::Position at = c::position_of(in.unit, in.unit.tokens[*token]);
    place = line_and_column(in.files[at.file].text, at.offset + 1) + ": ";
  }
  not_read_.try_emplace(name, UnreadCall{name, files_[file].name, place + message});
}

void Helpers::add_not_read(std::vector<UnreadCall>& to) const {
  for (const auto& [name, call] : not_read_) to.push_back(call);
}

bool Helpers::has_only_functions(std::size_t file) {
  const Parsed& in = parsed(file);
  if (!in.fault.empty()) return false;
  std::vector<c::StmtId> pending(in.tree.items.begin(), in.tree.items.end());
  while (!pending.empty()) {
    const c::Stmt& item = in.tree[pending.back()];
    pending.pop_back();
    if (in.unit.tokens[item.tokens.begin].file != in.main) continue;
    if (item.kind == c::StmtKind::linkage) {
      pending.insert(pending.end(), item.body.begin(), item.body.end());
    } else if (item.kind == c::StmtKind::declaration) {
      const auto is_function = [&](c::DeclId decl) { return in.tree[decl].kind == c::DeclKind::function; };
      if (!std::all_of(item.decls.begin(), item.decls.end(), is_function)) return false;
    } else if (item.kind != c::StmtKind::empty) {
      return false;
    }
  }
  return true;
}

}  // namespace usmp::tvm_c
