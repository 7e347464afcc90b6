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

#include "tvm_c/text/doubts.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

[[noreturn]] void fail(const FilesRead& read, const Item& item, const std::string& message) {
  throw located(read.files[item.file], {item.begin, message});
}

// __attribute__((constructor)) void f(void) {
bool runs_by_itself(std::string_view function) {
  const std::string_view front = function.substr(0, function.find('{'));
  return front.find("constructor") != std::string_view::npos || front.find("destructor") != std::string_view::npos;
}

// What is left of a conditional group from a place in it on: with its other parts, up to its end.
std::string_view text_of_group(const Code& code, std::size_t begin) {
  const std::vector<Directive> directives = directives_in(code, begin);
  for (const Group& group : groups_in(directives)) {
    if (!group.first) return code.text.substr(begin, directives[*group.last].begin - begin);
  }
  return code.text.substr(begin);
}

// What functions and data have as names: which items they are, and those that some of them mention.
class Mentions {
 public:
  Mentions(const FilesRead& read, const Names& stops)
      : files_(read.files), scope_(read.scope), included_(read.included), is_marked_(scope_.items.size(), false) {
    for (std::size_t i = 0; i < scope_.items.size(); ++i) {
      const Item& item = scope_.items[i];
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
      add_files_of(is_marked_, scope_, stay);
      if (stay.size() == done.size()) return;
      for (const Item& item : scope_.items) {
        if (!stay.contains(item.file) || done.contains(item.file)) continue;
        if (is_unnamed_variable(item)) mark_mentioned(item);
        if (item.kind == Item::Kind::function && runs_by_itself(item.text)) mark(item.name, item.file);
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
    const Names names = included_.names_in(item.file, item.begin, item.end);
    if (std::ranges::none_of(names, is_weak_word)) return;
    for_each_identifier(item.text, [&](std::string_view name) { push(name, item.file); });
  }

  void mark_renamed_by_pragmas(std::size_t file) {
    for (const Directive& one : directives_in(included_.code(file))) {
      if (one.word != "pragma" || !is_weak_word(one.rest)) continue;
      for_each_identifier(one.rest, [&](std::string_view name) { push(name, file); });
    }
  }

  void mark_mentioned(const Item& item) {
    for (const std::string& name : included_.names_in(item.file, item.begin, item.end)) push(name, item.file);
  }

  // The group that is left out and defines the function, too.
  [[nodiscard]] std::string_view other_text_of(const Item& item) const {
    const auto begin = scope_.left_out_group(item.name, item.file);
    if (item.kind != Item::Kind::function || !begin) return {};
    return text_of_group(included_.code(item.file), *begin);
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
    const bool has_own = std::ranges::any_of(found->second, is_own);
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
      throw located(
          files_[file],
          {other->second, "found " + in_quotes(name) +
                              ", which another file defines, too, in a conditional group; expected one file that "
                              "defines it"});
    }
  }

  std::span<const Source> files_;
  const FileScope& scope_;
  const Included& included_;
  std::map<std::string_view, std::vector<std::size_t>> named_;
  std::vector<bool> is_marked_;
  std::vector<std::size_t> pending_;
};

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

// What stays, and where.
struct Kept {
  std::optional<std::size_t> file;  // the only one with functions, variables and statements; none: nothing stays
  std::string tables;               // of other files
};

// Throws Error: several files have something that stays, or what stays names constants that TVM has planned.
Kept find_kept(const std::vector<bool>& is_kept, const std::set<std::size_t>& also, const FilesRead& read) {
  const FileScope& scope = read.scope;
  std::map<std::size_t, const Item*> with_text;  // by file: what stays, or the first item
  for (const Item& item : scope.items) {
    if (also.contains(item.file)) with_text.emplace(item.file, &item);
  }
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    const Item& item = scope.items[i];
    if (!is_kept[i]) continue;
    if (item.kind == Item::Kind::data && scope.constant_pools.contains(item.name)) {
      fail(read, item,
           "found " + in_quotes(item.name) +
               " in code that stays as it is, expected these constants from a parameter, as TVM passes them");
    }
    if (!is_plain_table(item, read)) with_text.emplace(item.file, &item);
  }
  if (with_text.size() > 1) {
    fail(read, *with_text.begin()->second,
         "found code that stays as it is, and in " + read.files[std::next(with_text.begin())->first].name +
             ", too, expected one file that has all of it: move it there, static names that both have under other "
             "names");
  }
  Kept kept;
  if (!with_text.empty()) kept.file = with_text.begin()->first;
  Names tables;
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    const Item& item = scope.items[i];
    if (!is_kept[i] || item.file == kept.file) continue;
    if (!tables.emplace(item.name).second) {
      fail(read, item, "found another " + in_quotes(item.name) + ", which stays as it is, expected one of that name");
    }
    kept.tables += std::string(item.text) + "\n";
  }
  if (!kept.tables.empty()) kept.tables = "#include <stdint.h>\n\n" + kept.tables + "\n";
  return kept;
}

}  // namespace

