// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads a recipe's bytes and writes them, makes mutations and pools at random, and crosses two recipes.
#include "recipe.hpp"

#include <algorithm>

#include "byte_source.hpp"

namespace usmp::fuzz {
namespace {

constexpr std::size_t most_mutations = 24;

unsigned below(std::mt19937& random, unsigned limit) { return static_cast<unsigned>(random() % limit); }

std::uint16_t any_word(std::mt19937& random) { return static_cast<std::uint16_t>(random()); }
std::uint8_t any_byte(std::mt19937& random) { return static_cast<std::uint8_t>(random()); }

void append_word(std::string& out, std::uint16_t word) {
  out += static_cast<char>(word & 0xFFU);
  out += static_cast<char>(word >> 8U);
}

Mutation any_mutation(std::mt19937& random) {
  return {.kind = static_cast<std::uint8_t>(below(random, mutation_kinds)),
          .flavour = any_byte(random),
          .where = any_word(random),
          .what = any_word(random),
          .value = any_word(random)};
}

std::string any_size(std::mt19937& random) {
  constexpr const char* sizes[] = {"1",      "64",   "1KiB", "4KiB", "16KiB", "64KiB",
                                   "256KiB", "1MiB", "-1",   "100",  "12345", "8GiB"};
  return sizes[below(random, std::size(sizes))];
}

void append_pool(std::string& out, std::mt19937& random, const char* name, bool constant) {
  out += std::string("  - name: ") + name + '\n';
  if (below(random, 2) == 0) out += "    size_hint_bytes: " + any_size(random) + '\n';
  if (below(random, 4) == 0) out += "    alignment: " + std::to_string(1U << below(random, 12)) + '\n';
  if (below(random, 4) == 0) out += "    pool_offset: " + std::to_string(below(random, 300)) + '\n';
  if (below(random, 3) == 0) out += "    internal: true\n";
  if (below(random, 4) == 0) out += "    section: .fast\n";
  if (constant || below(random, 4) == 0) out += std::string("    targets: {c: ") + (constant ? "ro" : "rw") + "}\n";
}

std::string any_pools(std::mt19937& random) {
  constexpr const char* workspace[] = {"dtcm", "sram", "dram", "extra"};
  constexpr const char* constants[] = {"flash", "rom"};
  if (below(random, 5) == 0) return {};
  std::string out = "workspace_pools:\n";
  for (unsigned i = 0; i <= below(random, 4); ++i) append_pool(out, random, workspace[i], false);
  if (below(random, 2) == 0) {
    out += "parameter_pools:\n";
    for (unsigned i = 0; i <= below(random, 2); ++i) append_pool(out, random, constants[i], true);
  }
  if (below(random, 6) == 0) {
    out += "pinned:\n  - {buffer: sid_" + std::to_string(below(random, 12)) + ", pool: " + workspace[below(random, 2)] +
           ", offset: " + std::to_string(16 * below(random, 500)) + "}\n";
  }
  return out;
}

void vary_mutation(Mutation& mutation, std::mt19937& random) {
  switch (below(random, 5)) {
    case 0:
      mutation.flavour = any_byte(random);
      break;
    case 1:
      mutation.where = any_word(random);
      break;
    case 2:
      mutation.what = any_word(random);
      break;
    case 3:
      mutation.value = any_word(random);
      break;
    default:
      mutation = any_mutation(random);
  }
}

}  // namespace

Recipe parse_recipe(const std::uint8_t* data, std::size_t size) {
  ByteSource input(data, size);
  const auto byte = [&] { return static_cast<std::uint8_t>(input.byte()); };
  const auto word = [&] { return static_cast<std::uint16_t>(input.word()); };
  Recipe recipe;
  recipe.seed = byte();
  recipe.first_call = byte();
  recipe.calls = byte();
  recipe.algorithm = byte();
  recipe.options = byte();
  const std::size_t count = byte();
  for (std::size_t i = 0; i < count && !input.empty(); ++i) {
    Mutation mutation;
    mutation.kind = byte();
    mutation.flavour = byte();
    mutation.where = word();
    mutation.what = word();
    mutation.value = word();
    if (i < most_mutations) recipe.mutations.push_back(mutation);
  }
  recipe.pools = input.rest();
  return recipe;
}

std::string recipe_bytes(const Recipe& recipe) {
  std::string out;
  for (const std::uint8_t byte : {recipe.seed, recipe.first_call, recipe.calls, recipe.algorithm, recipe.options,
                                  static_cast<std::uint8_t>(recipe.mutations.size())}) {
    out += static_cast<char>(byte);
  }
  for (const Mutation& mutation : recipe.mutations) {
    out += static_cast<char>(mutation.kind);
    out += static_cast<char>(mutation.flavour);
    append_word(out, mutation.where);
    append_word(out, mutation.what);
    append_word(out, mutation.value);
  }
  return out + recipe.pools;
}

void vary(Recipe& recipe, std::mt19937& random) {
  constexpr unsigned choices = 16;
  const unsigned choice = below(random, choices);
  if (choice < 7 && recipe.mutations.size() < most_mutations) {
    const auto at = static_cast<std::ptrdiff_t>(below(random, static_cast<unsigned>(recipe.mutations.size()) + 1));
    recipe.mutations.insert(recipe.mutations.begin() + at, any_mutation(random));
  } else if (choice < 11 && !recipe.mutations.empty()) {
    vary_mutation(recipe.mutations[below(random, static_cast<unsigned>(recipe.mutations.size()))], random);
  } else if (choice == 11 && !recipe.mutations.empty()) {
    const auto at = static_cast<std::ptrdiff_t>(below(random, static_cast<unsigned>(recipe.mutations.size())));
    recipe.mutations.erase(recipe.mutations.begin() + at);
  } else if (choice == 12) {
    recipe.pools = any_pools(random);
  } else if (choice == 13) {
    recipe.seed = static_cast<std::uint8_t>(below(random, 5));
    recipe.first_call = static_cast<std::uint8_t>(below(random, 32));
    recipe.calls = static_cast<std::uint8_t>(below(random, 4));
  } else if (choice == 14) {
    recipe.algorithm = any_byte(random);
  } else {
    recipe.options = any_byte(random);
  }
}

Recipe crossed(const Recipe& a, const Recipe& b, std::mt19937& random) {
  Recipe result = below(random, 2) == 0 ? a : b;
  result.mutations.clear();
  for (const Recipe* parent : {&a, &b}) {
    for (const Mutation& mutation : parent->mutations) {
      if (below(random, 2) == 0 && result.mutations.size() < most_mutations) result.mutations.push_back(mutation);
    }
  }
  if (below(random, 4) == 0) result.pools = b.pools;
  return result;
}

}  // namespace usmp::fuzz
