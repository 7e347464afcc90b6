// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keys that are absent keep their defaults where an earlier version of the program did not write them.
#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "usmp/plan_file/plan_json.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/json_text.hpp"
#include "usmp/support/text.hpp"

namespace usmp::plan_file {
namespace {

using ParsedJson = nlohmann::json;

constexpr std::size_t max_plan_depth = 64;  // a plan is five deep
constexpr std::size_t max_plan_values = 4'000'000;

[[noreturn]] void fail(std::string place, std::string message) {
  throw Error(ErrorKind::usage, {{}, {}, std::move(place)}, std::move(message));
}

std::string dumped(const ParsedJson& value) { return value.dump(-1, ' ', false, ParsedJson::error_handler_t::replace); }

// An object of the file and where it stands; its members by key.
class Object {
 public:
  Object(const ParsedJson& json, std::string place, const char* expected) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail(place_, std::string("is ") + json.type_name() + ": expected " + expected);
  }

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] std::string place_of(const char* key) const { return place_.empty() ? key : place_ + "." + key; }

  [[nodiscard]] const ParsedJson* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  [[nodiscard]] const ParsedJson& required(const char* key) const {
    const ParsedJson* const value = find(key);
    if (value == nullptr) fail(place_, std::string("the key ") + key + " is missing: expected a plan of usmp-plan");
    return *value;
  }

  void require(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) (void)required(key);
  }

  void read(const char* key, std::string& target) const {
    const ParsedJson* const value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) fail(place_, std::string(key) + " is " + value->type_name() + ": expected text");
    target = value->get<std::string>();
  }

  void read(const char* key, bool& target) const {
    const ParsedJson* const value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) fail(place_, std::string(key) + " is " + value->type_name() + ": expected true or false");
    target = value->get<bool>();
  }

  void read_bytes(const char* key, Bytes& target, Bytes least = 0) const {
    read_number(key, target, static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(Problem::max_total_bytes),
                "bytes");
  }

  template <class T>
  void read_count(const char* key, T& target) const {
    read_number(key, target, 0, static_cast<std::uint64_t>(std::numeric_limits<T>::max()), "a whole number");
  }

  // Nothing for null as well as for an absent key.
  void read_bytes(const char* key, std::optional<Bytes>& target) const {
    if (const ParsedJson* const value = find(key); value == nullptr || value->is_null()) return;
    read_bytes(key, target.emplace());
  }

  void read_count(const char* key, std::optional<std::int64_t>& target) const {
    if (const ParsedJson* const value = find(key); value == nullptr || value->is_null()) return;
    read_count(key, target.emplace());
  }

  void read(const char* key, std::optional<std::string>& target) const {
    if (const ParsedJson* const value = find(key); value == nullptr || value->is_null()) return;
    read(key, target.emplace());
  }

  // A word of a fixed set, which are the words of the values.
  template <class T, std::size_t n>
  void read_word(const char* key, T& target, const std::array<std::pair<const char*, T>, n>& words) const {
    const ParsedJson* const value = find(key);
    if (value == nullptr) return;
    std::string expected;
    for (const auto& [word, meaning] : words) {
      if (*value == ParsedJson(word)) {
        target = meaning;
        return;
      }
      expected += (expected.empty() ? "" : ", ") + std::string(word);
    }
    fail(place_, std::string(key) + " is " + (value->is_string() ? dumped(*value) : value->type_name()) +
                     ": expected one of " + expected);
  }

  // Appends what `one` makes of each element and its place.
  template <class T, class One>
  void read_list(const char* key, std::vector<T>& target, const One& one) const {
    const ParsedJson* const list = find(key);
    if (list == nullptr) return;
    const std::string place = place_of(key);
    if (!list->is_array()) fail(place, std::string("is ") + list->type_name() + ": expected a list");
    target.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
      target.push_back(one((*list)[i], place + "[" + std::to_string(i) + "]"));
    }
  }

 private:
  template <class T>
  void read_number(const char* key, T& target, std::uint64_t least, std::uint64_t most, const char* what) const {
    const ParsedJson* const value = find(key);
    if (value == nullptr) return;
    const bool fits =
        value->is_number_unsigned() && value->get<std::uint64_t>() >= least && value->get<std::uint64_t>() <= most;
    if (!fits) {
      fail(place_, std::string(key) + " is " + (value->is_number() ? value->dump() : value->type_name()) +
                       ": expected " + what + " from " + std::to_string(least) + " to " + std::to_string(most));
    }
    target = value->get<T>();
  }

  const ParsedJson& json_;
  std::string place_;
};

