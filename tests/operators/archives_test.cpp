// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators of whole networks against what is known of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::operators::archives_test {
namespace {

namespace fs = std::filesystem;

// The archive's one module.
tir::Module module_of(const fs::path& path) {
  const mlf::Archive archive = mlf::read_archive(path.string());
  const model::Description info = mlf::read_metadata(archive).modules.at(0);
  const auto member = std::find_if(archive.members.begin(), archive.members.end(),
                                   [&](const mlf::Member& one) { return one.name == info.tir_member; });
  REQUIRE(member != archive.members.end());
  return tir_json::read_module(member->bytes);
}

tir::Module transformed(const tir::Module& module, const char* steps = "all") {
  transform::Options options;
  options.steps = *transform::parse_steps(steps);
  return transform::transform(module, options).module();
}

// How many functions are of each kind, the entry left out.
std::map<std::string, int> kinds_of(const tir::Module& module) {
  std::map<std::string, int> kinds;
  const std::vector<Operator> operators = operators_of(module);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (i != module.entry) ++kinds[operators[i].kind];
  }
  return kinds;
}

std::int64_t total(const tir::Module& module) {
  return operators_of(module)[module.entry].multiply_accumulates.value_or(-1);
}

}  // namespace

TEST_CASE("archives: multiply-accumulates are those that are known, transformed or not") {
  // Padding counts, as it does in the tables of MLPerf Tiny: 2.66, 12.50, 7.49 and 0.26 million.
  const fs::path testdata(USMP_TESTDATA);
  const fs::path tiny = fs::path(USMP_SHARED) / "archives/mlperf_tiny";
  const std::map<fs::path, std::int64_t> known = {
      {testdata / "ds_cnn.tar", 2'656'768},      {testdata / "resnet8.tar", 12'501'632},
      {testdata / "lstm.tar", 13'056},           {tiny / "mlperf_kws.tar", 2'656'768},
      {tiny / "mlperf_resnet8.tar", 12'501'632}, {tiny / "mlperf_vww.tar", 7'489'664},
      {tiny / "mlperf_ad.tar", 264'192}};
  for (const auto& [path, expected] : known) {
    if (!fs::exists(path)) continue;
    const std::string name = path.string();
    INFO(name);
    const tir::Module module = module_of(path);
    CHECK(total(module) == expected);
    CHECK(total(transformed(module)) == expected);
  }
}

TEST_CASE("archives: kinds, types and shapes of a network of depthwise convolutions") {
  const tir::Module source = module_of(fs::path(USMP_TESTDATA) / "ds_cnn.tar");
  const tir::Module planned = transformed(source);
  CHECK(kinds_of(transformed(source, "fuse,narrow,merge,constants")) ==
        std::map<std::string, int>{
            {"average pool", 1}, {"conv2d", 5}, {"dense", 1}, {"depthwise conv2d", 4}, {"softmax", 1}});
  CHECK(kinds_of(planned) == std::map<std::string, int>{{"dense", 1}, {"operators by rows", 1}, {"softmax", 1}});
  const auto first =
      source.find("tvmgen_default_fused_nn_conv2d_add_fixed_point_multiply_per_axis_add_clip_cast_cast_subtract");
  REQUIRE(first);
  const Operator one = operators_of(source)[*first];
  CHECK(one.multiply_accumulates == 25 * 5 * 64 * 10 * 4);
  CHECK(one.reads == std::vector<std::string>{"int16[1,49,10,1]"});
  CHECK(one.writes == std::vector<std::string>{"int16[1,25,5,64]"});
}

TEST_CASE("archives: the loops tell what the names tell, but for kernels of one element") {
  for (const char* name : {"ds_cnn.tar", "resnet8.tar"}) {
    for (const tir::Module& module : {module_of(fs::path(USMP_TESTDATA) / name)}) {
      for (const tir::Function& function : module.functions) {
        INFO(function.name);
        const std::string by_name = kind_of(module, function);
        const std::string by_loops = kind_by_loops(module, function);
        if (by_name == "conv2d") CHECK((by_loops == "conv2d" || by_loops == "dense"));
        if (by_name == "depthwise conv2d" || by_name == "dense" || by_name == "softmax") CHECK(by_loops == by_name);
        if (by_name == "average pool") CHECK(by_loops == "sum");
      }
    }
  }
}

}  // namespace usmp::operators::archives_test
