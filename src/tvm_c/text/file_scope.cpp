// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Goes through the items of a file's tree, and reads what they declare.
#include "tvm_c/text/file_scope.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/table_values.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;

constexpr std::size_t max_items = 200'000;  // a kilobyte each

class FileReader {
 public:
  FileReader(std::shared_ptr<const FileTree> source, std::size_t file, bool passes_over, FileScope& scope,
             const ConstantNames& names, bool reads_tables)
      : source_(std::move(source)),
        tokens_(source_->tokens),
        tree_(source_->tree),
        file_(file),
        passes_over_(passes_over),
        reads_tables_(reads_tables),
        scope_(scope),
        names_(names),
        values_(*source_) {}

  void run() {
    std::vector<c::StmtId> pending(tree_.items.rbegin(), tree_.items.rend());
    while (!pending.empty()) {
      const c::Stmt& stmt = tree_[pending.back()];
      pending.pop_back();
      pending.insert(pending.end(), stmt.body.rbegin(), stmt.body.rend());  // of extern "C" { … }
      const bool is_nothing = stmt.kind == c::StmtKind::empty && stmt.tokens.end == stmt.tokens.begin + 1;
      if (stmt.kind != c::StmtKind::linkage && !is_nothing) item(stmt);
    }
  }

 private:
  void item(const c::Stmt& stmt) {
    const Token& first = tokens_[stmt.tokens.begin];
    if (scope_.items.size() == max_items) {
      throw SyntaxError{first.offset, "more than " + std::to_string(max_items) +
                                          " declarations stand outside of functions, which is the limit"};
    }
    Item item;
    item.file = file_;
    item.begin = first.offset;
    item.end = end_of(tokens_[stmt.tokens.end - 1]);
    item.text = source_->code.text.substr(item.begin, item.end - item.begin);
    item.is_variable = stmt.kind != c::StmtKind::declaration;  // a call, perhaps
    if (!stmt.decls.empty()) declaration(stmt, item);
    if (stmt.kind == c::StmtKind::opaque) opaque(stmt.tokens, item);
    if (item.kind == Item::Kind::prototype) scope_.prototypes[std::string(item.name)] = scope_.items.size();
    scope_.items.push_back(item);
  }

  // Says what it is, by the first name that it declares.
  void declaration(const c::Stmt& stmt, Item& item) {
    const c::Decl& decl = tree_[stmt.decls[0]];
    item.decl = stmt.decls[0];
    item.has_several = stmt.decls.size() > 1;
    const auto is_static_macro = [&](c::TokenRange words) {  // CMSIS's
      return tokens_[words.begin].text.starts_with("__STATIC_");
    };
    item.is_local =
        decl.storage == c::Storage::internal || decl.is_inline || std::ranges::any_of(decl.unknown, is_static_macro);
    if (decl.kind == c::DeclKind::type) return;
    // Not one such as uint8_t (*f(void))[64] or int (*first)[4], of which nothing is known.
    const auto front = std::span(tokens_).subspan(decl.declarator.begin, decl.at - decl.declarator.begin);
    const bool is_plain = std::ranges::none_of(front, [](const Token& token) { return token.is("("); });
    item.is_variable = (decl.kind == c::DeclKind::variable || !is_plain) && decl.storage != c::Storage::external;
    if (!is_plain) return;
    if (decl.kind == c::DeclKind::function) {
      item.name = decl.name;
      item.kind = Item::Kind::prototype;
      if (decl.body.valid()) function(decl.at, decl.at + std::size_t{1}, tree_[decl.body].tokens.begin, item);
      return;
    }
    if (tree_[decl.type].kind != c::TypeKind::array && !decl.init.valid()) return;
    item.name = decl.name;
    const bool is_here = decl.storage != c::Storage::external || decl.init.valid();
    if (is_here && !item.has_several) item.kind = Item::Kind::data;
    const Attributes attributes = attributes_in(decl.attributes);
    if (tree_[decl.type].kind == c::TypeKind::array) {
      array(decl, item, attributes);
    } else if (tree_[decl.type].kind == c::TypeKind::record && item.kind == Item::Kind::data && pool(decl)) {
      if (!item.is_local) scope_.not_static.try_emplace(std::string(item.name), place_of(decl));
      note_section(attributes.section);
    }
  }

