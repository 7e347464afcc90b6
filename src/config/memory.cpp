// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parses MEMORY, REGION_ALIAS and assignments; operators of expressions wait on a stack for what binds tighter.
#include "usmp/config/memory.hpp"

#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "config/linker_tokens.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

using Kind = LinkerToken::Kind;
using Value = std::uint64_t;

constexpr std::size_t max_script_bytes = std::size_t{1} << 20;
constexpr std::size_t max_regions = 1000;
constexpr Value max_length = Value{1} << 48;

// What names stand for at a place of the script.
struct Known {
  std::map<std::string, std::size_t, std::less<>> regions;           // index
  std::map<std::string, std::optional<Value>, std::less<>> symbols;  // nothing: of an expression that is not understood
};

std::optional<Value> number_of(std::string_view text) {
  Value factor = 1;
  if (ends_with_any(text, {"K", "k"})) factor = Value{1} << 10;
  if (ends_with_any(text, {"M", "m"})) factor = Value{1} << 20;
  if (factor != 1) text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  } else if (text.starts_with("0")) {
    base = 8;
  }
  Value value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  Value product = 0;
  if (__builtin_mul_overflow(value, factor, &product)) return std::nullopt;
  return product;
}

// Binary operators bind as in C; 0: none. Signs before an operand bind tighter.
int binding(std::string_view sign) {
  static const std::map<std::string_view, int> table = {{"*", 6},  {"/", 6},  {"%", 6}, {"+", 5}, {"-", 5},
                                                        {"<<", 4}, {">>", 4}, {"&", 3}, {"|", 1}};
  const auto found = table.find(sign);
  return found == table.end() ? 0 : found->second;
}

// Nothing where the value would be negative, too large or not defined.
std::optional<Value> applied(std::string_view sign, Value a, Value b) {
  constexpr Value bits = std::numeric_limits<Value>::digits;
  Value result = 0;
  if (sign == "+") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (sign == "-") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (sign == "*") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (sign == "/") return b == 0 ? std::nullopt : std::optional(a / b);
  if (sign == "%") return b == 0 ? std::nullopt : std::optional(a % b);
  if (sign == "<<") return b >= bits || (a << b) >> b != a ? std::nullopt : std::optional(a << b);
  if (sign == ">>") return b >= bits ? std::nullopt : std::optional(a >> b);
  return sign == "&" ? a & b : a | b;
}

// "+=" and its like.
bool is_change(const LinkerToken& token) {
  const bool compares = token.is("==") || token.is("!=") || token.is("<=") || token.is(">=");
  return token.kind == Kind::sign && token.text.size() == 2 && token.text[1] == '=' && !compares;
}

// Operands and operators wait on stacks until what follows binds less: brackets nest as deep as the script says.
class Expression {
 public:
  Expression(LinkerLexer& lexer, const Known& known, const std::vector<MemoryRegion>& regions)
      : lexer_(lexer), known_(known), regions_(regions) {}

  Value read() {
    for (;;) {
      read_operand();
      while (open_ > 0 && lexer_.peek().is(")")) close();
      const LinkerToken& next = lexer_.peek();
      if (next.kind != Kind::sign || binding(next.text) == 0) break;
      settle(binding(next.text));
      waiting_.push_back({lexer_.take(), false});
    }
    if (open_ > 0) lexer_.fail_expected("an operator or ')'");
    settle(0);
    return values_.back();
  }

 private:
  struct Waiting {
    LinkerToken token;
    bool is_prefix = false;
  };

  void read_operand() {
    while (lexer_.peek().is("(") || lexer_.peek().is("~") || lexer_.peek().is("+")) {
      if (lexer_.peek().is("(")) ++open_;
      waiting_.push_back({lexer_.take(), true});
    }
    values_.push_back(operand());
  }

