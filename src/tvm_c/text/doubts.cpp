// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks at what stands in front of definitions, and around them.
#include "tvm_c/text/doubts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/branches.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

class DoubtFinder {
 public:
  DoubtFinder(const FilesRead& read, FileScope& scope) : read_(read), scope_(scope) {
    Macros macros;  // of all files and headers
    for (std::size_t i = 0; i < read.included.count(); ++i) macros.add(read.included.macros(i), true);
    weak_macros_ = macros_with(macros.definitions(), is_weak_word);
  }

  void run() {
    find_weak();
    find_conditional();
    std::map<std::string_view, std::set<std::size_t>> files;  // that have the name
    for (const Item& item : scope_.items) files[item.name].insert(item.file);
    for (const auto& [file, names] : scope_.left_out) {
      for (const auto& [name, begin] : names) {
        const auto found = files.find(name);
        const bool is_other = found != files.end() && found->second.size() > found->second.count(file);
        if (is_other) add(name, "in a conditional group, too (" + place(file, begin) + ")");
      }
    }
    for (const auto& [name, how] : scope_.doubts) {
      scope_.tables.erase(name);
      scope_.constant_pools.erase(name);
    }
  }

 private:
  [[nodiscard]] std::string place(std::size_t file, std::size_t offset) const {
    return read_.files[file].name + ": " + read_.places.at(file, offset);
  }

  void add(std::string_view name, const std::string& how) {
    const bool is_read =
        scope_.functions.contains(name) || scope_.tables.contains(name) || scope_.constant_pools.contains(name);
    if (is_read) scope_.doubts.try_emplace(std::string(name), how);
  }

  [[nodiscard]] bool is_weak(std::string_view head) const {
    bool found = false;
    for_each_identifier(
        head, [&](std::string_view word) { found = found || is_weak_word(word) || weak_macros_.contains(word); });
    return found;
  }

  // Looks at what is declared there; groups in front of it may hold attributes.
  void find_weak_in(const std::vector<Item>& items, const Code& code, const std::string& where) {
    std::size_t front = 0;
    for (const Item& item : items) {
      const std::size_t begin = begin_with_groups(code, std::min(front, item.begin), item.begin, item.end);
      front = item.end;
      std::string_view head = code.text.substr(begin, item.end - begin);
      head = head.substr(0, std::max(head.find_first_of("{="), item.begin - begin));
      if (!is_weak(head)) continue;
      const std::string how = "declared as one that another definition may replace" + where;
      if (item.kind == Item::Kind::function) {
        add(item.name, how);
      } else {  // and what it is another name for
        for_each_identifier(head, [&](std::string_view name) { add(name, how); });
      }
    }
  }

  void find_weak() {
    std::map<std::size_t, std::vector<Item>> items;
    for (const Item& item : scope_.items) items[item.file].push_back(item);
    std::set<std::size_t> sources;
    for (const auto& [file, of_file] : items) {
      find_weak_in(of_file, read_.included.code(file), "");
      const std::set<std::size_t>& closed = read_.included.closed(file);
      sources.insert(closed.begin(), closed.end());
    }
    for (const std::size_t source : sources) {
      const Code& code = read_.included.code(source);
      find_pragmas(code);
      const bool may_be = !items.contains(source) && (is_weak_word_in(code) || mentions_weak_macro(code));
      if (!may_be) continue;
      FileScope own;
      try {
        read_file_scope(code, source, true, own, {}, nullptr, false);
      } catch (const SyntaxError&) {  // nothing is known of what it declares
        for (const Token& token : code.lexed->tokens) {
          if (token.is_identifier()) add(token.text, "in a header that is not understood");
        }
      }
      find_weak_in(own.items, code, " in a header");
    }
  }

  static bool is_weak_word_in(const Code& code) {
    return std::ranges::any_of(code.pieces(), [](std::string_view piece) { return is_weak_word(piece); });
  }

  [[nodiscard]] bool mentions_weak_macro(const Code& code) const {
    return std::ranges::any_of(weak_macros_, [&](const std::string& name) { return code.mentions(name); });
  }

  // #pragma weak f; _Pragma("weak f")
  void find_pragmas(const Code& code) {
    const std::string how = "declared as one that another definition may replace, by a pragma";
    for (const Directive& one : directives_in(code)) {
      if (one.word != "pragma" || !is_weak_word(one.rest)) continue;
      for_each_identifier(one.rest, [&](std::string_view name) { add(name, how); });
    }
    const std::vector<Token>& tokens = code.lexed->tokens;
    for (std::size_t i = 2; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::string || !tokens[i - 2].is("_Pragma") || !is_weak_word(tokens[i].text))
        continue;
      for_each_identifier(tokens[i].text.substr(1), [&](std::string_view name) { add(name, how); });
    }
  }

  void find_conditional() {
    std::map<std::size_t, Branches> branches;
    const auto conditions = [&](const Item& item) {
      auto found = branches.find(item.file);
      if (found == branches.end()) {
        const Branches made(read_.included.code(item.file), scope_.files.at(item.file)->conditions);
        found = branches.emplace(item.file, made).first;
      }
      return found->second.conditions(item.end - 1);
    };
    const auto of_entry = std::ranges::find_if(
        scope_.items, [&](const Item& item) { return item.kind == Item::Kind::function && item.name == read_.entry; });
    if (of_entry == scope_.items.end()) return;
    const std::vector<std::string> same = conditions(*of_entry);
    for (const Item& item : scope_.items) {
      const bool is_definition = item.kind == Item::Kind::function || item.kind == Item::Kind::data;
      if (!is_definition || scope_.left_out_group(item.name, item.file)) continue;
      const std::vector<std::string> all = conditions(item);
      const bool is_certain =
          std::ranges::all_of(all, [&](const std::string& one) { return std::ranges::find(same, one) != same.end(); });
      if (!is_certain) {
        add(item.name, "under a condition that the files do not decide, #" + all.front() + " (" +
                           place(item.file, item.begin) + ")");
      }
    }
  }

  const FilesRead& read_;
  FileScope& scope_;
  Names weak_macros_;
};

}  // namespace

bool is_weak_word(std::string_view word) {
  constexpr std::array<std::string_view, 6> words = {"weak", "WEAK", "Weak", "alias", "ALIAS", "ifunc"};
  return std::ranges::any_of(words, [&](std::string_view one) { return word.find(one) != std::string_view::npos; });
}

void find_doubts(const FilesRead& read, FileScope& scope) { DoubtFinder(read, scope).run(); }

}  // namespace usmp::tvm_c
