// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the planners reach and what it costs them, as a table:
//
//   usmp-bench-planners [--algorithm NAME] [--instances FOLDER] [--node-limit N] [--time-limit MS] [--iterations N]
//   SET…
//
// Sets: `files` (every *.csv below FOLDER), `perfect` (guillotine tilings and pinwheels: the best plan is the load),
// `perfect-orders` (pinwheels with the buffers in other orders), `random`, `scale`, `scale-short`, `training`,
// `training-giants`, `training-aligned`. Each instance is planned in a process of its own, so that its peak memory
// (which includes the problem) can be told; the time is the planner's alone, in CPU time, the best of up to ten runs.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "planning_support/generators.hpp"
#include "planning_support/instance_files.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace {

struct Instance {
  std::string name;
  std::function<usmp::Problem()> make;
};

struct Settings {
  std::string algorithm = std::string(usmp::planners::algorithms().front().name);
  std::string instances = "../shared/instances";
  usmp::planners::Options options;
  std::vector<std::string> sets;
};

double cpu_milliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto milliseconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void run(const Instance& instance, const Settings& settings) {
  const usmp::planners::Algorithm* algorithm = usmp::planners::find_algorithm(settings.algorithm);
  const usmp::Problem problem = instance.make();
  usmp::PlanResult result;
  double best = 0;
  double spent = 0;
  for (int i = 0; i < 10 && spent < 200; ++i) {
    const double start = cpu_milliseconds();
    result = algorithm->plan(problem, settings.options);
    const double time = cpu_milliseconds() - start;
    best = i == 0 ? time : std::min(best, time);
    spent += time;
  }
  const double memory = peak_megabytes();
  const usmp::Bytes load = usmp::bounds::pool_bounds(problem).front().bytes;
  std::string used = "-";
  std::string gap = "-";
  if (result.has_plan()) {
    const auto violations = usmp::verify::check(problem, result.plan);
    if (!violations.empty()) throw std::logic_error(instance.name + ": " + violations.front().message);
    const usmp::Bytes bytes = usmp::used_bytes(problem, result.plan).front();
    used = std::to_string(bytes);
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", 100.0 * static_cast<double>(bytes - load) / static_cast<double>(load));
    gap = text;
  }
  std::printf("| %s | %zu | %lld | %s | %s | %s | %llu | %.2f | %.0f |\n", instance.name.c_str(),
              problem.buffers.size(), static_cast<long long>(load), used.c_str(), gap.c_str(),
              usmp::to_string(result.status), static_cast<unsigned long long>(result.iterations), best, memory);
}

bool run_apart(const Instance& instance, const Settings& settings) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    try {
      run(instance, settings);
      std::fflush(stdout);
      _exit(0);
    } catch (const std::exception& error) {
      std::cerr << error.what() << std::endl;
      _exit(1);
    }
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<Instance> files_below(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".csv") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Instance> result;
  result.reserve(paths.size());
  for (const auto& path : paths) {
    result.push_back({path.stem().string(), [path] { return usmp::test::read_instance(path); }});
  }
  return result;
}

using Generator = usmp::Problem (*)(std::size_t, std::uint64_t);

void add(std::vector<Instance>& to, const std::string& name, Generator generator,
         std::initializer_list<std::size_t> counts, std::uint64_t seeds) {
  for (const std::size_t n : counts) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      to.push_back({name + "_" + std::to_string(n) + "_" + std::to_string(seed), [=] { return generator(n, seed); }});
    }
  }
}