std::vector<bool> mentioned_items(const Names& functions, const UsedNames& used, const Names& stops,
                                  const FilesRead& read, const std::set<std::size_t>& also) {
  Mentions mentions(read, stops);
  for (const std::string& function : functions) mentions.mark(function);
  for (const auto& [file, name] : used) mentions.mark(name, file);
  mentions.mark_in_files(also);
  return mentions.marked();
}

void add_files_of(const std::vector<bool>& marked, const FileScope& scope, std::set<std::size_t>& files) {
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) files.insert(scope.items[i].file);
  }
}

bool is_unnamed_variable(const Item& item) {
  if (item.kind == Item::Kind::other) return item.is_variable;
  return item.kind == Item::Kind::prototype && item.text.find('=') != std::string_view::npos;
}

bool is_plain_table(const Item& item, const FilesRead& read) {
  if (item.kind != Item::Kind::data || !read.scope.tables.contains(item.name)) return false;
  const auto tokens = tokens_of(item, read.included.code(item.file));
  return tokens && std::ranges::all_of(*tokens, [&](const Token& token) {
           return !token.is_identifier() || token.is(item.name) || token.is("__attribute__") || token.is("aligned") ||
                  c::is_word(token.text);
         });
}

Names with_called(const Names& functions, const FilesRead& read) {
  const std::vector<bool> mentioned = mentioned_items(functions, {}, {}, read);
  Names result = functions;
  for (std::size_t i = 0; i < mentioned.size(); ++i) {
    const Item& item = read.scope.items[i];
    if (mentioned[i] && item.kind == Item::Kind::function) result.emplace(item.name);
  }
  return result;
}

std::string kept_text(const Names& functions, const std::set<std::size_t>& also, const UsedNames& used,
                      const Names& stops, const KeptPools& pools, const FilesRead& read) {
  const FileScope& scope = read.scope;
  const std::vector<bool> is_kept = mentioned_items(functions, used, stops, read, also);
  auto [kept_file, result] = find_kept(is_kept, also, read);
  if (!kept_file) return result;
  std::vector<PoolEdit> edits;
  for (const std::string& name : functions) {
    const auto uses = pools.find(name);
    const auto function = scope.functions.find(name);
    const bool is_in_file = function != scope.functions.end() && function->second.file == kept_file;
    if (uses == pools.end() || !is_in_file) continue;
    const auto more = edits_of(uses->second);
    edits.insert(edits.end(), more.begin(), more.end());
  }
  std::ranges::sort(edits, {}, &PoolEdit::at);
  const Code& code = read.included.code(*kept_file);
  const std::string_view text = code.text;
  std::string rest;
  std::size_t from = 0;  // up to where it is copied
  std::size_t front = 0;
  for (std::size_t i = 0; i < scope.items.size(); ++i) {
    const Item& item = scope.items[i];
    if (item.file != kept_file) continue;
    const bool is_named = item.kind == Item::Kind::function || item.kind == Item::Kind::data;
    const bool is_foreign = item.kind == Item::Kind::prototype && !scope.functions.contains(item.name);
    const bool stays = item.kind == Item::Kind::other || is_foreign || (is_named && is_kept[i]) ||
                       (item.kind == Item::Kind::prototype && functions.contains(item.name));
    const std::size_t behind = std::exchange(front, item.end);
    if (stays) continue;
    const std::size_t begin = std::max(begin_with_groups(code, behind, item.begin, item.end), from);
    const bool is_whole_line =
        (begin == 0 || text[begin - 1] == '\n') && item.end < text.size() && text[item.end] == '\n';
    rest += edited(text, from, begin, edits);
    rest += macros_within(code, begin, item.end);
    from = item.end + (is_whole_line ? 1 : 0);
  }
  rest += edited(text, from, text.size(), edits);
  return result + without_remains(without_target(rest));
}

std::string prototype_of(const Item& item, const FileTree& file) {
  std::string result;
  std::size_t depth = 0;
  const auto first = std::ranges::lower_bound(file.tokens, item.begin, {}, &Token::offset);
  const std::span<const Token> tokens(first, std::ranges::lower_bound(file.tokens, item.end, {}, &Token::offset));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("__attribute__")) {
      i = behind_bracketed(tokens, i + 1).value_or(tokens.size()) - 1;
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
