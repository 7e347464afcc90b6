// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decides of functions and variables that others may use whether their text may be kept.
#include "tvm_c/kept/added_code.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tvm_c/kept/pool_access.hpp"
#include "tvm_c/kept/run_function.hpp"
#include "tvm_c/text/branches.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/places.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// The tokens in front of a body or a value. Nothing: a conditional group begins among them.
std::optional<std::vector<Token>> head_of(const Item& item, const Code& file) {
  try {
    std::vector<Token> head = taken_tokens(file, item.begin, item.end, true).tokens;
    const auto is_end = [](const Token& token) { return token.is("=") || token.is("{"); };
    head.erase(std::ranges::find_if(head, is_end), head.end());
    return head;
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

template <std::size_t N>
bool is_attribute_of(std::string_view word, const std::array<std::string_view, N>& names) {
  if (word.starts_with("__") && word.ends_with("__")) word = word.substr(2, word.size() - 4);
  return std::ranges::find(names, word) != names.end();
}

// Attributes that say nothing to a linker, nor to code that runs by itself.
constexpr std::array<std::string_view, 18> private_attributes = {
    "aligned", "always_inline", "cold",     "const",   "deprecated", "flatten",  "format", "gnu_inline", "hot",
    "malloc",  "may_alias",     "noinline", "nonnull", "noreturn",   "optimize", "packed", "pure",       "unused"};
constexpr std::array<std::string_view, 4> public_attributes = {"constructor", "destructor", "used", "retain"};

// Whether somebody may look for it who does not name it: a linker script, a debugger, or code in front of main.
bool is_looked_for(const Item& item, const Code& file, const Macros& macros) {
  const auto head = head_of(item, file);
  if (!head) return true;
  for (const std::string& name : macros.names_of(*head)) {
    if (is_attribute_of(name, public_attributes)) return true;
  }
  bool is_inside = false;  // of __attribute__
  std::size_t depth = 0;
  for (std::size_t i = 0; i < head->size(); ++i) {
    const Token& token = (*head)[i];
    is_inside = is_inside || is_attribute(token.text);
    if (!is_inside) continue;
    if (token.is("(")) ++depth;
    if (token.is(")")) is_inside = --depth > 0;
    if (depth != 2 || !token.is_identifier() || is_attribute_of(token.text, private_attributes)) continue;
    if (!is_attribute_of(token.text, std::array<std::string_view, 2>{"section", "target"})) return true;
    if (item.kind == Item::Kind::function || item.kind == Item::Kind::prototype) continue;
    // A linker script may make a list of others.
    const std::string section = i + 2 < head->size() ? text_of_string((*head)[i + 2]) : std::string();
    const std::array<std::string_view, 5> plain = {".rodata", ".data", ".bss", ".noinit", ".text"};
    if (std::ranges::none_of(plain, [&](std::string_view name) { return section.starts_with(name); })) return true;
  }
  return false;
}

bool has_word(const std::vector<Token>& tokens, std::string_view word) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.is(word); });
}

// "f" of void g(void) __attribute__((alias("f"))); which defines g.
std::string aliased_by(const Item& item, const Code& file) {
  const auto head = item.kind == Item::Kind::prototype ? head_of(item, file) : std::nullopt;
  for (std::size_t i = 0; head && i + 2 < head->size(); ++i) {
    const bool is_alias = is_attribute_of((*head)[i].text, std::array<std::string_view, 2>{"alias", "ifunc"});
    if (is_alias && (*head)[i + 2].kind == TokenKind::string) return text_of_string((*head)[i + 2]);
  }
  return {};
}

// TVM's kernels for Cortex-M define instructions that a compiler lacks, __ror, where they use them. Such names are
// reserved: no other file may rely on them.
bool is_instruction(const Item& item, const Code& file) {
  if (item.kind != Item::Kind::function || !item.name.starts_with("__")) return false;
  const auto head = head_of(item, file);
  return head && std::ranges::any_of(*head, [](const Token& token) {
           return is_attribute_of(token.text, std::array<std::string_view, 1>{"always_inline"});
         });
}

// TVM's access to inputs and outputs in pools, which planned C has otherwise.
bool is_map(std::string_view name, const std::string& symbol) {
  return name == symbol + "_map_inputs" || name == symbol + "_map_outputs";
}

}  // namespace

