// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Values of a pools file: what each must be, and the message for what it is instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/yaml_tree.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::config {

// "'text'", "the text 'text'", "a list", "empty": the value for a message.
[[nodiscard]] std::string found(const YamlNode& node);

// "key is …: expected …".
[[noreturn]] void fail_value(const YamlEntry& entry, const std::string& expected);

// With a near spelling if there is one, else with all that is known. `owner` has its article: "a pin".
[[noreturn]] void fail_unknown_key(const YamlEntry& entry, const std::string& owner,
                                   const std::vector<std::string>& known);

// Each of these throws Error of kind usage at the value if it is none of what is asked for.
[[nodiscard]] bool bool_of(const YamlEntry& entry);
[[nodiscard]] Bytes offset_of(const YamlEntry& entry);  // a size that may be 0, small enough for a plan's arithmetic
[[nodiscard]] std::optional<Bytes> size_hint_of(const YamlEntry& entry);  // at least 1; nothing for -1

// Nothing for any other value.
[[nodiscard]] std::optional<std::int64_t> integer_at_least(const YamlNode& value, std::int64_t low);

}  // namespace usmp::config