  Value operand() {
    const LinkerToken token = lexer_.peek();
    if (token.kind == Kind::number) {
      lexer_.take();
      if (const auto value = number_of(token.text)) return *value;
      fail_at(lexer_.script(), token.at,
              "found " + shown(token.text) + ", expected a number below 2^64 such as 65536, 0x10000, 64K or 2M");
    }
    if (token.kind != Kind::name) lexer_.fail_expected("a number, a symbol, ORIGIN(…) or LENGTH(…)");
    lexer_.take();
    if (lexer_.peek().is("(")) return region_property(token);
    const auto symbol = known_.symbols.find(token.text);
    if (symbol == known_.symbols.end()) {
      fail_at(lexer_.script(), token.at,
              "symbol " + shown(token.text) + " has no value here, expected one that is assigned above");
    }
    if (!symbol->second) {
      fail_at(lexer_.script(), token.at, "symbol " + shown(token.text) + " has a value that is not understood");
    }
    return *symbol->second;
  }

  Value region_property(const LinkerToken& function) {
    const bool is_origin = function.is("ORIGIN");
    if (!is_origin && !function.is("LENGTH")) {
      fail_at(lexer_.script(), function.at,
              "found the function " + shown(function.text) + ", expected ORIGIN or LENGTH");
    }
    lexer_.take();
    const auto region = known_.regions.find(lexer_.peek().text);
    if (region == known_.regions.end()) lexer_.fail_expected("a region that is defined above");
    lexer_.take();
    if (!lexer_.take_if(")")) lexer_.fail_expected("')'");
    return is_origin ? regions_[region->second].origin : static_cast<Value>(regions_[region->second].length);
  }

  // Applies what binds at least as much as `least` and waits within the innermost open bracket.
  void settle(int least) {
    while (!waiting_.empty()) {
      const Waiting& last = waiting_.back();
      if (last.token.is("(") || (!last.is_prefix && binding(last.token.text) < least)) return;
      apply(last);
      waiting_.pop_back();
    }
  }

  void apply(const Waiting& last) {
    const Value b = values_.back();
    if (last.is_prefix) {
      if (last.token.is("~")) values_.back() = ~b;
      return;
    }
    values_.pop_back();
    const auto result = applied(last.token.text, values_.back(), b);
    if (!result) {
      fail_at(lexer_.script(), last.token.at,
              "the result of " + shown(last.token.text) + " is negative, above 2^64 or not defined");
    }
    values_.back() = *result;
  }

  void close() {
    settle(0);
    waiting_.pop_back();
    --open_;
    lexer_.take();
  }

  LinkerLexer& lexer_;
  const Known& known_;
  const std::vector<MemoryRegion>& regions_;
  std::vector<Value> values_;
  std::vector<Waiting> waiting_;
  std::size_t open_ = 0;
};

class Script {
 public:
  explicit Script(std::string_view text) : lexer_(text) {}

  std::vector<MemoryRegion> read() {
    std::size_t depth = 0;
    while (lexer_.peek().kind != Kind::end) {
      const LinkerToken token = lexer_.take();
      if (token.is("{")) ++depth;
      if (token.is("}") && depth > 0) --depth;
      if (depth == 0 && token.kind == Kind::name) command(token);
    }
    if (!has_memory_) {
      throw Error(ErrorKind::usage, {},
                  "the script has no MEMORY command" + (included_.empty() ? std::string()
                                                                          : "; the files that it includes, such as " +
                                                                                shown(included_) + ", are not read"));
    }
    return std::move(regions_);
  }

 private:
  void command(const LinkerToken& token) {
    if (token.text == "MEMORY" && lexer_.take_if("{")) {
      has_memory_ = true;
      while (!lexer_.take_if("}")) region();
    } else if (token.text == "REGION_ALIAS" && lexer_.take_if("(")) {
      alias();
    } else if (token.text == "INCLUDE") {
      if (included_.empty()) included_ = lexer_.peek().text;
    } else if (lexer_.take_if("=")) {
      assignment(token);
    } else if (is_change(lexer_.peek())) {
      known_.symbols.insert_or_assign(std::string(token.text), std::nullopt);
    }
  }

