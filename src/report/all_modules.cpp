// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins the bytes that all modules need of a pool with the names of those that set them.
#include "report/all_modules.hpp"

#include "usmp/support/text.hpp"

namespace usmp::report {

std::string all_modules_text(const plan_file::PlanDocument::Pool::AllModules& all, PoolKind kind) {
  std::string text = bytes_text(all.used);
  if (all.set_by.empty()) return text;
  const bool several = all.set_by.size() > 1;
  text += kind == PoolKind::constant ? " of constants of " : ", set by ";
  return text + joined(all.set_by, " and ") + (several && kind != PoolKind::constant ? " side by side" : "");
}

}  // namespace usmp::report