void require_plain_text(const FunctionText& text, const std::vector<AddedText>& added, bool is_entry) {
  const std::size_t begin = text.body_begin();
  const Conditions* const known = text.source->conditions.get();
  for (const Directive& one : directives_in(text.source->code, begin, begin + text.body_text.size())) {
    const auto holds = [&](const AddedText& part) { return part.begin <= one.begin && one.begin < part.end; };
    if (std::ranges::any_of(added, holds)) continue;
    if (!is_entry && known != nullptr && known->contains(one.begin)) continue;
    const bool is_harmless = one.word == "pragma" || one.word == "line" || one.word == "else" || one.word == "endif" ||
                             (one.word == "if" && (one.only == "0" || one.only == "1"));
    if (!is_harmless) throw SyntaxError{one.begin, "found a directive in a function, expected none"};
  }
}

const Names& AddedCode::note(const std::vector<AddedText>& statements, std::size_t file) {
  names_.clear();
  with_code_.clear();
  mentioned_.clear();
  if (!statements.empty()) with_code_.insert(file);
  for (const AddedText& one : statements) {
    for (const std::string& name : included_.names_in(file, one.begin, one.end)) {
      if (scope_.functions.contains(name)) mentioned_.insert(name);
      names_.emplace(file, name);
    }
  }
  return mentioned_;
}

Names AddedCode::keep(const Names& in_statements, const Names& gone, const Names& stops, const Names& kept,
                      const Names& for_operators) {
  Names functions = in_statements;
  Names pools;  // arrays of the C that are TVM's
  for (const auto& [name, section] : scope_.owned) {
    if (gone.contains(name)) pools.insert(name);
  }
  Accessors accessors = accessors_to(pools);
  std::size_t end = 0;
  for (std::size_t i = 0; i < scope_.items.size(); ++i) {
    const Item& item = scope_.items[i];
    const Source& file = files_[item.file];
    const bool is_first = i == 0 || scope_.items[i - 1].file != item.file;
    const bool is_last = i + 1 == scope_.items.size() || scope_.items[i + 1].file != item.file;
    if (is_first) end = 0;
    const std::size_t begin = end;
    end = item.end;
    if (!rewritten_.contains(file.name)) continue;
    check_hidden(item.file, begin, begin_with_groups(included_.code(item.file), begin, item.begin, item.end), gone);
    if (is_last) check_hidden(item.file, end, file.text.size(), gone);
    if (const std::string target = aliased_by(item, included_.code(item.file)); !target.empty()) {
      if (gone.contains(target)) fail_gone(target, item.file, item.begin);
      functions.insert(target);
      with_code_.insert(item.file);
    }
    if (!is_for_others(item, stops) || kept.contains(item.name)) continue;
    if (accessors.contains(i)) {
      keep_access(i, accessors);
      continue;
    }
    const std::string name(item.name);
    if (item.kind == Item::Kind::function) {
      if (forwards_packed(name)) {
        forwarders_.push_back(i);
        continue;
      }
      functions.insert(name);
    } else if (item.is_variable) {
      if (item.kind == Item::Kind::data) names_.emplace(item.file, name);
      if (!is_plain_table(item, read_)) with_code_.insert(item.file);
    }
  }
  std::ranges::sort(pool_accesses_, {}, [](const auto& one) { return one.first; });
  Names result;
  const std::vector<bool> before = mentioned_items(for_operators, {}, stops, read_);
  const std::vector<bool> now = mentioned_items(functions, names_, stops, read_, with_code_);
  std::set<std::size_t> stay = with_code_;
  add_files_of(now, scope_, stay);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Item& item = scope_.items[i];
    if (stay.contains(item.file) && is_unnamed_variable(item)) {
      require_none(item.file, item.begin, item.end, gone);
    }
    // enum { size = sizeof(sram) }; and types stay with their file too.
    if (stay.contains(item.file) && item.kind == Item::Kind::other) {
      require_none(item.file, item.begin, item.end, pools);
    }
    if (!now[i] || before[i]) continue;
    require_none(item.file, item.begin, item.end, gone);
    if (item.kind == Item::Kind::function) result.emplace(item.name);
  }
  return result;
}

void AddedCode::require_none_of(const Names& gone, const std::vector<bool>& stays, const std::set<std::size_t>& files) {
  for (std::size_t i = 0; i < stays.size() && !gone.empty(); ++i) {
    const Item& item = scope_.items[i];
    const bool has_text = stays[i] ? !gone.contains(item.name) : files.contains(item.file) && is_unnamed_variable(item);
    if (has_text) require_none(item.file, item.begin, item.end, gone);
  }
}

