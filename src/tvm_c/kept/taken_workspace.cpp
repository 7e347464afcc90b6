// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds workspace that other code generators' functions take at run time, and gives it to them as a parameter.
#include "usmp/tvm_c/taken_workspace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tvm_c/kept/pool_params.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// What stands in the place of free_function: nothing is to do.
constexpr const char* given_back = "usmp_workspace_given_back";
constexpr const char* given_back_text =
    "static inline int usmp_workspace_given_back(int device_type, int device_id, const void* pointer) {\n"
    "  (void)device_type;\n  (void)device_id;\n  (void)pointer;\n  return 0;\n}\n";

// What one function takes.
struct Taken {
  TakenWorkspace workspace;
  std::vector<PoolEdit> edits;  // in the order of the text
};

// Whether ## may make the name of one of its ends.
bool may_paste(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find("##"); at != std::string_view::npos; at = text.find("##", at + 2)) {
    std::size_t end = at;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
    std::size_t begin = end;
    while (begin > 0 && is_identifier_char(text[begin - 1])) --begin;
    if (begin < end && name.starts_with(text.substr(begin, end - begin))) return true;
    begin = std::min(text.find_first_not_of(" \t", at + 2), text.size());
    for (end = begin; end < text.size() && is_identifier_char(text[end]);) ++end;
    if (begin < end && name.ends_with(text.substr(begin, end - begin))) return true;
  }
  return false;
}

std::string parameter(Bytes bytes) { return "uint8_t* /* " + std::to_string(bytes) + " bytes */ " + workspace_param; }

class Taking {
 public:
  Taking(const FunctionText& function, Bytes alignment)
      : function_(function), alignment_(alignment), params_(function.params) {}

  // Nothing: it takes none, or in a way that is not understood.
  std::optional<Taken> find() {
    const auto function = function_tree(function_);
    if (!function) return std::nullopt;
    taken_.workspace.parameters = function->params().size();
    if (const auto bytes = bytes_of_earlier_plan()) {
      taken_.workspace.bytes = *bytes;
      taken_.workspace.has_param = true;
      --taken_.workspace.parameters;
      return std::move(taken_);
    }
    if (has_jumps_or_directives() || !find_takes(*function) || variables_.empty() || !find_returns(*function))
      return std::nullopt;
    add_param();
    std::ranges::sort(taken_.edits, {}, &PoolEdit::at);
    return std::move(taken_);
  }

 private:
  [[nodiscard]] bool has_no_params() const {
    return params_.size() == 1 || (params_.size() == 2 && params_.front().is("void"));
  }

