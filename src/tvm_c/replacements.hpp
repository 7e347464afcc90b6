// SPDX-License-Identifier: Apache-2.0
// A text of which pieces are replaced, first to last. Lines keep their numbers, but behind line breaks that are put in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace usmp::tvm_c {

class Replacements {
 public:
  explicit Replacements(std::string_view text) : text_(text) {}

  // Behind the last piece; 0: there is none.
  [[nodiscard]] std::size_t end() const { return end_; }

  // [begin, end), which is behind the last piece.
  void replace(std::size_t begin, std::size_t end, std::string_view by) {
    const std::string_view piece = text_.substr(begin, end - begin);
    result_ += text_.substr(end_, begin - end_);
    result_ += by;
    result_.append(static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n')), '\n');
    end_ = end;
  }

  // The whole text; nothing: no piece of it is replaced.
  [[nodiscard]] std::optional<std::string> text() const {
    if (end_ == 0) return std::nullopt;
    return result_ + std::string(text_.substr(end_));
  }

 private:
  std::string_view text_;
  std::string result_;
  std::size_t end_ = 0;
};

}  // namespace usmp::tvm_c
