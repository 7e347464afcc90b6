// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Goes through the items of a file's tree, and reads what they declare.
#include "tvm_c/text/file_scope.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/listed_numbers.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;

constexpr std::size_t max_items = 200'000;  // a kilobyte each
constexpr std::int64_t max_zeros = 4096;    // for each value that is listed

std::size_t end_of(const Token& token) { return token.offset + token.text.size(); }

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
        names_(names) {
    for (const c::Decl& decl : tree_.decls) {
      if (decl.kind == c::DeclKind::type && !c::is_word(decl.name)) types_.insert(decl.name);
    }
  }

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
    const auto [known, is_new] = scope_.functions.try_emplace(std::string(item.name), std::move(text));
    if (!is_new && known->second.file != file_)
      scope_.doubts.try_emplace(std::string(item.name), "in another file, too");
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

  // Not one that the file names itself: where it is compiled, a group that is left out may say what it is, or a macro.
  [[nodiscard]] std::optional<CType> plain_type(c::TypeId type, c::TokenRange spelled) const {
    for (std::size_t i = spelled.begin; i < spelled.end; ++i) {
      if (types_.contains(tokens_[i].text)) return std::nullopt;
    }
    return known_type(tree_, type);
  }

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
    const auto found = plain_type(element, {decl.tokens.begin, decl.declarator.begin});
    if (!found || found->stars > 0 || found->element.is_void()) return;
    const bool is_open = !type.extent.valid();  // as many as there are values
    auto elements = is_open ? std::nullopt : number_in(tokens_of(tree_[type.extent]));
    if (elements && *elements >= max_pool) elements.reset();
    const bool is_byte = found->element.bytes() == 1;
    const bool is_const = tree_[element].is_const && !tree_[element].is_volatile;
    const bool has_values = decl.init.valid() && (is_const || item.has_several || !is_zeroed(decl.init));
    const std::string name(decl.name);
    if (!elements && !is_open && is_byte && !is_const && !has_values) {
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
      Table table{file_, values_of(decl.init, type, elements), item.is_local};
      scope_.tables[std::string(decl.name)].try_emplace(file_, std::move(table));
      note_section(attributes.section);
    } catch (const SyntaxError&) {
      if (!passes_over_) throw;
    }
  }

  // { 1, -2, … }
  [[nodiscard]] std::shared_ptr<const tir::Constant> values_of(c::ExprId id, DataType type,
                                                               std::optional<std::int64_t> given) const {
    const c::Expr& braces = tree_[id];
    const Token& brace = tokens_[braces.tokens.begin];
    require_no_directives(braces);
    if (braces.kind != c::ExprKind::braces)
      throw SyntaxError{brace.offset, "found values that are not understood, expected a list of numbers"};
    tir::Constant data;
    data.type = type;
    const std::int64_t most = given.value_or(max_pool);
    std::int64_t count = 0;
    const auto add_one = [&] {
      if (count++ == most) throw SyntaxError{brace.offset, "found more values than the array has elements"};
    };
    for (const c::ExprId value : tree_.operands_of(id)) {
      if (tree_[value].kind != c::ExprKind::numbers) {
        add_one();
        element(value, data);
        continue;
      }
      // As far as append_listed takes them many at once, then one that is spelled otherwise, and so on.
      const Token& list = tokens_[tree_[value].tokens.begin];
      for (std::size_t at = 0; at < list.text.size();) {
        at += many(list.text, at, most, count, data);
        if (list.text.find_first_not_of(" \t\r\n", at) == std::string_view::npos) break;
        add_one();
        at += one(list, at, data);
      }
    }
    const std::int64_t elements = given.value_or(count);
    data.shape = {elements};
    // C sets those that are not listed to zero. An array of nothing but these may be as large as it likes.
    if (count == 0 && elements > max_zeros) throw SyntaxError{brace.offset, "found an array without values"};
    if (count < elements && elements / (count + 1) > max_zeros) {
      throw SyntaxError{brace.offset, "found " + std::to_string(count) + " values of " + std::to_string(elements)};
    }
    data.bytes.resize(static_cast<std::size_t>(elements * type.bytes()), '\0');
    return std::make_shared<const tir::Constant>(std::move(data));
  }

  void require_no_directives(const c::Expr& values) const {
    const Token& brace = tokens_[values.tokens.begin];
    const auto directives = directives_in(source_->code, brace.offset, end_of(tokens_[values.tokens.end - 1]));
    if (std::ranges::any_of(directives,
                            [](const Directive& one) { return one.word != "pragma" && one.word != "line"; }))
      throw SyntaxError{brace.offset, "found constants with a directive inside, expected nothing but numbers"};
  }

  // Adds numbers of the list, and their count; how many bytes they take.
  std::size_t many(std::string_view list, std::size_t at, std::int64_t most, std::int64_t& count,
                   tir::Constant& data) const {
    constexpr std::size_t piece = std::size_t{1} << 20;
    const auto fewest_bytes = static_cast<std::int64_t>((list.size() - at) / 2);  // a digit and a comma for each
    if (at == 0)
      data.bytes.reserve(static_cast<std::size_t>((count + std::min(most - count, fewest_bytes)) * data.type.bytes()));
    const std::size_t begin = at;
    while (true) {  // a number that the piece cuts begins the next one
      const Listed more = append_listed(list.substr(0, at + piece), at, most - count, data);
      if (more.count == 0) return at - begin;
      if (source_->code.mapped != nullptr) source_->code.mapped->release(list.substr(at, more.end - at));
      at = more.end;
      count += more.count;
    }
  }

  // Adds the number that stands there; how many bytes it takes.
  static std::size_t one(const Token& list, std::size_t at, tir::Constant& data) {
    const std::size_t size = std::min(list.text.find(',', at), list.text.size() - 1) + 1 - at;
    std::vector<Token> tokens = c::lex_text(list.text.substr(at, size));  // with its comma
    for (Token& token : tokens) token.offset += list.offset + static_cast<std::uint32_t>(at);
    tokens.resize(tokens.size() + 2);
    const bool is_negative = tokens[0].is("-");
    const std::size_t sign = is_negative || tokens[0].is("+") ? 1 : 0;
    if (tokens[sign].kind != TokenKind::number) fail_at(tokens[sign], "a number");
    const Token& behind = tokens[sign + 1];
    if (!behind.is(",") && behind.kind != TokenKind::end) fail_at(behind, "',' or '}'");
    add_number(tokens[sign], is_negative, data);
    return size;
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
          Table{file_, values_of(tree_.operands_of(value)[0], found->second.type, found->second.elements)});
    }
    require_no_directives(tree_[decl.init]);
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
      const auto element = plain_type(type.of, decl.tokens);
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

  // A number with its sign, perhaps behind casts that change nothing.
  void element(c::ExprId id, tir::Constant& data) const {
    bool is_negative = false;
    bool is_cast = false;
    // By the types of casts but the table's own.
    Interval held = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    while (true) {
      const c::Expr& expr = tree_[id];
      if (expr.kind == c::ExprKind::cast) {
        is_cast = true;
        const auto type = plain_type(expr.type, {expr.tokens.begin, tree_[tree_.operands_of(id)[0]].tokens.begin});
        const bool is_own = type && type->stars == 0 && type->element == data.type;
        const bool are_integers = type && type->stars == 0 && type->element.is_integer() && data.type.is_integer();
        const auto range = are_integers && !is_own ? tir::range_of_type(type->element) : std::nullopt;
        if (range) held = {std::max(held.low, range->low), std::min(held.high, range->high)};
        if (!is_own && !range) fail_at(tokens_[token_of(tokens_, expr)], "a cast to " + tir::to_string(data.type));
      } else if (expr.kind == c::ExprKind::prefix && expr.text == "-") {
        is_negative = !is_negative;
      } else if (expr.kind != c::ExprKind::prefix || expr.text != "+") {
        break;
      }
      id = tree_.operands_of(id)[0];
    }
    const Token& token = tokens_[token_of(tokens_, tree_[id])];
    const bool is_named = tree_[id].kind == c::ExprKind::name && (token.is("INFINITY") || token.is("NAN"));
    if (tree_[id].kind != c::ExprKind::number && !is_named) fail_at(token, "a number");
    if (is_cast && !is_named && !is_real(token)) {
      const IntegerLiteral literal = integer_literal(token);
      const bool is_changed = literal.value < held.low || literal.value > held.high ||
                              (is_negative && (literal.type.is_uint() || -literal.value < held.low));
      if (is_changed) fail_at(token, "a number that casts do not change");
    }
    add_number(token, is_negative, data);
  }

  static void add_number(const Token& token, bool is_negative, tir::Constant& data) {
    if (data.type.is_float()) {
      real(token, is_negative, data);
    } else {
      integer(token, is_negative, data);
    }
  }

  // -0x80000000 is 2147483648: the literal is unsigned, and stays so.
  static std::uint64_t negated(const IntegerLiteral& literal) {
    const std::uint64_t bits = -static_cast<std::uint64_t>(literal.value);
    return literal.type.is_uint() && literal.type.bits == 32 ? static_cast<std::uint32_t>(bits) : bits;
  }

  static void integer(const Token& token, bool is_negative, tir::Constant& data) {
    // What C makes of it is cut to 32 bits again where the table has no more.
    const bool is_wide = data.type.bits > 32;
    const IntegerLiteral literal = integer_literal(token);
    const auto bits = static_cast<std::uint64_t>(literal.value);
    const auto number = static_cast<std::int64_t>(!is_negative ? bits : is_wide ? negated(literal) : -bits);
    const auto range = tir::range_of_type(data.type);
    if (range && (number < range->low || number > range->high)) {
      throw SyntaxError{token.offset, "found " + std::string(is_negative ? "-" : "") + std::string(token.text) +
                                          ", which " + tir::to_string(data.type) + " does not hold"};
    }
    append_little_endian(data.bytes, static_cast<std::uint64_t>(number),
                         static_cast<std::size_t>(data.type.element_bytes()));
  }

  // 0x1f, 017
  static double whole_number(const Token& token, bool is_negative, bool is_float) {
    IntegerLiteral literal = integer_literal(token);
    if (is_negative) literal.value = static_cast<std::int64_t>(negated(literal));
    const auto converted = [&](auto integer) {
      return is_float ? static_cast<double>(static_cast<float>(integer)) : static_cast<double>(integer);
    };
    return literal.type.is_uint() ? converted(static_cast<std::uint64_t>(literal.value)) : converted(literal.value);
  }

  static void real(const Token& token, bool is_negative, tir::Constant& data) {
    const bool is_float = data.type.bits == 32;
    double number = 0;
    if (token.is_identifier()) {
      number = token.is("NAN") ? __builtin_nan("") : __builtin_inf();
    } else if (is_real(token)) {
      number = real_literal(token, is_float);
    } else {
      number = whole_number(token, std::exchange(is_negative, false), is_float);
    }
    if (is_negative) number = -number;
    if (is_float) {
      append_little_endian(data.bytes, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
    } else {
      append_little_endian(data.bytes, std::bit_cast<std::uint64_t>(number), 8);
    }
  }

  std::shared_ptr<const FileTree> source_;
  const std::vector<Token>& tokens_;
  const c::Tree& tree_;
  std::size_t file_;
  bool passes_over_;
  bool reads_tables_;
  FileScope& scope_;
  const ConstantNames& names_;
  std::set<std::string_view> types_;  // that the file names
};

// What belongs to what is not known where statements stand outside of functions.
void require_declarations(const std::vector<Token>& tokens) {
  constexpr std::array<std::string_view, 12> words = {"return", "if",    "else",     "for",  "while", "do",
                                                      "switch", "break", "continue", "goto", "case",  "default"};
  std::size_t depth = 0;
  for (const Token& token : tokens) {
    const bool is_word = token.is_identifier() && std::find(words.begin(), words.end(), token.text) != words.end();
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
      const std::string_view declaration = text.substr(item.begin, item.end - item.begin);
      if (item.kind == Item::Kind::function || item.kind == Item::Kind::data) names.emplace(item.name);
      if (item.kind == Item::Kind::other && !declaration.starts_with("extern")) add_names(declaration);
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
    std::string name(macro.name.substr(0, macro.name.size() - ending.size()));
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return name;
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
