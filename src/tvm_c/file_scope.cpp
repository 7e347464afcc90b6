#include "tvm_c/file_scope.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "tvm_c/expressions.hpp"
#include "tvm_c/literals.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;

// Up to the bracket that closes one that is open, which is taken.
void skip_to_end(Lexer& tokens, std::size_t opened_at) {
  for (std::size_t depth = 1; depth > 0;) {
    const Token token = tokens.next();
    if (token.kind == TokenKind::end) throw SyntaxError{opened_at, "the bracket does not end"};
    if (token.kind != TokenKind::punctuator) continue;
    if (token.is("(") || token.is("{") || token.is("[")) ++depth;
    if (token.is(")") || token.is("}") || token.is("]")) --depth;
  }
}

void append_little_endian(std::string& bytes, std::uint64_t bits, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<char>(bits >> (8 * i) & 0xFF));
}

class FileReader {
 public:
  FileReader(std::string_view text, std::size_t file, FileScope& scope) : tokens_(text), file_(file), scope_(scope) {}

  void run() {
    while (tokens_.peek().kind != TokenKind::end) declaration();
  }

 private:
  // One declaration, or what there is between two.
  void declaration() {
    const Token first = tokens_.peek();
    if (first.is(";") || first.is("}")) {  // the brace ends extern "C" {
      (void)tokens_.next();
      return;
    }
    if (take(tokens_, "extern") && tokens_.peek().kind == TokenKind::string) {
      (void)tokens_.next();
      (void)take(tokens_, "{");
      return;
    }
    bool is_const = false;
    std::optional<CType> type;
    Token name;
    while (true) {
      if (tokens_.peek().is("const")) is_const = true;
      if (auto found = parse_type(tokens_)) {
        type = found;
        continue;
      }
      const Token token = tokens_.next();
      if (token.kind == TokenKind::end || token.is(";")) return;
      if (token.is("__attribute__")) {
        const Token open = tokens_.next();
        if (!open.is("(")) fail_at(open, "'('");
        skip_to_end(tokens_, open.offset);
      } else if (token.is_identifier()) {
        name = token;
      } else if (token.is("(")) {
        if (function(name, token)) return;
      } else if (token.is("[")) {
        if (table(type, is_const, name)) return;
      } else if (token.is("{")) {
        skip_to_end(tokens_, token.offset);
      }
    }
  }

  // Whether the declaration ends here. A prototype does not.
  bool function(const Token& name, const Token& open) {
    const Lexer params = tokens_;
    skip_to_end(tokens_, open.offset);
    if (name.text.empty() || !tokens_.peek().is("{")) return false;
    const Token brace = tokens_.next();
    scope_.functions.try_emplace(std::string(name.text), FunctionText{file_, name.offset, params, tokens_});
    skip_to_end(tokens_, brace.offset);
    return true;
  }

  // The same of an array: without values, or of something else than numbers, it does not matter.
  bool table(const std::optional<CType>& type, bool is_const, const Token& name) {
    const Token count = tokens_.peek();
    const Token open = count;
    skip_to_end(tokens_, open.offset);
    if (!is_const || !type || type->stars > 0 || type->element.is_void() || name.text.empty()) return false;
    std::size_t elements = 0;
    const auto [end, error] = std::from_chars(count.text.data(), count.text.data() + count.text.size(), elements);
    if (error != std::errc() || end != count.text.data() + count.text.size()) return false;
    while (take(tokens_, "__attribute__")) {
      const Token bracket = tokens_.next();
      skip_to_end(tokens_, bracket.offset);
    }
    if (!tokens_.peek().is("=")) return false;
    (void)tokens_.next();
    expect(tokens_, "{");
    auto data = std::make_shared<tir::Constant>();
    data->type = type->element;
    data->shape = {static_cast<std::int64_t>(elements)};
    std::size_t count_read = 0;
    while (!take(tokens_, "}")) {
      if (count_read == elements) throw SyntaxError{tokens_.peek().offset, "found more values than " + shown(name.text) + " has elements"};
      element(*data);
      ++count_read;
      if (!take(tokens_, ",")) {
        expect(tokens_, "}");
        break;
      }
    }
    // C sets those that are not listed to zero.
    data->bytes.resize(elements * static_cast<std::size_t>(type->element.bytes()), '\0');
    scope_.tables.try_emplace(std::string(name.text), Table{file_, std::move(data)});
    return true;
  }

  // A number with its sign, perhaps in brackets and behind a cast to the table's own type.
  void element(tir::Constant& data) {
    std::size_t brackets = 0;
    bool is_negative = false;
    while (true) {
      if (take(tokens_, "(")) {
        if (parse_type(tokens_)) {
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
    if (data.type.is_float()) {
      real(token, is_negative, data);
    } else {
      integer(token, is_negative, data);
    }
    for (; brackets > 0; --brackets) expect(tokens_, ")");
  }

  static void integer(const Token& token, bool is_negative, tir::Constant& data) {
    const std::int64_t bits = integer_literal(token).value;
    const std::int64_t number = is_negative ? static_cast<std::int64_t>(-static_cast<std::uint64_t>(bits)) : bits;
    const auto range = tir::range_of_type(data.type);
    if (range && (number < range->low || number > range->high)) {
      throw SyntaxError{token.offset, "found " + std::string(is_negative ? "-" : "") + std::string(token.text) +
                                          ", which " + tir::to_string(data.type) + " does not hold"};
    }
    append_little_endian(data.bytes, static_cast<std::uint64_t>(number),
                         static_cast<std::size_t>(data.type.element_bytes()));
  }

  static void real(const Token& token, bool is_negative, tir::Constant& data) {
    const bool is_float = data.type.bits == 32;
    double number = 0;
    if (token.is_identifier()) {
      number = token.is("NAN") ? __builtin_nan("") : __builtin_inf();
    } else {
      number = real_literal(token, is_float);
    }
    if (is_negative) number = -number;
    if (is_float) {
      append_little_endian(data.bytes, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
    } else {
      append_little_endian(data.bytes, std::bit_cast<std::uint64_t>(number), 8);
    }
  }

  Lexer tokens_;
  std::size_t file_;
  FileScope& scope_;
};

}  // namespace

void read_file_scope(std::string_view text, std::size_t file, FileScope& scope) {
  FileReader(text, file, scope).run();
}

}  // namespace usmp::tvm_c
