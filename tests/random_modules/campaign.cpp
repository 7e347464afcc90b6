// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Draws a module a seed, checks it, gathers its C for the compilers, and shrinks what fails.
#include "random_modules/campaign.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "random_modules/check.hpp"
#include "random_modules/networks.hpp"
#include "random_modules/programs.hpp"
#include "random_modules/random.hpp"
#include "random_modules/shrink.hpp"
#include "random_modules/tvm_c.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::random_modules {
namespace {

constexpr std::uint64_t modules_in_program = 20;
// Programs take turns; most are not optimised, since that is soonest compiled.
constexpr std::array<std::size_t, 10> turns = {0, 0, 3, 0, 1, 0, 0, 2, 0, 4};

CheckOptions check_options(const Settings& settings, bool emits) {
  return {.plans = settings.plans,
          .emits = emits,
          .steps = settings.steps,
          .recompute_percent = settings.recompute_percent,
          .strip_percent = settings.strip_percent,
          .rolling_grain = settings.rolling_grain};
}

class Campaign {
 public:
  Campaign(const Settings& settings, const std::function<void(const Totals&)>& progress)
      : settings_(settings), progress_(progress) {}

  Totals run() && {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < settings_.jobs; ++i) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    std::sort(totals_.failures.begin(), totals_.failures.end(),
              [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
    return std::move(totals_);
  }

 private:
  struct Checked {
    TestModule test;
    Report report;
  };

  void work() {
    for (;;) {
      const std::uint64_t program = next_++;
      const std::uint64_t first = program * modules_in_program;
      if (first >= settings_.count) return;
      run_program(program, first, std::min(settings_.count, first + modules_in_program));
    }
  }

  void run_program(std::uint64_t program, std::uint64_t first, std::uint64_t end) {
    Totals part;
    std::deque<Checked> all;
    std::vector<Variant> variants;
    for (std::uint64_t i = first; i < end; ++i) {
      const bool compiles = settings_.plans && settings_.compile_every > 0 && i % settings_.compile_every == 0;
      Checked& checked = all.emplace_back(Checked{made(settings_.seed + i, settings_), {}});
      ++part.modules;
      if (settings_.from_c) {
        ReadBack read = read_back(checked.test);
        if (read.fault) {
          part.failures.push_back(
              {.seed = checked.test.seed, .what = *read.fault, .needs_compiler = false, .compiler = 0});
        } else if (!read.test) {
          ++part.unspelled;
        }
        if (!read.test) continue;
        checked.test = std::move(*read.test);
      }
      checked.report = check(checked.test, check_options(settings_, compiles));
      part.plans += checked.report.plans;
      part.sharing += checked.report.sharing;
      part.product.add(checked.report.product);
      if (!checked.report.reference) ++part.undefined;
      std::set<transform::Step> changed;
      for (const transform::Change& change : checked.report.changes) changed.insert(change.step);
      for (const transform::Step step : changed) ++part.changed[step];
      for (const std::string& fault : checked.report.faults) {
        part.failures.push_back({.seed = checked.test.seed, .what = fault, .needs_compiler = false, .compiler = 0});
      }
      if (!compiles || !checked.report.reference) continue;
      ++part.compiled;
      for (const Emitted* emitted : drawn(checked)) {
        variants.push_back({.test = &checked.test, .reference = &*checked.report.reference, .emitted = emitted});
      }
    }
    const std::size_t compiler = settings_.compiler.value_or(turns[program % turns.size()]);
    if (!compilers()[compiler].has_same_library) {
      std::erase_if(variants, [](const Variant& variant) {
        return variant.emitted->operators.find("#include <math.h>") != std::string::npos;
      });
    }
    const auto holds = [](const Variant& variant, const char* text) {
      return variant.emitted->operators.find(text) != std::string::npos ? 1U : 0U;
    };
    part.variants = variants.size();
    part.programs = variants.empty() ? 0 : 1;
    for (const Variant& variant : variants) {
      part.dots += holds(variant, "usmp_dot_run");
      part.rows += holds(variant, "usmp_row_run");
      part.lanes += holds(variant, "usmp_lane_");
      part.windows += holds(variant, "usmp_lane_window");
      part.shared += holds(variant, "; ++pass");
      part.floats += holds(variant, "usmp_floats");
      part.pairs += holds(variant, "usmp_pair_run");
      part.halves += holds(variant, "usmp_halves_of_i16");
    }
    std::uint64_t last = UINT64_MAX;
    for (const Mismatch& mismatch : run_variants(variants, compilers()[compiler], settings_.warnings)) {
      const Variant& variant = variants[mismatch.variant];
      if (variant.test->seed == last) continue;  // one failure a module is enough
      last = variant.test->seed;
      part.failures.push_back(
          {.seed = last,
           .what = variant.emitted->origin + " (" + compilers()[compiler].name + "): " + mismatch.what,
           .needs_compiler = true,
           .compiler = compiler});
    }
    add(part);
  }

  std::vector<const Emitted*> drawn(const Checked& checked) const {
    std::vector<const Emitted*> all;
    for (const Emitted& emitted : checked.report.emitted) all.push_back(&emitted);
    Random random(checked.test.seed ^ 0xd2a3U);
    while (settings_.variants > 0 && all.size() > settings_.variants) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(random.index(all.size())));
    }
    return all;
  }

