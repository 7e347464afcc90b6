// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Goes through the items of a file, and reads their declarations and initialisers.
#include "tvm_c/text/file_scope.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/text/listed_numbers.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;

constexpr std::size_t max_items = 200'000;  // a kilobyte each

std::optional<std::int64_t> count_of(const Token& token) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), count);
  const bool is_number = error == std::errc() && end == token.text.data() + token.text.size();
  return is_number && count >= 0 ? std::optional(count) : std::nullopt;
}

constexpr std::int64_t max_zeros = 4096;  // for each value that is listed

class FileReader {
 public:
  FileReader(const Code& code, std::size_t file, bool passes_over, FileScope& scope, const ConstantNames& names,
             std::shared_ptr<const Conditions> conditions, bool reads_tables = true)
      : tokens_(code),
        mapped_(code.mapped),
        file_(file),
        passes_over_(passes_over),
        reads_tables_(reads_tables),
        scope_(scope),
        names_(names) {
    if (passes_over) tokens_.pass_over_conditions();
    tokens_.know(std::move(conditions));
  }

  std::map<std::size_t, std::size_t> run() {
    while (tokens_.peek().kind != TokenKind::end) declaration();
    return tokens_.left_out();
  }

 private:
  // One declaration, or what there is between two.
  void declaration() {
    const Token first = tokens_.peek();
    if (first.is(";")) {
      (void)tokens_.next();
      return;
    }
    if (is_of_statement(first) || (first.is("}") && linkages_ == 0))
      fail_at(first, "a declaration outside of functions");
    if (take(tokens_, "}")) {
      --linkages_;
      return;
    }
    const bool is_extern = take(tokens_, "extern");
    if (is_extern && tokens_.peek().kind == TokenKind::string) {
      (void)tokens_.next();
      if (take(tokens_, "{")) ++linkages_;
      return;
    }
    if (scope_.items.size() == max_items) {
      throw SyntaxError{first.offset, "more than " + std::to_string(max_items) +
                                          " declarations stand outside of functions, which is the limit"};
    }
    Item item;
    item.file = file_;
    item.begin = first.offset;
    declaration_of(item);
    const bool is_open = tokens_.text()[tokens_.end() - 1] != ';';
    if (item.kind == Item::Kind::data && is_open && tokens_.peek().is(";")) (void)tokens_.next();
    item.end = tokens_.end();
    if (first.is("typedef")) item.kind = Item::Kind::other;
    if (item.kind == Item::Kind::data) item.is_variable = true;
    if (item.kind == Item::Kind::data && item.has_several) item.kind = Item::Kind::other;
    if (first.is("typedef") || is_extern) item.is_variable = false;
    const bool has_values =
        tokens_.text().substr(item.begin, item.end - item.begin).find('=') != std::string_view::npos;
    if (is_extern && item.kind == Item::Kind::data && !has_values) item.kind = Item::Kind::other;  // defined elsewhere
    if (item.kind == Item::Kind::prototype) scope_.prototypes[std::string(item.name)] = scope_.items.size();
    scope_.items.push_back(item);
  }

  static bool is_of_statement(const Token& token) {
    constexpr std::array<std::string_view, 12> words = {"return", "if",    "else",     "for",  "while", "do",
                                                        "switch", "break", "continue", "goto", "case",  "default"};
    return token.is_identifier() && std::find(words.begin(), words.end(), token.text) != words.end();
  }

