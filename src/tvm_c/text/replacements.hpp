// SPDX-License-Identifier: Apache-2.0
// A text of which pieces are replaced, first to last. Lines keep their numbers, but behind line breaks that are put in;
// Origin has the places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/origin.hpp"

namespace usmp::tvm_c {

struct EditedText {
  std::string text;
  std::vector<Piece> pieces;  // Origin
};

class Replacements {
 public:
  explicit Replacements(std::string_view text) : text_(text) {}

  // Behind the last piece; 0: there is none.
  [[nodiscard]] std::size_t end() const { return end_; }

  // [begin, end), which is behind the last piece.
  void replace(std::size_t begin, std::size_t end, std::string_view by) {
    const std::string_view piece = text_.substr(begin, end - begin);
    result_ += text_.substr(end_, begin - end_);
    pieces_.push_back({result_.size(), begin, true});
    result_ += by;
    result_.append(static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n')), '\n');
    pieces_.push_back({result_.size(), end});
    end_ = end;
  }

  // The whole text; nothing: no piece of it is replaced.
  [[nodiscard]] std::optional<EditedText> text() const {
    if (end_ == 0) return std::nullopt;
    return EditedText{result_ + std::string(text_.substr(end_)), pieces_};
  }

 private:
  std::string_view text_;
  std::string result_;
  std::vector<Piece> pieces_ = {{}};
  std::size_t end_ = 0;
};

// By where a piece of a text begins: its end, and what stands there instead.
using Edits = std::map<std::size_t, std::pair<std::size_t, std::string>>;

[[nodiscard]] inline std::optional<EditedText> replaced(std::string_view text, const Edits& edits) {
  Replacements result(text);
  for (const auto& [begin, edit] : edits) result.replace(begin, edit.first, edit.second);
  return result.text();
}

}  // namespace usmp::tvm_c
