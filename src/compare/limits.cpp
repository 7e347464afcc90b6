// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares what is required with what is available.
#include "compare/limits.hpp"

#include <algorithm>
#include <utility>

namespace usmp::compare {

LimitCheck compared(Rule rule, Bytes required, Bytes available, config::Position position) {
  LimitCheck check{.rule = rule,
                   .verdict = Verdict::ok,
                   .required = required,
                   .available = available,
                   .position = position,
                   .message = {}};
  if (required > available) check.verdict = rule == Rule::warn_at ? Verdict::warning : Verdict::breach;
  return check;
}

LimitCheck not_checked(Rule rule, config::Position position, std::string why, Verdict verdict) {
  return {
      .rule = rule, .verdict = verdict, .required = 0, .available = 0, .position = position, .message = std::move(why)};
}

bool lacks_workspace(const ModuleCheck& module) {
  return std::ranges::any_of(module.pools, [](const PoolCheck& pool) {
    return pool.kind == PoolKind::workspace &&
           std::ranges::any_of(pool.checks, [](const LimitCheck& check) { return check.verdict == Verdict::breach; });
  });
}

}  // namespace usmp::compare
