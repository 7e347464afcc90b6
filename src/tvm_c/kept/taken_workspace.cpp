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
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::string_view take_name = "TVMBackendAllocWorkspace";
constexpr std::string_view give_back_name = "TVMBackendFreeWorkspace";
// What stands in the place of the latter: nothing is to do.
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
  Taking(const FunctionText& function, std::string_view text, Bytes alignment)
      : text_(text), alignment_(alignment), params_(function.params), body_(function.body) {}

  // Nothing: it takes none, or in a way that is not understood.
  std::optional<Taken> find() {
    if (params_.empty() || body_.empty() || !count_parameters()) return std::nullopt;
    if (const auto bytes = bytes_of_earlier_plan()) {
      taken_.workspace.bytes = *bytes;
      taken_.workspace.has_param = true;
      --taken_.workspace.parameters;
      return std::move(taken_);
    }
    if (has_jumps_or_directives() || !find_takes() || names_.empty() || !find_returns()) return std::nullopt;
    add_param();
    std::sort(taken_.edits.begin(), taken_.edits.end(),
              [](const PoolEdit& a, const PoolEdit& b) { return a.at < b.at; });
    return std::move(taken_);
  }

 private:
  [[nodiscard]] bool has_no_params() const {
    return params_.size() == 1 || (params_.size() == 2 && params_.front().is("void"));
  }

  // False: no list of parameters.
  bool count_parameters() {
    if (has_no_params()) return true;
    std::vector<std::string_view> open;  // what closes them
    taken_.workspace.parameters = 1;
    for (std::size_t i = 0; i + 1 < params_.size(); ++i) {
      const Token& token = params_[i];
      if (token.is(",") && open.empty()) ++taken_.workspace.parameters;
      if (token.is("(") || token.is("[")) {
        open.push_back(token.is("(") ? ")" : "]");
      } else if (token.is(")") || token.is("]")) {
        if (open.empty() || !token.is(open.back())) return false;
        open.pop_back();
      } else if (!token.is_identifier() && !token.is("*") && !token.is(",") && !number_at(params_, i)) {
        return false;
      }
    }
    return open.empty();
  }

  // As `parameter` writes it.
  [[nodiscard]] std::optional<Bytes> bytes_of_earlier_plan() const {
    if (params_.size() < 4 || !params_[params_.size() - 2].is(workspace_param)) return std::nullopt;
    const std::size_t begin = params_[params_.size() - 3].offset;
    std::string_view rest = text_.substr(begin, params_[params_.size() - 2].offset - begin);
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
    if (std::any_of(body_.begin(), body_.end(), [](const Token& token) { return token.is("goto"); })) return true;
    const std::size_t begin = params_.back().offset;
    const std::string_view body = text_.substr(begin, body_.back().offset - begin);
    for (std::size_t at = body.find('\n'); at != std::string_view::npos; at = body.find('\n', at + 1)) {
      const std::size_t first = body.find_first_not_of(" \t\r\n", at);
      if (first != std::string_view::npos && body[first] == '#') return true;
    }
    return false;
  }

  // Where the argument begins, and behind its end: [i] is the bracket that opens the list. Empty: brackets do not end,
  // or cross others.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> arguments_at(std::size_t i) const {
    std::vector<std::pair<std::size_t, std::size_t>> result;
    if (i >= body_.size() || !body_[i].is("(")) return {};
    std::size_t begin = i + 1;
    std::vector<std::string_view> open;  // what closes them
    for (std::size_t k = begin; k < body_.size(); ++k) {
      const Token& token = body_[k];
      const bool ends = token.is(")") && open.empty();
      if (ends || (token.is(",") && open.empty())) {
        result.emplace_back(begin, k);
        begin = k + 1;
      }
      if (ends) return result;
      if (token.is("(") || token.is("[")) open.push_back(token.is("(") ? ")" : "]");
      if (token.is("{") || token.is("}") || token.is(";") || token.is("#")) return {};
      if (!token.is(")") && !token.is("]")) continue;
      if (open.empty() || !token.is(open.back())) return {};
      open.pop_back();
    }
    return {};
  }

  // Behind a cast that begins there.
  [[nodiscard]] std::size_t behind_cast(std::size_t i, std::size_t end) const {
    if (i >= end || !body_[i].is("(")) return i;
    std::size_t k = i + 1;
    while (k < end && (body_[k].is_identifier() || body_[k].is("*"))) ++k;
    return k > i + 1 && k < end && body_[k].is(")") ? k + 1 : i;
  }

  // "T* name = (T*)TAKE(": the name, if [i] is TAKE and the statement one of the function's own block.
  [[nodiscard]] std::optional<std::string_view> name_of_take(std::size_t i) const {
    std::size_t at = i;
    if (at > 0 && body_[at - 1].is(")")) {
      std::size_t open = at - 1;
      while (open > 0 && !body_[open].is("(")) --open;
      if (behind_cast(open, at) != at) return std::nullopt;
      at = open;
    }
    if (at < 2 || !body_[at - 1].is("=") || !body_[at - 2].is_identifier()) return std::nullopt;
    const std::string_view name = body_[at - 2].text;
    for (at -= 2; at > 0; --at) {
      const Token& token = body_[at - 1];
      if (token.is(";") || token.is("{") || token.is("}")) break;
      const bool is_of_type = (token.is_identifier() && !token.is("else") && !token.is("do")) || token.is("*");
      if (!is_of_type) return std::nullopt;
    }
    return name;
  }

  bool find_takes() {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      if (body_[i].is("{")) ++depth;
      if (body_[i].is("}") && depth > 0) --depth;
      if (!body_[i].is(take_name)) continue;
      const auto arguments = arguments_at(i + 1);
      const auto name = name_of_take(i);
      if (depth > 0 || !name || arguments.size() != 5) return false;
      const auto [begin, end] = arguments[2];
      const std::size_t at = behind_cast(begin, end);
      const auto size = at + 1 == end ? number_at(body_, at) : std::nullopt;
      const std::size_t close = arguments.back().second;
      if (!size || *size == 0 || close + 1 >= body_.size() || !body_[close + 1].is(";")) return false;
      const Bytes offset = align_up(taken_.workspace.bytes, alignment_);
      taken_.edits.push_back({body_[i].offset, body_[close].offset + 1 - body_[i].offset,
                              std::string("((void*)(") + workspace_param + " + " + std::to_string(offset) + "))"});
      taken_.workspace.bytes = offset + *size;
      if (taken_.workspace.bytes > INT32_MAX || !names_.insert(*name).second) return false;
    }
    return true;
  }

  // Whether each is given back, and nothing else: what is kept may be used in the next run.
  bool find_returns() {
    std::set<std::string_view> kept = names_;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      if (!body_[i].is(give_back_name)) continue;
      const auto arguments = arguments_at(i + 1);
      if (arguments.size() != 3) return false;
      const auto [begin, end] = arguments[2];
      const std::size_t at = behind_cast(begin, end);
      if (at + 1 != end || !names_.contains(body_[at].text)) return false;
      kept.erase(body_[at].text);
      taken_.edits.push_back({body_[i].offset, body_[i].text.size(), given_back});
    }
    return kept.empty();
  }

  void add_param() {
    const std::string text = parameter(taken_.workspace.bytes);
    if (params_.size() == 2 && has_no_params()) {
      taken_.edits.push_back({params_.front().offset, params_.front().text.size(), text});
    } else {
      taken_.edits.push_back({params_.back().offset, 0, (has_no_params() ? "" : ", ") + text});
    }
  }

  std::string_view text_;
  Bytes alignment_;
  std::span<const Token> params_;  // with the bracket at the end
  std::span<const Token> body_;
  std::set<std::string_view> names_;  // of what is taken
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
  if (places_of(file.text, take_name).empty() && places_of(file.text, workspace_param).empty()) return result;
  if (!front_of(file.text)) return result;
  FileScope scope;
  try {
    read_file_scope(split(file.text), 0, true, scope);
    for (const auto& [name, function] : scope.functions) {
      if (!functions.contains(name) || scope.doubts.contains(name)) continue;
      auto taken = Taking(function, file.text, alignment).find();
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
  std::sort(result.begin(), result.end(),
            [](const TakenWorkspace& a, const TakenWorkspace& b) { return a.function < b.function; });
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
    if (places_of(file.text, given_back).empty()) edits.push_back({*front_of(file.text), 0, given_back_text});
    std::sort(edits.begin(), edits.end(), [](const PoolEdit& a, const PoolEdit& b) { return a.at < b.at; });
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
    const std::string_view own = text.substr(item.begin, item.end - item.begin);
    const std::size_t name = static_cast<std::size_t>(item.name.data() - own.data());
    const std::size_t open = own.find('(', name);
    const std::size_t close = std::min(own.find(')', name), own.size() - 1);
    if (open > close || own.find('(', open + 1) < close) return std::nullopt;
    const std::string_view prototype = own.substr(name, close + 1 - name);
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
