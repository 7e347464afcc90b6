// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects the text of functions that are kept, with what they mention.
#include "tvm_c/kept/kept_text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tvm_c/kept/merged_files.hpp"
#include "tvm_c/kept/own_names.hpp"
#include "tvm_c/text/doubts.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

std::string_view text_of(const Item& item, const Included& included) {
  return included.code(item.file).text.substr(item.begin, item.end - item.begin);
}

// __attribute__((constructor)) void f(void) {
bool runs_by_itself(std::string_view function) {
  const std::string_view front = function.substr(0, function.find('{'));
  return front.find("constructor") != std::string_view::npos || front.find("destructor") != std::string_view::npos;
}

// What functions and data have as names: which items they are, and those that some of them mention.
class Mentions {
 public:
  Mentions(const FileScope& scope, const Included& included, const Names& stops = {})
      : scope_(scope), included_(included), is_marked_(scope.items.size(), false) {
    for (std::size_t i = 0; i < scope.items.size(); ++i) {
      const Item& item = scope.items[i];
      if (stops.contains(item.name)) continue;
      if (item.kind == Item::Kind::function || item.kind == Item::Kind::data) named_[item.name].push_back(i);
    }
  }

  // The function of that name, in all files that define it, and what that mentions.
  void mark(std::string_view function) {
    const auto found = named_.find(function);
    if (found == named_.end()) return;
    for (const std::size_t i : found->second) push(i);
    follow();
  }

  // What the name means in the file.
  void mark(std::string_view name, std::size_t file) {
    push(name, file);
    follow();
  }

  // In these files, and in those that have something marked: what variables that stay mention, such as pointers to
  // functions, functions that run without a call, and those that stay for another name of theirs.
  void mark_in_files(std::set<std::size_t> stay) {
    std::set<std::size_t> done;
    while (true) {
      for (std::size_t i = 0; i < is_marked_.size(); ++i) {
        if (is_marked_[i]) stay.insert(scope_.items[i].file);
      }
      if (stay.size() == done.size()) return;
      for (const Item& item : scope_.items) {
        if (!stay.contains(item.file) || done.contains(item.file)) continue;
        if (is_unnamed_variable(item, included_)) mark_mentioned(item);
        if (item.kind == Item::Kind::function && runs_by_itself(text_of(item, included_))) mark(item.name, item.file);
        mark_renamed(item);
      }
      for (const std::size_t file : stay) {
        if (!done.contains(file)) mark_renamed_by_pragmas(file);
      }
      done = stay;
      follow();
    }
  }

  [[nodiscard]] const std::vector<bool>& marked() const { return is_marked_; }

 private:
  void follow() {
    while (!pending_.empty()) {
      const Item& item = scope_.items[pending_.back()];
      pending_.pop_back();
      mark_mentioned(item);
      for_each_identifier(other_text_of(item), [&](std::string_view name) { push(name, item.file); });
    }
  }

  // void g(void) __attribute__((alias("f"))); stays with its file, however that is said.
  void mark_renamed(const Item& item) {
    if (item.kind != Item::Kind::prototype && item.kind != Item::Kind::other) return;
    const Names names = included_.all_macros(item.file).names_in(item.begin, item.end);
    if (std::none_of(names.begin(), names.end(), is_weak_word)) return;
    for_each_identifier(text_of(item, included_), [&](std::string_view name) { push(name, item.file); });
  }

  void mark_renamed_by_pragmas(std::size_t file) {
    for (const Directive& one : directives_in(included_.code(file))) {
      if (one.word != "pragma" || !is_weak_word(one.rest)) continue;
      for_each_identifier(one.rest, [&](std::string_view name) { push(name, file); });
    }
  }

  void mark_mentioned(const Item& item) {
    for (const std::string& name : included_.all_macros(item.file).names_in(item.begin, item.end))
      push(name, item.file);
  }

  // The group that is left out and defines the function, too.
  [[nodiscard]] std::string_view other_text_of(const Item& item) const {
    const auto file = scope_.left_out.find(item.file);
    if (item.kind != Item::Kind::function || file == scope_.left_out.end()) return {};
    const auto begin = file->second.find(item.name);
    if (begin == file->second.end()) return {};
    return text_of_group(included_.code(item.file), begin->second);
  }

