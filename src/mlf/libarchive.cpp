// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Wraps libarchive's calls.
#include "mlf/libarchive.hpp"

#include <cerrno>

namespace usmp::mlf {

std::string fault_of(archive* handle) {
  if (archive_errno(handle) == ENOMEM) throw std::bad_alloc();
  const char* text = archive_error_string(handle);
  std::string fault = text == nullptr ? "unknown fault" : text;
  if (!fault.empty() && fault[0] >= 'A' && fault[0] <= 'Z') fault[0] = static_cast<char>(fault[0] - 'A' + 'a');
  return fault;
}

}  // namespace usmp::mlf