  // By the places of its name, of the bracket behind it and of the brace.
  void function(std::size_t name, std::size_t open, std::size_t brace, Item& item) {
    item.kind = Item::Kind::function;
    const auto behind = [&](std::size_t bracket) {
      const std::span<const Token> part = inside(bracket);
      return std::span(part.data(), part.size() + 1);  // with the bracket that closes
    };
    FunctionText text{.file = file_, .offset = tokens_[name].offset, .source = source_, .is_local = item.is_local};
    text.params = behind(open);
    text.body = behind(brace);
    text.body_text =
        source_->code.text.substr(end_of(tokens_[brace]), end_of(text.body.back()) - end_of(tokens_[brace]));
    const bool is_new = scope_.functions.try_emplace(std::string(item.name), std::move(text)).second;
    if (!is_new) scope_.doubts.try_emplace(std::string(item.name), "in another file, too");
  }

  // Beyond the grammar: a function or a prototype, if it ends as they do, NAME(…) { … }, NAME(…);
  void opaque(c::TokenRange range, Item& item) {
    for (std::size_t i = range.begin; i + 1 < range.end; ++i) {
      const Token& name = tokens_[i];
      item.is_local = item.is_local || name.is("static") || name.is("inline");
      if (!tokens_[i + 1].is("(") && !tokens_[i + 1].is("[") && !tokens_[i + 1].is("{")) continue;
      const std::size_t behind = *behind_bracketed(tokens_, i + 1);
      const bool has_body = behind < range.end && tokens_[behind].is("{");
      if (tokens_[i + 1].is("(") && name.is_identifier() && (has_body || behind + 1 == range.end)) {
        item.name = name.text;
        item.kind = Item::Kind::prototype;
        return has_body ? function(i, i + 1, behind, item) : void();
      }
      i = behind - 1;
    }
  }

  [[nodiscard]] FilePlace place_of(const c::Decl& decl) const { return {file_, tokens_[decl.at].offset}; }

  // What aligned(N), _Alignas(N) and section("…") say.
  struct Attributes {
    std::optional<std::int64_t> alignment;         // the largest
    std::optional<std::size_t> unknown_alignment;  // where it stands; without a bracket, the machine says how much
    std::string section;
  };

  [[nodiscard]] Attributes attributes_in(const std::vector<c::TokenRange>& all) const {
    Attributes found;
    for (const c::TokenRange range : all) {
      for (std::size_t i = range.begin; i + 1 < range.end; ++i) {
        const Token& name = tokens_[i];
        const bool has_bracket = tokens_[i + 1].is("(");
        if (name.is("aligned") || name.is("__aligned__") || name.is("_Alignas") || name.is("alignas")) {
          if (const auto value = has_bracket ? number_in(inside(i + 1)) : std::nullopt) {
            found.alignment = std::max(found.alignment.value_or(0), *value);
          } else {
            found.unknown_alignment = name.offset;
          }
        } else if ((name.is("section") || name.is("__section__")) && has_bracket &&
                   tokens_[i + 2].kind == TokenKind::string) {
          found.section = text_of_string(tokens_[i + 2]);
        }
      }
    }
    return found;
  }

  // What stands there, if it is a number.
  [[nodiscard]] std::optional<std::int64_t> number_in(std::span<const Token> part) const {
    if (part.empty()) return std::nullopt;
    const auto literal = part.size() == 1 ? c::integer_literal(part[0].text) : std::nullopt;
    const std::size_t begin = part[0].offset;
    const auto value = literal ? literal->as_int64()
                               : constant_value(source_->code.text.substr(begin, end_of(part.back()) - begin), names_);
    return value && *value >= 0 ? value : std::nullopt;
  }

