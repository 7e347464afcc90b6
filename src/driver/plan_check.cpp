// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes the planning problem of a plan file again, and verifies the plan and what the file says of it.
#include "plan_check.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "usmp/problem/problem.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver {
namespace {

using plan_file::PlanDocument;

std::string element(const char* list, std::size_t index) { return list + ("[" + std::to_string(index) + "]"); }

[[noreturn]] void fail_at(std::string place, std::string message) {
  throw Error(ErrorKind::usage, {{}, {}, std::move(place)}, std::move(message));
}

bool has_plan(PlanStatus status) { return status == PlanStatus::feasible || status == PlanStatus::optimal; }

class DocumentCheck {
 public:
  explicit DocumentCheck(const PlanDocument& document) : document_(document) {}

  void run() {
    make_problem();
    check_places();
    check_used();
    check_spilled();
    check_claims();
  }

  Problem problem() && {
    make_problem();
    return std::move(problem_);
  }

 private:
  void make_problem() {
    std::map<std::string_view, PoolId> pools;
    for (const PlanDocument::Pool& pool : document_.pools) {
      pools.emplace(pool.name, PoolId(problem_.pools.size()));
      problem_.pools.push_back({.name = pool.name,
                                .kind = pool.kind,
                                .capacity = pool.capacity,
                                .alignment = pool.alignment,
                                .reserved = pool.reserved});
    }
    problem_.horizon = document_.horizon;
    problem_.distances = document_.distances;
    for (std::size_t i = 0; i < document_.buffers.size(); ++i) {
      const PlanDocument::Buffer& from = document_.buffers[i];
      Buffer buffer{.name = from.name,
                    .function = from.function,
                    .kind = from.kind,
                    .size = from.size,
                    .alignment = from.alignment,
                    .candidates = {},
                    .live = from.live.value_or(std::vector<LiveRange>())};
      for (const auto& candidate : from.candidates) {
        const auto pool = pools.find(candidate);
        if (pool == pools.end()) {
          fail_at(element("buffers", i), "the candidate " + in_quotes(candidate) + " is none of the pools");
        }
        buffer.candidates.push_back(pool->second);
      }
      Allocation place;
      if (from.placed()) {
        place = {pools.at(from.pool), from.offset};
        if (buffer.candidates.empty()) buffer.candidates = {place.pool};
        knows_candidates_ = knows_candidates_ && !from.candidates.empty();
        if (from.pinned && buffer.candidates.size() == 1) buffer.pinned = from.offset;
      } else if (has_plan(document_.status)) {
        fail_at(element("buffers", i),
                "buffer " + in_quotes(from.name) + " has no place, but the plan is " + to_string(document_.status));
      }
      if (buffer.candidates.empty()) buffer.candidates = {PoolId(0)};
      problem_.buffers.push_back(std::move(buffer));
      plan_.allocations.push_back(place);
    }
    if (auto reason = invalid_reason(problem_)) fail_at("buffers", "the plan contradicts itself: " + *reason);
  }

  void check_places() const {
    for (const verify::Violation& violation : verify::check(problem_, plan_, verify::Method::sweep, most_looked_at)) {
      if (violation.kind == verify::ViolationKind::not_placed) continue;  // a plan that was not found
      fail_at(element("buffers", violation.buffer.index()), violation.message);
    }
  }

  void check_used() const {
    const std::vector<Bytes> used = used_bytes(problem_, plan_);
    Bytes workspace = 0;
    Bytes constants = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const PlanDocument::Pool& pool = document_.pools[i];
      const auto fail_pool = [&](const std::string& message) {
        fail_at(element("pools", i), "pool " + in_quotes(pool.name) + ": " + message);
      };
      if (pool.used != used[i]) {
        fail_pool("used is " + std::to_string(pool.used) + ", but its buffers end at " + std::to_string(used[i]));
      }
      if (pool.capacity && pool.used > *pool.capacity) {
        fail_pool("used is " + std::to_string(pool.used) + " of " + std::to_string(*pool.capacity));
      }
      if (pool.beside > pool.reserved) {
        fail_pool("beside is " + std::to_string(pool.beside) + ", but reserved only " + std::to_string(pool.reserved));
      }
      if (pool.all_modules && pool.all_modules->used < pool.used) {
        fail_pool("all modules use " + std::to_string(pool.all_modules->used) + ", but this one " +
                  std::to_string(pool.used));
      }
      (pool.kind == PoolKind::workspace ? workspace : constants) += std::max<Bytes>(0, pool.used - pool.beside);
    }
    const auto check_total = [&](const char* name, Bytes said, Bytes sum) {
      if (said == sum) return;
      fail_at("totals",
              std::string(name) + " is " + std::to_string(said) + ", but the pools add up to " + std::to_string(sum));
    };
    if (!document_.says_totals) return;
    check_total("workspace_used", document_.workspace_used, workspace);
    check_total("constants_used", document_.constants_used, constants);
  }

