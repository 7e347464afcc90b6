// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C in which long lists of numbers are folded: a mark stands for each. Tables of constants are most of the megabytes of
// C, and dozens of passes go over a text; folded, it is about as long as its code.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// What is thrown where only the text itself tells what to do.
struct NotFolded {};

// Lists are whole lines of numbers behind a brace, up to a comma and a line break. In the place of each stand a mark
// and as many line breaks: places outside of lists keep lines and columns. Equal lists have equal marks.
class FoldedLists {
 public:
  static constexpr std::size_t fewest_bytes = 4096;  // of a list

  // Nothing: there is no such list, or the text has a character that marks begin with. O(text). The lists are views
  // of the text.
  [[nodiscard]] std::optional<std::string> fold(const Source& file);

  struct List {
    std::string_view text;
    std::size_t line_breaks = 0;
    const MappedFile* file = nullptr;  // that the text is a part of
  };
  struct Mark {
    const List* list = nullptr;
    std::size_t end = 0;
  };
  // The one that begins there.
  [[nodiscard]] std::optional<Mark> at(std::string_view folded, std::size_t begin) const;

  // With its lists again, if it has marks. Throws NotFolded: a mark is not as it was made.
  void unfold(std::string& text) const;
  // The same of all texts of C; NotFolded: something else has a mark, too.
  void unfold(PlannedModule& read) const;

  // Whether a text that was to be folded has a character that marks begin with.
  [[nodiscard]] bool has_edges() const { return has_edges_; }

  [[nodiscard]] static bool has_marks(std::string_view text) { return text.find(edge) != std::string_view::npos; }

 private:
  static constexpr char edge = '\1';  // of a mark, around its number

  [[nodiscard]] std::size_t number_of(const List& list);
  void unfold(tir::Block& body) const;

  std::vector<List> lists_;
  bool has_edges_ = false;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_ends_;  // by size, first and last bytes
};

// The same files, with their lists folded; as they are if one of them, folded or not, has what may look like a mark.
struct FoldedFiles {
  FoldedFiles(std::span<const Source> given, std::span<const Source> given_headers);

  FoldedLists lists;
  std::deque<std::string> texts;  // of those that are folded
  std::vector<Source> files;
  std::vector<Source> headers;
};

}  // namespace usmp::tvm_c
