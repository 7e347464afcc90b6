// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Buffers and conflicts of every reference archive against what TVM's own planner found there.
//
// TVM names the n-th buffer called `name`, in the order in which it meets them, `name` and from the second on `name` +
// n. It meets them in execution order, as we do, so numbering our sites the same way gives the same names; equal sizes
// under every name confirm it. docs/liveness.md explains the kinds of pairs that only one side has.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "liveness/result.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tir_json/reader.hpp"

namespace usmp::liveness::testing::tvm_comparison_test {
namespace {

namespace fs = std::filesystem;
using Pair = std::pair<std::size_t, std::size_t>;  // site indices, ascending

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

tir::Module read_reference(const fs::path& tvm_json) {
  const std::string stem = tvm_json.stem().stem().string();
  const fs::path bare = tvm_json.parent_path() / (stem + ".tir.json");
  if (fs::exists(bare)) return tir_json::read_module(read_file(bare));
  const mlf::Archive archive = mlf::read_archive((tvm_json.parent_path() / (stem + ".tar")).string());
  const mlf::Member* member = archive.find("src/default.tir.json");
  REQUIRE(member != nullptr);
  return tir_json::read_module(member->bytes);
}

// --- Kinds of pairs that only one side has -------------------------------------------------------------------------

// Parameters and arguments of the entry's calls, as TIR has them.
struct EntryCall {
  std::string callee;
  std::vector<std::optional<tir::VarId>> arguments;
};

std::vector<EntryCall> entry_calls(const tir::Module& module) {
  std::vector<EntryCall> calls;
  tir::for_each_stmt(module.functions[module.entry].body, [&](const tir::Stmt& stmt) {
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) {
        const auto named = tir::named_call(expr);
        if (!named) return;
        EntryCall call{*named->name, {}};
        for (const tir::ExprRef& argument : named->arguments) {
          const bool is_var = argument->kind == tir::ExprKind::var;
          call.arguments.push_back(is_var ? std::optional(argument->var) : std::nullopt);
        }
        calls.push_back(std::move(call));
      });
    });
  });
  return calls;
}

bool is_entry_param(const tir::Module& module, tir::VarId var) {
  const auto& params = module.functions[module.entry].params;
  return std::any_of(params.begin(), params.end(), [&](const tir::Param& param) { return param.var == var; });
}

// The last call in which TVM still takes an operator's parameter for `var`, although the call passes a parameter of the
// entry: TVM rebinds an operator's parameter only when the argument is a buffer that it plans.
std::optional<std::size_t> stale_call(const tir::Module& module, tir::VarId var) {
  const std::vector<EntryCall> calls = entry_calls(module);
  std::optional<std::size_t> last;
  for (std::size_t early = 0; early < calls.size(); ++early) {
    for (std::size_t i = 0; i < calls[early].arguments.size(); ++i) {
      if (calls[early].arguments[i] != var) continue;
      for (std::size_t late = early + 1; late < calls.size(); ++late) {
        if (calls[late].callee != calls[early].callee) continue;
        const auto& argument = calls[late].arguments[i];
        if (!argument || !is_entry_param(module, *argument)) break;
        last = std::max(last.value_or(0), late);
      }
    }
  }
  return last;
}

// The loops around the variable's allocate, outermost first.
std::vector<const tir::For*> loops_around(const tir::Block& block, tir::VarId var, bool& found) {
  for (const tir::Stmt& stmt : block) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate != nullptr && allocate->var == var) {
      found = true;
      return {};
    }
    for (const tir::Block* inner : tir::blocks_of(stmt)) {
      std::vector<const tir::For*> loops = loops_around(*inner, var, found);
      if (!found) continue;
      if (const auto* loop = std::get_if<tir::For>(&stmt.node)) loops.insert(loops.begin(), loop);
      return loops;
    }
  }
  return {};
}

struct Comparison {
  const tir::Module& module;
  const Analysis& analysis;

  [[nodiscard]] const Site& site(std::size_t i) const { return analysis.sites[i]; }
  [[nodiscard]] bool is_constant(std::size_t i) const { return site(i).kind == BufferKind::constant; }
  [[nodiscard]] bool is_used(std::size_t i) const { return !site(i).live.empty(); }

  [[nodiscard]] std::string kind_of_ours_only(Pair pair) const {
    if (is_constant(pair.first) != is_constant(pair.second)) return "constant and workspace";
    return "unexplained";
  }

  [[nodiscard]] std::string kind_of_tvm_only(Pair pair) const {
    if (is_constant(pair.first) && is_constant(pair.second)) {
      return is_used(pair.first) && is_used(pair.second) ? "unexplained" : "unused constant";
    }
    if (is_constant(pair.first) || is_constant(pair.second)) return "unexplained";
    if (in_one_iteration(pair)) return "one loop iteration";
    if (meets_stale_call(pair.first, pair.second) || meets_stale_call(pair.second, pair.first)) return "stale argument";
    return "unexplained";
  }