  [[nodiscard]] std::span<const Token> tokens_of(const c::Expr& expr) const {
    return std::span(tokens_).subspan(expr.tokens.begin, expr.tokens.end - expr.tokens.begin);
  }
  // Between the bracket that stands there and the one that closes it.
  [[nodiscard]] std::span<const Token> inside(std::size_t open) const {
    return std::span(tokens_).subspan(open + 1, *behind_bracketed(tokens_, open) - open - 2);
  }

  // Without values, or of something else than numbers, it does not matter.
  void array(const c::Decl& decl, const Item& item, const Attributes& attributes) {
    const c::Type& type = tree_[decl.type];
    c::TypeId element = type.of;
    while (tree_[element].kind == c::TypeKind::array) element = tree_[element].of;
    const auto found = values_.plain_type(element, {decl.tokens.begin, decl.declarator.begin});
    if (!found || found->stars > 0 || found->element.is_void()) return;
    const bool is_open = !type.extent.valid();  // as many as there are values
    auto elements = is_open ? std::nullopt : number_in(tokens_of(tree_[type.extent]));
    if (elements && *elements >= max_pool) elements.reset();
    const bool is_byte = found->element.bytes() == 1;
    const bool is_const = tree_[element].is_const && !tree_[element].is_volatile;
    const bool has_values = decl.init.valid() && (is_const || !is_zeroed(decl.init));
    const std::string name(decl.name);
    if (!elements && !is_open && is_byte && !has_values) {
      scope_.unsized.try_emplace(name, FilePlace{file_, tokens_[tree_[type.extent].tokens.begin].offset});
    }
    if ((!elements && !is_open) || element != type.of) return;  // of several dimensions no table is made
    if (has_values) {
      if (is_const && !item.has_several) table(decl, item, found->element, elements, attributes);
    } else if (elements && is_byte) {
      scope_.arrays.try_emplace(name, *elements);
      scope_.owned.try_emplace(name, attributes.section);
      if (!item.is_local) scope_.not_static.try_emplace(name, place_of(decl));
      if (attributes.alignment) scope_.alignments.try_emplace(name, *attributes.alignment);
      if (attributes.unknown_alignment)
        scope_.unknown_alignments.try_emplace(name, FilePlace{file_, *attributes.unknown_alignment});
    }
  }

  // = {0}, as memory without values is zeroed, too.
  [[nodiscard]] bool is_zeroed(c::ExprId init) const {
    const auto values = tree_.operands_of(init);
    return tree_[init].kind == c::ExprKind::braces &&
           (values.empty() || (values.size() == 1 && is_number(tree_, values[0], "0")));
  }

  void note_section(const std::string& section) {
    if (!section.empty()) scope_.constant_sections.insert(section);
  }

  // One that is not understood may be passed over.
  void table(const c::Decl& decl, const Item& item, DataType type, std::optional<std::int64_t> elements,
             const Attributes& attributes) {
    if (!reads_tables_) return;
    try {
      Table table{file_, values_.of(decl.init, type, elements), item.is_local};
      scope_.tables[std::string(decl.name)].try_emplace(file_, std::move(table));
      note_section(attributes.section);
    } catch (const SyntaxError&) {
      if (!passes_over_) throw;
    }
  }

  struct Member {
    DataType type;
    std::int64_t elements = 0;
    std::int64_t offset = 0;
  };

  // struct NAME { … } NAME = { .a = …, as TVM writes its constants; whether it is one.
  bool pool(const c::Decl& decl) {
    const auto values = tree_.operands_of(decl.init);
    const bool has_named_values =
        tree_[decl.init].kind == c::ExprKind::braces && !values.empty() && !tree_[values[0]].name.empty();
    const auto members = members_of(tree_.records[tree_[decl.type].record]);
    if (!members || !has_named_values || !tokens_[decl.at - 1].is("}")) return false;
    ConstantPool pool;
    for (const c::ExprId value : values) {
      const auto found = members->find(tree_[value].name);
      const bool is_member = tree_[value].kind == c::ExprKind::designated && found != members->end();
      if (!is_member) fail_at(tokens_[tree_[value].tokens.begin], "a member of the struct");
      pool.tables.try_emplace(
          found->second.offset,
          Table{file_, values_.of(tree_.operands_of(value)[0], found->second.type, found->second.elements)});
    }
    values_.require_no_directives(tree_[decl.init]);
    scope_.constant_pools.try_emplace(std::string(decl.name), std::move(pool));
    return true;
  }