  // One that is not understood matters only where its symbol is used.
  void assignment(const LinkerToken& symbol) {
    std::optional<Value> value;
    try {
      value = Expression(lexer_, known_, regions_).read();
      if (!lexer_.peek().is(";")) value.reset();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    }
    known_.symbols.insert_or_assign(std::string(symbol.text), value);
  }

  void region() {
    const LinkerToken name = lexer_.peek();
    if (name.is("INCLUDE")) lexer_.fail_expected("a region: files that the script includes are not read");
    if (name.kind != Kind::name) lexer_.fail_expected("the name of a region, or '}'");
    lexer_.take();
    MemoryRegion region{.name = std::string(name.text)};
    if (lexer_.take_if("(")) region.is_writable = attributes();
    if (!lexer_.take_if(":")) lexer_.fail_expected("':'");
    region.origin = setting({"ORIGIN", "org", "o"});
    lexer_.take_if(",");
    const std::size_t at = lexer_.peek().at;
    const Value length = setting({"LENGTH", "len", "l"});
    if (length == 0 || length > max_length) {
      fail_at(lexer_.script(), at,
              "region " + shown(name.text) + " has " + std::to_string(length) + " bytes, expected from 1 to 2^48");
    }
    region.length = static_cast<Bytes>(length);
    add(std::move(region), name);
  }

  // Up to the bracket's end: whether sections go there that are written. Behind '!' stand those that do not.
  bool attributes() {
    bool is_writable = false;
    bool is_negated = false;
    while (!lexer_.take_if(")")) {
      if (lexer_.peek().kind == Kind::end) lexer_.fail_expected("')'");
      for (const char c : lexer_.take().text) {
        if (c == '!') is_negated = !is_negated;
        if (c == 'w' || c == 'W') is_writable = !is_negated;
      }
    }
    return is_writable;
  }

  Value setting(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      if (!lexer_.take_if(word)) continue;
      if (!lexer_.take_if("=")) lexer_.fail_expected("'='");
      return Expression(lexer_, known_, regions_).read();
    }
    lexer_.fail_expected(std::string(*words.begin()) + " = …");
  }

  void alias() {
    const LinkerToken name = lexer_.take();
    const auto region = lexer_.take_if(",") ? known_.regions.find(lexer_.peek().text) : known_.regions.end();
    if (region == known_.regions.end()) lexer_.fail_expected("an alias and a region that is defined above");
    lexer_.take();
    MemoryRegion copy = regions_[region->second];
    copy.name = std::string(name.text);
    if (copy.alias_of.empty()) copy.alias_of = regions_[region->second].name;
    add(std::move(copy), name);
  }

  void add(MemoryRegion region, const LinkerToken& name) {
    if (regions_.size() == max_regions) {
      fail_at(lexer_.script(), name.at, "more than " + std::to_string(max_regions) + " regions");
    }
    if (!known_.regions.emplace(region.name, regions_.size()).second) {
      fail_at(lexer_.script(), name.at, "a second region " + shown(region.name));
    }
    regions_.push_back(std::move(region));
  }

  LinkerLexer lexer_;
  std::vector<MemoryRegion> regions_;
  Known known_;
  bool has_memory_ = false;
  std::string included_;
};

}  // namespace

std::vector<MemoryRegion> parse_memory(std::string_view script) {
  if (script.size() > max_script_bytes) {
    throw Error(ErrorKind::usage, {}, "the script has more than " + std::to_string(max_script_bytes) + " bytes");
  }
  return Script(script).read();
}

Bytes overlap_of(const MemoryRegion& one, const MemoryRegion& other) {
  const bool is_first = one.origin <= other.origin;
  const MemoryRegion& lower = is_first ? one : other;
  const MemoryRegion& upper = is_first ? other : one;
  const std::uint64_t distance = upper.origin - lower.origin;
  if (distance >= static_cast<std::uint64_t>(lower.length)) return 0;
  return std::min(lower.length - static_cast<Bytes>(distance), upper.length);
}

}  // namespace usmp::config
