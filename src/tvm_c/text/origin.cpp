// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/text/origin.hpp"

#include <algorithm>
#include <iterator>

namespace usmp::tvm_c {

std::size_t Origin::position(std::size_t at) const {
  const auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                       [](std::size_t offset, const Piece& piece) { return offset < piece.at; });
  const Piece& piece = *std::prev(behind);
  return piece.is_new ? piece.from : piece.from + (at - piece.at);
}

std::pair<const Source*, std::size_t> found_at(const Source& file, std::size_t offset) {
  const Source* source = &file;
  for (; source->origin != nullptr; source = &source->origin->before()) offset = source->origin->position(offset);
  return {source, offset};
}

std::string place_in(const Source& file, std::size_t offset) {
  const auto [found, at] = found_at(file, offset);
  return line_and_column(found->text, at + 1);
}

std::string Places::at(std::size_t file, std::size_t offset) const {
  const auto [found, at] = found_at(files_[file], offset);
  return lines_.try_emplace(file, found->text).first->second.place(at + 1);
}

}  // namespace usmp::tvm_c
