// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan solve and usmp-plan problem.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "files.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/instance/csv.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver::solve_test {
namespace {

using nlohmann::json;

const std::string five = testdata + "/instances/five.csv";
const std::string inclusive = testdata + "/instances/inclusive.csv";

Outcome run_solve(const SolveOptions& options) { return outcome_of(solve, options); }

SolveOptions options_for(const std::string& instance) {
  SolveOptions options;
  options.instance = instance;
  return options;
}

Outcome run_problem(const ProblemOptions& options) { return outcome_of(problem, options); }

ProblemOptions problem_of(const std::string& model) {
  ProblemOptions options;
  options.model.model = model;
  return options;
}

// Two pools, of which the first has no room for all.
std::string two_pools(int first_capacity) {
  return R"({"format":"usmp-plan/problem","version":1,"horizon":2,"pools":[{"name":"fast","capacity":)" +
         std::to_string(first_capacity) + R"(},{"name":"slow"}],"buffers":[
    {"id":0,"name":"a","size":32,"candidates":["fast","slow"],"live":[[0,2]]},
    {"id":1,"name":"b","size":16,"candidates":["fast","slow"],"live":[[1,2]]}]})";
}

struct Grouping : std::numpunct<char> {
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\1"; }
};

}  // namespace

TEST_CASE("solve minimises, verifies and prints a line a pool") {
  const Outcome outcome = run_solve(options_for(five));
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.err.empty());
  CHECK(outcome.out == "five.csv: 5 buffers, planned by " + default_algorithm_name() +
                           "\n"
                           "pool: 160 bytes, proved minimal (as many bytes are live at once)\n");
}

TEST_CASE("solve says how far a plan is from the bound") {
  SolveOptions options = options_for(five);
  options.algorithm = "none";
  CHECK(run_solve(options).out ==
        "five.csv: 5 buffers, planned by none\n"
        "pool: 264 bytes, gap of 104 (65.00%) to the lower bound 160 (as many bytes are live at once)\n");
  options.json = true;
  const json value = json::parse(run_solve(options).out);
  CHECK(value.at("status") == "feasible");
  CHECK(value.at("stopped") == "finished");
  const json& pool = value.at("pools").at(0);
  CHECK(pool.at("used") == 264);
  CHECK(pool.at("lower_bound") == 160);
  CHECK(pool.at("gap") == 104);
  CHECK(pool.at("status") == "feasible");
  CHECK(pool.at("capacity").is_null());
}

TEST_CASE("CSV gives CSV: the rows with their offsets, which are a right plan") {
  const TemporaryDirectory temporary;
  SolveOptions options = options_for(inclusive);
  options.output = temporary.file("plan.csv");
  REQUIRE(run_solve(options).code == exit_ok);
  const auto written = usmp::instance::parse_csv(read(*options.output));
  usmp::Plan plan;
  for (const usmp::Buffer& buffer : written.problem.buffers) {
    REQUIRE(buffer.pinned.has_value());
    plan.allocations.push_back({usmp::PoolId(0), *buffer.pinned});
  }
  CHECK(plan.allocations[1].offset == 128);  // its pin
  CHECK(usmp::verify::check(written.problem, plan).empty());
  CHECK(read(*options.output).starts_with("size,id,lower,end,alignment,offset\n48,input,0,1,16,"));
  CHECK(files_below(temporary.path) == std::set<std::string>{"plan.csv"});
  // A plan is an instance of pinned buffers: solving it again gives it back.
  options.instance = *options.output;
  options.output = temporary.file("again.csv");
  REQUIRE(run_solve(options).code == exit_ok);
  CHECK(read(*options.output) == read(options.instance));
}

TEST_CASE("a problem in JSON gives an answer, whatever the file is called") {
  const TemporaryDirectory temporary;
  write(temporary.path / "problem", two_pools(40));
  SolveOptions options = options_for(temporary.file("problem"));
  options.output = temporary.file("answer");
  const Outcome outcome = run_solve(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("fast: 32 of 40 bytes") != std::string::npos);
  CHECK(outcome.out.find("slow: 16 bytes") != std::string::npos);
  CHECK(outcome.out.find("\nnot in fast: 1 buffer of 16 bytes, ") != std::string::npos);
  const usmp::Problem problem = usmp::instance::parse_problem(two_pools(40));
  const usmp::instance::Answer answer = usmp::instance::parse_answer(read(*options.output), problem);
  CHECK(answer.plan == usmp::Plan{{{usmp::PoolId(0), 0}, {usmp::PoolId(1), 0}}});
}

