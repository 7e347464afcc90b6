// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TVM puts calls of hooks around operators of devices: TVMDeviceEthosUOpen(context), and likewise Activate, Close and
// Deactivate. They do nothing to tensors. Which devices are active and open where, so that passes keep it so.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// Statements of the entry are shown to it in order.
class DeviceStates {
 public:
  explicit DeviceStates(const tir::Module& module) : module_(module) {}

  // Whether the statement calls a hook, which then has been called. Where 32 are active or open, one more is a call
  // like others. O(log).
  bool take(const tir::Stmt& stmt);

  // The same number where the same devices are active and open; below the number of hooks so far, or 0.
  [[nodiscard]] std::size_t now() { return numbers_.emplace(now_, numbers_.size()).first->second; }
  [[nodiscard]] bool is_any_open() const { return open_ > 0; }

 private:
  const tir::Module& module_;
  std::set<std::string> now_;
  std::size_t open_ = 0;
  std::map<std::set<std::string>, std::size_t> numbers_;
};

}  // namespace usmp::transform
