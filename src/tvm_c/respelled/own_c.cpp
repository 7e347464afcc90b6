// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/respelled/own_c.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/stays/pool_params.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t prefix_letter = 3;  // of "usmp_"

bool is_own_prefix(std::string_view name) {
  if (name.size() < 6 || name[4] != '_') return false;
  const std::string_view front = name.substr(0, prefix_letter);
  const char letter = name[prefix_letter];
  return (front == "usm" && letter >= 'p' && letter <= 'z') || (front == "USM" && letter >= 'P' && letter <= 'Z');
}

// For compilers, which lose nothing but speed.
bool is_attribute(std::string_view name) {
  return is_own_prefix(name) && (name.ends_with("_RESTRICT") || name.ends_with("_NOINLINE") ||
                                 name.ends_with("_ALIGNED_CONSTANT") || name.ends_with("_UNROLL"));
}

// Of the same length.
std::string renamed(std::string_view text) {
  std::string result(text);
  bool is_directive = false;
  for (std::size_t i = 0; i < text.size();) {
    if (i == 0 || text[i - 1] == '\n') is_directive = text[i] == '#';
    std::size_t end = i;
    while (end < text.size() && is_identifier_char(text[end])) ++end;
    const std::string_view name = text.substr(i, end - i);
    if (is_own_prefix(name)) {
      const std::string_view fence = "();";
      if (!is_directive && is_attribute(name)) {
        result.replace(i, name.size(), name.size(), ' ');
      } else if (!is_directive && name.ends_with("_FENCE") && text.substr(end, fence.size()) == fence) {
        result.replace(i, name.size() + fence.size(), name.size() + fence.size(), ' ');
      } else {
        char& letter = result[i + prefix_letter];
        if (letter == 'z' || letter == 'Z') {
          throw SyntaxError{
              i, "found C that usmp-plan has read and written too often: plan the archive that it was made from"};
        }
        ++letter;
      }
    }
    i = end + 1;
  }
  return result;
}

bool is_nest(std::string_view function) {
  const std::size_t last = function.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < function.size() &&
         function.substr(0, last + 1).ends_with("_nest");
}

struct Place {
  std::string_view buffer;
  std::string_view pool;
  Bytes begin = 0;
  Bytes end = 0;
};

// "//   buffer: pool[0, 64)", perhaps with more behind it.
std::optional<Place> place_in(std::string_view line) {
  constexpr std::string_view head = "//   ";
  if (!line.starts_with(head)) return std::nullopt;
  line.remove_prefix(head.size());
  const auto taken = [&](std::string_view separator) -> std::optional<std::string_view> {
    const std::size_t at = line.find(separator);
    if (at == 0 || at == std::string_view::npos) return std::nullopt;
    const std::string_view part = line.substr(0, at);
    line.remove_prefix(at + separator.size());
    return part;
  };
  const auto number = [](std::string_view digits) -> std::optional<Bytes> {
    Bytes value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value >= 0 ? std::optional(value)
                                                                                      : std::nullopt;
  };
  const auto is_name = [](std::string_view word) { return std::all_of(word.begin(), word.end(), is_identifier_char); };
  const auto buffer = taken(": ");
  const auto pool = buffer ? taken("[") : std::nullopt;
  const auto begin = pool ? taken(", ") : std::nullopt;
  const auto end = begin ? taken(")") : std::nullopt;
  if (!end || !is_name(*buffer) || !is_name(*pool)) return std::nullopt;
  const auto from = number(*begin);
  const auto to = number(*end);
  if (!from || !to || *to < *from) return std::nullopt;
  return Place{*buffer, *pool, *from, *to};
}

