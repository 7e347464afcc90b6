// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a pool's bytes from its tables.
#include "tvm_c/kept/kept_constants.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace usmp::tvm_c {

std::string text_of_constants(const std::string& name, const ConstantPool& pool, std::string_view declaration) {
  std::string bytes;
  std::uint64_t offsets = 64;  // those of all tables or-ed: what divides them is their lowest bit
  for (const auto& [offset, table] : pool.tables) {
    bytes.resize(static_cast<std::size_t>(offset), '\0');
    bytes += table.data->bytes;
    offsets |= static_cast<std::uint64_t>(offset);
  }
  const std::string_view front = declaration.substr(0, declaration.find("struct"));
  const std::size_t section = front.find("section(");
  std::string text = "#include <stdint.h>\n\nstatic const uint8_t " + name + "[" + std::to_string(bytes.size()) +
                     "] __attribute__((aligned(" + std::to_string(std::uint64_t{1} << std::countr_zero(offsets)) + ")";
  if (section != std::string_view::npos)
    text += ", " + std::string(front.substr(section, front.find(')', section) + 1 - section));
  text += ")) = {";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr std::size_t in_a_line = 24;
    text += i % in_a_line == 0 ? "\n  " : " ";
    text += std::to_string(static_cast<std::uint8_t>(bytes[i])) + ",";
  }
  return text + "\n};\n\n";
}

}  // namespace usmp::tvm_c
