// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks for the innermost block whose flow exposes no byte of the storage, and allocates there.
#include "usmp/storage/sink.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "storage/accesses.hpp"
#include "storage/flow.hpp"
#include "storage/sites.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::storage {
namespace {

using tir::Block;
using tir::Stmt;

bool is_loop(const Stmt* stmt) {
  return std::holds_alternative<tir::For>(stmt->node) || std::holds_alternative<tir::While>(stmt->node);
}

class Sinker {
 public:
  explicit Sinker(tir::Module& module) : module_(module) {}

  std::size_t run() {
    for (tir::Function& function : module_.functions) sink_in(function);
    return moved_;
  }

 private:
  void sink_in(tir::Function& function) {
    const Sites sites = sites_of(function.body);
    if (sites.all.empty()) return;
    const FunctionAccesses accesses = accesses_of(module_, function);
    std::map<const Block*, Block> arriving;
    std::set<tir::VarId> leaving;
    for (const Site& site : sites.all) {
      const tir::VarId var = site.allocate->var;
      const auto found = accesses.storages.find(var);
      if (found == accesses.storages.end() || sites.twice.contains(var)) continue;
      const Block* const home = home_of(site, accesses, found->second);
      if (home == nullptr) continue;
      arriving[home].push_back(Stmt{*site.allocate});
      leaving.insert(var);
    }
    if (leaving.empty()) return;
    moved_ += leaving.size();
    // Inner blocks first: a block that changes takes those inside to other addresses.
    std::vector<Block*> blocks;
    tir::for_each_block(function.body, [&](Block& block) { blocks.push_back(&block); });
    for (std::size_t i = blocks.size(); i-- > 0;) {
      Block& block = *blocks[i];
      std::erase_if(block, [&](const Stmt& stmt) {
        const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
        return allocate != nullptr && leaving.contains(allocate->var);
      });
      if (const auto found = arriving.find(&block); found != arriving.end()) {
        block.insert(block.begin(), std::make_move_iterator(found->second.begin()),
                     std::make_move_iterator(found->second.end()));
      }
    }
  }

  // Null: it stays.
  const Block* home_of(const Site& site, const FunctionAccesses& function, const StorageAccesses& storage) {
    const tir::Allocate& allocate = *site.allocate;
    if (allocate.condition != nullptr || allocate.ring || !tir::allocation_size(allocate).bytes) return nullptr;
    if (!storage.passed.empty() || storage.accesses.empty()) return nullptr;
    const std::vector<const Stmt*>& chain = storage.accesses.front().chain;
    for (std::size_t depth = common_depth(storage, site.depth); depth > site.depth; --depth) {
      const auto between = std::span(chain).subspan(site.depth, depth - site.depth);
      if (std::ranges::none_of(between, is_loop)) return nullptr;
      const auto flows = statement_flows(function, storage, depth, {}, pairs_left_);
      if (!flows) return nullptr;
      const Flow flow = together(*flows);
      if (flow.exposed.empty() && !flow.exposes_all) return block_with(chain, depth);
    }
    return nullptr;
  }

  // The block that holds the chain's statement of the depth.
  static const Block* block_with(const std::vector<const Stmt*>& chain, std::size_t depth) {
    for (const Block* block : tir::blocks_of(*chain[depth - 1])) {
      if (stands_in(chain[depth], *block)) return block;
    }
    return nullptr;
  }

  // The depth of the innermost block that holds all accesses, from the allocate's own on.
  static std::size_t common_depth(const StorageAccesses& storage, std::size_t depth) {
    const std::vector<const Stmt*>& first = storage.accesses.front().chain;
    for (;; ++depth) {
      if (depth + 1 >= first.size()) return depth;
      const Block* const inside = block_with(first, depth + 1);
      const bool all = std::ranges::all_of(storage.accesses, [&](const Access& access) {
        return depth + 1 < access.chain.size() && stands_in(access.chain[depth + 1], *inside);
      });
      if (!all) return depth;
    }
  }

  tir::Module& module_;
  std::size_t pairs_left_ = max_pairs;
  std::size_t moved_ = 0;
};

}  // namespace

std::size_t sink(tir::Module& module) {
  const std::size_t moved = Sinker(module).run();
  if (moved > 0) tir::check_pass(module, "storage::sink");
  return moved;
}

}  // namespace usmp::storage