  // As `parameter` writes it.
  [[nodiscard]] std::optional<Bytes> bytes_of_earlier_plan() const {
    if (params_.size() < 4 || !params_[params_.size() - 2].is(workspace_param)) return std::nullopt;
    const std::size_t begin = params_[params_.size() - 3].offset;
    std::string_view rest = function_.file_text().substr(begin, params_[params_.size() - 2].offset - begin);
    if (!rest.starts_with("* /* ")) return std::nullopt;
    Bytes bytes = 0;
    for (rest.remove_prefix(5); !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1)) {
      bytes = bytes * 10 + (rest[0] - '0');
      if (bytes > INT32_MAX) return std::nullopt;
    }
    return bytes > 0 && rest == " bytes */ " ? std::optional(bytes) : std::nullopt;
  }

  // With them, a call that stands once may be made several times, or not be made.
  [[nodiscard]] bool has_jumps_or_directives() const {
    const std::size_t begin = function_.body_begin();
    return count_of("goto") > 0 ||
           !directives_in(function_.source->code, begin, begin + function_.body_text.size()).empty();
  }

  [[nodiscard]] std::size_t count_of(std::string_view word) const {
    const auto is_one = [&](const Token& token) { return token.is(word); };
    return static_cast<std::size_t>(std::ranges::count_if(function_.body, is_one));
  }

  // In statements of the function's own block: T* name = (T*)TAKE(…); name = TAKE(…);
  bool find_takes(const FunctionTree& function) {
    const c::Tree& tree = function.tree;
    std::size_t count = 0;
    const auto take = [&](c::DeclId variable, c::ExprId value) {
      const c::ExprId call = without_casts(tree, value);
      if (called_function(tree, call) != allocate_function) return true;
      ++count;
      return add_take(function, variable, call);
    };
    for (const c::StmtId id : function.statements()) {
      const c::Stmt& stmt = tree[id];
      for (const c::DeclId decl : stmt.decls) {
        if (tree[decl].init.valid() && !take(decl, tree[decl].init)) return false;
      }
      if (stmt.kind != c::StmtKind::expression || tree[stmt.expr].kind != c::ExprKind::assign) continue;
      const auto sides = tree.operands_of(stmt.expr);
      const bool is_name = tree[sides[0]].kind == c::ExprKind::name && tree[stmt.expr].text == "=";
      if (is_name && !take(tree[sides[0]].decl, sides[1])) return false;
    }
    return count == count_of(allocate_function);
  }

  bool add_take(const FunctionTree& function, c::DeclId variable, c::ExprId call) {
    const auto operands = function.tree.operands_of(call);
    const c::TokenRange tokens = function.tree[call].tokens;
    if (operands.size() != 6 || !variable.valid() || !function.tokens[tokens.begin].is(allocate_function)) return false;
    const auto size = c::constant_value(function.tree, without_casts(function.tree, operands[3]));
    const auto bytes = size ? size->as_int64() : std::nullopt;
    if (!bytes || *bytes <= 0 || *bytes > INT32_MAX) return false;
    const std::size_t begin = function.offset_of(tokens.begin);
    const Bytes offset = align_up(taken_.workspace.bytes, alignment_);
    taken_.edits.push_back({begin, end_of(function.tokens[tokens.end - 1]) - begin,
                            std::string("((void*)(") + workspace_param + " + " + std::to_string(offset) + "))"});
    taken_.workspace.bytes = offset + *bytes;
    return taken_.workspace.bytes <= INT32_MAX && variables_.insert(variable).second;
  }

  // Whether each is given back, and nothing else: what is kept may be used in the next run.
  bool find_returns(const FunctionTree& function) {
    const c::Tree& tree = function.tree;
    std::set<c::DeclId> kept = variables_;
    std::size_t count = 0;
    for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
      if (called_function(tree, c::ExprId(i)) != free_function) continue;
      const auto operands = tree.operands_of(c::ExprId(i));
      if (operands.size() != 4) return false;
      const c::Expr& given = tree[without_casts(tree, operands[3])];
      if (given.kind != c::ExprKind::name || !variables_.contains(given.decl)) return false;
      kept.erase(given.decl);
      const Token& name = function.tokens[token_of(function.tokens, tree[operands[0]])];
      taken_.edits.push_back({name.offset, name.text.size(), given_back});
      ++count;
    }
    return kept.empty() && count == count_of(free_function);
  }

  void add_param() {
    const std::string text = parameter(taken_.workspace.bytes);
    if (params_.size() == 2 && has_no_params()) {
      taken_.edits.push_back({params_.front().offset, params_.front().text.size(), text});
    } else {
      taken_.edits.push_back({params_.back().offset, 0, (has_no_params() ? "" : ", ") + text});
    }
  }

  const FunctionText& function_;
  Bytes alignment_;
  std::span<const Token> params_;  // with the bracket at the end
  std::set<c::DeclId> variables_;  // of what is taken
  Taken taken_;
};

// Behind the comment with the target, by which the file is known; nothing: no function can stand there.
std::optional<std::size_t> front_of(std::string_view text) {
  if (!text.starts_with("// tvm target:")) return 0;
  const std::string_view comment = first_line(text);
  const std::size_t last = comment.find_last_not_of(" \t\r\n");
  const bool goes_on = comment[last] == '\\';
  return goes_on ? std::nullopt : std::optional(std::min(text.find('\n'), text.size() - 1) + 1);
}