template <class T>
std::pair<const char*, T> word(T value) {
  return {to_string(value), value};
}

const std::array statuses = {word(PlanStatus::optimal), word(PlanStatus::feasible), word(PlanStatus::infeasible),
                             word(PlanStatus::not_found)};
const std::array stop_reasons = {word(StopReason::finished), word(StopReason::node_limit), word(StopReason::time_limit),
                                 word(StopReason::interrupted)};
const std::array buffer_kinds = {word(BufferKind::tensor), word(BufferKind::scratch), word(BufferKind::input),
                                 word(BufferKind::output), word(BufferKind::constant)};
const std::array pool_kinds = {std::pair<const char*, PoolKind>("workspace", PoolKind::workspace),
                               std::pair<const char*, PoolKind>("parameter", PoolKind::constant)};

LiveRange read_range(const ParsedJson& range, const std::string& place) {
  const auto is_tick = [](const ParsedJson& tick) {
    return tick.is_number_unsigned() &&
           tick.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Tick>::max());
  };
  if (!range.is_array() || range.size() != 2 || !is_tick(range[0]) || !is_tick(range[1])) {
    fail(place, "expected a live range of two ticks");
  }
  return {range[0].get<Tick>(), range[1].get<Tick>()};
}

std::string text_item(const ParsedJson& item, const std::string& place) {
  if (!item.is_string()) fail(place, std::string("is ") + item.type_name() + ": expected text");
  return item.get<std::string>();
}

PlanDocument::Search read_search(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "how the search ended");
  PlanDocument::Search search;
  object.read("minimized", search.minimized);
  object.read_word("stopped", search.stopped, stop_reasons);
  object.read_count("iterations", search.iterations);
  return search;
}

PlanDocument::Spilled read_spilled(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "spilled bytes");
  PlanDocument::Spilled spilled;
  object.read_bytes("bytes", spilled.bytes);
  object.read_bytes("lower_bound", spilled.lower_bound);
  return spilled;
}

PlanDocument::Pool::AllModules read_all_modules(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "what all modules need");
  object.require({"used", "set_by"});
  PlanDocument::Pool::AllModules all;
  object.read_bytes("used", all.used);
  object.read_list("set_by", all.set_by, text_item);
  return all;
}

PlanDocument::Charge read_charge(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "an objective");
  object.require({"unit", "value", "lower_bound"});
  PlanDocument::Charge charge;
  std::string unit;
  object.read("unit", unit);
  if (unit != "cycles" && unit != "accesses")
    fail(object.place_of("unit"), "is '" + unit + "': expected cycles or accesses");
  charge.in_cycles = unit == "cycles";
  object.read_count("value", charge.value);
  object.read_count("lower_bound", charge.lower_bound);
  return charge;
}

PlanDocument::Accesses read_accesses(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "accesses");
  object.require({"loads", "stores", "bytes"});
  PlanDocument::Accesses accesses;
  object.read_count("loads", accesses.loads);
  object.read_count("stores", accesses.stores);
  object.read_count("bytes", accesses.bytes);
  object.read_count("cycles", accesses.cycles);
  return accesses;
}

PlanDocument::Pool read_pool(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "a pool");
  object.require({"name", "kind", "used"});
  PlanDocument::Pool pool;
  object.read("name", pool.name);
  object.read_word("kind", pool.kind, pool_kinds);
  object.read("internal", pool.internal);
  object.read("section", pool.section);
  object.read_bytes("address", pool.address);
  object.read_bytes("capacity", pool.capacity);
  object.read_bytes("alignment", pool.alignment, 1);
  object.read_bytes("reserved", pool.reserved);
  object.read_bytes("beside", pool.beside);
  object.read_bytes("used", pool.used);
  object.read_bytes("lower_bound", pool.lower_bound);
  object.read("lower_bound_reason", pool.lower_bound_reason);
  object.read_word("status", pool.status, statuses);
  if (const ParsedJson* all = object.find("all_modules")) {
    pool.all_modules = read_all_modules(*all, object.place_of("all_modules"));
  }
  if (const ParsedJson* const accesses = object.find("accesses")) {
    pool.accesses = read_accesses(*accesses, object.place_of("accesses"));
  }
  return pool;
}

