// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Problem ⇄ JSON.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "instance/excerpt.hpp"
#include "instance/json_document.hpp"
#include "instance/json_header.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/support/text.hpp"

namespace usmp::instance {
namespace {

constexpr std::array kinds = {BufferKind::tensor, BufferKind::scratch, BufferKind::input, BufferKind::output,
                              BufferKind::constant};

std::string or_null(const std::optional<Bytes>& value) { return value ? std::to_string(*value) : "null"; }

std::string pool_text(const Pool& pool) {
  return "{\"name\":" + json_text(pool.name) + ",\"kind\":\"" + to_string(pool.kind) +
         "\",\"capacity\":" + or_null(pool.capacity) + ",\"alignment\":" + std::to_string(pool.alignment) +
         ",\"reserved\":" + std::to_string(pool.reserved) + "}";
}

std::string buffer_text(const Problem& problem, std::size_t id) {
  const Buffer& buffer = problem.buffers[id];
  std::string text = "{\"id\":" + std::to_string(id) + ",\"name\":" + json_text(buffer.name) +
                     ",\"function\":" + json_text(buffer.function) + ",\"kind\":\"" + to_string(buffer.kind) +
                     "\",\"size\":" + std::to_string(buffer.size) +
                     ",\"alignment\":" + std::to_string(buffer.alignment) + ",\"candidates\":[";
  const char* separator = "";
  for (const PoolId pool : buffer.candidates) {
    text += separator + json_text(problem.pool(pool).name);
    separator = ",";
  }
  text += "],\"live\":[";
  separator = "";
  for (const LiveRange& range : buffer.live) {
    text += separator;
    text += "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + "]";
    separator = ",";
  }
  return text + "],\"pinned\":" + or_null(buffer.pinned) + "}";
}

std::string distance_text(const Distance& distance) {
  return "{\"below\":" + std::to_string(distance.below.index()) +
         ",\"above\":" + std::to_string(distance.above.index()) + ",\"bytes\":" + std::to_string(distance.bytes) + "}";
}

class ProblemReader {
 public:
  Problem run(std::string_view text) {
    using Kind = RootMember::Kind;
    read_document(text, {header_format(problem_format, true),
                         header_version(problem_version, true),
                         {"horizon", Kind::value, true, [&](const JsonValue& v) { problem_.horizon = v.integer(0); }},
                         {"pools", Kind::list, true, [&](const JsonValue& v) { pool(v); }},
                         {"buffers", Kind::list, true, [&](const JsonValue& v) { buffer(v); }},
                         {"distances", Kind::list, false, [&](const JsonValue& v) { distance(v); }}});
    resolve_candidates();
    if (auto reason = invalid_reason(problem_)) throw Error(ErrorKind::usage, {}, *std::move(reason));
    return std::move(problem_);
  }

 private:
  void pool(const JsonValue& value) {
    if (problem_.pools.size() == Problem::max_pools) {
      throw value.fault("there are more pools than the limit of " + std::to_string(Problem::max_pools));
    }
    value.check_keys({"name"}, {"kind", "capacity", "alignment", "reserved"});
    Pool pool;
    pool.name = value.member("name").string();
    if (const auto kind = value.find("kind")) pool.kind = pool_kind(*kind);
    if (const auto capacity = value.find("capacity"); capacity && !capacity->is_null()) {
      pool.capacity = capacity->integer(0);
    }
    if (const auto alignment = value.find("alignment")) pool.alignment = alignment->integer(1);
    if (const auto reserved = value.find("reserved")) pool.reserved = reserved->integer(0);
    problem_.pools.push_back(std::move(pool));
  }

