// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names of the public interface. They stay TVM's own wherever C allows it, since firmware spells them: "log" or "index"
// is a fine struct member, so only true keywords and macros are avoided (see names.hpp for names inside functions).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace usmp::codegen {

// Keywords of C and C++ up to C++20, and macros that compilers or the included headers predefine in lower case.
[[nodiscard]] bool is_reserved_word(std::string_view word);

// Hands out C identifiers that are no reserved words, each once.
class UniqueNames {
 public:
  // c_identifier(wanted), with "_" if that is reserved, and with "_2", "_3", … if it was handed out before.
  [[nodiscard]] std::string add(std::string_view wanted);

 private:
  std::map<std::string, std::size_t> taken_;  // with the number that is tried next behind the name
};

}  // namespace usmp::codegen
