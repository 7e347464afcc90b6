// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The whole path from an archive to C, on real modules whose TIR has been changed (recipe.hpp says how).
#include <array>
#include <random>

#include "fuzz.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/tir/verify.hpp"
#include "whole/recipe.hpp"
#include "whole/seeds.hpp"
#include "whole/stages.hpp"

using namespace usmp;

namespace {

// Bounds what mutations of mutations of large modules can grow to.
constexpr std::size_t most_nodes = 20'000;

mlf::Archive archive_of(const fuzz::Recipe& recipe) {
  const auto& seeds = fuzz::seeds();
  const fuzz::Seed& seed = seeds[recipe.seed % seeds.size()];
  fuzz::Graph graph = fuzz::cut(seed, recipe.first_call, recipe.calls);
  for (const fuzz::Mutation& mutation : recipe.mutations) {
    if (graph.nodes.size() < most_nodes) fuzz::apply(graph, mutation);
  }
  mlf::Archive archive;
  archive.path = "model.tar";
  archive.members.push_back({.name = "metadata.json", .bytes = seed.metadata});
  archive.members.push_back({.name = "src/default.tir.json", .bytes = fuzz::graph_json(graph)});
  if (recipe.has_header()) {
    archive.members.push_back({.name = "codegen/host/include/tvmgen_default.h", .bytes = seed.header});
  }
  return archive;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tir::set_pass_checks(true);
  const fuzz::Recipe recipe = fuzz::parse_recipe(data, size);
  const auto algorithms = planners::algorithms();
  const fuzz::Wish wish{.pools = recipe.pools,
                        .algorithm = &algorithms[recipe.algorithm % algorithms.size()],
                        .workspace_io = recipe.workspace_io(),
                        .minimizes = recipe.minimizes(),
                        .transforms = recipe.transforms(),
                        .recomputes = recipe.recomputes()};
  const mlf::Archive archive = archive_of(recipe);
  fuzz::accepts({ErrorKind::archive, ErrorKind::usage}, [&] { fuzz::run_stages(archive, wish); });
  return 0;
}

#ifdef USMP_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);

namespace {

std::size_t put(const fuzz::Recipe& recipe, std::uint8_t* data, std::size_t capacity) {
  const std::string bytes = fuzz::recipe_bytes(recipe);
  if (bytes.size() > capacity) return 0;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

// The text of the pools file as libFuzzer changes it.
void vary_text(std::string& text, std::size_t capacity) {
  const std::size_t size = text.size();
  text.resize(std::max(capacity, size));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                               unsigned seed) {
  constexpr unsigned rare = 32;
  std::mt19937 random(seed);
  fuzz::Recipe recipe = fuzz::parse_recipe(data, size);
  if (random() % rare == 0) {
    vary_text(recipe.pools, recipe.pools.size() + rare);
  } else {
    for (unsigned i = 0; i <= random() % 3; ++i) fuzz::vary(recipe, random);
  }
  const std::size_t written = put(recipe, data, capacity);
  return written == 0 ? size : written;
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t capacity,
                                                 unsigned seed) {
  std::mt19937 random(seed);
  return put(fuzz::crossed(fuzz::parse_recipe(a, a_size), fuzz::parse_recipe(b, b_size), random), out, capacity);
}
#endif
