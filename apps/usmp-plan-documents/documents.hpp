// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The manual page and the completions of shells, made of what --help is made of. The same program gives the same bytes:
// the date is that of the release, and there is no path of the machine.
#pragma once

#include <string>
#include <string_view>

#include "usmp-plan/manual.hpp"

namespace usmp::apps {

[[nodiscard]] std::string man_page(const Manual& manual);         // roff with the man macros
[[nodiscard]] std::string bash_completion(const Manual& manual);  // bash 4 and later, needs no bash-completion
[[nodiscard]] std::string zsh_completion(const Manual& manual);   // an autoloaded function _usmp-plan
[[nodiscard]] std::string fish_completion(const Manual& manual);

// Words in the place of a command besides those of the manual: `plan` stands for none, `help` is followed by one.
inline constexpr std::string_view plan_summary = "plan, and write C";
inline constexpr std::string_view help_summary = "describe a command";

// The text in single quotes of a shell, with what is written for a quote in it.
[[nodiscard]] std::string shell_quoted(std::string_view text, std::string_view quote);

}  // namespace usmp::apps