  void push(std::size_t item) {
    if (is_marked_[item]) return;
    is_marked_[item] = true;
    pending_.push_back(item);
  }

  // What the name means in the file: its own, or that of others.
  void push(std::string_view name, std::size_t file) {
    const auto found = named_.find(name);
    if (found == named_.end()) return;
    const auto is_own = [&](std::size_t i) { return scope_.items[i].file == file; };
    const bool has_own = std::any_of(found->second.begin(), found->second.end(), is_own);
    if (!has_own) require_no_other(name, found->second);
    for (const std::size_t i : found->second) {
      if (!has_own || is_own(i)) push(i);
    }
  }

  // A conditional group of another file has it, too: which one is compiled is not known, and only one would stay.
  void require_no_other(std::string_view name, const std::vector<std::size_t>& items) const {
    std::set<std::size_t> files;
    for (const std::size_t i : items) files.insert(scope_.items[i].file);
    for (const auto& [file, names] : scope_.left_out) {
      const auto other = names.find(name);
      if (other == names.end() || files.contains(file)) continue;
      throw Error(ErrorKind::archive,
                  {{}, included_.name(file), line_and_column(included_.code(file).text, other->second + 1)},
                  "found " + in_quotes(name) +
                      ", which another file defines, too, in a conditional group; expected one file that defines it");
    }
  }

  const FileScope& scope_;
  const Included& included_;
  std::map<std::string_view, std::vector<std::size_t>> named_;
  std::vector<bool> is_marked_;
  std::vector<std::size_t> pending_;
};

Mentions mentions_of(const Names& functions, const UsedNames& used, const Names& stops, const FileScope& scope,
                     const Included& included, const std::set<std::size_t>& also = {}) {
  Mentions mentions(scope, included, stops);
  for (const std::string& function : functions) mentions.mark(function);
  for (const auto& [file, name] : used) mentions.mark(name, file);
  mentions.mark_in_files(also);
  return mentions;
}

void drop_blanks_at_end(std::string_view& text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
}

// For a struct of constants. TVM's is not const, and GCC has both kinds not in one section, such as .rodata.tvm, where
// planned constants are.
std::string read_only(std::string_view text) {
  const std::size_t at = text.find("struct");
  const bool is_in_section = text.substr(0, at).find("section(") != std::string_view::npos;
  std::string result(text);
  if (is_in_section && text.substr(0, at).find("const") == std::string_view::npos) result.insert(at, "const ");
  return result;
}

// For an item that is left out: where the extern "C" of its own begins, which TVM writes in front of functions.
std::size_t begin_with_linkage(std::string_view text, std::size_t begin) {
  std::string_view rest = text.substr(0, begin);
  for (const std::string_view line : {"#endif", "extern \"C\"", "#ifdef __cplusplus"}) {
    drop_blanks_at_end(rest);
    if (!rest.ends_with(line)) return begin;
    rest.remove_suffix(line.size());
  }
  return rest.size();
}

// Without groups extern "C" { } that hold nothing any more, without the semicolon that TVM writes behind them, and
// without more than one blank line at a place.
std::string without_remains(std::string_view text) {
  std::vector<std::string_view> lines;
  const auto closes_nothing = [&] {
    if (lines.size() < 6) return false;
    const auto line = [&](std::size_t back) { return trimmed(lines[lines.size() - back]); };
    return line(1) == "#endif" && line(2).starts_with("}") && line(3) == "#ifdef __cplusplus" && line(4) == "#endif" &&
           line(5) == "extern \"C\" {" && line(6) == "#ifdef __cplusplus";
  };
  std::optional<std::string_view> blank;  // in front of the next line
  bool has_closed = false;                // a group that is gone stood in front of it
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    at = end;
    if (trimmed(line).empty()) {
      blank = line;
      continue;
    }
    const std::size_t count = lines.size();
    const bool is_behind_group = count >= 3 && trimmed(lines[count - 1]) == "#endif" &&
                                 trimmed(lines[count - 2]).starts_with("}") &&
                                 trimmed(lines[count - 3]) == "#ifdef __cplusplus";
    if ((is_behind_group || has_closed) && trimmed(line) == ";") continue;
    has_closed = false;
    const bool is_in_group =
        !lines.empty() && trimmed(lines.back()) == "#endif" && trimmed(line) == "#ifdef __cplusplus";
    if (blank && !lines.empty() && !is_in_group) lines.push_back(*blank);
    blank.reset();
    lines.push_back(line);
    has_closed = closes_nothing();
    if (has_closed) lines.resize(lines.size() - 6);
  }
  std::string result;
  for (const std::string_view line : lines) result += line;
  if (!result.empty() && result.back() != '\n') result += '\n';
  return result;
}