AddedCode::Accessors AddedCode::accessors_to(const Names& pools) const {
  Accessors result;
  PoolAccessors known;
  for (std::size_t i = 0; i < scope_.items.size(); ++i) {
    const Item& item = scope_.items[i];
    if (i == 0 || scope_.items[i - 1].file != item.file) known.clear();
    auto found = pool_access_of(item, included_.code(item.file), pools, known);
    if (!found) continue;
    // It is written without the conditions around it.
    const Branches groups(included_.code(item.file), scope_.files.at(item.file)->conditions);
    if (!groups.conditions(item.begin).empty()) continue;
    if (item.kind == Item::Kind::function) known.emplace(item.name, found->access.pool);
    result.emplace(i, std::move(*found));
  }
  return result;
}

void AddedCode::keep_access(std::size_t item, Accessors& accessors) {
  std::vector<std::size_t> pending = {item};
  while (!pending.empty()) {
    const auto found = accessors.find(pending.back());
    pending.pop_back();
    if (found->second.access.name.empty()) continue;  // it is done
    for (const auto& [i, other] : accessors) {
      if (i < found->first && found->second.calls.contains(other.access.name)) pending.push_back(i);
    }
    PoolAccess access = std::exchange(found->second.access, {});
    access.file = files_[scope_.items[found->first].file].name;
    pool_accesses_.emplace_back(found->first, std::move(access));
  }
}

const AddedCode::Declared& AddedCode::declared() const {
  if (declared_) return *declared_;
  declared_.emplace();
  for (const Item& item : scope_.items) {
    if (item.kind != Item::Kind::prototype) continue;
    const Code& file = included_.code(item.file);
    const std::pair name(item.file, item.name);
    if (is_looked_for(item, file, included_.macros(item.file))) declared_->looked_for.insert(name);
    const auto head = head_of(item, file);
    if (!head || !item.is_local || has_word(*head, "extern")) declared_->external.insert(name);
  }
  return *declared_;
}

bool AddedCode::is_for_others(const Item& item, const Names& stops) const {
  const Code& file = included_.code(item.file);
  if (is_instruction(item, file)) return false;
  if (item.is_local) {
    const std::pair name(item.file, item.name);
    const auto head = head_of(item, file);
    // An inline function is for others, too, where a declaration says extern, or not inline.
    const bool is_inline = head && !has_word(*head, "static");
    const bool is_external = is_inline && (has_word(*head, "extern") || declared().external.contains(name));
    const bool is_one =
        is_external || declared().looked_for.contains(name) || is_looked_for(item, file, included_.macros(item.file));
    if (!is_one) return false;
  }
  return !stops.contains(item.name) && item.name != "TVMSystemLibEntryPoint" && !is_map(item.name, read_.symbol);
}

std::vector<std::size_t> AddedCode::left_out(const Names& stops, const std::vector<bool>& stays) const {
  std::vector<std::size_t> result;
  std::vector<std::string> others;                  // prefixes of other modules
  std::set<std::size_t> with_unnamed = with_code_;  // files whose declarations without a name are in planned C
  add_files_of(stays, scope_, with_unnamed);
  for (const auto& [name, function] : scope_.functions) {
    for (const std::string_view ending : entry_endings) {
      if (!is_generated(name) || !name.ends_with(ending)) continue;
      const std::string symbol = name.substr(0, name.size() - ending.size());
      if (symbol != read_.symbol) others.push_back(symbol + "_");
    }
  }
  for (std::size_t i = 0; i < scope_.items.size(); ++i) {
    const Item& item = scope_.items[i];
    const bool has_name = item.kind == Item::Kind::function || (item.kind == Item::Kind::data && item.is_variable);
    const bool is_lost = is_unnamed_variable(item) && !with_unnamed.contains(item.file);
    const bool is_alias = !aliased_by(item, included_.code(item.file)).empty() && !with_unnamed.contains(item.file);
    if ((!has_name && !is_lost && !is_alias) || stays[i] || !is_for_others(item, stops)) continue;
    if (std::ranges::any_of(others, [&](const auto& other) { return item.name.starts_with(other); })) {
      continue;
    }
    // TVM's description of a module, which planned C has no use for.
    if (item.name.ends_with("get_c_metadata") || forwards_packed(std::string(item.name))) continue;
    result.push_back(i);
  }
  return result;
}