  // Both are allocated inside the same loop, and the earlier is dead, within the iteration, before the later is live.
  [[nodiscard]] bool in_one_iteration(Pair pair) const {
    const Site& a = site(pair.first);
    const Site& b = site(pair.second);
    if (a.function != b.function || a.live.empty() || b.live.size() != a.live.size()) return false;
    bool found_a = false;
    bool found_b = false;
    const auto around_a = loops_around(module.functions[a.function].body, a.var, found_a);
    const auto around_b = loops_around(module.functions[b.function].body, b.var, found_b);
    if (!found_a || !found_b || around_a.empty() || around_b.empty()) return false;
    return around_a.front() == around_b.front();
  }

  // Whether `other` is live somewhere between the end of `tensor` and the call that TVM takes for one of its users.
  [[nodiscard]] bool meets_stale_call(std::size_t tensor, std::size_t other) const {
    if (site(tensor).function != module.entry || !is_used(tensor)) return false;
    const auto call = stale_call(module, site(tensor).var);
    if (!call) return false;
    const LiveRange stale{site(tensor).live.back().end, analysis.calls[*call].ticks.end};
    return stale.begin < stale.end && overlap({stale}, site(other).live);
  }
};

// --- One archive ---------------------------------------------------------------------------------------------------

std::vector<std::string> tvm_names(const Analysis& analysis) {
  std::map<std::string, int> count;
  std::vector<std::string> names;
  for (const Site& site : analysis.sites) {
    const int n = ++count[site.name];
    names.push_back(n == 1 ? site.name : site.name + std::to_string(n));
  }
  return names;
}

std::set<Pair> our_pairs(const Analysis& analysis) {
  std::set<Pair> pairs;
  for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
    for (std::size_t j = i + 1; j < analysis.sites.size(); ++j) {
      if (overlap(analysis.sites[i].live, analysis.sites[j].live)) pairs.emplace(i, j);
    }
  }
  return pairs;
}

struct Counts {
  std::size_t common = 0;
  std::map<std::string, std::size_t> one_sided;  // by kind
};

Counts compare(const tir::Module& module, const nlohmann::json& buffers) {
  const Analysis analysis = analyse(module);
  const std::vector<std::string> names = tvm_names(analysis);
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(index.emplace(names[i], i).second);

  std::set<std::string> seen;
  std::set<Pair> directed;
  for (const auto& buffer : buffers) {
    const auto name = buffer["name"].get<std::string>();
    CHECK_MESSAGE(seen.insert(name).second, name, " stands twice");
    REQUIRE_MESSAGE(index.contains(name), "we do not have ", name);
    const Site& site = analysis.sites[index[name]];
    CHECK_MESSAGE(site.size == buffer["size"].get<Bytes>(), name);
    CHECK_MESSAGE(site.alignment == buffer["alignment"].get<Bytes>(), name);
    for (const auto& other : buffer["conflicts"]) {
      REQUIRE(index.contains(other.get<std::string>()));
      directed.emplace(index[name], index[other.get<std::string>()]);
    }
  }
  CHECK(seen.size() == names.size());

  std::set<Pair> theirs;
  for (const auto& [a, b] : directed) {
    CHECK(directed.contains({b, a}));
    theirs.emplace(std::min(a, b), std::max(a, b));
  }
  const Comparison comparison{module, analysis};
  Counts counts;
  for (const Pair& pair : our_pairs(analysis)) {
    if (theirs.erase(pair) > 0) {
      ++counts.common;
      continue;
    }
    const std::string kind = comparison.kind_of_ours_only(pair);
    CHECK_MESSAGE(kind != "unexplained", "only we have ", names[pair.first], " and ", names[pair.second]);
    ++counts.one_sided[kind];
  }
  for (const Pair& pair : theirs) {
    const std::string kind = comparison.kind_of_tvm_only(pair);
    CHECK_MESSAGE(kind != "unexplained", "only TVM has ", names[pair.first], " and ", names[pair.second]);
    ++counts.one_sided[kind];
  }
  return counts;
}

// Every used constant is live throughout, so it meets every used workspace buffer.
std::size_t constant_workspace_pairs(const Analysis& analysis) {
  std::size_t constants = 0;
  std::size_t workspace = 0;
  for (const Site& site : analysis.sites) {
    if (!site.live.empty()) ++(site.kind == BufferKind::constant ? constants : workspace);
  }
  return constants * workspace;
}

// A row of tvm_pairs.md.
struct DocumentedRow {
  std::size_t common = 0;
  std::size_t only_here = 0;
  std::map<std::string, std::size_t> only_tvm;  // by kind
};

std::map<std::string, DocumentedRow> documented_rows() {
  std::map<std::string, DocumentedRow> rows;
  std::istringstream lines(read_file(fs::path(USMP_TESTDATA).parent_path() / "tests" / "liveness" / "tvm_pairs.md"));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(cell);
    if (cells.size() != 7 || cells[1].find('/') == std::string::npos) continue;
    DocumentedRow row{.common = std::stoul(cells[4]), .only_here = std::stoul(cells[5]), .only_tvm = {}};
    const std::size_t comma = cells[6].find(", ");
    if (comma != std::string::npos) {
      const std::string kind = cells[6].substr(comma + 2);
      row.only_tvm[kind.substr(0, kind.size() - 1)] = std::stoul(cells[6]);
    }
    rows[cells[1].substr(1, cells[1].size() - 2)] = row;
  }
  return rows;
}