RowsHeld read_ring(const ParsedJson& json, const std::string& place, Bytes size) {
  // So that those of all buffers together are a number.
  constexpr Bytes most_bytes = Bytes{1} << 40;
  const Object object(json, place, "a ring");
  object.require({"rows", "of", "row_bytes"});
  RowsHeld ring;
  object.read_bytes("rows", ring.rows, 1);
  object.read_bytes("of", ring.of, 1);
  object.read_bytes("row_bytes", ring.row_bytes);
  object.read("of_pixels", ring.of_pixels);
  const auto all = checked_mul(ring.of, ring.row_bytes);
  if (ring.rows > ring.of || checked_mul(ring.rows, ring.row_bytes) != size || !all || *all > most_bytes) {
    fail(place, to_string(ring) + ": expected " + bytes_text(size) + " in rows of a tensor of at most " +
                    bytes_text(most_bytes));
  }
  return ring;
}

PlanDocument::Buffer read_buffer(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "a buffer");
  object.require({"name", "function", "size", "pool"});
  PlanDocument::Buffer buffer;
  object.read("name", buffer.name);
  object.read("function", buffer.function);
  object.read_word("kind", buffer.kind, buffer_kinds);
  object.read("pinned", buffer.pinned);
  object.read_bytes("size", buffer.size);
  object.read_bytes("alignment", buffer.alignment, 1);
  if (object.find("live") != nullptr) object.read_list("live", buffer.live.emplace(), read_range);
  object.read_list("candidates", buffer.candidates, text_item);
  if (const ParsedJson* ring = object.find("ring")) {
    buffer.rows = read_ring(*ring, object.place_of("ring"), buffer.size);
  }
  object.read_count("row_operator", buffer.row_operator);
  if (object.required("pool").is_null()) return buffer;
  object.require({"offset"});
  object.read("pool", buffer.pool);
  object.read_bytes("offset", buffer.offset);
  return buffer;
}

Distance read_distance(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "a distance");
  object.require({"below", "above", "bytes"});
  Distance distance;
  std::size_t below = 0;
  std::size_t above = 0;
  object.read_count("below", below);
  object.read_count("above", above);
  object.read_bytes("bytes", distance.bytes);
  distance.below = BufferId(below);
  distance.above = BufferId(above);
  return distance;
}

PlanDocument::RowOperator read_row_operator(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "an operator");
  object.require({"number", "callee"});
  PlanDocument::RowOperator part;
  object.read_count("number", part.number);
  object.read("callee", part.callee);
  object.read("kind", part.kind);
  object.read_count("instructions", part.instructions);
  object.read_list("kernels", part.kernels, text_item);
  return part;
}

PlanDocument::Call read_call(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "a call");
  PlanDocument::Call call;
  object.read("callee", call.callee);
  call.ticks = read_range(object.required("ticks"), object.place_of("ticks"));
  object.read("kind", call.kind);
  object.read_count("multiply_accumulates", call.multiply_accumulates);
  object.read_list("reads", call.reads, text_item);
  object.read_list("writes", call.writes, text_item);
  object.read_count("instructions", call.instructions);
  object.read_list("kernels", call.kernels, text_item);
  object.read_list("by_rows", call.by_rows, read_row_operator);
  return call;
}

PlanDocument::Tensor read_tensor(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "an input or output");
  PlanDocument::Tensor tensor;
  object.read("name", tensor.name);
  object.read_bytes("size", tensor.size);
  object.read("in_pool", tensor.in_pool);
  return tensor;
}

PlanDocument::Unplanned read_unplanned(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "an allocate");
  PlanDocument::Unplanned unplanned;
  object.read("name", unplanned.name);
  object.read("function", unplanned.function);
  object.read("reason", unplanned.reason);
  return unplanned;
}

ImportedC read_imported(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "C of the archive");
  ImportedC imported;
  object.read("function", imported.function);
  object.read_count("bytes", imported.bytes);
  object.read("first_line", imported.first_line);
  return imported;
}

PlanDocument::Change read_change(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "a change");
  PlanDocument::Change change;
  object.read("function", change.function);
  object.read("what", change.what);
  return change;
}

PlanDocument::StepOutcome read_step(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "a step");
  PlanDocument::StepOutcome step;
  object.read("step", step.step);
  object.read_bytes("load_before", step.load_before);
  object.read_bytes("load_after", step.load_after);
  object.read_bytes("extra_work_permille", step.extra_work_permille);
  object.read("left_out", step.left_out);
  if (object.find("constant_bytes_before") != nullptr || object.find("constant_bytes_after") != nullptr) {
    object.require({"constant_bytes_before", "constant_bytes_after"});
    PlanDocument::Constants constants;
    object.read_bytes("constant_bytes_before", constants.before);
    object.read_bytes("constant_bytes_after", constants.after);
    step.constants = constants;
  }
  object.read_list("changes", step.changes, read_change);
  return step;
}