  // int16_t a[4096] __attribute__((packed, aligned(16)));
  [[nodiscard]] std::optional<std::map<std::string_view, Member>> members_of(const c::Record& record) const {
    std::map<std::string_view, Member> members;
    std::int64_t end = 0;
    for (const c::DeclId id : record.members) {
      const c::Decl& decl = tree_[id];
      const c::Type& type = tree_[decl.type];
      if (type.kind != c::TypeKind::array || !type.extent.valid()) return std::nullopt;
      const auto element = values_.plain_type(type.of, decl.tokens);
      const auto elements = number_in(tokens_of(tree_[type.extent]));
      const Attributes attributes = attributes_in(decl.attributes);
      const std::int64_t alignment = attributes.alignment.value_or(1);
      if (!element || element->stars > 0 || element->element.is_void() || !elements || *elements > max_pool ||
          attributes.unknown_alignment || alignment < 1 || alignment > max_pool)
        return std::nullopt;
      end = align_up(end, alignment);
      members.try_emplace(decl.name, Member{element->element, *elements, end});
      end += *elements * element->element.bytes();
      if (end > max_pool) return std::nullopt;
    }
    return record.is_union ? std::nullopt : std::optional(std::move(members));
  }

  std::shared_ptr<const FileTree> source_;
  const std::vector<Token>& tokens_;
  const c::Tree& tree_;
  std::size_t file_;
  bool passes_over_;
  bool reads_tables_;
  FileScope& scope_;
  const ConstantNames& names_;
  TableValues values_;
};

// What belongs to what is not known where statements stand outside of functions.
void require_declarations(const std::vector<Token>& tokens) {
  constexpr std::array<std::string_view, 12> words = {"return", "if",    "else",     "for",  "while", "do",
                                                      "switch", "break", "continue", "goto", "case",  "default"};
  std::size_t depth = 0;
  for (const Token& token : tokens) {
    const bool is_word = token.is_identifier() && std::ranges::find(words, token.text) != words.end();
    if (depth == 0 && (is_word || token.is("}"))) fail_at(token, "a declaration outside of functions");
    if (token.is("{")) ++depth;
    if (token.is("}")) --depth;
  }
}

// What conditions left out, as TakenText has it.
std::map<std::size_t, std::size_t> read_items(const Code& code, std::size_t file, bool passes_over, FileScope& scope,
                                              const ConstantNames& names,
                                              const std::shared_ptr<const Conditions>& conditions, bool reads_tables) {
  auto source = std::make_shared<FileTree>();
  source->code = code;
  source->conditions = conditions;
  TakenText taken = taken_tokens(code, 0, code.text.size(), passes_over, conditions.get());
  source->tokens = std::move(taken.tokens);
  require_declarations(source->tokens);
  source->tokens.push_back(code.lexed->tokens.back());
  try {
    source->tree = c::parse(source->tokens, c::Bodies::passed_over);
  } catch (const c::SyntaxError& error) {
    throw SyntaxError{error.offset, error.message};
  }
  scope.files.insert_or_assign(file, source);
  FileReader(source, file, passes_over, scope, names, reads_tables).run();
  return std::move(taken.left_out);
}

// What it defines, read as a text of its own.
Names names_defined_in(std::string_view text) {
  Names names;
  const auto add_names = [&](std::string_view part) {
    for_each_identifier(part, [&](std::string_view name) {
      if (!c::is_word(name)) names.emplace(name);
    });
  };
  try {
    FileScope scope;
    const Code code = split(text);
    const auto inner = read_items(code, 0, true, scope, {}, nullptr, true);
    for (const Item& item : scope.items) {
      if (item.kind == Item::Kind::function || item.kind == Item::Kind::data) names.emplace(item.name);
      if (item.kind == Item::Kind::other && !item.text.starts_with("extern")) add_names(item.text);
    }
    for (const auto& [begin, end] : inner) add_names(text.substr(begin, end - begin));
  } catch (const SyntaxError&) {
    add_names(text);
  }
  return names;
}

}  // namespace