// Of the lines of comments right in front of `at`, which may be in the middle of a line.
std::vector<Place> places_before(std::string_view text, std::size_t at) {
  std::vector<Place> places;
  bool is_comment = false;
  for (std::size_t line = text.rfind('\n', at); line != std::string_view::npos && line > 0;) {
    const std::size_t begin = text.rfind('\n', line - 1) + 1;
    const std::string_view content = text.substr(begin, line - begin);
    if (const auto place = place_in(content)) places.push_back(*place);
    if (is_comment && !content.starts_with("//")) break;
    is_comment = is_comment || content.starts_with("//");
    if (content.empty() || begin == 0) break;
    line = begin - 1;
  }
  return places;
}

struct Span {
  std::size_t begin = 0;  // tokens
  std::size_t end = 0;
};

struct OwnFunction {
  std::vector<Token> params;
  std::vector<Token> body;
  std::vector<Span> listed;             // of params
  std::vector<std::string_view> names;  // of these
  std::vector<bool> is_pool;
  std::vector<Place> places;
  std::size_t params_at = 0;
  std::size_t body_at = 0;

  struct Bracket {
    std::size_t opening = SIZE_MAX;  // of the list that the token stands in, within a statement
    std::size_t position = 0;        // in it
    std::size_t closing = SIZE_MAX;  // of the bracket that it is
  };
  std::vector<Bracket> brackets;  // of `body`

  [[nodiscard]] bool has_pools() const { return std::find(is_pool.begin(), is_pool.end(), true) != is_pool.end(); }
  [[nodiscard]] const Place* place_of(std::string_view buffer) const {
    const auto found =
        std::find_if(places.begin(), places.end(), [&](const Place& one) { return one.buffer == buffer; });
    return found == places.end() ? nullptr : &*found;
  }
};

void find_brackets(OwnFunction& function) {
  const std::vector<Token>& body = function.body;
  function.brackets.resize(body.size());
  std::vector<std::pair<std::size_t, std::size_t>> open;  // with the position
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i].is(")") || body[i].is("}")) {
      if (!open.empty()) {
        function.brackets[open.back().first].closing = i;
        open.pop_back();
      }
    } else if (body[i].is(",") && !open.empty()) {
      ++open.back().second;
    }
    if (!open.empty() && body[open.back().first].is("(")) {
      function.brackets[i].opening = open.back().first;
      function.brackets[i].position = open.back().second;
    }
    if (body[i].is("(") || body[i].is("{")) open.emplace_back(i, 0);
  }
}

// Up to the bracket that closes what is open.
std::vector<Token> tokens_inside(Lexer tokens) {
  std::vector<Token> result;
  for (std::size_t depth = 1;;) {
    const Token token = tokens.next();
    if (token.kind == TokenKind::end) return result;
    if (token.is("(") || token.is("{")) ++depth;
    if ((token.is(")") || token.is("}")) && --depth == 0) return result;
    result.push_back(token);
  }
}

// Parts between commas of a list that begins there, up to its end.
std::vector<Span> listed_from(const std::vector<Token>& tokens, std::size_t begin) {
  std::vector<Span> parts = {{begin, begin}};
  std::size_t depth = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("[")) ++depth;
    if (tokens[i].is(")") || tokens[i].is("]")) {
      if (depth == 0) break;
      --depth;
    }
    if (tokens[i].is(",") && depth == 0) {
      parts.push_back({i + 1, i + 1});
    } else {
      parts.back().end = i + 1;
    }
  }
  if (parts.size() == 1 && parts[0].begin == parts[0].end) parts.clear();
  return parts;
}

std::size_t end_of(const Token& token) { return token.offset + token.text.size(); }

class Respelling {
 public:
  Respelling(std::string_view text, const FileScope& constants, std::size_t tensors)
      : text_(text), constants_(constants), tensors_(tensors) {}

  std::string run() {
    FileScope scope;
    read_file_scope(text_, 0, true, scope);
    for (const auto& [name, text] : scope.functions) functions_.emplace(name, function_of(text));
    drop_lines();
    for (auto& [name, function] : functions_) mark_pools(function);
    for (const auto& [name, function] : functions_) {
      if (is_entry(name)) find_read_only(function);
    }
    for (const auto& [name, function] : functions_) {
      if (function.has_pools()) rewrite(name, function);
      if (name.starts_with("tvmgen_")) declare_continued(function);
    }
    std::stable_sort(edits_.begin(), edits_.end(), [](const PoolEdit& a, const PoolEdit& b) {
      return std::pair(a.at, a.size) < std::pair(b.at, b.size);  // what is put in first
    });
    return edited(text_, 0, text_.size(), edits_);
  }