TEST_CASE("a capacity asks for feasibility: 0 if a plan was found, 4 if not, and which of the two it is") {
  SolveOptions options = options_for(five);
  options.capacity = "160";
  Outcome outcome = run_solve(options);
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.out.find("pool: 160 of 160 bytes, proved minimal") != std::string::npos);

  options.capacity = "159";
  outcome = run_solve(options);
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("usmp-plan: error: " + five + ": no plan fits the pools\n"));
  CHECK(outcome.err.ends_with("pools\n  pool: 160 bytes needed, 159 available, 1 missing\n"));

  options.capacity = "200";
  options.algorithm = "none";
  outcome = run_solve(options);
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.err.starts_with("usmp-plan: error: " + five +
                                ": no plan was found that fits the pools (algorithm none)\n"));
  CHECK(
      outcome.err.ends_with("\n  pool: at most 264 bytes needed, 200 available, at most 64 missing\n"
                            "  algorithm optimal finds a plan in these pools\n"));
  options.json = true;
  outcome = run_solve(options);
  CHECK(outcome.code == exit_infeasible);
  json value = json::parse(outcome.out);
  CHECK(value.at("status") == "not_found");
  CHECK(value.at("pools").at(0).at("used").is_null());
  CHECK(value.at("shortfalls") == json::parse(R"([{"choices": [{"pools": [
      {"pool": "pool", "available": 200, "at_least": 160, "enough": 264}]}]}])"));

  // The bound proves what the algorithm cannot.
  options.capacity = "159";
  value = json::parse(run_solve(options).out);
  CHECK(value.at("status") == "infeasible");
  CHECK(value.at("pools").at(0).at("lower_bound") == 160);
}

TEST_CASE("a capacity has a unit or none") {
  SolveOptions options = options_for(five);
  options.capacity = "1KiB";
  CHECK(run_solve(options).out.find("160 of 1024 bytes") != std::string::npos);
}

TEST_CASE("nothing is written without a plan") {
  const TemporaryDirectory temporary;
  SolveOptions options = options_for(five);
  options.capacity = "159";
  options.output = temporary.file("plan.csv");
  CHECK(run_solve(options).code == exit_infeasible);
  CHECK(fs::is_empty(temporary.path));
}