// Four orders of the buffers, and ten shuffles.
void add_orders(std::vector<Instance>& to, const std::string& name, Generator generator, std::size_t n,
                std::uint64_t seed) {
  using usmp::test::BufferOrder;
  const std::string prefix = name + "_" + std::to_string(n) + "_" + std::to_string(seed) + "_";
  const auto add_one = [&](const std::string& suffix, BufferOrder order, std::uint64_t shuffle) {
    to.push_back({prefix + suffix, [=] { return usmp::test::reordered(generator(n, seed), order, shuffle); }});
  };
  add_one("by_size", BufferOrder::by_size, 0);
  add_one("by_begin", BufferOrder::by_begin, 0);
  add_one("by_end", BufferOrder::by_end, 0);
  add_one("backwards", BufferOrder::backwards, 0);
  for (std::uint64_t i = 1; i <= 10; ++i) add_one("shuffle" + std::to_string(i), BufferOrder::shuffled, i);
}

std::vector<Instance> instances_of(const std::string& set, const Settings& settings) {
  std::vector<Instance> result;
  if (set == "files") result = files_below(settings.instances);
  if (set == "perfect") {
    add(result, "guillotine", usmp::test::guillotine, {100, 300, 1000}, 3);
    add(result, "pinwheel", usmp::test::pinwheel, {101, 301, 1001}, 3);
    add(result, "nested", usmp::test::nested_pinwheels, {101, 301, 1001}, 10);
  }
  if (set == "perfect-orders") {
    for (const auto& [name, generator] : {std::pair<std::string, Generator>{"pinwheel", usmp::test::pinwheel},
                                          {"nested", usmp::test::nested_pinwheels}}) {
      for (const std::size_t n : {std::size_t{301}, std::size_t{1001}}) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) add_orders(result, name, generator, n, seed);
      }
    }
  }
  if (set == "random") add(result, "random", usmp::test::random_lives, {100, 316, 1000}, 3);
  if (set == "scale") {
    add(result, "random", usmp::test::random_lives, {10'000, 31'623, 100'000, 316'228, 1'000'000}, 1);
  }
  if (set == "scale-short") {
    add(result, "short", usmp::test::short_lives, {10'000, 31'623, 100'000, 316'228, 1'000'000}, 1);
  }
  if (set == "training") {
    const auto training = [](std::size_t n, std::uint64_t seed) { return usmp::test::training(n, seed); };
    add(result, "training", training, {2'000, 5'000, 18'692, 28'526, 50'000, 100'000}, 2);
  }
  if (set == "training-giants") {  // far larger ones: the best plan is above the load
    const auto training = [](std::size_t n, std::uint64_t seed) { return usmp::test::training(n, seed, 33'554'432); };
    add(result, "giants", training, {2'000, 5'000, 18'692}, 2);
  }
  if (set == "training-aligned") {  // coarse and fine alignments
    add(result, "aligned", usmp::test::training_aligned, {5'000, 18'692, 69'300}, 2);
  }
  return result;
}

bool parse(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--")) {
      settings.sets.emplace_back(argument);
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    if (argument == "--algorithm") {
      settings.algorithm = value;
    } else if (argument == "--instances") {
      settings.instances = value;
    } else if (argument == "--node-limit") {
      settings.options.node_limit = std::stoull(value);
    } else if (argument == "--time-limit") {
      settings.options.time_limit = std::chrono::milliseconds(std::stoll(value));
    } else if (argument == "--iterations") {
      settings.options.iterations = std::stoull(value);
    } else {
      return false;
    }
  }
  return !settings.sets.empty() && usmp::planners::find_algorithm(settings.algorithm) != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) {
    std::cerr
        << "usage: usmp-bench-planners [--algorithm NAME] [--instances FOLDER] [--node-limit N] [--time-limit MS] "
           "[--iterations N] "
           "files|perfect|perfect-orders|random|scale|scale-short|training|training-giants|training-aligned…\n";
    return 2;
  }
  std::printf("%s\n\n| instance | buffers | load | used | gap %% | status | iterations | ms CPU | peak MB |\n",
              settings.algorithm.c_str());
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  bool right = true;
  for (const std::string& set : settings.sets) {
    for (const Instance& instance : instances_of(set, settings)) right = run_apart(instance, settings) && right;
  }
  return right ? 0 : 1;
}