  void buffer(const JsonValue& value) {
    value.check_keys({"id", "size", "candidates", "live"}, {"name", "function", "kind", "alignment", "pinned"});
    const auto index = static_cast<std::int64_t>(problem_.buffers.size());
    const JsonValue id = value.member("id");
    if (problem_.buffers.size() == max_buffers) {
      throw id.fault("found more than " + std::to_string(max_buffers) + " buffers");
    }
    if (id.integer(0) != index) throw id.wrong_type(std::to_string(index) + ", its index in the list");
    Buffer buffer;
    if (const auto name = value.find("name")) buffer.name = name->string();
    if (const auto function = value.find("function")) buffer.function = function->string();
    if (const auto kind = value.find("kind")) buffer.kind = buffer_kind(*kind);
    buffer.size = value.member("size").integer(0);
    if (const auto alignment = value.find("alignment")) buffer.alignment = alignment->integer(1);
    candidates(value.member("candidates"), buffer);
    live(value.member("live"), buffer);
    if (const auto pinned = value.find("pinned"); pinned && !pinned->is_null()) buffer.pinned = pinned->integer(0);
    problem_.buffers.push_back(std::move(buffer));
  }

  void distance(const JsonValue& value) {
    value.check_keys({"below", "above", "bytes"}, {});
    constexpr std::int64_t most_ids = 1'000'000'000;
    const auto id = [&](const char* key) {
      return BufferId(static_cast<std::size_t>(value.member(key).integer(0, most_ids)));
    };
    problem_.distances.push_back({id("below"), id("above"), value.member("bytes").integer(0)});
  }

  // The pools may stand behind the buffers: until then a pool is the number of its name.
  void candidates(const JsonValue& list, Buffer& buffer) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonValue name = list.at(i);
      const auto [found, is_new] = named_.emplace(name.string(), names_.size());
      if (is_new) names_.push_back({name.string(), name.path()});
      buffer.candidates.emplace_back(found->second);
    }
  }

  static void live(const JsonValue& list, Buffer& buffer) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonValue range = list.at(i);
      if (range.size() != 2) throw range.fault("found " + std::to_string(range.size()) + " values, expected 2");
      buffer.live.push_back({range.at(0).integer(0), range.at(1).integer(0)});
    }
  }

  static PoolKind pool_kind(const JsonValue& value) {
    for (const PoolKind kind : {PoolKind::workspace, PoolKind::constant}) {
      if (value.string() == to_string(kind)) return kind;
    }
    throw value.wrong_type("'workspace' or 'parameter'");
  }

  static BufferKind buffer_kind(const JsonValue& value) {
    const auto found =
        std::find_if(kinds.begin(), kinds.end(), [&](BufferKind kind) { return value.string() == to_string(kind); });
    if (found != kinds.end()) return *found;
    throw value.wrong_type("'tensor', 'scratch', 'input', 'output' or 'constant'");
  }

  void resolve_candidates() {
    std::vector<std::string> pool_names;
    for (const Pool& pool : problem_.pools) pool_names.push_back(pool.name);
    std::vector<PoolId> by_name;
    for (const Name& name : names_) {
      const auto found = std::find(pool_names.begin(), pool_names.end(), name.text);
      if (found == pool_names.end()) {
        throw Error(ErrorKind::usage, {{}, {}, name.path},
                    "no pool " + excerpt(name.text) + did_you_mean(name.text, pool_names));
      }
      by_name.emplace_back(static_cast<std::size_t>(found - pool_names.begin()));
    }
    for (Buffer& buffer : problem_.buffers) {
      for (PoolId& pool : buffer.candidates) pool = by_name[pool.index()];
    }
  }

  struct Name {
    std::string text;
    std::string path;  // where it was met first
  };

  Problem problem_;
  std::unordered_map<std::string, std::size_t> named_;  // into names_
  std::vector<Name> names_;
};

}  // namespace

std::string problem_json(const Problem& problem) {
  std::string text = header_text(problem_format, problem_version) +
                     ",\n \"horizon\": " + std::to_string(problem.horizon) + ",\n \"pools\": ";
  text += list_text(problem.pools.size(), [&](std::size_t i) { return pool_text(problem.pools[i]); });
  text += ",\n \"buffers\": ";
  text += list_text(problem.buffers.size(), [&](std::size_t i) { return buffer_text(problem, i); });
  if (!problem.distances.empty()) {
    text += ",\n \"distances\": ";
    text += list_text(problem.distances.size(), [&](std::size_t i) { return distance_text(problem.distances[i]); });
  }
  return text + "\n}\n";
}

Problem parse_problem(std::string_view text) { return ProblemReader().run(text); }

}  // namespace usmp::instance