TEST_CASE("usage errors of solve: exit code 2 and one message") {
  const TemporaryDirectory temporary;
  write(temporary.path / "bad.csv", "id,lower,upper,size\na,0,2,x\n");
  write(temporary.path / "bad.json", "{}");
  write(temporary.path / "two.json", two_pools(64));
  SolveOptions options = options_for(five);
  std::string expected;
  SUBCASE("no file") {
    options.instance = temporary.file("none.csv");
    expected = options.instance + ": cannot be read: no such file or directory";
  }
  SUBCASE("directory") {
    options.instance = temporary.path.string();
    expected = options.instance + ": cannot be read: is a directory, expected a file";
  }
  SUBCASE("the reason of the system") {
    options.instance = temporary.file("loop.csv");
    fs::create_symlink(options.instance, options.instance);
    expected = options.instance + ": cannot be read: Too many levels of symbolic links";
  }
  SUBCASE("CSV") {
    options.instance = temporary.file("bad.csv");
    expected =
        options.instance + ": line 2, column 'size': found 'x', expected an integer from 0 to 9223372036854775807";
  }
  SUBCASE("JSON") {
    options.instance = temporary.file("bad.json");
    expected = options.instance + ": no key 'format'";
  }
  SUBCASE("unit of the capacity") {
    options.capacity = "64KB";
    expected = "--capacity: found '64KB', expected bytes as in 65536, 64KiB, 2MiB or 1GiB";
  }
  SUBCASE("capacity of two pools") {
    options.instance = temporary.file("two.json");
    options.capacity = "64";
    expected = "--capacity needs an instance with one pool, but this one has 2";
  }
  SUBCASE("capacity below a pin") {
    options.instance = inclusive;
    options.capacity = "200";
    expected =
        "buffer 'conv,1' is pinned to offset 128 of pool 'pool' and has 96 bytes, but the pool's capacity is 200";
  }
  SUBCASE("algorithm") {
    options.algorithm = "greedy_by_sise";
    expected = "unknown algorithm 'greedy_by_sise' (did you mean 'greedy_by_size'?); --list-algorithms lists them";
  }
  SUBCASE("output of the other format") {
    options.output = temporary.file("plan.json");
    expected = *options.output + ": the plan of a CSV instance is CSV";
  }
  SUBCASE("output of the other format, the other way round") {
    options.instance = temporary.file("two.json");
    options.output = temporary.file("plan.csv");
    expected = *options.output + ": the plan of a problem in JSON is an answer in JSON";
  }
  const Outcome outcome = run_solve(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: " + expected + "\n");
  CHECK(outcome.out.empty());
  CHECK_FALSE((options.output && fs::exists(*options.output)));
}

TEST_CASE("an endless file is refused, not read") {
  const Outcome outcome = run_solve(options_for("/dev/zero"));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: /dev/zero: cannot be read: is a device, expected a regular file\n");
}

TEST_CASE("a plan that cannot be written: exit code 5, or 2 for what is no file") {
  const TemporaryDirectory temporary;
  SolveOptions options = options_for(five);
  int code = exit_output;
  SUBCASE("directory") {
    options.output = temporary.path.string();
    code = exit_usage;
  }
  SUBCASE("no such directory's file") {
    write(temporary.path / "file", "mine");
    options.output = temporary.file("file/plan.csv");
  }
  const Outcome outcome = run_solve(options);
  CHECK(outcome.code == code);
  CHECK(outcome.err.starts_with("usmp-plan: error: " + temporary.path.string()));
  CHECK(outcome.out.empty());
}

TEST_CASE("what is written over keeps its name, a link stays a link, a pipe stays a pipe") {
  const TemporaryDirectory temporary;
  write(temporary.path / "real.csv", "old");
  fs::create_symlink(temporary.path / "real.csv", temporary.path / "link.csv");
  SolveOptions options = options_for(five);
  options.output = temporary.file("link.csv");
  REQUIRE(run_solve(options).code == exit_ok);
  CHECK(fs::is_symlink(temporary.path / "link.csv"));
  CHECK(read(temporary.path / "real.csv").starts_with("id,lower,upper,size,offset\n"));
  options.output = temporary.file("pipe");
  REQUIRE(::mkfifo(options.output->c_str(), 0600) == 0);
  const int reader = ::open(options.output->c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  REQUIRE(run_solve(options).code == exit_ok);
  char start[3] = {};
  CHECK(::read(reader, start, sizeof start) == 3);
  CHECK(std::string(start, 3) == "id,");
  ::close(reader);
  CHECK(fs::is_fifo(*options.output));
}

TEST_CASE("the problem of an archive is what planning it sees: solving it gives the same bytes") {
  const TemporaryDirectory temporary;
  for (const char* model : {"lstm", "resnet8"}) {
    CAPTURE(model);
    ProblemOptions options = problem_of(testdata + "/" + model + ".tar");
    options.pools_file = testdata + "/pools/dtcm_sram.yaml";
    const Outcome printed = run_problem(options);
    REQUIRE_MESSAGE(printed.code == exit_ok, printed.err);
    options.output = temporary.file("problem.json");
    const Outcome written = run_problem(options);
    CHECK(written.out.empty());
    CHECK(read(*options.output) == printed.out);

    SolveOptions solving = options_for(*options.output);
    solving.output = temporary.file("answer.json");
    REQUIRE(run_solve(solving).code == exit_ok);
    PlanOptions planning;
    planning.model = options.model;
    planning.model.json = true;
    planning.dry_run = true;
    planning.pools_file = options.pools_file;
    std::ostringstream out;
    std::ostringstream err;
    REQUIRE(plan(planning, out, err) == exit_ok);
    const json planned = json::parse(out.str()).at("modules").at(0).at("buffers");
    const json answer = json::parse(read(*solving.output)).at("allocations");
    REQUIRE(planned.size() == answer.size());
    REQUIRE_FALSE(planned.empty());
    for (std::size_t i = 0; i < planned.size(); ++i) {
      CHECK(planned[i].at("pool") == answer[i].at("pool"));
      CHECK(planned[i].at("offset") == answer[i].at("offset"));
    }
  }
}

TEST_CASE("with inputs and outputs in the workspace the problem has them") {
  ProblemOptions options = problem_of(testdata + "/ds_cnn.tar");
  const std::size_t without = json::parse(run_problem(options).out).at("buffers").size();
  options.workspace_io = true;
  const json buffers = json::parse(run_problem(options).out).at("buffers");
  CHECK(buffers.size() == without + 2);
}

TEST_CASE("a problem is that of one module") {
  const std::string model = std::string(USMP_SHARED) + "/archives/variants/two_models.tar";
  if (!fs::exists(model)) {
    MESSAGE("no archives beside the project: skipped");
    return;
  }
  ProblemOptions options = problem_of(model);
  Outcome outcome = run_problem(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err.starts_with(
      "usmp-plan: error: " + model +
      ": has 2 modules, and a problem describes one: expected --module ds_cnn or --module resnet8"));
  options.model.module = "ds_cnn";
  outcome = run_problem(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(usmp::instance::parse_problem(outcome.out).buffers.size() > 10);
}

TEST_CASE("problems and plans are the same bytes in another locale") {
  const TemporaryDirectory temporary;
  const auto everything = [&] {
    ProblemOptions options = problem_of(testdata + "/lstm.tar");
    options.output = temporary.file("problem.json");
    REQUIRE(run_problem(options).code == exit_ok);
    std::string text = read(*options.output);
    for (const bool as_json : {false, true}) {
      for (const std::string& instance : {inclusive, *options.output}) {
        SolveOptions solving = options_for(instance);
        solving.output = temporary.file("plan");
        solving.json = as_json;
        const Outcome outcome = run_solve(solving);
        REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
        text += outcome.out + read(*solving.output);
      }
    }
    return text;
  };
  const std::string expected = everything();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouping));
  const std::string found = everything();
  std::locale::global(before);
  CHECK(found == expected);
}

}  // namespace usmp::driver::solve_test