 private:
  OwnFunction function_of(const FunctionText& text) {
    OwnFunction result;
    result.params = tokens_inside(text.params);
    result.body = tokens_inside(text.body);
    result.params_at = text.params.offset();
    result.body_at = text.body.offset();
    result.listed = listed_from(result.params, 0);
    for (const Span& part : result.listed) {
      result.names.push_back(part.begin == part.end ? std::string_view() : result.params[part.end - 1].text);
    }
    find_brackets(result);
    result.places = places_before(text_, text.offset);
    for (const Place& place : result.places) pools_.insert(place.pool);
    return result;
  }

  // Comments, since what they say of places will not hold; and the entry's other name, since it gets a new one.
  void drop_lines() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line = text_.substr(begin, end - begin);
      if (line.starts_with("//   ") || line.starts_with("// tvmgen_") || names_entry(line)) replace(begin, end, {});
      begin = end + 1;
    }
  }

  void mark_pools(OwnFunction& function) const {
    for (const Span& part : function.listed) {
      const bool is_bytes = part.end - part.begin >= 3 && function.params[part.end - 2].is("*") &&
                            function.params[part.end - 3].is("uint8_t");
      function.is_pool.push_back(is_bytes && pools_.contains(function.params[part.end - 1].text));
    }
  }

  // "#define tvmgen_default___tvm_main__ usmp_tvmgen_default___tvm_main__" and what undoes it.
  static bool names_entry(std::string_view line) {
    constexpr std::string_view define = "#define ";
    constexpr std::string_view undef = "#undef ";
    if (line.starts_with(undef)) return is_entry(line.substr(undef.size()));
    if (!line.starts_with(define)) return false;
    line.remove_prefix(define.size());
    const std::string_view name = line.substr(0, line.find(' '));
    const std::string_view other = line.substr(std::min(name.size() + 1, line.size()));
    return is_entry(name) && is_own_prefix(other) && other.substr(prefix_letter + 2) == name;
  }

  static bool is_entry(std::string_view function) {
    return std::ranges::any_of(entry_endings, [&](std::string_view ending) { return function.ends_with(ending); });
  }

  // Pools that nothing is written to: of constants.
  void find_read_only(const OwnFunction& entry) {
    for (std::size_t i = 0; i < entry.listed.size(); ++i) {
      if (entry.is_pool[i] && entry.params[entry.listed[i].begin].is("const")) read_only_.insert(entry.names[i]);
    }
  }

  [[nodiscard]] bool is_constant(std::string_view pool) const {
    std::string lower(pool);
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return constants_.constant_pools.contains(lower);
  }

  static std::string tvm_name(std::string_view pool) { return std::string(pool) + "_0_var"; }

  void replace(std::size_t begin, std::size_t end, std::string text) {
    edits_.push_back({begin, end - begin, std::move(text)});
  }

  // One of a list, with a comma beside it.
  void drop(const std::vector<Token>& tokens, const std::vector<Span>& parts, std::size_t part, bool is_first_kept) {
    const Span& span = parts[part];
    std::size_t begin = tokens[span.begin].offset;
    std::size_t end = end_of(tokens[span.end - 1]);
    if (!is_first_kept) {
      begin = tokens[span.begin - 1].offset;
    } else if (part + 1 < parts.size()) {
      end = end_of(tokens[span.end]);
    }
    replace(begin, end, {});
  }

  void rewrite(const std::string& name, const OwnFunction& function) {
    hoisted_.clear();
    taken_names_.clear();
    for (const Token& token : function.params) taken_names_.insert(token.text);
    for (const Token& token : function.body) taken_names_.insert(token.text);
    std::string given;  // parameters of an entry that has its inputs and outputs in pools
    std::size_t unnamed = 0;
    const bool has_only_pools =
        std::find(function.is_pool.begin(), function.is_pool.end(), false) == function.is_pool.end();
    if (is_entry(name) && has_only_pools) unnamed = tensors_;
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const Token& token = function.body[i];
      const auto at = std::find(function.names.begin(), function.names.end(), token.text);
      if (!token.is_identifier() || at == function.names.end()) continue;
      if (!function.is_pool[static_cast<std::size_t>(at - function.names.begin())]) continue;
      use(function, i, unnamed, given);
    }
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      if (i + 1 < function.body.size() && function.body[i + 1].is("(")) pass(function, i);
    }
    bool has_kept = !given.empty();
    for (std::size_t i = 0; i < function.listed.size(); ++i) {
      const Token& pool = function.params[function.listed[i].end - 1];
      if (!function.is_pool[i]) {
        has_kept = true;
      } else if (is_constant(pool.text)) {
        replace(pool.offset, end_of(pool), tvm_name(pool.text));
        has_kept = true;
      } else {
        drop(function.params, function.listed, i, !has_kept || !given.empty());
      }
    }
    if (!given.empty()) replace(function.params_at, function.params_at, with_separator(given, function));
    std::string declarations;
    for (const auto& [variable, value] : hoisted_) declarations += "void* " + variable + " = " + value.second + "; ";
    if (!declarations.empty()) replace(function.body_at, function.body_at, std::move(declarations));
  }

  // Constants may follow.
  std::string with_separator(const std::string& given, const OwnFunction& function) const {
    const bool has_more = std::any_of(function.names.begin(), function.names.end(),
                                      [&](std::string_view name) { return is_constant(name); });
    return has_more ? given + ", " : given;
  }

  // A pool's name in a body.
  void use(const OwnFunction& function, std::size_t i, std::size_t& unnamed, std::string& given) {
    const std::vector<Token>& body = function.body;
    const auto is = [&](std::size_t at, std::string_view spelling) {
      return at < body.size() && body[at].is(spelling);
    };
    const std::string_view pool = body[i].text;
    Bytes offset = 0;
    std::size_t last = i;
    if (is(i + 1, "+") && i + 2 < body.size() && body[i + 2].kind == TokenKind::number && !is_real(body[i + 2])) {
      offset = integer_literal(body[i + 2]).value;
      last = i + 2;
    }
    // [const] void* const buffer = pool + 160;
    if (i >= 5 && is(i - 1, "=") && is(i - 3, "const") && is(i - 4, "*") && is(last + 1, ";")) {
      const std::string buffer(body[i - 2].text);
      const std::size_t begin = body[i >= 6 && is(i - 6, "const") ? i - 6 : i - 5].offset;
      if (unnamed > 0) {
        const bool is_named = is(i - 6, "const") || buffer.starts_with("output") || buffer.ends_with("_buffer_var");
        const bool is_tensor = is_named && !read_only_.contains(pool);
        if (!is_tensor) fail_at(body[i - 2], "all inputs and outputs in front of other buffers");
        --unnamed;
        given += (given.empty() ? "void* " : ", void* ") + buffer;
        return replace(begin, end_of(body[last]), {});
      }
      const Place* const place = function.place_of(buffer);
      return replace(begin, end_of(body[last]),
                     std::string(body[i - 5].text) + "* " + buffer + " = " + taken(pool, offset, place, body[i]));
    }
    // (float*)(void*)(pool + 160), of bytes without the casts
    std::size_t first = i;
    if (last > i && i > 0 && is(i - 1, "(") && is(last + 1, ")")) {
      --first;
      ++last;
    }
    const auto callee = argument_of(function, first);
    const bool is_passed = last == i && callee.function != nullptr && callee.function->is_pool[callee.position];
    if (is_passed) return;
    const bool is_cast = first >= 4 && is(first - 1, ")") && is(first - 2, "*");
    if (!is_cast && callee.function == nullptr) fail_at(body[i], "what usmp-plan does with a pool");
    replace(body[first].offset, end_of(body[last]), hoisted(function, i, first, pool, offset));
  }

  std::string taken(std::string_view pool, Bytes offset, const Place* place, const Token& at) const {
    if (is_constant(pool)) return "(&(" + tvm_name(pool) + "[" + std::to_string(offset) + "]))";
    if (read_only_.contains(pool)) {
      fail_at(at, "a pool whose constants the header tvmgen_MODULE.constants.h has");
    }
    if (place == nullptr || place->begin != offset || place->pool != pool) {
      throw SyntaxError{at.offset,
                        "found a buffer at offset " + std::to_string(offset) + " of pool " + shown(pool) +
                            ", expected a comment of usmp-plan's in front of the function that says how large it is"};
    }
    return "TVMBackendAllocWorkspace(1, 0, (uint64_t)" + std::to_string(place->end - place->begin) + ", 0, 8)";
  }

  // A variable of its own for what stands in arguments. What is at one place is one buffer, as large as the largest.
  std::string hoisted(const OwnFunction& function, std::size_t i, std::size_t first, std::string_view pool,
                      Bytes offset) {
    const Place* place = nullptr;
    for (const Place* const one : {place_in_callee(function, first), place_at(function, pool, offset)}) {
      if (one == nullptr || one->pool != pool || one->begin != offset) continue;
      if (place == nullptr || one->end > place->end) place = one;
    }
    std::string name = "own_" + std::string(pool) + "_" + std::to_string(offset);
    while (taken_names_.contains(name)) name += "_";
    const std::string value = taken(pool, offset, place, function.body[i]);
    const Bytes size = place == nullptr ? 0 : place->end;
    const auto [known, is_new] = hoisted_.try_emplace(name, size, value);
    if (!is_new && size > known->second.first) known->second = {size, value};
    return name;
  }

  static const Place* place_at(const OwnFunction& function, std::string_view pool, Bytes offset) {
    const Place* largest = nullptr;
    for (const Place& place : function.places) {
      if (place.pool != pool || place.begin != offset) continue;
      if (largest == nullptr || place.end > largest->end) largest = &place;
    }
    return largest;
  }

  struct Argument {
    const OwnFunction* function = nullptr;
    std::size_t position = 0;
  };
  // Of which function the token stands in an argument, if it is one of these.
  Argument argument_of(const OwnFunction& function, std::size_t at) const {
    const OwnFunction::Bracket& place = function.brackets[at];
    if (place.opening == SIZE_MAX || place.opening == 0) return {};
    const auto callee = functions_.find(function.body[place.opening - 1].text);
    if (callee == functions_.end() || place.position >= callee->second.names.size()) return {};
    return {&callee->second, place.position};
  }

  // The parameter's.
  const Place* place_in_callee(const OwnFunction& function, std::size_t at) const {
    const Argument argument = argument_of(function, at);
    if (argument.function == nullptr) return nullptr;
    return argument.function->place_of(argument.function->names[argument.position]);
  }

  // A call of one of these functions: pools are no arguments any more.
  void pass(const OwnFunction& function, std::size_t i) {
    const auto callee = functions_.find(function.body[i].text);
    if (callee == functions_.end() || !callee->second.has_pools()) return;
    const std::vector<Span> parts = listed_from(function.body, i + 2);
    if (parts.size() != callee->second.names.size())
      fail_at(function.body[i], "as many arguments as the function takes");
    bool has_kept = false;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (!callee->second.is_pool[k]) {
        has_kept = true;
        continue;
      }
      if (parts[k].begin == parts[k].end) fail_at(function.body[i], "an argument at each place");
      const Token& argument = function.body[parts[k].begin];
      if (parts[k].end - parts[k].begin != 1 || argument.text != callee->second.names[k]) {
        fail_at(argument, "pool " + shown(callee->second.names[k]));
      }
      if (is_constant(argument.text)) {
        replace(argument.offset, end_of(argument), tvm_name(argument.text));
        has_kept = true;
      } else {
        drop(function.body, parts, k, !has_kept);
      }
    }
  }

  // int32_t row = 0; for (; row < 5; ++row) { … } is a variable and a while loop.
  void declare_continued(const OwnFunction& function) {
    const std::vector<Token>& body = function.body;
    std::set<std::string_view> continued;
    for (std::size_t i = 0; i + 3 < body.size(); ++i) {
      if (!body[i].is("for") || !body[i + 1].is("(") || !body[i + 2].is(";")) continue;
      const std::string variable(body[i + 3].text);
      std::size_t step = i + 3;
      while (step < body.size() && !body[step].is(";")) ++step;
      const std::size_t end = function.brackets[i + 1].closing;
      const bool is_one = step + 4 < body.size() && body[step + 1].is("++") && body[step + 2].is(variable) &&
                          end == step + 3 && body[end + 1].is("{");
      if (!is_one) fail_at(body[i], "a loop as usmp-plan writes them");
      continued.insert(body[i + 3].text);
      replace(body[i].offset, body[i + 3].offset, "while (");
      replace(body[step].offset, body[end].offset, {});
      const std::size_t last = function.brackets[end + 1].closing;
      const std::size_t at = last < body.size() ? body[last].offset : end_of(body.back());
      replace(at, at, variable + " = " + variable + " + 1; ");
    }
    for (std::size_t i = 0; i + 2 < body.size(); ++i) {
      if (!body[i].is("int32_t") || !continued.contains(body[i + 1].text) || !body[i + 2].is("=")) continue;
      replace(body[i + 2].offset, body[i + 2].offset, "; " + std::string(body[i + 1].text) + " ");
    }
  }

  std::string_view text_;
  const FileScope& constants_;
  std::size_t tensors_;
  std::map<std::string, OwnFunction, std::less<>> functions_;
  std::set<std::string_view> pools_;
  std::set<std::string_view> read_only_;
  std::vector<PoolEdit> edits_;
  std::set<std::string_view> taken_names_;
  std::map<std::string, std::pair<Bytes, std::string>> hoisted_;  // where they end, and what they are set to
};

}  // namespace