// Looks at the file's functions among these.
std::vector<Taken> taken_in(const Source& file, const std::set<std::string_view>& functions, Bytes alignment) {
  std::vector<Taken> result;
  if (!has_name(file.text, allocate_function) && !has_name(file.text, workspace_param)) return result;
  if (!front_of(file.text)) return result;
  FileScope scope;
  try {
    read_file_scope(split(file.text), 0, true, scope);
    for (const auto& [name, function] : scope.functions) {
      if (!functions.contains(name) || scope.doubts.contains(name)) continue;
      auto taken = Taking(function, alignment).find();
      if (!taken) continue;
      taken->workspace.function = name;
      result.push_back(std::move(*taken));
    }
  } catch (const SyntaxError&) {
    result.clear();  // not C: it stays
  }
  return result;
}

}  // namespace

std::vector<TakenWorkspace> taken_workspace(std::span<const std::string> functions, std::span<const Source> files,
                                            Bytes alignment) {
  const std::set<std::string_view> names(functions.begin(), functions.end());
  std::map<std::string_view, std::size_t> counts;  // in comments, too
  for (const Source& file : files) {
    for_each_identifier(file.text, [&](std::string_view name) {
      if (names.contains(name)) ++counts[name];
    });
  }
  std::vector<TakenWorkspace> result;
  for (const Source& file : files) {
    for (Taken& taken : taken_in(file, names, alignment)) {
      if (counts[taken.workspace.function] == 1) result.push_back(std::move(taken.workspace));
    }
  }
  std::ranges::sort(result, {}, &TakenWorkspace::function);
  return result;
}

std::vector<ChangedFile> with_workspace_params(const std::vector<TakenWorkspace>& taken, std::span<const Source> files,
                                               Bytes alignment) {
  std::set<std::string_view> names;
  for (const TakenWorkspace& one : taken) names.insert(one.function);
  std::vector<ChangedFile> result;
  for (const Source& file : files) {
    std::vector<PoolEdit> edits;
    for (const Taken& one : taken_in(file, names, alignment)) {
      edits.insert(edits.end(), one.edits.begin(), one.edits.end());
    }
    if (edits.empty()) continue;
    if (!has_name(file.text, given_back)) edits.push_back({*front_of(file.text), 0, given_back_text});
    std::ranges::sort(edits, {}, &PoolEdit::at);
    result.push_back({file.name, edited(file.text, 0, file.text.size(), edits)});
  }
  return result;
}

std::string with_workspace_param(std::string_view prototype) {
  const std::size_t close = prototype.rfind(')');
  const std::size_t open = prototype.find('(');
  if (close == std::string_view::npos || open > close) return std::string(prototype);
  const std::string_view inside = prototype.substr(open + 1, close - open - 1);
  const bool is_empty = inside.find_first_not_of(' ') == std::string_view::npos || inside == "void";
  const std::string front(is_empty ? prototype.substr(0, open + 1) : prototype.substr(0, close));
  return front + (is_empty ? "" : ", ") + "uint8_t* " + workspace_param + std::string(prototype.substr(close));
}

std::optional<std::string> with_workspace_in_prototypes(std::string_view text, std::string_view function) {
  if (may_paste(text, function)) return std::nullopt;
  const std::size_t count = places_of(text, function).size();
  if (count == 0) return std::string(text);
  FileScope scope;
  try {
    read_file_scope(split(text), 0, true, scope);
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
  std::vector<PoolEdit> edits;
  for (const Item& item : scope.items) {
    if (item.kind != Item::Kind::prototype || item.name != function) continue;
    const std::size_t name = static_cast<std::size_t>(item.name.data() - item.text.data());
    const std::size_t open = item.text.find('(', name);
    const std::size_t close = std::min(item.text.find(')', name), item.text.size() - 1);
    if (open > close || item.text.find('(', open + 1) < close) return std::nullopt;
    const std::string_view prototype = item.text.substr(name, close + 1 - name);
    // Brackets may stand in a comment; without a word between them, they say nothing of parameters.
    const bool has_words = std::any_of(prototype.begin() + static_cast<std::ptrdiff_t>(open - name), prototype.end(),
                                       [](char c) { return is_identifier_char(c); });
    if (prototype.find_first_of("/#") != std::string_view::npos || !has_words) return std::nullopt;
    edits.push_back({item.begin + name, prototype.size(), with_workspace_param(prototype)});
  }
  if (edits.size() != count) return std::nullopt;
  return edited(text, 0, text.size(), edits);
}

}  // namespace usmp::tvm_c
