// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An entry that is allocates and calls in a row, as passes see it that change which functions it calls.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// Between the calls there may be those of hooks of devices (device_states.hpp), and barriers: statements that call
// anything else, checks whether the caller passes something, texts that stay. All of them stay where they are. A call
// may take another's place, or join it, if the same devices are active and open there, and no barrier is between them.
struct PlainEntry {
  std::vector<program::EntryCall> calls;                      // in order, one a statement, of variables alone
  std::map<tir::VarId, std::vector<std::size_t>> calls_with;  // that pass it, among `calls`
  std::map<tir::VarId, tir::Allocate> tensors;
  std::vector<std::size_t> states;  // by call: the same number where both is so
  // For each variable that barriers use, the numbers of calls in front of the first one and of the last one.
  std::map<tir::VarId, std::pair<std::size_t, std::size_t>> barriers_with;

  [[nodiscard]] bool is_used_before(tir::VarId var, std::size_t call) const;   // by a call or barrier in front of it
  [[nodiscard]] bool is_used_behind(tir::VarId var, std::size_t calls) const;  // behind as many calls
};

// Nothing if the entry is anything else. O(size of the entry · log).
[[nodiscard]] std::optional<PlainEntry> read_plain_entry(const tir::Module& module);

// Makes the call at the statement of the entry one of another function.
void replace_call(tir::Module& module, std::size_t statement, const std::string& name,
                  const std::vector<tir::VarId>& arguments);

}  // namespace usmp::transform