// The comment with TVM's target says that the file is TVM's.
std::string_view without_target(std::string_view text) {
  return text.starts_with("// tvm target:") ? text.substr(std::min(text.find('\n'), text.size() - 1) + 1) : text;
}

// The lines in [begin, end) that define macros, which stay if the item there does not, with the conditions around them.
std::string macros_within(const Code& file, std::size_t begin, std::size_t end) {
  std::string lines;
  bool has_macros = false;
  for (const Directive& one : directives_in(file, begin, end)) {
    const bool is_macro = one.word == "define" || one.word == "undef";
    has_macros = has_macros || is_macro;
    const bool is_condition = one.word.starts_with("if") || one.word.starts_with("el") || one.word == "endif";
    if (!is_macro && !is_condition) continue;
    lines += "\n" + std::string(file.text.substr(one.begin, one.end - one.begin)) + "\n";
  }
  return has_macros ? lines : std::string();
}

}  // namespace

std::vector<bool> mentioned_items(const Names& functions, const UsedNames& used, const Names& stops,
                                  const FileScope& scope, const Included& included, const std::set<std::size_t>& also) {
  return mentions_of(functions, used, stops, scope, included, also).marked();
}

bool is_unnamed_variable(const Item& item, const Included& included) {
  if (item.kind == Item::Kind::other) return item.is_variable;
  return item.kind == Item::Kind::prototype && text_of(item, included).find('=') != std::string_view::npos;
}

Names with_called(const Names& functions, const FileScope& scope, const Included& included) {
  const Mentions mentions = mentions_of(functions, {}, {}, scope, included);
  Names result = functions;
  for (std::size_t i = 0; i < scope.items.size(); ++i) {
    const bool is_function = scope.items[i].kind == Item::Kind::function;
    if (is_function && mentions.marked()[i]) result.emplace(scope.items[i].name);
  }
  return result;
}