std::optional<std::size_t> FileScope::left_out_group(std::string_view name, std::size_t file) const {
  const auto names = left_out.find(file);
  if (names == left_out.end()) return std::nullopt;
  const auto found = names->second.find(name);
  return found == names->second.end() ? std::nullopt : std::optional(found->second);
}

const Table* FileScope::table(std::string_view name, std::size_t file) const {
  const auto named = tables.find(name);
  if (named == tables.end()) return nullptr;
  const auto own = named->second.find(file);
  if (own != named->second.end()) return &own->second;
  if (named->second.size() != 1) return nullptr;
  const Table& only = named->second.begin()->second;
  const auto others = included.find(file);
  const bool is_seen = !only.is_local || (others != included.end() && others->second.contains(only.file));
  return is_seen ? &only : nullptr;
}

std::optional<std::string> pool_of_param(std::string_view name) {
  constexpr std::string_view suffix = "_var";
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits == 0 || digits + 1 == name.size() || name[digits] != '_') {
    return std::nullopt;
  }
  return std::string(name.substr(0, digits));
}

void read_file_scope(const Code& code, std::size_t file, bool passes_over, FileScope& scope, const ConstantNames& names,
                     const std::shared_ptr<const Conditions>& conditions, bool reads_tables) {
  const std::size_t first = scope.items.size();
  const std::string_view text = code.text;
  const auto left_out = read_items(code, file, passes_over, scope, names, conditions, reads_tables);
  std::size_t item = first;
  for (const auto& [begin, end] : left_out) {
    while (item < scope.items.size() && scope.items[item].end <= begin) ++item;
    const bool is_inside = item < scope.items.size() && scope.items[item].begin < begin;
    const bool is_in_body =
        is_inside && scope.items[item].kind == Item::Kind::function && text.find('{', scope.items[item].begin) < begin;
    if (is_in_body) continue;  // the body says so itself
    for (const std::string& name : names_defined_in(text.substr(begin, end - begin))) {
      scope.left_out[file].emplace(name, begin);
    }
  }
}

std::vector<ModuleMacro> module_macros(const Code& code, std::string_view module) {
  const std::string prefix = "TVMGEN_" + upper_case(module) + "_";
  std::vector<ModuleMacro> result;
  for (const Directive& one : directives_in(code)) {
    if (one.word == "define" && one.name.starts_with(prefix))
      result.push_back({one.name.substr(prefix.size()), one.rest.substr(one.name.size())});
  }
  return result;
}

void read_pool_macros(const Code& code, std::string_view module, FileScope& scope, const ConstantNames& names) {
  const auto pool = [](const ModuleMacro& macro, std::string_view ending) -> std::optional<std::string> {
    if (!macro.name.ends_with(ending)) return std::nullopt;
    return lower_case(std::string(macro.name.substr(0, macro.name.size() - ending.size())));
  };
  for (const ModuleMacro& macro : module_macros(code, module)) {
    if (auto name = pool(macro, "_CONSTANT_POOL_DATA")) {  // a list of bytes
      auto bytes = std::make_shared<std::string>();
      for (const Token& token : c::lex_text(macro.value)) {
        if (token.kind == TokenKind::number) bytes->push_back(static_cast<char>(integer_literal(token).value));
      }
      scope.constant_pools.try_emplace(*std::move(name), ConstantPool{{}, std::move(bytes)});
    } else if (auto sized = pool(macro, "_WORKSPACE_POOL_SIZE")) {
      const auto size = constant_value(macro.value, names);
      if (size && *size >= 0) scope.arrays.try_emplace(*std::move(sized), *size);
    }
  }
}

}  // namespace usmp::tvm_c
