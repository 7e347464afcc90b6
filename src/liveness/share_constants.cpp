// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Equal constants share a place. Two sites are equal if they have the same data: the same object, so that nothing has
// to be compared, and nothing is shared that the reader or a transformation did not share.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

// Variables with their data; without those that stand for different data in different places.
std::map<tir::VarId, const tir::Constant*> data_of(const tir::Module& module) {
  std::map<tir::VarId, const tir::Constant*> data;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant == nullptr) return;
      const auto [known, is_new] = data.emplace(constant->var, constant->data.get());
      if (!is_new && known->second != constant->data.get()) known->second = nullptr;
    });
  }
  return data;
}

}  // namespace

void share_constants(Analysis& analysis, const tir::Module& module) {
  const std::map<tir::VarId, const tir::Constant*> data = data_of(module);
  using Key = std::tuple<const tir::Constant*, std::set<std::string>, std::vector<std::string>>;
  std::map<Key, std::size_t> first;  // looked up only: its order, that of addresses, decides nothing
  std::vector<Site> kept;
  for (Site& site : analysis.sites) {
    const auto found = data.find(site.var);
    const bool may_share =
        site.kind == BufferKind::constant && !site.live.empty() && found != data.end() && found->second != nullptr;
    if (may_share) {
      const auto [twin, is_new] = first.emplace(Key(found->second, site.targets, site.candidate_pools), kept.size());
      if (!is_new) {
        Site& whole = kept[twin->second];
        whole.alignment = std::max(whole.alignment, site.alignment);
        whole.twins.push_back({site.var, site.function});
        continue;
      }
    }
    kept.push_back(std::move(site));
  }
  analysis.sites = std::move(kept);
}

}  // namespace usmp::liveness