PlanDocument::CutShort read_cut_short(const ParsedJson& json, const std::string& place) {
  const Object object(json, place, "how transformations ended");
  object.require({"steps", "passes"});
  PlanDocument::CutShort cut;
  object.read_list("steps", cut.steps, text_item);
  object.read_count("passes", cut.passes);
  object.read_count("recompute_percent", cut.recompute_percent);
  object.read_count("strip_percent", cut.strip_percent);
  object.read_bytes("rolling_room", cut.rolling_room);
  object.read("reorder_first", cut.reorder_first);
  return cut;
}

void read_totals(const ParsedJson& json, PlanDocument& document) {
  const Object object(json, "totals", "totals");
  document.says_totals = object.find("workspace_used") != nullptr && object.find("constants_used") != nullptr;
  object.read_bytes("workspace_used", document.workspace_used);
  object.read_bytes("constants_used", document.constants_used);
  if (!document.says_totals) document.workspace_used = document.constants_used = 0;
  object.read_bytes("unplanned_workspace", document.unplanned_workspace);
  object.read_bytes("tvm_workspace", document.tvm_workspace);
  object.read_bytes("constant_bytes", document.constant_bytes);
  object.read_bytes("state_bytes", document.state_bytes);
  object.read_bytes("stack_estimate", document.stack_estimate);
  object.read_bytes("stack_arrays", document.stack_arrays);
  object.read_bytes("stack_saved", document.stack_saved);
  if (document.stack_arrays && document.stack_saved.value_or(0) > *document.stack_arrays) {
    fail("totals", "stack_saved is more than stack_arrays");
  }
  object.read_count("multiply_accumulates", document.multiply_accumulates);
  object.read_count("instructions", document.instructions);
}

ParsedJson parsed(std::string_view text) {
  if (json_depth(text) > max_plan_depth) {
    fail({}, "nested deeper than " + std::to_string(max_plan_depth) + " levels: expected a plan of usmp-plan");
  }
  if (json_values(text) > max_plan_values) {
    fail({}, "has more than " + std::to_string(max_plan_values) + " keys and values: expected a plan of usmp-plan");
  }
  try {
    ParsedJson json = ParsedJson::parse(text);
    if (const auto twice = repeated_key(text)) {
      fail("byte " + std::to_string(twice->byte), "the key " + in_quotes(twice->key) + " appears twice: expected one");
    }
    return json;
  } catch (const ParsedJson::parse_error& error) {
    fail("byte " + std::to_string(error.byte), "is not JSON: expected a plan of usmp-plan");
  } catch (const ParsedJson::out_of_range&) {
    fail({}, "contains a number that is too large: expected a plan of usmp-plan");
  }
}

int version_of(const ParsedJson& json) {
  if (!json.is_object() || json.value("schema", ParsedJson()) != ParsedJson("usmp-plan/plan")) {
    fail({}, "is not a plan of usmp-plan: expected the key schema with usmp-plan/plan");
  }
  const ParsedJson& version = Object(json, {}, "a plan").required("schema_version");
  for (int known = 1; known <= plan_schema_version; ++known) {
    if (version == ParsedJson(known)) return known;
  }
  fail({}, "schema_version is " + dumped(version) + ": expected at most " + std::to_string(plan_schema_version));
}

// What later stages rely on and no single member shows.
void check_pools(const PlanDocument& document) {
  if (document.pools.size() > Problem::max_pools) {
    fail("pools", "holds " + std::to_string(document.pools.size()) + " pools: expected at most " +
                      std::to_string(Problem::max_pools));
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    if (!names.insert(document.pools[i].name).second) {
      fail("pools[" + std::to_string(i) + "]", "pool '" + document.pools[i].name + "' appears twice");
    }
  }
  for (std::size_t i = 0; i < document.buffers.size() && !names.empty(); ++i) {
    const PlanDocument::Buffer& buffer = document.buffers[i];
    if (buffer.placed() && !names.contains(buffer.pool)) {
      fail("buffers[" + std::to_string(i) + "]",
           "pool is '" + buffer.pool + "': expected one of the pools of the plan");
    }
  }
}

