// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tests: tests/tvm_c/folded_test.cpp.
#include "tvm_c/text/folded.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>
#include <variant>

#include "usmp/support/number_list.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

// Up to the last line break that a comma stands in front of: behind a table's last number is none.
std::string_view whole_lines(std::string_view list) {
  constexpr int most_lines = 4;  // behind it
  for (int i = 0; i < most_lines; ++i) {
    const std::size_t line = list.rfind('\n');
    if (line == std::string_view::npos) break;
    list = list.substr(0, line);
    const std::size_t last = list.find_last_not_of(" \t\r");
    if (last != std::string_view::npos && list[last] == ',') return list;
  }
  return {};
}

// Whether the line in front may be a comment or a directive, which would end with it.
bool may_end_with_line(std::string_view front) {
  const std::size_t begin = front.rfind('\n') + 1;  // 0: there is none
  const std::string_view line = front.substr(begin);
  const std::string_view above = front.substr(0, begin);
  return line.find("//") != std::string_view::npos || line.find('#') != std::string_view::npos ||
         above.ends_with("\\\n") || above.ends_with("\\\r\n");
}

// Eight bytes at once.
std::size_t line_breaks_in(std::string_view text) {
  constexpr std::uint64_t lowest = 0x0101010101010101;
  constexpr std::uint64_t seven = 0x7F * lowest;
  std::size_t count = 0;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), 8);
    bytes ^= '\n' * lowest;  // now zero where one is
    const std::uint64_t zeros = ~(((bytes & seven) + seven) | bytes) >> 7U & lowest;
    count += static_cast<std::size_t>(zeros * lowest >> 56U);  // the sum of the bytes
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::optional<std::string> FoldedLists::fold(const Source& file) {
  const std::string_view text = file.text;
  std::string result;
  std::size_t copied = 0;
  bool has_edge = false;
  const auto copy = [&](std::size_t end) {
    const std::string_view piece = text.substr(copied, end - copied);
    has_edge = has_edge || has_marks(piece);
    result += piece;
  };
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const std::size_t begin = ++at;
    List list{{}, 0, file.mapped.get()};
    for_numbers_behind(text, begin, [&](std::string_view piece) {
      at += piece.size();
      list.line_breaks += line_breaks_in(piece);
      if (list.file != nullptr) list.file->release(piece);
    });
    if (at - begin < fewest_bytes) continue;
    list.text = whole_lines(text.substr(begin, at - begin));
    if (list.text.size() < fewest_bytes || may_end_with_line(text.substr(copied, begin - copied))) continue;
    copy(begin);
    copied = begin + list.text.size();
    list.line_breaks -= line_breaks_in(text.substr(copied, at - copied));
    result += edge + std::to_string(number_of(list)) + edge;
    result.append(list.line_breaks, '\n');
  }
  if (copied == 0) {
    has_edges_ = has_edges_ || has_marks(text);
    return std::nullopt;
  }
  copy(text.size());
  has_edges_ = has_edges_ || has_edge;
  return has_edge ? std::nullopt : std::optional(std::move(result));
}

std::size_t FoldedLists::number_of(const List& list) {
  constexpr std::size_t some = 64;
  const std::string_view text = list.text;
  std::vector<std::size_t>& alike = by_ends_[std::to_string(text.size()) + ":" + std::string(text.substr(0, some)) +
                                             std::string(text.substr(text.size() - some))];
  const auto found =
      std::find_if(alike.begin(), alike.end(), [&](std::size_t other) { return lists_[other].text == text; });
  if (found != alike.end()) return *found;
  alike.push_back(lists_.size());
  lists_.push_back(list);
  return lists_.size() - 1;
}

std::optional<FoldedLists::Mark> FoldedLists::at(std::string_view folded, std::size_t begin) const {
  if (begin >= folded.size() || folded[begin] != edge) return std::nullopt;
  std::size_t number = lists_.size();
  const char* const behind = folded.data() + folded.size();
  const auto [end, error] = std::from_chars(folded.data() + begin + 1, behind, number);
  if (error != std::errc() || number >= lists_.size() || end == behind || *end != edge) return std::nullopt;
  return Mark{&lists_[number], static_cast<std::size_t>(end + 1 - folded.data())};
}

void FoldedLists::unfold(std::string& text) const {
  if (!has_marks(text)) return;
  std::string result;
  std::size_t copied = 0;
  for (std::size_t begin = text.find(edge); begin != std::string::npos; begin = text.find(edge, copied)) {
    const auto mark = at(text, begin);
    if (!mark) throw NotFolded();
    const std::size_t line_breaks = mark->list->line_breaks;
    const std::string_view behind = std::string_view(text).substr(mark->end, line_breaks);
    if (behind.size() < line_breaks || behind.find_first_not_of('\n') != std::string_view::npos) throw NotFolded();
    result.append(text, copied, begin - copied);
    result += mark->list->text;
    copied = mark->end + line_breaks;
  }
  result.append(text, copied);
  text = std::move(result);
}

// Statements that stay as text.
void FoldedLists::unfold(tir::Block& body) const {
  tir::for_each_block(body, [&](tir::Block& block) {
    for (tir::Stmt& stmt : block) {
      auto* const evaluate = std::get_if<tir::Evaluate>(&stmt.node);
      const std::string* const kept = evaluate == nullptr ? nullptr : tir::kept_text_of(*evaluate->value);
      if (kept == nullptr || !has_marks(*kept)) continue;
      tir::Expr statement = *evaluate->value;
      std::string text = *kept;
      unfold(text);
      statement.operands[1] = tir::make_string(std::move(text));
      evaluate->value = tir::make_expr(std::move(statement));
    }
  });
  tir::for_each_expr_in(body, [](const tir::Expr& expr) {
    if (has_marks(expr.text)) throw NotFolded();
  });
}

void FoldedLists::unfold(PlannedModule& read) const {
  for (tir::Function& function : read.module.functions) {
    for (std::string& text : function.imported_c) unfold(text);
    unfold(function.body);
  }
  for (PoolAccess& access : read.pool_accesses) {
    for (std::string& text : access.text) unfold(text);
  }
  const auto require_none = [](std::string_view text) {
    if (has_marks(text)) throw NotFolded();
  };
  for (const std::vector<KeptFunction>* functions : {&read.kept, &read.external, &read.forwarders}) {
    for (const KeptFunction& function : *functions) {
      require_none(function.prototype);
      require_none(function.reason);
    }
  }
  for (const std::vector<std::string>* texts : {&read.lost_placements, &read.warnings}) {
    for (const std::string& text : *texts) require_none(text);
  }
  if (read.edited_run) require_none(read.edited_run->message());
}

FoldedFiles::FoldedFiles(std::span<const Source> given, std::span<const Source> given_headers)
    : files(given.begin(), given.end()), headers(given_headers.begin(), given_headers.end()) {
  for (std::vector<Source>* const group : {&files, &headers}) {
    for (Source& file : *group) {
      if (auto text = lists.fold(file)) file.text = texts.emplace_back(std::move(*text));
    }
  }
  if (!lists.has_edges()) return;
  texts.clear();
  files.assign(given.begin(), given.end());
  headers.assign(given_headers.begin(), given_headers.end());
}

}  // namespace usmp::tvm_c
