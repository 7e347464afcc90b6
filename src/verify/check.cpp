// Looks at every buffer and at every pair, and shares no code with the planners or the conflict graph: live ranges
// are compared pair by pair here, so that one fault does not hide in both. Nothing a plan claims may overflow.
// Tests: tests/verify, where each kind of fault is put into a right plan.
#include <algorithm>
#include <optional>

#include "usmp/verify/verify.hpp"

namespace usmp::verify {
namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string span_of(Bytes begin, Bytes size) {
  return "[" + std::to_string(begin) + ", " + std::to_string(begin + size) + ")";
}

// Its end can be expressed, so that comparing it means something.
bool well_placed(const Problem& problem, const Allocation& at, const Buffer& buffer) {
  return at.placed() && at.pool.index() < problem.pools.size() && at.offset >= 0 &&
         checked_add(at.offset, buffer.size).has_value();
}

// The first tick at which both are live.
std::optional<Tick> both_live(const Buffer& a, const Buffer& b) {
  std::optional<Tick> first;
  for (const LiveRange& one : a.live) {
    for (const LiveRange& other : b.live) {
      const Tick begin = std::max(one.begin, other.begin);
      if (begin < std::min(one.end, other.end)) first = std::min(first.value_or(begin), begin);
    }
  }
  return first;
}

class Checker {
 public:
  Checker(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {}

  std::vector<Violation> run() {
    if (plan_.allocations.size() != problem_.buffers.size()) {
      add(ViolationKind::wrong_count, {}, {},
          "the plan has " + std::to_string(plan_.allocations.size()) + " allocations for " +
              std::to_string(problem_.buffers.size()) + " buffers");
      return std::move(violations_);
    }
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      check_buffer(BufferId(i));
      for (std::size_t j = i + 1; j < problem_.buffers.size(); ++j) check_pair(BufferId(i), BufferId(j));
    }
    return std::move(violations_);
  }

 private:
  void add(ViolationKind kind, BufferId buffer, BufferId other, std::string message) {
    violations_.push_back({kind, buffer, other, std::move(message)});
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = problem_.buffer(id);
    const Allocation& at = plan_.of(id);
    const std::string who = "buffer " + quoted(buffer.name);
    if (!at.placed()) return add(ViolationKind::not_placed, id, {}, who + " has no place");
    if (at.pool.index() >= problem_.pools.size()) {
      return add(ViolationKind::unknown_pool, id, {},
                 who + " is in pool number " + std::to_string(at.pool.index()) + ", but there are " +
                     std::to_string(problem_.pools.size()));
    }
    const Pool& pool = problem_.pool(at.pool);
    const std::string where = who + " in pool " + quoted(pool.name);
    if (std::find(buffer.candidates.begin(), buffer.candidates.end(), at.pool) == buffer.candidates.end()) {
      add(ViolationKind::not_a_candidate, id, {}, who + " may not be in pool " + quoted(pool.name));
    }
    const std::string offset = std::to_string(at.offset);
    if (at.offset < 0) return add(ViolationKind::negative_offset, id, {}, where + " has the negative offset " + offset);
    for (const Bytes alignment : {buffer.alignment, pool.alignment}) {
      if (at.offset % alignment == 0) continue;
      add(ViolationKind::misaligned, id, {},
          std::string(where).append(" has offset ").append(offset).append(", not a multiple of ") +
              std::to_string(alignment));
      break;
    }
    if (at.offset < pool.reserved && buffer.size > 0) {
      add(ViolationKind::reserved, id, {},
          std::string(where).append(" has offset ").append(offset).append(", but the first ") +
              std::to_string(pool.reserved) + " bytes are reserved");
    }
    if (buffer.pinned && at.offset != *buffer.pinned) {
      add(ViolationKind::not_at_pin, id, {},
          std::string(where).append(" has offset ").append(offset).append(", but is pinned to ") +
              std::to_string(*buffer.pinned));
    }
    check_end(id, where);
  }

  void check_end(BufferId id, const std::string& where) {
    const Pool& pool = problem_.pool(plan_.of(id).pool);
    const auto end = checked_add(plan_.of(id).offset, problem_.buffer(id).size);
    if (!end) {
      add(ViolationKind::over_capacity, id, {},
          where + " ends beyond what an offset can express: " + std::to_string(plan_.of(id).offset) + " + " +
              std::to_string(problem_.buffer(id).size));
    } else if (pool.capacity && *end > *pool.capacity) {
      add(ViolationKind::over_capacity, id, {},
          where + " ends at " + std::to_string(*end) + ", beyond the capacity of " + std::to_string(*pool.capacity));
    }
  }

  void check_pair(BufferId id, BufferId other_id) {
    const Buffer& one = problem_.buffer(id);
    const Buffer& other = problem_.buffer(other_id);
    const Allocation& at = plan_.of(id);
    const Allocation& other_at = plan_.of(other_id);
    if (!well_placed(problem_, at, one) || !well_placed(problem_, other_at, other)) return;
    if (at.pool != other_at.pool || one.size == 0 || other.size == 0) return;
    if (at.offset + one.size <= other_at.offset || other_at.offset + other.size <= at.offset) return;
    const std::optional<Tick> tick = both_live(one, other);
    if (!tick) return;
    add(ViolationKind::overlap, id, other_id,
        "buffers " + quoted(one.name) + " and " + quoted(other.name) + " overlap in pool " +
            quoted(problem_.pool(at.pool).name) + ": " + span_of(at.offset, one.size) + " and " +
            span_of(other_at.offset, other.size) + ", both live at " + std::to_string(*tick));
  }

  const Problem& problem_;
  const Plan& plan_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> check(const Problem& problem, const Plan& plan) { return Checker(problem, plan).run(); }

}  // namespace usmp::verify