std::string kept_text(const Names& functions, const std::set<std::size_t>& also, const UsedNames& used,
                      const Names& stops, const KeptPools& pools, const FileScope& scope, std::span<const Source> files,
                      const Included& included) {
  const Mentions mentions = mentions_of(functions, used, stops, scope, included, also);
  const std::vector<bool>& is_kept = mentions.marked();
  std::map<std::string_view, std::size_t> first;  // with that name
  std::set<std::size_t> kept_files = also;
  std::set<std::size_t> repeated;  // items
  Names once;
  for (std::size_t i = 0; i < scope.items.size(); ++i) {
    if (!is_kept[i]) continue;
    const Item& item = scope.items[i];
    kept_files.insert(item.file);
    const auto [known, is_new] = first.emplace(item.name, i);
    if (is_new) continue;
    require_one_text(scope.items[known->second], item, files);
    repeated.insert(i);
    once.emplace(item.name);
  }
  std::map<std::size_t, std::vector<PoolEdit>> edits;
  for (const std::string& name : functions) {
    const auto uses = pools.find(name);
    const auto function = scope.functions.find(name);
    if (uses == pools.end() || function == scope.functions.end()) continue;
    const auto more = edits_of(uses->second);
    auto& all = edits[function->second.file];
    all.insert(all.end(), more.begin(), more.end());
  }
  // Constants of pools are named in functions in front of them, too.
  std::map<std::size_t, std::size_t> first_functions;  // by file: items that are kept
  std::set<std::size_t> with_constants;
  for (std::size_t i = 0; i < scope.items.size(); ++i) {
    const Item& item = scope.items[i];
    if (!is_kept[i]) continue;
    if (item.kind == Item::Kind::function) first_functions.emplace(item.file, i);
    if (item.kind != Item::Kind::data || !scope.constant_pools.contains(item.name)) continue;
    with_constants.insert(item.file);
    const auto function = first_functions.find(item.file);
    std::string constants = read_only(text_of(item, included));
    if (function != first_functions.end()) {
      const std::size_t begin = scope.items[function->second].begin;
      edits[item.file].push_back({begin_with_linkage(files[item.file].text, begin), 0, "\n" + constants + "\n"});
      constants.clear();
    }
    edits[item.file].push_back({item.begin, item.end - item.begin, std::move(constants)});
  }
  for (auto& [file, all] : edits) {
    std::sort(all.begin(), all.end(), [](const PoolEdit& a, const PoolEdit& b) { return a.at < b.at; });
  }
  const auto texts_without = [&](const std::set<std::size_t>& left_out) {
    std::map<std::size_t, std::string> texts;
    std::map<std::size_t, std::size_t> ends;  // up to where each is copied
    const auto copy = [&](std::size_t file, std::size_t begin, std::size_t end) {
      std::size_t& from = ends[file];
      if (begin > from) texts[file] += edited(files[file].text, from, begin, edits[file]);
      from = std::max(from, end);
    };
    for (std::size_t i = 0; i < scope.items.size(); ++i) {
      const Item& item = scope.items[i];
      if (!kept_files.contains(item.file)) continue;
      const bool is_named = item.kind == Item::Kind::function || item.kind == Item::Kind::data;
      const bool is_foreign = item.kind == Item::Kind::prototype && !scope.functions.contains(item.name);
      const bool stays = item.kind == Item::Kind::other || is_foreign || (is_named && is_kept[i]) ||
                         (item.kind == Item::Kind::prototype && functions.contains(item.name));
      if (stays && !left_out.contains(i)) continue;
      const Code& code = included.code(item.file);
      const std::string_view text = code.text;
      const std::size_t front = i > 0 && scope.items[i - 1].file == item.file ? scope.items[i - 1].end : 0;
      const std::size_t begin = std::max(begin_with_groups(code, front, item.begin, item.end), ends[item.file]);
      const bool is_whole_line =
          (begin == 0 || text[begin - 1] == '\n') && item.end < text.size() && text[item.end] == '\n';
      copy(item.file, begin, item.end + (is_whole_line ? 1 : 0));
      texts[item.file] += macros_within(code, begin, item.end);
    }
    for (const std::size_t file : kept_files) {
      copy(file, files[file].text.size(), files[file].text.size());
      texts[file] = without_remains(without_target(texts[file]));
    }
    return texts;
  };
  std::vector<std::size_t> order;
  for (const bool is_first : {true, false}) {
    std::copy_if(kept_files.begin(), kept_files.end(), std::back_inserter(order),
                 [&](std::size_t file) { return with_constants.contains(file) == is_first; });
  }
  if (order.size() > 1) {
    const std::map<std::size_t, std::string> all = texts_without({});
    require_own_macros(all, files, included);
    require_own_names(order, all, once, included);
  }
  repeated.merge(repeated_types(kept_files, scope, files));
  const std::map<std::size_t, std::string> texts = texts_without(repeated);
  std::string result;
  for (const std::size_t file : order) result += texts.at(file);
  return result;
}

std::string prototype_of(const Item& item, const Code& file) {
  Lexer tokens(file, item.begin, item.end);
  tokens.pass_over_conditions();
  std::string result;
  std::size_t depth = 0;
  for (Token token = tokens.next(); token.kind != TokenKind::end; token = tokens.next()) {
    if (token.is("__attribute__")) {
      skip_bracketed(tokens, "(");
      continue;
    }
    const bool is_dropped = token.is("TVM_DLL") || token.is("extern") || token.is("static") || token.is("inline") ||
                            token.is("__STATIC_FORCEINLINE") || token.is("__STATIC_INLINE") ||
                            token.kind == TokenKind::string;
    if (is_dropped) continue;
    if (token.is("{") || token.is(";")) break;
    if (token.is("(")) ++depth;
    const bool is_tight =
        result.empty() || token.is("(") || token.is(")") || token.is(",") || token.is("*") || result.back() == '(';
    if (!is_tight) result += ' ';
    result += token.text;
    if (token.is(")") && --depth == 0) break;
  }
  return result;
}

}  // namespace usmp::tvm_c
