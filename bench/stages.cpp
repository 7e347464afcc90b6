// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Time of every stage on real archives: usmp-bench ARCHIVE.tar… [Google Benchmark options].
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/verify/verify.hpp"

namespace {

struct Input {
  std::string name;
  std::string path;
  std::string json;
  usmp::tir::Module module;
  usmp::liveness::Analysis analysis;
  usmp::assemble::Assembly assembly;
};

std::shared_ptr<Input> read_input(const std::string& path) {
  auto input = std::make_shared<Input>();
  input->name = std::filesystem::path(path).stem().string();
  input->path = path;
  const usmp::mlf::Archive archive = usmp::mlf::read_archive(path);
  const usmp::mlf::Metadata metadata = usmp::mlf::read_metadata(archive);
  input->json = archive.find(metadata.modules.front().tir_member)->bytes;
  input->module = usmp::tir_json::read_module(input->json);
  input->analysis = usmp::liveness::analyse(input->module);
  input->assembly = usmp::assemble::assemble(input->module, input->analysis, usmp::config::default_pools());
  return input;
}

template <class Run>
void add(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), [run](benchmark::State& state) {
    for (auto unused : state) {
      (void)unused;
      benchmark::DoNotOptimize(run());
    }
  })->Unit(benchmark::kMillisecond);
}

void add_stages(const std::shared_ptr<Input>& input) {
  add(input->name + "/read_archive", [input] { return usmp::mlf::read_archive(input->path); });
  add(input->name + "/read_module", [input] { return usmp::tir_json::read_module(input->json); });
  add(input->name + "/liveness", [input] { return usmp::liveness::analyse(input->module); });
  for (const usmp::planners::Algorithm& algorithm : usmp::planners::algorithms()) {
    add(input->name + "/" + std::string(algorithm.name),
        [input, &algorithm] { return algorithm.plan(input->assembly.problem, {}); });
  }
  const usmp::Plan plan = usmp::planners::greedy_by_size(input->assembly.problem, {}).plan;
  add(input->name + "/verify", [input, plan] { return usmp::verify::check(input->assembly.problem, plan); });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) add_stages(read_input(argv[i]));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
