// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Composes the text of file, member, place, message and details, each cut to a length.
#include "usmp/support/error.hpp"

#include <utility>

#include "usmp/support/message.hpp"

namespace usmp {

Error::Error(ErrorKind kind, Location where, std::string message, std::vector<std::string> details)
    : kind_(kind), where_(std::move(where)), message_(std::move(message)), details_(std::move(details)) {
  std::string place = where_.file.empty() ? "" : where_.file + ": ";
  for (const std::string* part : {&where_.member, &where_.place}) {
    if (!part->empty()) place += cut_input(*part) + ": ";
  }
  what_ = message_line(message_, place);
  for (const std::string& detail : details_) what_ += '\n' + message_line(detail, "  ", most_in_more_lines);
}

Error Error::with_file(std::string_view file) const {
  Location where = where_;
  if (where.file.empty()) where.file = file;
  return {kind_, std::move(where), message_, details_};
}

Error Error::with_member(std::string_view member) const {
  Location where = where_;
  if (where.member.empty()) where.member = member;
  return {kind_, std::move(where), message_, details_};
}

}  // namespace usmp