  // The same, which says what it is.
  void declaration_of(Item& item) {
    bool has_value = false;  // what stands behind '=' has other names
    const auto is = [&](Item::Kind kind, const Token& name) {
      if (item.kind != Item::Kind::other || name.text.empty() || has_value) return;
      item.kind = kind;
      item.name = name.text;
    };
    bool is_const = false;
    std::optional<CType> type;
    Attributes attributes;
    Token name;
    std::size_t words = 0;  // "struct point origin" has three, "struct point" declares nothing
    bool is_record = false;
    bool has_braces = false;
    bool has_dimension = false;
    while (true) {
      if (tokens_.peek().is("const")) is_const = true;
      if (auto found = parse_type(tokens_)) {
        type = found;
        ++words;
        continue;
      }
      const std::size_t front = tokens_.offset();
      attributes.add(next_alignas());
      attributes.add(next_attributes());
      if (tokens_.offset() != front) continue;  // a type may follow
      const Token token = tokens_.next();
      if (token.kind == TokenKind::end || token.is(";")) {
        if (item.kind == Item::Kind::other && words >= (is_record ? 3U : 2U)) item.is_variable = true;
        return;
      }
      if (token.is_identifier()) {
        name = token;
        const bool is_linkage = is_local_linkage(token);
        item.is_local = item.is_local || is_linkage;
        is_record = is_record || token.is("struct") || token.is("union") || token.is("enum");
        if (!is_linkage && !token.is("TVM_DLL")) ++words;
        if (has_braces) item.is_variable = true;
      } else if (token.is("(")) {
        if (item.kind == Item::Kind::other && !has_value) item.is_variable = words < 2 || tokens_.peek().is("*");
        if (function_in_brackets(token)) return;
        is(Item::Kind::prototype, name);
        if (!function(name, token, item.is_local)) {
          // SECTION(".dtcm") static uint8_t sram[64];
          Lexer behind = tokens_;
          const bool is_macro = behind.peek().is("static") || behind.peek().is("const") || behind.peek().is("struct") ||
                                parse_type(behind).has_value();
          if (is_macro) {
            item.kind = Item::Kind::other;
            item.name = {};
            item.is_variable = false;
          }
          continue;
        }
        item.kind = Item::Kind::function;
        item.name = name.text;
        return;
      } else if (token.is("[")) {
        is(Item::Kind::data, name);
        if (has_dimension) type.reset();  // of several no table is made
        if (table(type, is_const, item.is_local, name, attributes)) return;
        has_dimension = true;
      } else if (token.is("=")) {
        is(Item::Kind::data, name);
        has_value = true;
      } else if (token.is(",")) {
        item.has_several = true;
      } else if (token.is("{")) {
        has_braces = true;
        if (name.text.empty() && !type) return skip_to_end(tokens_, token.offset);
        // struct NAME { … } NAME = { … }
        Token pool_name;
        const bool is_pool = pool(token, pool_name);
        if (is_pool && !item.is_local) {
          scope_.not_static.try_emplace(std::string(pool_name.text), FilePlace{file_, pool_name.offset});
        }
        is(Item::Kind::data, pool_name);
        if (is_pool) return note_section(std::move(attributes.section));
      }
    }
  }

  static bool is_local_linkage(const Token& token) {
    return token.is("static") || token.is("inline") || token.is("__STATIC_FORCEINLINE") || token.is("__STATIC_INLINE");
  }

  // What aligned(N) and section("…") say.
  struct Attributes {
    std::optional<std::int64_t> alignment;         // the largest
    std::optional<std::size_t> unknown_alignment;  // where it stands
    std::string section;

    void add(Attributes more) {
      if (more.alignment) alignment = std::max(alignment.value_or(0), *more.alignment);
      if (more.unknown_alignment) unknown_alignment = more.unknown_alignment;
      if (!more.section.empty()) section = std::move(more.section);
    }
  };

  // __attribute__((…)), as often as it stands here.
  Attributes next_attributes() {
    Attributes found;
    Lexer inside = tokens_;
    skip_attributes(tokens_);
    while (inside.offset() < tokens_.offset()) {
      const Token name = inside.next();
      if (name.is("aligned") || name.is("__aligned__")) {
        found.add(alignment_at(name, inside));
      } else if ((name.is("section") || name.is("__section__")) && take(inside, "(") &&
                 inside.peek().kind == TokenKind::string) {
        found.section = text_of_string(inside.next());
      }
    }
    return found;
  }

  // _Alignas(N), as often as it stands here.
  Attributes next_alignas() {
    Attributes found;
    while (tokens_.peek().is("_Alignas") || tokens_.peek().is("alignas")) {
      const Token name = tokens_.next();
      found.add(alignment_at(name, tokens_));
      if (tokens_.peek().is("(")) skip_bracketed(tokens_, "(");
    }
    return found;
  }

  // The value of the attribute of that name, behind it. Without a bracket, the machine says how much it is.
  [[nodiscard]] Attributes alignment_at(const Token& name, Lexer behind) const {
    Attributes found;
    if (take(behind, "(")) found.alignment = number_before(")", behind);
    if (!found.alignment) found.unknown_alignment = name.offset;
    return found;
  }

