// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pairs buffers of equal names in order of time, and the rest of a group by a longest common subsequence of sizes.
#include "compare/match.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "usmp/compare/figures.hpp"
#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

constexpr std::size_t most_cells = 1'000'000;  // of a table of one group

using Indices = std::vector<std::size_t>;

Tick start_of(const PlanDocument::Buffer& buffer) {
  return buffer.live && !buffer.live->empty() ? buffer.live->front().begin : std::numeric_limits<Tick>::max();
}

// As they become live. Ids follow the module's declarations, which change places when anything is renamed.
Indices in_time_order(const PlanDocument& document) {
  Indices order(document.buffers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return start_of(document.buffers[a]) < start_of(document.buffers[b]);
  });
  return order;
}

// Pairs of a longest common subsequence of sizes.
std::vector<std::pair<std::size_t, std::size_t>> common_sizes(const std::vector<Bytes>& a,
                                                              const std::vector<Bytes>& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> longest((a.size() + 1) * width, 0);  // of what begins at (i, j)
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      longest[i * width + j] = a[i] == b[j] ? longest[(i + 1) * width + j + 1] + 1
                                            : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      pairs.emplace_back(i++, j++);
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

// What each buffer's operator is, such as "conv2d"; empty: not known.
std::vector<std::string_view> operator_kinds(const PlanDocument& document) {
  std::vector<std::string_view> kinds;
  const std::vector<OperatorIndex> operators = operators_of(document);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    kinds.emplace_back();
    if (!operators[i]) continue;
    const PlanDocument::Call& call = document.calls[*operators[i]];
    const auto row =
        std::ranges::find(call.by_rows, document.buffers[i].row_operator, &PlanDocument::RowOperator::number);
    kinds.back() = row == call.by_rows.end() ? call.kind : row->kind;
  }
  return kinds;
}

class Matching {
 public:
  Matching(const PlanDocument& before, const PlanDocument& after)
      : before_{before,
                module_prefix(before),
                producers(before),
                operator_kinds(before),
                in_time_order(before),
                std::vector<bool>(before.buffers.size())},
        after_{after,
               module_prefix(after),
               producers(after),
               operator_kinds(after),
               in_time_order(after),
               std::vector<bool>(after.buffers.size())},
        result_(before.buffers.size()) {}

  std::vector<std::optional<std::size_t>> run() && {
    in_groups(
        [](const Side& side, std::size_t i) {
          const PlanDocument::Buffer& buffer = side.document.buffers[i];
          return std::tuple(buffer.kind, side.bare(buffer.function), side.bare(side.producers[i]),
                            std::string_view(buffer.name), buffer.size);
        },
        [this](const Indices& a, const Indices& b) { pair_in_order(a, b); });
    in_groups(
        [](const Side& side, std::size_t i) {
          const PlanDocument::Buffer& buffer = side.document.buffers[i];
          return std::tuple(buffer.kind, without_number(side.bare(buffer.function)),
                            without_number(side.bare(side.producers[i])), without_number(buffer.name));
        },
        [this](const Indices& a, const Indices& b) {
          pair_equal_sizes(a, b);
          pair_in_order(left(before_, a), left(after_, b));
        });
    // Another version of TVM has other names.
    in_groups([](const Side& side, std::size_t i) { return std::tuple(side.document.buffers[i].kind, side.kinds[i]); },
              [this](const Indices& a, const Indices& b) {
                if (!before_.kinds[a.front()].empty()) pair_equal_sizes(a, b);
              });
    return std::move(result_);
  }

 private:
  struct Side {
    const PlanDocument& document;
    std::string prefix;  // of the module's functions: it may have another name on the other side
    std::vector<std::string> producers;
    std::vector<std::string_view> kinds;  // of the operators
    Indices order;
    std::vector<bool> matched;

    [[nodiscard]] std::string_view bare(std::string_view function) const { return without_module(function, prefix); }
  };

  template <class Key>
  static auto groups_of(const Side& side, const Key& key) {
    std::map<decltype(key(side, 0)), Indices> groups;
    for (const std::size_t i : side.order) {
      if (!side.matched[i]) groups[key(side, i)].push_back(i);
    }
    return groups;
  }

  // Calls match(a, b) with what is left of each key on both sides.
  template <class Key, class Match>
  void in_groups(const Key& key, const Match& match) {
    const auto ours = groups_of(before_, key);
    const auto theirs = groups_of(after_, key);
    for (const auto& [name, indices] : ours) {
      if (const auto found = theirs.find(name); found != theirs.end()) match(indices, found->second);
    }
  }

  void pair(std::size_t a, std::size_t b) {
    result_[a] = b;
    before_.matched[a] = after_.matched[b] = true;
  }

  void pair_in_order(const Indices& a, const Indices& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) pair(a[i], b[i]);
  }

  void pair_equal_sizes(const Indices& a, const Indices& b) {
    if (a.size() * b.size() > most_cells) return;
    for (const auto& [i, j] : common_sizes(sizes(before_, a), sizes(after_, b))) pair(a[i], b[j]);
  }

  static std::vector<Bytes> sizes(const Side& side, const Indices& indices) {
    std::vector<Bytes> result;
    for (const std::size_t i : indices) result.push_back(side.document.buffers[i].size);
    return result;
  }

  static Indices left(const Side& side, const Indices& indices) {
    Indices result;
    std::copy_if(indices.begin(), indices.end(), std::back_inserter(result),
                 [&](std::size_t i) { return !side.matched[i]; });
    return result;
  }

  Side before_;
  Side after_;
  std::vector<std::optional<std::size_t>> result_;
};

}  // namespace

std::string module_prefix(const PlanDocument& document) { return "tvmgen_" + c_identifier(document.module) + "_"; }

std::string_view without_module(std::string_view function, std::string_view prefix) {
  if (function.starts_with(prefix) && function.size() > prefix.size()) function.remove_prefix(prefix.size());
  return function;
}

std::string_view without_number(std::string_view name) {
  std::string_view rest = name;
  if (rest.ends_with('_')) rest.remove_suffix(1);

  const std::size_t last = rest.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last == 0 || last + 1 == rest.size() || rest[last] != '_') return name;
  return rest.substr(0, last);
}

std::vector<std::string> producers(const PlanDocument& document) {
  std::vector<std::string> result;
  for (const PlanDocument::Buffer& buffer : document.buffers) {
    std::string& producer = result.emplace_back();
    if (buffer.kind == BufferKind::constant || !buffer.live || buffer.live->empty()) continue;
    const Tick start = buffer.live->front().begin;
    // Calls stand in execution order; their ticks do not overlap.
    const auto call = std::partition_point(document.calls.begin(), document.calls.end(),
                                           [&](const PlanDocument::Call& c) { return c.ticks.end <= start; });
    if (call != document.calls.end() && call->ticks.begin <= start) producer = call->callee;
  }
  return result;
}

std::vector<std::optional<std::size_t>> match_buffers(const PlanDocument& before, const PlanDocument& after) {
  return Matching(before, after).run();
}

}  // namespace usmp::compare