  void check_spilled() const {
    const std::vector<Bytes> spilled = cost_of(problem_, plan_).spilled;
    const bool is_known = knows_candidates_ && document_.spilled.size() == spilled.size();
    for (std::size_t i = 0; i < document_.spilled.size(); ++i) {
      const PlanDocument::Spilled& said = document_.spilled[i];
      if (is_known && said.bytes != spilled[i]) {
        fail_at(element("spilled", i), "bytes is " + std::to_string(said.bytes) + ", but " +
                                           std::to_string(spilled[i]) + " are beyond these choices");
      }
      check_bound(element("spilled", i), "", said.bytes, said.lower_bound);
    }
    if (document_.charge) {
      check_bound("objective", "", document_.charge->value, document_.charge->lower_bound);
    }
  }

  // What is proved of each pool, and of the whole plan.
  void check_claims() const {
    if (!has_plan(document_.status)) return;
    std::optional<std::string> open = open_entry();
    for (std::size_t i = 0; i < document_.pools.size(); ++i) {
      const PlanDocument::Pool& pool = document_.pools[i];
      const std::string name = "pool " + in_quotes(pool.name) + ": ";
      if (pool.lower_bound) check_bound(element("pools", i), name, pool.used, *pool.lower_bound);
      if (document_.schema_version < 2) continue;
      const bool is_least = pool.lower_bound == pool.used;
      if (pool.status == PlanStatus::optimal && !is_least) {
        fail_at(element("pools", i), name + "status is optimal, but used is not its lower bound");
      }
      if (!has_plan(pool.status)) {
        fail_at(element("pools", i),
                name + "status is " + to_string(pool.status) + ", but the plan is " + to_string(document_.status));
      }
      if (!is_least && !open) open = "pool " + in_quotes(pool.name);
    }
    if (document_.status == PlanStatus::optimal && open && document_.schema_version >= 2) {
      fail_at("status", "is optimal, but the lower bound of " + *open + " leaves room for a better plan");
    }
  }

  // What is more important than the pools and not at its bound.
  [[nodiscard]] std::optional<std::string> open_entry() const {
    if (document_.charge && document_.charge->value != document_.charge->lower_bound) return "the objective";
    for (const PlanDocument::Spilled& spilled : document_.spilled) {
      if (spilled.bytes != spilled.lower_bound) return "the spilled bytes";
    }
    return std::nullopt;
  }

  static void check_bound(const std::string& place, const std::string& name, std::int64_t value, std::int64_t bound) {
    if (bound <= value) return;
    fail_at(place,
            name + "the lower bound is " + std::to_string(bound) + ", but the plan has " + std::to_string(value));
  }

  static constexpr std::size_t most_looked_at = std::size_t{1} << 16;

  const PlanDocument& document_;
  Problem problem_;
  Plan plan_;
  bool knows_candidates_ = true;
};

// Walks over JSON that was parsed before.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : text_(text) { pass_blanks(); }

  [[nodiscard]] std::size_t at() const { return at_; }

  // Into the member of the object, or the element of the list, that begins here. False: there is none; then the walk is
  // where it was.
  bool enter(std::string_view key) {
    return find('{', [&](std::size_t) { return taken_string() == key; });
  }
  bool enter(std::size_t index) {
    return find('[', [&](std::size_t element) { return element == index; });
  }

 private:
  template <class IsIt>
  bool find(char opening, const IsIt& is_it) {
    const std::size_t start = at_;
    if (next() != opening) return false;
    take();
    for (std::size_t i = 0; next() != '}' && next() != ']' && at_ < text_.size(); ++i) {
      const bool found = is_it(i);
      if (opening == '{') take();  // the colon
      if (found) return true;
      pass_value();
      if (next() == ',') take();
    }
    at_ = start;
    return false;
  }

  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void take() {
    ++at_;
    pass_blanks();
  }
  void pass_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  std::string_view taken_string() {
    const std::size_t begin = at_ + 1;
    pass_string();
    const std::string_view string = text_.substr(begin, at_ - 1 - begin);
    pass_blanks();
    return string;
  }
  void pass_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }
  void pass_value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = next();
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return;
      if (c == '"') {
        pass_string();
      } else {
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        ++at_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Problem problem_of(const plan_file::PlanDocument& document) { return DocumentCheck(document).problem(); }

void check_document(const plan_file::PlanDocument& document) {
  if (!document.pools.empty()) DocumentCheck(document).run();
}

std::size_t line_of(std::string_view json, std::string_view path) {
  JsonWalk walk(json);
  while (!path.empty()) {
    bool is_there = false;
    if (path.front() == '[') {
      std::size_t index = 0;
      for (path.remove_prefix(1); !path.empty() && is_digit(path.front()); path.remove_prefix(1)) {
        index = 10 * index + static_cast<std::size_t>(path.front() - '0');
      }
      path.remove_prefix(std::min<std::size_t>(1, path.size()));
      is_there = walk.enter(index);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      is_there = walk.enter(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (!is_there) break;
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return 1 + static_cast<std::size_t>(std::ranges::count(json.substr(0, walk.at()), '\n'));
}

}  // namespace usmp::driver