  // What stands there up to the bracket, if it is a number.
  [[nodiscard]] std::optional<std::int64_t> number_before(std::string_view bracket, Lexer tokens) const {
    const std::size_t begin = tokens.peek().offset;
    Lexer ahead = tokens;
    if (const auto count = count_of(ahead.next()); count && ahead.peek().is(bracket)) return count;
    skip_to_end(tokens, begin);
    const auto value = constant_value(tokens.text().substr(begin, tokens.end() - 1 - begin), names_);
    return value && *value >= 0 ? value : std::nullopt;
  }

  // Whether the declaration ends here. A prototype does not.
  bool function(const Token& name, const Token& open, bool is_local) {
    const Lexer params = tokens_;
    skip_to_end(tokens_, open.offset);
    skip_old_params(params);
    if (name.text.empty() || !tokens_.peek().is("{")) return false;
    const Token brace = tokens_.next();
    const auto [known, is_new] = scope_.functions.try_emplace(
        std::string(name.text), FunctionText{file_, name.offset, params, tokens_, is_local});
    if (!is_new && known->second.file != file_)
      scope_.doubts.try_emplace(std::string(name.text), "in another file, too");
    skip_to_end(tokens_, brace.offset);
    return true;
  }

  // int f(a, n) int8_t* a; int n; { … }, behind its bracket: what says the types of the names in it.
  void skip_old_params(Lexer list) {
    Lexer ahead = tokens_;
    if (!ahead.peek().is_identifier() || !list.peek().is_identifier()) return;
    std::set<std::string_view> names;
    for (Token token = list.next(); !token.is(")"); token = list.next()) {
      if (token.is_identifier() && (list.peek().is(",") || list.peek().is(")"))) {
        names.insert(token.text);
      } else if (!token.is(",")) {
        return;
      }
    }
    while (!ahead.peek().is("{")) {
      bool is_one = false;
      for (Token token = ahead.next(); !token.is(";"); token = ahead.next()) {
        if (token.kind == TokenKind::end || token.is("{") || token.is("=")) return;
        is_one = is_one || names.contains(token.text);
      }
      if (!is_one) return;
    }
    tokens_ = std::move(ahead);
  }

  // uint8_t (*f(void))[64] { … }, behind the first bracket: whether it is one, which ends here.
  bool function_in_brackets(const Token& open) {
    Lexer ahead = tokens_;
    if (!take(ahead, "*")) return false;
    while (take(ahead, "*") || take(ahead, "const")) continue;
    if (!ahead.next().is_identifier() || !ahead.peek().is("(")) return false;
    ahead = tokens_;
    skip_to_end(ahead, open.offset);
    while (ahead.peek().is("[") || ahead.peek().is("(")) skip_bracketed(ahead, ahead.peek().text);
    if (!ahead.peek().is("{")) return false;
    skip_bracketed(ahead, "{");
    tokens_ = std::move(ahead);
    return true;
  }

  // The same of an array: without values, or of something else than numbers, it does not matter.
  bool table(const std::optional<CType>& type, bool is_const, bool is_local, const Token& name, Attributes attributes) {
    const std::optional<std::int64_t> elements = array_extent(tokens_, names_);
    const Token bracket = tokens_.peek();
    const bool is_open = bracket.is("]");  // as many as there are values
    skip_to_end(tokens_, tokens_.peek().offset);
    if (!type || type->stars > 0 || type->element.is_void() || name.text.empty()) return false;
    attributes.add(next_attributes());
    skip_attribute_macros();
    const bool is_memory = !is_const && (!tokens_.peek().is("=") || is_zeroed());
    if (!elements && !is_open && is_memory && type->element.bytes() == 1) {
      scope_.unsized.try_emplace(std::string(name.text), FilePlace{file_, bracket.offset});
    }
    if ((!elements && !is_open) || tokens_.peek().is("[")) return false;
    const std::optional<std::int64_t>& alignment = attributes.alignment;
    if (!tokens_.peek().is("=") || (!is_const && is_zeroed())) {
      if (!elements) return false;
      if (type->element.bytes() == 1) {
        scope_.arrays.try_emplace(std::string(name.text), *elements);
        scope_.owned.try_emplace(std::string(name.text), std::move(attributes.section));
        if (!is_local) scope_.not_static.try_emplace(std::string(name.text), FilePlace{file_, name.offset});
      }
      if (type->element.bytes() == 1 && alignment) scope_.alignments.try_emplace(std::string(name.text), *alignment);
      if (type->element.bytes() == 1 && attributes.unknown_alignment) {
        scope_.unknown_alignments.try_emplace(std::string(name.text), FilePlace{file_, *attributes.unknown_alignment});
      }
      return false;
    }
    if (!is_const) return false;
    (void)tokens_.next();
    auto values = values_or_nothing(type->element, elements);
    if (tokens_.peek().is(",")) return false;  // of several in a declaration no table is made
    if (values) {
      scope_.tables[std::string(name.text)].try_emplace(file_, Table{file_, std::move(values), is_local});
      note_section(std::move(attributes.section));
    }
    return true;
  }

