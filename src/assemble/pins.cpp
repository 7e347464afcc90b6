// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names are resolved first, then all pins are applied together, so that the problem is checked once. Only when that
// fails the first pin that makes it invalid is looked for, by bisection over the list's beginnings.
#include "usmp/assemble/pins.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "assemble/identity.hpp"
#include "usmp/support/text.hpp"

namespace usmp::assemble {
namespace {

struct Resolved {
  BufferId buffer;
  PoolId pool;
  Bytes offset = 0;
};

std::string full_name(const Buffer& buffer) { return in_quotes(buffer.name) + " of " + in_quotes(buffer.function); }

[[noreturn]] void fail(const config::PinSpec& pin, std::string message) {
  throw Error(ErrorKind::usage, {{}, {}, pin.place}, std::move(message));
}

Problem with_pins(const Problem& problem, const std::vector<Resolved>& pins, std::size_t count) {
  Problem pinned = problem;
  for (std::size_t i = 0; i < count; ++i) {
    Buffer& buffer = pinned.buffers[pins[i].buffer.index()];
    if (!buffer.charges.empty()) {
      const auto rank = std::find(buffer.candidates.begin(), buffer.candidates.end(), pins[i].pool);
      buffer.charges = {buffer.charges[static_cast<std::size_t>(rank - buffer.candidates.begin())]};
    }
    buffer.candidates = {pins[i].pool};
    buffer.pinned = pins[i].offset;
  }
  return pinned;
}

struct Contradiction {
  std::size_t pin;  // contradicts the pools or the pins before it
  std::string reason;
};

// Applies all pins, or none and says which is the first that cannot stand.
std::optional<Contradiction> apply_pins(Problem& problem, const std::vector<Resolved>& pins) {
  Problem pinned = with_pins(problem, pins, pins.size());
  auto reason = invalid_reason(pinned);
  if (!reason) {
    problem = std::move(pinned);
    return std::nullopt;
  }
  std::size_t good = 0;  // so many first pins contradict nothing
  std::size_t bad = pins.size();
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    if (auto earlier = invalid_reason(with_pins(problem, pins, middle))) {
      bad = middle;
      reason = std::move(earlier);
    } else {
      good = middle;
    }
  }
  return Contradiction{bad - 1, *reason};
}

class Names {
 public:
  explicit Names(const Problem& problem) : problem_(problem) {
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) by_name_[problem.buffers[i].name].emplace_back(i);
  }

  // All buffers that the pin may mean, occurrence left aside.
  [[nodiscard]] std::vector<BufferId> meant_by(const config::PinSpec& pin) const {
    std::vector<BufferId> meant;
    const auto found = by_name_.find(pin.buffer);
    if (found == by_name_.end()) return meant;
    std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(meant),
                 [&](BufferId id) { return !pin.function || problem_.buffer(id).function == *pin.function; });
    return meant;
  }

  [[nodiscard]] BufferId only(const config::PinSpec& pin, const std::vector<BufferId>& meant) const {
    const bool one_function = std::all_of(meant.begin(), meant.end(), [&](BufferId id) {
      return problem_.buffer(id).function == problem_.buffer(meant.front()).function;
    });
    if (!one_function || (!pin.occurrence && meant.size() > 1)) fail_ambiguous(pin, meant, one_function);
    const std::size_t occurrence = pin.occurrence.value_or(0);
    if (occurrence >= meant.size()) {
      fail(pin, "occurrence is " + std::to_string(occurrence) + ", but " + full_name(problem_.buffer(meant.front())) +
                    " names " + std::to_string(meant.size()) +
                    (meant.size() == 1 ? " planned buffer" : " planned buffers") + ", counted from 0");
    }
    return meant[occurrence];
  }

 private:
  [[noreturn]] void fail_ambiguous(const config::PinSpec& pin, const std::vector<BufferId>& meant,
                                   bool one_function) const {
    std::map<std::string, std::size_t> counts;
    for (const BufferId id : meant) ++counts[problem_.buffer(id).function];
    std::map<std::string, std::size_t> seen;
    std::vector<std::string> choices;
    for (const BufferId id : meant) {
      const Buffer& buffer = problem_.buffer(id);
      const std::size_t occurrence = seen[buffer.function]++;
      std::string choice = "{buffer: " + buffer.name + ", function: " + buffer.function;
      if (counts[buffer.function] > 1) choice += ", occurrence: " + std::to_string(occurrence);
      choices.push_back(choice + "} (" + std::to_string(buffer.size) + " bytes)");
    }
    fail(pin, "buffer " + in_quotes(pin.buffer) + " is ambiguous, there are " + std::to_string(meant.size()) +
                  ": expected " + (one_function ? "the key occurrence" : "the key function") + ", such as " +
                  first_few(choices));
  }

  const Problem& problem_;
  std::map<std::string, std::vector<BufferId>> by_name_;
};