Names AddedCode::defined_elsewhere() const {
  Names result;
  for (const Item& item : scope_.items) {
    if (item.kind == Item::Kind::other && item.text.starts_with("extern")) result.emplace(item.name);
  }
  for (const Item& item : scope_.items) {
    if (item.kind == Item::Kind::data) result.erase(std::string(item.name));
  }
  return result;
}

bool AddedCode::forwards_packed(const std::string& name) const {
  const auto found = scope_.functions.find(name);
  if (name == read_.entry || found == scope_.functions.end() || scope_.doubts.contains(name)) return false;
  if (!takes_packed(found->second)) return false;
  try {
    require_plain_text(found->second, {});
    const FunctionTree function = function_tree(found->second, {});
    const c::Tree& tree = function.tree;
    const std::vector<c::StmtId>& statements = function.statements();
    if (statements.size() != 1 || !returns_call_of(read_.entry, tree, tree[statements[0]])) return false;
    return std::ranges::equal(tree.operands_of(tree[statements[0]].expr).subspan(1), function.params(),
                              [&](c::ExprId argument, c::DeclId param) {
                                return tree[argument].kind == c::ExprKind::name &&
                                       tree[argument].text == tree[param].name;
                              });
  } catch (const SyntaxError&) {
    return false;
  }
}

void AddedCode::check_hidden(std::size_t file, std::size_t begin, std::size_t end, const Names& gone) {
  if (begin >= end || !has_hidden_code(included_.code(file), begin, end)) return;
  with_code_.insert(file);
  require_none(file, begin, end, gone);
}

void AddedCode::require_none(std::size_t file, std::size_t begin, std::size_t end, const Names& gone) {
  const std::string_view text = files_[file].text.substr(begin, end - begin);
  for (const std::string& name : included_.names_in(file, begin, end)) {
    if (name == Macros::anything) {
      throw located(files_[file], {begin, "found macros that stand for too much text in code that somebody added"});
    }
    if (gone.contains(name)) fail_gone(name, file, begin + std::min(text.find(name), text.size()));
  }
}

void AddedCode::fail_gone(const std::string& name, std::size_t file, std::size_t at) const {
  throw located(
      files_[file],
      {at, "found " + in_quotes(name) +
               " in code that somebody added, expected nothing that planned C does not have: the model's "
               "operators, constants and memory" +
               (scope_.owned.contains(name)
                    ? "; move that code to a file of the firmware, and let functions here tell it where the pool "
                      "is: uint8_t* f(void) { return &" +
                          name + "[0]; }"
                    : "")});
}

std::optional<Error> AddedCode::edited_run() const {
  const std::string run = read_.symbol + "_run";
  const auto found = scope_.functions.find(run);
  if (found == scope_.functions.end()) return std::nullopt;
  const Source& file = files_[found->second.file];
  if (!rewritten_.empty() && !rewritten_.contains(file.name)) return std::nullopt;
  if (const auto doubt = scope_.doubts.find(run); doubt != scope_.doubts.end()) {
    return located(file, {found->second.offset,
                          "found " + in_quotes(run) + " " + doubt->second + ", expected one function of it"});
  }
  if (const auto group = scope_.left_out_group(run, found->second.file)) {
    return located(file,
                   {*group, "found " + in_quotes(run) + " in a conditional group, too, expected one function of it"});
  }
  for (const Token& token : found->second.body) {
    const auto array = scope_.unsized.find(token.text);
    if (array == scope_.unsized.end()) continue;
    return located(files_[array->second.file],
                   {array->second.offset, "found a size of " + in_quotes(token.text) +
                                              " that is not known here, expected a number below 2^31 that the files "
                                              "and their headers determine: no name of the compiler's command line "
                                              "or of a conditional group, and no size that depends on the machine"});
  }
  const auto added = added_to_run(found->second, run, read_.entry, scope_);
  if (!added) return std::nullopt;
  std::string message = added->message;
  const std::string_view name = leading_name(file.text.substr(added->offset));
  for (const Item& item : scope_.items) {  // a pointer that the firmware sets
    if (!is_unnamed_variable(item) || !has_name(item.text, name)) continue;
    message += "; change its declaration (" + files_[item.file].name + ": " + place_in(files_[item.file], item.begin) +
               ") and what sets it";
  }
  return located(file, {added->offset, message});
}

}  // namespace usmp::tvm_c