bool is_own_c(std::string_view text) {
  return text.substr(0, 4096).find("by usmp-plan; do not edit") != std::string_view::npos;
}

std::string as_unplanned(std::string_view text, const FileScope& constants, std::size_t tensors) {
  return Respelling(renamed(text), constants, tensors).run();
}

std::size_t tensors_in(std::string_view header, std::string_view module) {
  std::size_t count = 0;
  for (const char* direction : {"_inputs {", "_outputs {"}) {
    const std::string head = "struct tvmgen_" + std::string(module) + direction;
    const std::size_t begin = header.find(head);
    if (begin == std::string_view::npos) continue;
    const std::size_t end = std::min(header.find('}', begin), header.size());
    const std::string_view members = header.substr(begin, end - begin);
    count += static_cast<std::size_t>(std::count(members.begin(), members.end(), ';'));
  }
  return count;
}

std::set<std::string, std::less<>> nests_in(std::string_view text) {
  std::map<std::string_view, std::size_t> mentions;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_identifier_char(text[end])) ++end;
    if (is_nest(text.substr(i, end - i))) ++mentions[text.substr(i, end - i)];
    i = end + 1;
  }
  std::set<std::string, std::less<>> nests;
  for (const auto& [name, count] : mentions) {
    if (count == 2) nests.emplace(name);  // where it is defined, and called
  }
  return nests;
}

std::string_view own_helper(std::string_view name) {
  return is_own_prefix(name) && name.starts_with("usm") && name[prefix_letter] != 'p' ? name.substr(5)
                                                                                      : std::string_view();
}

}  // namespace usmp::tvm_c