  // = {0}, as memory without values is zeroed, too.
  [[nodiscard]] bool is_zeroed() const {
    Lexer ahead = tokens_;
    if (!take(ahead, "=") || !take(ahead, "{")) return false;
    if (count_of(ahead.peek()) == 0) (void)ahead.next();
    return take(ahead, "}") && ahead.peek().is(";");
  }

  // PROGMEM = or ALIGN(16) =: between a bracket and '=' nothing else may stand.
  void skip_attribute_macros() {
    Lexer ahead = tokens_;
    while (ahead.peek().is_identifier()) {
      (void)ahead.next();
      if (ahead.peek().is("(")) skip_bracketed(ahead, "(");
    }
    if (ahead.peek().is("=")) tokens_ = std::move(ahead);
  }

  void note_section(std::string section) {
    if (!section.empty()) scope_.constant_sections.insert(std::move(section));
  }

  // Nothing for a table that is not understood, if it may be passed over.
  std::shared_ptr<const tir::Constant> values_or_nothing(DataType type, std::optional<std::int64_t> elements) {
    const Lexer begin = tokens_;
    try {
      if (reads_tables_) return values_of(type, elements);
    } catch (const SyntaxError&) {
      if (!passes_over_) throw;
      tokens_ = begin;
    }
    const Token brace = tokens_.peek();
    if (take(tokens_, "{")) {
      skip_to_end(tokens_, brace.offset);
      return nullptr;
    }
    while (!tokens_.peek().is(";") && tokens_.peek().kind != TokenKind::end) {
      if (tokens_.next().is("(")) skip_to_end(tokens_, tokens_.offset());
    }
    return nullptr;
  }

  // { 1, -2, … }
  std::shared_ptr<const tir::Constant> values_of(DataType type, std::optional<std::int64_t> elements) {
    const auto passed_over = tokens_.passed_over();
    const Token brace = tokens_.peek();
    const std::size_t directives = tokens_.directives();
    auto values = listed(type, elements);
    const auto now = tokens_.passed_over();
    if (now && (!passed_over || passed_over->offset != now->offset)) throw *now;
    if (tokens_.directives() != directives) {
      throw SyntaxError{brace.offset, "found a table with a directive inside, expected nothing but numbers"};
    }
    return values;
  }

  std::shared_ptr<const tir::Constant> listed(DataType type, std::optional<std::int64_t> given) {
    const Token brace = tokens_.peek();
    expect(tokens_, "{");
    auto data = std::make_shared<tir::Constant>();
    data->type = type;
    std::int64_t elements = given.value_or(max_pool);
    std::int64_t count = 0;
    while (true) {
      count += long_list(elements - count, *data);
      if (take(tokens_, "}")) break;
      if (count++ == elements) throw SyntaxError{brace.offset, "found more values than the array has elements"};
      element(*data);
      if (take(tokens_, ",")) continue;
      expect(tokens_, "}");
      break;
    }
    if (!given) elements = count;
    data->shape = {elements};
    // C sets those that are not listed to zero. An array of nothing but these may be as large as it likes.
    if (count == 0 && elements > max_zeros) throw SyntaxError{brace.offset, "found an array without values"};
    if (count < elements && elements / (count + 1) > max_zeros) {
      throw SyntaxError{brace.offset, "found " + std::to_string(count) + " values of " + std::to_string(elements)};
    }
    data->bytes.resize(static_cast<std::size_t>(elements * type.bytes()), '\0');
    return data;
  }