void check_live_ranges(const PlanDocument& document) {
  for (std::size_t i = 0; i < document.buffers.size(); ++i) {
    if (!document.buffers[i].live) continue;
    Tick previous = 0;
    for (const LiveRange& range : *document.buffers[i].live) {
      if (range.begin < previous || range.begin >= range.end || range.end > document.horizon) {
        fail("buffers[" + std::to_string(i) + "].live",
             "[" + std::to_string(range.begin) + "," + std::to_string(range.end) +
                 "] is empty, not after the range before it, or ends after the horizon " +
                 std::to_string(document.horizon));
      }
      previous = range.end;
    }
  }
}

void check_distances(const PlanDocument& document) {
  for (std::size_t i = 0; i < document.distances.size(); ++i) {
    for (const BufferId id : {document.distances[i].below, document.distances[i].above}) {
      if (id.index() < document.buffers.size()) continue;
      fail("distances[" + std::to_string(i) + "]", "there is no buffer " + std::to_string(id.index()) +
                                                       ": the plan has " + std::to_string(document.buffers.size()));
    }
  }
}

// The horizon of a plan that does not say it: the end of what is live last.
Tick horizon_of(const PlanDocument& document) {
  Tick horizon = 0;
  for (const PlanDocument::Buffer& buffer : document.buffers) {
    if (buffer.live && !buffer.live->empty()) horizon = std::max(horizon, buffer.live->back().end);
  }
  return horizon;
}

PlanDocument document_of(const ParsedJson& json) {
  PlanDocument document;
  document.schema_version = version_of(json);
  const Object object(json, {}, "a plan");
  object.require({"module", "buffers"});
  object.read("module", document.module);
  object.read("archive", document.archive);
  object.read("algorithm", document.algorithm);
  object.read_count("seed", document.seed);
  if (object.find("cpu") != nullptr) object.read("cpu", document.cpu);
  if (object.find("workspace_io") != nullptr) object.read("workspace_io", document.workspace_io.emplace());
  object.read_word("status", document.status, statuses);
  if (const ParsedJson* const search = object.find("search")) document.search = read_search(*search, "search");
  object.read_count("horizon", document.horizon);
  document.says_totals = false;
  if (const ParsedJson* const totals = object.find("totals")) read_totals(*totals, document);
  object.read_list("inputs", document.inputs, read_tensor);
  object.read_list("outputs", document.outputs, read_tensor);
  if (const ParsedJson* const objective = object.find("objective")) {
    document.charge = read_charge(*objective, "objective");
  }
  object.read_list("spilled", document.spilled, read_spilled);
  object.read_list("pools", document.pools, read_pool);
  object.read_list("buffers", document.buffers, read_buffer);
  object.read_list("distances", document.distances, read_distance);
  object.read_list("calls", document.calls, read_call);
  object.read_list("unplanned", document.unplanned, read_unplanned);
  object.read_list("imported_c", document.imported_c, read_imported);
  object.read_list("tvm_headers", document.tvm_headers, text_item);
  object.read_list("transformed", document.transformed, read_step);
  if (const ParsedJson* const cut = object.find("cut_short")) {
    document.cut_short = read_cut_short(*cut, object.place_of("cut_short"));
  }
  object.read_list("warnings", document.warnings, text_item);
  if (object.find("horizon") == nullptr) document.horizon = horizon_of(document);
  check_pools(document);
  check_live_ranges(document);
  check_distances(document);
  return document;
}

// One of several plans: what is wrong with it stands below its place.
PlanDocument module_of(const ParsedJson& json, const std::string& place) {
  try {
    return document_of(json);
  } catch (const Error& error) {
    fail(place + (error.where().place.empty() ? "" : "." + error.where().place), error.message());
  }
}

}  // namespace

PlanDocument parse_plan_document(std::string_view text) { return document_of(parsed(text)); }

std::vector<PlanDocument> parse_plan_documents(std::string_view text) {
  const ParsedJson json = parsed(text);
  if (!json.is_object() || json.contains("schema") || !json.contains("modules")) return {document_of(json)};
  std::vector<PlanDocument> documents;
  Object(json, {}, "plans").read_list("modules", documents, module_of);
  if (documents.empty()) fail("modules", "is empty: expected at least one plan of usmp-plan");
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (names.insert(documents[i].module).second) continue;
    fail("modules[" + std::to_string(i) + "]", "module is '" + documents[i].module + "', which already has a plan");
  }
  return documents;
}

}  // namespace usmp::plan_file