  void add(Totals& part) {
    const std::lock_guard lock(mutex_);
    totals_.modules += part.modules;
    totals_.unspelled += part.unspelled;
    totals_.undefined += part.undefined;
    totals_.plans += part.plans;
    totals_.sharing += part.sharing;
    totals_.product.add(part.product);
    totals_.compiled += part.compiled;
    totals_.variants += part.variants;
    totals_.programs += part.programs;
    totals_.rows += part.rows;
    totals_.dots += part.dots;
    totals_.lanes += part.lanes;
    totals_.windows += part.windows;
    totals_.shared += part.shared;
    totals_.floats += part.floats;
    totals_.pairs += part.pairs;
    totals_.halves += part.halves;
    for (const auto& [step, count] : part.changed) totals_.changed[step] += count;
    totals_.failures.insert(totals_.failures.end(), part.failures.begin(), part.failures.end());
    if (progress_) progress_(totals_);
  }

  const Settings& settings_;
  const std::function<void(const Totals&)>& progress_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  Totals totals_;
};

constexpr std::size_t most_replays = 20'000;
constexpr std::size_t most_compilations = 300;

// What is wrong with the module; empty: nothing.
std::string fault_of(const TestModule& given, const Failure& failure, const Settings& settings) {
  const ReadBack read = settings.from_c ? read_back(given) : ReadBack{given, {}};
  if (read.fault) return failure.needs_compiler ? std::string() : *read.fault;
  if (!read.test) return {};
  const TestModule& test = *read.test;
  const Report report = check(test, check_options(settings, failure.needs_compiler));
  if (!report.reference) return {};
  if (!report.faults.empty()) return failure.needs_compiler ? std::string() : report.faults.front();
  std::vector<Variant> variants;
  for (const Emitted& emitted : report.emitted) {
    variants.push_back({.test = &test, .reference = &*report.reference, .emitted = &emitted});
  }
  const std::vector<Mismatch> mismatches = run_variants(variants, compilers()[failure.compiler], true);
  if (mismatches.empty()) return {};
  return variants[mismatches[0].variant].emitted->origin + ": " + mismatches[0].what;
}

// Shrinking must not wander from a wrong result to one that does not compile.
bool is_same_kind(const std::string& a, const std::string& b) {
  const auto has = [](const std::string& text, const char* word) { return text.find(word) != std::string::npos; };
  return !b.empty() && has(a, "does not compile") == has(b, "does not compile") && has(a, "reads") == has(b, "reads") &&
         has(a, "output '") == has(b, "output '") && has(a, "misaligned") == has(b, "misaligned") &&
         has(a, "malformed") == has(b, "malformed") && has(a, "from C") == has(b, "from C") &&
         has(a, "not well defined") == has(b, "not well defined");
}

}  // namespace

TestModule made(std::uint64_t seed, const Settings& settings) {
  if (settings.kind == Kind::networks) return generate_network(seed);
  if (settings.kind == Kind::products) return generate_products(seed);
  return generate(seed, settings.from_c ? Contents::in_c : Contents::all);
}

Shrunk shrink_failure(const Failure& failure, const Settings& settings) {
  const TestModule small = shrink(
      made(failure.seed, settings),
      [&](const TestModule& test) { return is_same_kind(failure.what, fault_of(test, failure, settings)); },
      failure.needs_compiler ? most_compilations : most_replays);
  return {.module = tir::print(small.module), .what = fault_of(small, failure, settings)};
}

Totals run_campaign(const Settings& settings, const std::function<void(const Totals&)>& progress) {
  return Campaign(settings, progress).run();
}

}  // namespace usmp::random_modules