  // Those of the long list that stands next, as far as append_listed takes them; how many.
  std::int64_t long_list(std::int64_t most, tir::Constant& data) {
    const std::string_view list = tokens_.numbers();
    if (list.empty()) return 0;
    const auto begin = static_cast<std::size_t>(list.data() - tokens_.text().data());
    constexpr std::size_t piece = std::size_t{1} << 20;
    const auto fewest_bytes = static_cast<std::int64_t>(list.size() / 2);  // a digit and a comma for each
    data.bytes.reserve(static_cast<std::size_t>(std::min(most, fewest_bytes) * data.type.bytes()));
    Listed all;
    while (true) {  // a number that the piece cuts begins the next one
      const Listed more = append_listed(list.substr(0, all.end + piece), all.end, most - all.count, data);
      if (more.count == 0) break;
      if (mapped_ != nullptr) mapped_->release(list.substr(all.end, more.end - all.end));
      all = {more.end, all.count + more.count};
    }
    if (all.end > 0) tokens_.jump(begin + all.end);
    return all.count;
  }

  struct Member {
    std::string_view name;
    DataType type;
    std::int64_t elements = 0;
    std::int64_t offset = 0;
  };

  // { .a = …, as TVM writes its constants.
  [[nodiscard]] bool has_named_values() const {
    Lexer ahead = tokens_;
    return take(ahead, "{") && ahead.peek().is(".");
  }

  // TVM's struct of constants, behind its brace; whether it is one, with values, which end the declaration.
  bool pool(const Token& brace, Token& name) {
    const Lexer inside = tokens_;
    skip_to_end(tokens_, brace.offset);
    const Lexer behind = tokens_;
    tokens_ = inside;
    const auto members = members_of();
    tokens_ = behind;
    if (!members || !tokens_.peek().is_identifier()) return false;
    const Token variable = tokens_.next();
    while (tokens_.peek().is_identifier()) {  // PROGMEM, PLACED(".flash"), __attribute__((…))
      const bool is_attribute = tokens_.peek().is("__attribute__");
      skip_attributes(tokens_);
      if (is_attribute) continue;
      tokens_.next();
      if (tokens_.peek().is("(")) skip_bracketed(tokens_, "(");
    }
    if (!take(tokens_, "=") || !has_named_values()) return false;
    name = variable;
    ConstantPool pool;
    const Token brace_of_values = tokens_.peek();
    const std::size_t directives = tokens_.directives();
    expect(tokens_, "{");
    while (!take(tokens_, "}")) {
      expect(tokens_, ".");
      const Token member = tokens_.next();
      const auto* const found = find_member(*members, member);
      expect(tokens_, "=");
      pool.tables.try_emplace(found->offset, Table{file_, values_of(found->type, found->elements)});
      if (take(tokens_, ",")) continue;
      expect(tokens_, "}");
      break;
    }
    if (tokens_.directives() != directives) {
      throw SyntaxError{brace_of_values.offset,
                        "found constants with a directive inside, expected nothing but numbers"};
    }
    scope_.constant_pools.try_emplace(std::string(variable.text), std::move(pool));
    return true;
  }

  static const Member* find_member(const std::map<std::string_view, Member>& members, const Token& name) {
    const auto found = members.find(name.text);
    if (found == members.end()) fail_at(name, "a member of the struct");
    return &found->second;
  }

  // int16_t a[4096] __attribute__((packed, aligned(16)));
  std::optional<std::map<std::string_view, Member>> members_of() {
    std::map<std::string_view, Member> members;
    std::int64_t end = 0;
    while (!take(tokens_, "}")) {
      const auto type = parse_type(tokens_);
      if (!type || type->stars > 0 || type->element.is_void()) return std::nullopt;
      const Token name = tokens_.next();
      if (!name.is_identifier() || !take(tokens_, "[")) return std::nullopt;
      const auto elements = number_before("]", tokens_);
      if (!elements || *elements > max_pool) return std::nullopt;
      skip_to_end(tokens_, name.offset);
      const Attributes attributes = next_attributes();
      const std::int64_t alignment = attributes.alignment.value_or(1);
      if (attributes.unknown_alignment || !take(tokens_, ";") || alignment < 1 || alignment > max_pool)
        return std::nullopt;
      end = align_up(end, alignment);
      members.try_emplace(name.text, Member{name.text, type->element, *elements, end});
      end += *elements * type->element.bytes();
      if (end > max_pool) return std::nullopt;
    }
    return members;
  }