PoolId pool_for(const Problem& problem, const config::PinSpec& pin, const Buffer& buffer) {
  std::vector<std::string> all;
  std::vector<std::string> candidates;
  for (const Pool& pool : problem.pools) all.push_back(pool.name);
  for (const PoolId id : buffer.candidates) {
    if (problem.pool(id).name == pin.pool) return id;
    candidates.push_back(problem.pool(id).name);
  }
  if (std::find(all.begin(), all.end(), pin.pool) == all.end()) {
    fail(pin, "unknown pool " + in_quotes(pin.pool) + did_you_mean(pin.pool, all));
  }
  fail(pin, "buffer " + full_name(buffer) + " may not be in pool " + in_quotes(pin.pool) + ": expected one of " +
                first_few(candidates));
}

// Why buffers of an earlier plan are not pinned, with their names.
struct LeftOut {
  std::vector<std::string> gone, resized, moved, contradicting;

  [[nodiscard]] std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    const auto add = [&all](const char* reason, const std::vector<std::string>& names) {
      if (!names.empty())
        all.push_back(std::string("not pinned as in the earlier plan, ") + reason + ": " + first_few(names));
    };
    add("the module no longer has the buffer", gone);
    add("the size has changed", resized);
    add("the pool is no longer a candidate", moved);
    add("the place is taken or no longer in the pool", contradicting);
    return all;
  }
};

}  // namespace

std::vector<bool> pin(Assembly& assembly, const std::vector<config::PinSpec>& pins) {
  const Problem& problem = assembly.problem;
  const Names names(problem);
  std::vector<bool> found(pins.size(), false);
  std::vector<Resolved> resolved;
  std::vector<const config::PinSpec*> sources;  // of `resolved`
  std::map<BufferId, const config::PinSpec*> taken;
  for (std::size_t i = 0; i < pins.size(); ++i) {
    const std::vector<BufferId> meant = names.meant_by(pins[i]);
    if (meant.empty()) continue;
    found[i] = true;
    const BufferId id = names.only(pins[i], meant);
    const auto [first, is_new] = taken.emplace(id, &pins[i]);
    if (!is_new) {
      fail(pins[i],
           "buffer " + full_name(problem.buffer(id)) + " is pinned twice (first at " + first->second->place + ")");
    }
    resolved.push_back({id, pool_for(problem, pins[i], problem.buffer(id)), pins[i].offset});
    sources.push_back(&pins[i]);
  }
  if (const auto contradiction = apply_pins(assembly.problem, resolved)) {
    fail(*sources[contradiction->pin], contradiction->reason);
  }
  return found;
}

void throw_unknown_buffer(const config::PinSpec& pin, const std::vector<const Assembly*>& assemblies) {
  std::set<std::string> names;
  std::set<std::string> functions;  // that declare a buffer of the name
  for (const Assembly* assembly : assemblies) {
    for (const Buffer& buffer : assembly->problem.buffers) {
      names.insert(buffer.name);
      if (buffer.name == pin.buffer) functions.insert(buffer.function);
    }
  }
  if (functions.empty()) {
    const std::vector<std::string> known(names.begin(), names.end());
    const std::string near = did_you_mean(pin.buffer, known);
    fail(pin, "unknown buffer " + in_quotes(pin.buffer) + near +
                  "; usmp-plan inspect --transform all lists the buffers that the transformations leave");
  }
  const std::vector<std::string> known(functions.begin(), functions.end());
  const std::string near = did_you_mean(*pin.function, known);
  fail(pin, "no function " + in_quotes(*pin.function) + " declares a planned buffer " + in_quotes(pin.buffer) +
                (near.empty() ? ": expected one of " + first_few(known) : near));
}

std::vector<std::string> pin_as_before(Assembly& assembly, const plan_file::PlanDocument& plan) {
  const Problem& problem = assembly.problem;
  std::map<Identity, BufferId> buffers;
  Occurrences now;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    buffers.emplace(now.next(problem.buffers[i].name, problem.buffers[i].function), BufferId(i));
  }
  LeftOut left_out;
  std::vector<Resolved> resolved;
  Occurrences before;
  for (const plan_file::PlanDocument::Buffer& place : plan.buffers) {
    const auto found = buffers.find(before.next(place.name, place.function));
    if (!place.placed()) continue;
    if (found == buffers.end()) {
      left_out.gone.push_back(in_quotes(place.name) + " of " + in_quotes(place.function));
      continue;
    }
    const Buffer& buffer = problem.buffer(found->second);
    if (buffer.pinned) continue;
    const auto pool = std::find_if(buffer.candidates.begin(), buffer.candidates.end(),
                                   [&](PoolId id) { return problem.pool(id).name == place.pool; });
    if (buffer.size != place.size) {
      left_out.resized.push_back(full_name(buffer));
    } else if (pool == buffer.candidates.end()) {
      left_out.moved.push_back(full_name(buffer));
    } else {
      resolved.push_back({found->second, *pool, place.offset});
    }
  }
  while (const auto contradiction = apply_pins(assembly.problem, resolved)) {
    const auto at = resolved.begin() + static_cast<std::ptrdiff_t>(contradiction->pin);
    left_out.contradicting.push_back(full_name(problem.buffer(at->buffer)));
    resolved.erase(at);
  }
  return left_out.sentences();
}

}  // namespace usmp::assemble
