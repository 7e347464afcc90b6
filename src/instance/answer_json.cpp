// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plan ⇄ answer JSON.
#include <algorithm>
#include <array>
#include <utility>

#include "instance/excerpt.hpp"
#include "instance/json_document.hpp"
#include "instance/json_header.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/support/text.hpp"

namespace usmp::instance {
namespace {

constexpr std::array statuses = {PlanStatus::feasible, PlanStatus::optimal, PlanStatus::infeasible,
                                 PlanStatus::not_found};

bool has_plan(PlanStatus status) { return status == PlanStatus::feasible || status == PlanStatus::optimal; }

class AnswerReader {
 public:
  explicit AnswerReader(const Problem& problem) : problem_(problem) {
    for (const Pool& pool : problem.pools) pool_names_.push_back(pool.name);
    answer_.plan.allocations.resize(problem.buffers.size());
  }

  Answer run(std::string_view text) {
    using Kind = RootMember::Kind;
    const std::vector<bool> seen =
        read_document(text, {{"allocations", Kind::list, false, [&](const JsonValue& v) { allocation(v); }},
                             {"status", Kind::value, false, [&](const JsonValue& v) { status(v); }},
                             header_format(answer_format, false),
                             header_version(answer_version, false)});
    if (seen[0] != has_plan(answer_.status)) {
      throw Error(
          ErrorKind::usage, {},
          seen[0] ? "found allocations, expected none with the status '" + std::string(to_string(answer_.status)) + "'"
                  : "no key 'allocations'");
    }
    return std::move(answer_);
  }

 private:
  void allocation(const JsonValue& value) {
    value.check_keys({"buffer", "pool", "offset"}, {});
    const JsonValue id = value.member("buffer");
    if (problem_.buffers.empty()) throw id.fault("there are no buffers");
    const auto index = static_cast<std::size_t>(id.integer(0, static_cast<std::int64_t>(problem_.buffers.size()) - 1));
    Allocation& at = answer_.plan.allocations[index];
    if (at.placed()) throw id.fault("buffer " + std::to_string(index) + " appears twice");
    const JsonValue pool = value.member("pool");
    const auto found = std::find(pool_names_.begin(), pool_names_.end(), pool.string());
    if (found == pool_names_.end()) {
      throw pool.fault("no pool " + excerpt(pool.string()) + did_you_mean(pool.string(), pool_names_));
    }
    at = {PoolId(static_cast<std::size_t>(found - pool_names_.begin())), value.member("offset").integer(0)};
  }

  void status(const JsonValue& value) {
    const auto found = std::find_if(statuses.begin(), statuses.end(),
                                    [&](PlanStatus status) { return value.string() == to_string(status); });
    if (found == statuses.end()) throw value.wrong_type("'feasible', 'optimal', 'infeasible' or 'not_found'");
    answer_.status = *found;
  }

  const Problem& problem_;
  std::vector<std::string> pool_names_;
  Answer answer_;
};

}  // namespace

std::string answer_json(const Problem& problem, const Answer& answer) {
  std::string text =
      header_text(answer_format, answer_version) + ",\n \"status\": \"" + to_string(answer.status) + "\"";
  if (!has_plan(answer.status)) return text + "\n}\n";
  std::vector<std::size_t> placed;
  for (std::size_t i = 0; i < answer.plan.allocations.size(); ++i) {
    if (answer.plan.allocations[i].placed()) placed.push_back(i);
  }
  text += ",\n \"allocations\": ";
  text += list_text(placed.size(), [&](std::size_t i) {
    const Allocation& at = answer.plan.allocations[placed[i]];
    return "{\"buffer\":" + std::to_string(placed[i]) + ",\"pool\":" + json_text(problem.pool(at.pool).name) +
           ",\"offset\":" + std::to_string(at.offset) + "}";
  });
  return text + "\n}\n";
}

Answer parse_answer(std::string_view text, const Problem& problem) { return AnswerReader(problem).run(text); }

}  // namespace usmp::instance