  // A number with its sign, perhaps in brackets and behind casts that change nothing.
  void element(tir::Constant& data) {
    std::size_t brackets = 0;
    bool is_negative = false;
    bool is_cast = false;
    // By the types of casts but the table's own.
    Interval held = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    while (true) {
      if (take(tokens_, "(")) {
        const Token at = tokens_.peek();
        if (const auto type = parse_type(tokens_)) {
          is_cast = true;
          const bool is_own = type->stars == 0 && type->element == data.type;
          const bool are_integers = type->stars == 0 && type->element.is_integer() && data.type.is_integer();
          const auto range = are_integers && !is_own ? tir::range_of_type(type->element) : std::nullopt;
          if (range) held = {std::max(held.low, range->low), std::min(held.high, range->high)};
          if (!is_own && !range) fail_at(at, "a cast to " + tir::to_string(data.type));
          expect(tokens_, ")");
        } else {
          ++brackets;
        }
      } else if (take(tokens_, "-")) {
        is_negative = !is_negative;
      } else if (!take(tokens_, "+")) {
        break;
      }
    }
    const Token token = tokens_.next();
    if (token.kind != TokenKind::number && !token.is("INFINITY") && !token.is("NAN")) fail_at(token, "a number");
    if (is_cast && token.kind == TokenKind::number && !is_real(token)) {
      const IntegerLiteral literal = integer_literal(token);
      const bool is_changed = literal.value < held.low || literal.value > held.high ||
                              (is_negative && (literal.type.is_uint() || -literal.value < held.low));
      if (is_changed) fail_at(token, "a number that casts do not change");
    }
    if (data.type.is_float()) {
      real(token, is_negative, data);
    } else {
      integer(token, is_negative, data);
    }
    for (; brackets > 0; --brackets) expect(tokens_, ")");
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

  Lexer tokens_;
  std::shared_ptr<const MappedFile> mapped_;
  std::size_t file_;
  bool passes_over_;
  std::size_t linkages_ = 0;  // extern "C" {
  bool reads_tables_;
  FileScope& scope_;
  const ConstantNames& names_;
};

// Without the names of types and the language's words.
void add_names(std::string_view text, Names& names) {
  for_each_identifier(text, [&](std::string_view name) {
    constexpr std::string_view words[] = {"if",     "else",   "for",     "while",    "do",   "return",
                                          "switch", "case",   "break",   "continue", "goto", "sizeof",
                                          "static", "extern", "typedef", "struct",   "enum", "union"};
    Lexer tokens(name);
    const bool is_word = std::find(std::begin(words), std::end(words), name) != std::end(words) || name == "const";
    if (!is_word && !parse_type(tokens)) names.emplace(name);
  });
}

// What it defines, read as a text of its own.
Names names_defined_in(std::string_view text) {
  Names names;
  try {
    FileScope scope;
    const auto inner = FileReader(split(text), 0, true, scope, {}, nullptr).run();
    for (const Item& item : scope.items) {
      const std::string_view declaration = text.substr(item.begin, item.end - item.begin);
      if (item.kind == Item::Kind::function || item.kind == Item::Kind::data) names.emplace(item.name);
      if (item.kind == Item::Kind::other && !declaration.starts_with("extern")) add_names(declaration, names);
    }
    for (const auto& [begin, end] : inner) add_names(text.substr(begin, end - begin), names);
  } catch (const SyntaxError&) {
    add_names(text, names);
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
                     std::shared_ptr<const Conditions> conditions, bool reads_tables) {
  const std::size_t first = scope.items.size();
  const std::string_view text = code.text;
  scope.code.insert_or_assign(file, code);
  scope.conditions.insert_or_assign(file, conditions);
  const auto left_out = FileReader(code, file, passes_over, scope, names, std::move(conditions), reads_tables).run();
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
      Lexer tokens(macro.value);
      for (Token token = tokens.next(); token.kind != TokenKind::end; token = tokens.next()) {
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