// "own/resnet8", "modules/resnet_subgraph"
std::string row_name(const fs::path& shared, const fs::path& reference) {
  fs::path relative = reference.lexically_relative(shared / "archives");
  if (relative.begin()->string() == "..") relative = reference.lexically_relative(shared);
  return (relative.parent_path() / reference.stem().stem()).generic_string();
}

TEST_CASE("buffers, sizes and conflicts are TVM's but for the explained pairs") {
  const fs::path shared = USMP_SHARED;
  if (!fs::exists(shared)) {
    MESSAGE("no shared archives here");
    return;
  }
  std::vector<fs::path> references;
  for (const char* directory : {"archives", "modules"}) {
    for (const auto& entry : fs::recursive_directory_iterator(shared / directory)) {
      if (entry.path().string().ends_with(".tvm.json")) references.push_back(entry.path());
    }
  }
  std::sort(references.begin(), references.end());
  CHECK(references.size() >= 35);

  const std::map<std::string, DocumentedRow> documented = documented_rows();
  CHECK(documented.size() == references.size());
  for (const fs::path& reference : references) {
    const std::string name = row_name(shared, reference);
    CAPTURE(name);
    const auto json = nlohmann::json::parse(read_file(reference));
    const tir::Module module = read_reference(reference);
    Counts counts = compare(module, json["buffers"].is_array() ? json["buffers"] : json["buffer_list"]);
    REQUIRE(documented.contains(name));
    const DocumentedRow& row = documented.at(name);
    CHECK(counts.common == row.common);
    CHECK(counts.one_sided["constant and workspace"] == constant_workspace_pairs(analyse(module)));
    CHECK(counts.one_sided["constant and workspace"] == row.only_here);
    counts.one_sided.erase("constant and workspace");
    CHECK(counts.one_sided == row.only_tvm);
  }
}

// repeated_op ends in softmax(sid_11, output); add(output, output2). TVM still takes softmax's result for sid_8, which
// an earlier call passed, so there sid_8 is live up to the last softmax.
TEST_CASE("repeated_op: a tensor ends with its own last reader") {
  const fs::path path = fs::path(USMP_TESTDATA) / "repeated_op.tar";
  if (!fs::exists(path)) {
    MESSAGE("no testdata here");
    return;
  }
  const mlf::Archive archive = mlf::read_archive(path.string());
  const mlf::Member* member = archive.find("src/default.tir.json");
  REQUIRE(member != nullptr);
  const Result r{analyse(tir_json::read_module(member->bytes))};
  REQUIRE(r.analysis.calls.size() == 13);
  // Written by the second softmax, read by the third layout_transform.
  CHECK(r.site("sid_8").live.back().end == r.analysis.calls[8].ticks.end);
  CHECK_FALSE(r.conflict("sid_8", "sid_10"));
  // An operator called three times: three ranges, one in each call, one placement.
  const Site& pad = r.site("data_pad");
  REQUIRE(pad.live.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const LiveRange& call = r.analysis.calls[4 * i + 1].ticks;
    CHECK(r.analysis.calls[4 * i + 1].callee == "tvmgen_default_fused_nn_contrib_conv2d_NCHWc_nn_relu");
    CHECK(call.begin <= pad.live[i].begin);
    CHECK(pad.live[i].end <= call.end);
  }
  // Inside softmax, sid_3 is dead once the exponentials are taken, before the sums are.
  CHECK(r.conflict("sid_3", "T_softmax_exp"));
  CHECK_FALSE(r.conflict("sid_3", "T_softmax_expsum"));
}

TEST_CASE("every archive can be analysed with its inputs and outputs in the workspace") {
  const fs::path shared = fs::path(USMP_SHARED) / "archives";
  if (!fs::exists(shared)) {
    MESSAGE("no shared archives here");
    return;
  }
  for (const auto& entry : fs::recursive_directory_iterator(shared)) {
    if (entry.path().extension() != ".tar") continue;
    CAPTURE(entry.path().string());
    for (const mlf::Member& member : mlf::read_archive(entry.path().string()).members) {
      if (!member.name.ends_with(".tir.json")) continue;
      const Analysis analysis = analyse(tir_json::read_module(member.bytes), with_io());
      std::size_t inputs = 0;
      std::size_t outputs = 0;
      for (const Site& site : analysis.sites) {
        if (site.kind == BufferKind::input) {
          ++inputs;
          CHECK(site.live.front().begin == 0);
        } else if (site.kind == BufferKind::output) {
          ++outputs;
          CHECK(site.live.back().end == analysis.horizon);
        }
      }
      // The default takes a parameter for an output if the program may write it, as opaque functions always may.
      CHECK((inputs > 0 || entry.path().stem() == "mlperf_kws_cmsisnn"));
      CHECK(outputs > 0);
    }
  }
}

}  // namespace
}  // namespace usmp::liveness::testing::tvm_comparison_test
