#include "usmp/support/error.hpp"

#include <utility>

namespace usmp {

Error::Error(ErrorKind kind, Location where, std::string message)
    : kind_(kind), where_(std::move(where)), message_(std::move(message)) {
  for (const std::string* part : {&where_.file, &where_.member, &where_.place}) {
    if (!part->empty()) what_ += *part + ": ";
  }
  what_ += message_;
}

Error Error::with_file(std::string_view file) const {
  Location where = where_;
  if (where.file.empty()) where.file = file;
  return {kind_, std::move(where), message_};
}

Error Error::with_member(std::string_view member) const {
  Location where = where_;
  if (where.member.empty()) where.member = member;
  return {kind_, std::move(where), message_};
}

}  // namespace usmp
