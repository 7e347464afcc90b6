// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// --in-place: planned C in the files of a source tree.
#include <cstdlib>
#include <map>

#include "driver/files.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/mlf/archive.hpp"

using namespace usmp::driver;

namespace {

// lib0, lib1 and header of an archive in one directory.
struct Checkout {
  explicit Checkout(const std::string& archive = "cast_subtract") {
    fs::create_directories(temporary.path / "ml");
    for (const usmp::mlf::Member& member : usmp::mlf::read_archive(testdata + "/" + archive + ".tar").members) {
      const fs::path name(member.name);
      if (name.extension() == ".c" || name.extension() == ".h") write(ml(name.filename().string()), member.bytes);
    }
  }
  [[nodiscard]] fs::path ml(const std::string& name) const { return temporary.path / "ml" / name; }
  [[nodiscard]] std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> all;
    for (const std::string& name : files_below(temporary.path)) all[name] = read(temporary.path / name);
    return all;
  }
  [[nodiscard]] PlanOptions options() const {
    PlanOptions plan;
    plan.model.model = temporary.file("ml");
    plan.in_place = true;
    return plan;
  }
  void git(const std::string& arguments) const {
    const std::string command = "git -C '" + temporary.path.string() +
                                "' -c user.name=test -c user.email=test@example.org " + arguments + " > /dev/null 2>&1";
    REQUIRE(std::system(command.c_str()) == 0);
  }

  TemporaryDirectory temporary;
};

// What is refused changes nothing.
std::string refused(const Checkout& checkout, const PlanOptions& options, int code = exit_usage) {
  const auto before = checkout.texts();
  const Outcome outcome = outcome_of(plan, options);
  CHECK(outcome.code == code);
  CHECK(outcome.out.empty());
  CHECK(checkout.texts() == before);
  return outcome.err;
}

// Beside module `default` the same as `other`.
void add_other_module(const Checkout& checkout) {
  for (const char* name : {"default_lib0.c", "default_lib1.c", "tvmgen_default.h"}) {
    std::string text = read(checkout.ml(name));
    std::string file = name;
    for (const auto& [old, other] : {std::pair("default", "other"), std::pair("DEFAULT", "OTHER")}) {
      for (std::string* all : {&text, &file}) {
        for (std::size_t at = all->find(old); at != std::string::npos; at = all->find(old, at)) {
          all->replace(at, std::string(old).size(), other);
        }
      }
    }
    write(checkout.ml(file), text);
  }
}

}  // namespace

TEST_CASE("in place: the same files hold planned C, and the plan is where --plan-json says") {
  const Checkout checkout;
  write(checkout.ml("kernel.c"), "// tvm target: c\nint32_t tvmgen_default_fused_more(void) { return 0; }\n");
  write(checkout.ml("main.c"), "int main(void) { return 0; }\n");
  PlanOptions options = checkout.options();
  options.plan_json = checkout.temporary.file("plan.json");
  const Outcome outcome = outcome_of(plan, options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(contains(
      outcome.out,
      "  default_lib0.c\n  default_lib1.c\nemptied, since the build no longer needs their contents:\n  kernel.c\n"));
  auto texts = checkout.texts();
  CHECK(texts.size() == 6 + 4);  // copies of those that change, which no repository has
  for (const char* name : {"default_lib0.c", "default_lib1.c", "kernel.c", "tvmgen_default.h"}) {
    CHECK_MESSAGE(contains(texts[std::string("ml/") + name], "by usmp-plan"), name);
  }
  CHECK(!contains(texts["ml/kernel.c"], "fused_more"));
  CHECK(contains(texts["ml/default_lib0.c"], "#include <tvmgen_default.h>\n"));  // as TVM had it
  CHECK(texts["ml/main.c"] == "int main(void) { return 0; }\n");
  CHECK(texts["plan.json"].find("usmp-plan/plan") != std::string::npos);
}

TEST_CASE("in place: TVM's allocator is not needed any more, unless C that stays calls it") {
  const std::string unused = "memory that the firmware gives to TVM's allocator is no longer used";
  for (const bool allocates : {false, true}) {
    CAPTURE(allocates);
    const Checkout checkout("lstm");
    const std::string call = allocates ? "TVMBackendAllocWorkspace(1, 0, (uint64_t)n, 0, 8)" : "0";
    write(checkout.ml("kernel.c"),
          "// tvm target: cmsis-nn\nvoid* tvmgen_default_ext(int32_t n) { return " + call + "; }\n");
    const Outcome outcome = outcome_of(plan, checkout.options());
    REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
    CHECK(contains(outcome.out, "module default owns its workspace, "));
    CHECK(contains(outcome.out, unused) != allocates);
    CHECK(contains(outcome.out, "TVM's allocator only serves what is allocated at run time") == allocates);
  }
}

TEST_CASE("in place: planned C is not planned again") {
  const Checkout checkout;
  PlanOptions options = checkout.options();
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  options.in_place = false;
  options.dry_run = true;
  const Outcome again = outcome_of(plan, options);
  CHECK(again.code == exit_archive);
  CHECK(contains(again.err, "found C that usmp-plan wrote, expected TVM's: plan what it was made of"));
}

TEST_CASE("in place: firmware may call the entry beside tvmgen_M_run, which has other parameters") {
  const Checkout checkout("ds_cnn");
  const Outcome outcome = outcome_of(plan, checkout.options());
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const std::string rename = "#define tvmgen_default___tvm_main__ usmp_tvmgen_default___tvm_main__\n";
  const std::string operators = read(checkout.ml("default_lib1.c"));
  CHECK(contains(read(checkout.ml("default_lib0.c")), rename));
  CHECK(contains(operators, rename));
  CHECK(contains(operators, "#undef tvmgen_default___tvm_main__\n"));
  CHECK(contains(operators, "return tvmgen_default_run(&usmp_inputs, &usmp_outputs);\n"));
}

TEST_CASE("in place: without a header nothing has the entry's name") {
  const Checkout checkout("ds_cnn");
  const std::string include = "#include <tvmgen_default.h>\n";
  std::string entry = read(checkout.ml("default_lib0.c"));
  REQUIRE(contains(entry, include));
  entry.replace(entry.find(include), include.size(), read(checkout.ml("tvmgen_default.h")));
  write(checkout.ml("default_lib0.c"), entry);
  fs::remove(checkout.ml("tvmgen_default.h"));
  const Outcome outcome = outcome_of(plan, checkout.options());
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const std::string operators = read(checkout.ml("default_lib1.c"));
  CHECK(contains(operators, "#define tvmgen_default___tvm_main__ usmp_tvmgen_default___tvm_main__\n"));
  CHECK_FALSE(contains(operators, "#undef tvmgen_default___tvm_main__\n"));
}

TEST_CASE("in place: a header that the C did not include is included by its path") {
  const Checkout checkout;
  std::string entry = read(checkout.ml("default_lib0.c"));
  const std::string include = "#include <tvmgen_default.h>\n";
  entry.erase(entry.find(include), include.size());
  fs::create_directories(checkout.ml("src"));
  fs::create_directories(checkout.ml("include"));
  write(checkout.ml("src/default_lib0.c"), entry);
  fs::rename(checkout.ml("default_lib1.c"), checkout.ml("src/default_lib1.c"));
  fs::rename(checkout.ml("tvmgen_default.h"), checkout.ml("include/tvmgen_default.h"));
  fs::remove(checkout.ml("default_lib0.c"));
  REQUIRE(outcome_of(plan, checkout.options()).code == exit_ok);
  CHECK(contains(read(checkout.ml("src/default_lib0.c")), "#include \"../include/tvmgen_default.h\"\n"));
}

TEST_CASE("in place: headers of the model's name that stay are named") {
  const Checkout checkout;
  const std::string header = read(checkout.ml("tvmgen_default.h"));
  fs::create_directories(checkout.ml("copy"));
  fs::create_directories(checkout.ml("wrapped"));
  write(checkout.ml("copy/tvmgen_default.h"), header);
  write(checkout.ml("wrapped/tvmgen_default.h"), header);
  write(checkout.ml("wrapped/wrapped.c"), "int tvmgen_default_wrapped(void) {\n  return 0;\n}\n");
  PlanOptions options = checkout.options();
  options.dry_run = true;
  const std::string stays = "tvmgen_default.h' stays as it is, with the sizes and constants of TVM's plan";
  const auto told = [&] {
    const Outcome outcome = outcome_of(plan, options);
    return outcome.out + outcome.err;
  };
  std::string text = told();
  CHECK_MESSAGE(contains(text, "header 'copy/" + stays), text);
  CHECK_FALSE(contains(text, "'wrapped/" + stays));  // C of another model may be beside it
  fs::remove(checkout.ml("copy/tvmgen_default.h"));
  fs::remove(checkout.ml("tvmgen_default.h"));
  text = told();
  CHECK_MESSAGE(contains(text, "header 'wrapped/" + stays), text);
  // One of two that are equal is planned.
  fs::create_directories(checkout.ml("more"));
  write(checkout.ml("copy/tvmgen_default.h"), header);
  write(checkout.ml("more/tvmgen_default.h"), header);
  text = told();
  CHECK_MESSAGE(contains(text, "header 'more/" + stays), text);
  CHECK_FALSE(contains(text, "'copy/" + stays));
}

TEST_CASE("in place: directories stay those that they are, and files keep their access rights") {
  const Checkout checkout;
  fs::create_directories(checkout.ml("src"));
  for (const char* name : {"default_lib0.c", "default_lib1.c"}) {
    fs::rename(checkout.ml(name), checkout.ml(std::string("src/") + name));
  }
  const auto number_of = [](const fs::path& path) {
    struct stat info = {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    return info.st_ino;
  };
  const auto outer = number_of(checkout.ml(""));
  const auto inner = number_of(checkout.ml("src"));
  REQUIRE(::chmod(checkout.ml("src/default_lib1.c").c_str(), 0640) == 0);
  REQUIRE(outcome_of(plan, checkout.options()).code == exit_ok);
  CHECK(contains(read(checkout.ml("src/default_lib1.c")), "by usmp-plan"));
  CHECK(number_of(checkout.ml("")) == outer);
  CHECK(number_of(checkout.ml("src")) == inner);
  CHECK((fs::status(checkout.ml("src/default_lib1.c")).permissions() & fs::perms::all) == fs::perms(0640));
}

TEST_CASE("in place: a dry run changes nothing; neither does a plan that does not fit") {
  const Checkout checkout;
  const auto before = checkout.texts();
  PlanOptions options = checkout.options();
  options.plan_json = checkout.temporary.file("plan.json");
  options.dry_run = true;
  const Outcome tried = outcome_of(plan, options);
  CHECK(tried.code == exit_ok);
  CHECK(checkout.texts() == before);
  CHECK(tried.out.find("\nwould be written in place, below ") != std::string::npos);
  options.dry_run = false;
  CHECK(outcome_of(plan, options).out.find("\nwritten in place, below ") != std::string::npos);
}

TEST_CASE("in place: what the header gave the firmware has to be there afterwards") {
  const Checkout checkout;
  PlanOptions options = checkout.options();
  options.pools_file = testdata + "/pools/sram.yaml";  // the application owns it: run gets one more parameter
  options.plan_json = checkout.temporary.file("plan.json");
  std::string error = refused(checkout, options);
  CHECK(contains(error, "the firmware could no longer use the header (tvmgen_default.h)"));
  CHECK(contains(error, "function int32_t tvmgen_default_run("));
  CHECK_MESSAGE(contains(error, "; give workspace pools 'section:' or 'internal: true', or leave --pools out"), error);
  write(checkout.ml("tvmgen_default.h"),
        read(checkout.ml("tvmgen_default.h")) + "#define TVMGEN_DEFAULT_ROWS_SIZE 3\n");
  error = refused(checkout, checkout.options());
  CHECK(contains(error, "\n  macro TVMGEN_DEFAULT_ROWS_SIZE\n"));
  CHECK_FALSE(contains(error, "; give "));
  const std::string pool = "#define TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE 3\n";
  write(checkout.ml("tvmgen_default.h"), read(checkout.ml("tvmgen_default.h")) + pool);
  CHECK(contains(refused(checkout, checkout.options()),
                 "lacks the lines below; give the pools of this header with --pools (usmp-plan init writes them)\n"));
  fs::remove(checkout.ml("tvmgen_default.h"));
  CHECK(contains(refused(checkout, options), "the firmware could no longer call tvmgen_default_run"));
  REQUIRE(outcome_of(plan, checkout.options()).code == exit_ok);
  CHECK(contains(read(checkout.ml("default_lib0.c")), "struct tvmgen_default_inputs {"));  // in its place
}

TEST_CASE("in place: each of several modules keeps an array of its own") {
  const Checkout checkout("lstm");
  add_other_module(checkout);
  PlanOptions options = checkout.options();
  options.model.transform = "none";  // so that something is in the pool
  const Outcome outcome = outcome_of(plan, options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  for (const char* name : {"default", "other"}) {
    const std::string entry = read(checkout.ml(std::string(name) + "_lib0.c"));
    CHECK(contains(entry, "static uint8_t tvmgen_" + std::string(name) + "_global_workspace_pool["));
    CHECK(entry.find("usmp_pools.c") == std::string::npos);
  }
  CHECK_MESSAGE(contains(outcome.out, "set by default and other side by side"), outcome.out);
}

TEST_CASE("in place: the sizes that several modules are said to need count an array for each") {
  const Checkout checkout("lstm");
  add_other_module(checkout);
  PlanOptions options = checkout.options();
  options.model.transform = "none";
  options.dry_run = true;
  const auto with = [&](const std::string& size) {
    options.pools_file = (checkout.temporary.path / "pools.yaml").string();
    write(*options.pools_file, "workspace_pools:\n  - {name: sram, internal: true, size_hint_bytes: " + size + "}\n");
    return outcome_of(plan, options);
  };
  const std::string said = "both modules together\n  sram: at most ";
  const std::string text = with("512").err;
  const std::size_t at = text.find(said);
  REQUIRE_MESSAGE(at != std::string::npos, text);
  const long long bytes = std::stoll(text.substr(at + said.size()));
  CHECK(with(std::to_string(bytes)).code == exit_ok);
  CHECK(with(std::to_string(bytes - 1)).code == exit_infeasible);
}

TEST_CASE("in place: additions stay only if each value has one line in the header") {
  for (const char* added : {"extern int runs;\n", "enum { RUNS };\n"}) {
    const Checkout checkout;
    const std::string twice = "#if 0\n#define TVMGEN_DEFAULT_WORKSPACE_SIZE 77\n#endif\n";
    write(checkout.ml("tvmgen_default.h"), read(checkout.ml("tvmgen_default.h")) + twice + added);
    const std::string error = refused(checkout, checkout.options());
    CHECK_MESSAGE(contains(error, "tvmgen_default.h) would be lost, since there is no one line"), error);
    CHECK_MESSAGE(contains(error, "\n  TVMGEN_DEFAULT_WORKSPACE_SIZE\n"), error);
  }
}

TEST_CASE("in place: a header that somebody added to keeps its text") {
  const Checkout checkout;
  const std::string mine = "#define MINE 3\nint32_t tvmgen_default_version(void);\n";
  const std::string stock = read(checkout.ml("tvmgen_default.h"));
  const auto with_size = [&](const std::string& size) {
    const std::string macro = "#define TVMGEN_DEFAULT_WORKSPACE_SIZE ";
    const std::size_t at = stock.find(macro) + macro.size();
    return stock.substr(0, at) + size + stock.substr(stock.find('\n', at)) + mine;
  };
  write(checkout.ml("tvmgen_default.h"), with_size("(64 * 1024)"));
  REQUIRE(outcome_of(plan, checkout.options()).code == exit_ok);
  CHECK(read(checkout.ml("tvmgen_default.h")) == with_size("0"));
}

TEST_CASE("in place: macros of the header have no names of planned C") {
  const auto error = [](const std::string& macros, const std::string& other = "") {
    const Checkout checkout("repeated_op");
    const fs::path header = checkout.ml("tvmgen_default.h");
    write(header, read(header) + macros);
    if (!other.empty()) write(checkout.ml("board.h"), other);
    const Outcome outcome = outcome_of(plan, checkout.options());
    CHECK(outcome.code == (outcome.err.find("error: ") == std::string::npos ? exit_ok : exit_archive));
    return outcome.err;
  };
  const std::string tells = "found macro 'pool' in the model's header or one that it includes";
  CHECK(contains(error("#define pool 3\n"), tells));
  CHECK(contains(error("#include \"board.h\"\n", "#define pool(n) n\n"), tells));
  CHECK_FALSE(contains(error("#define sums 3\n#ifndef NULL\n#define NULL 0\n#endif\n"), "error: "));
}

TEST_CASE("in place: a header that declares what planned C has otherwise is no longer one that somebody added to") {
  const Checkout checkout;
  const std::string constant = "extern const int16_t fused_cast_constant[3]";
  write(checkout.ml("tvmgen_default.h"), read(checkout.ml("tvmgen_default.h")) + constant + ";\n");
  CHECK(contains(refused(checkout, checkout.options()), "it lacks the lines below\n  " + constant + "\n"));
  fs::remove_all(checkout.temporary.path / "ml");
  fs::create_directories(checkout.temporary.path / "ml");
  const std::string run = "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs)";
  const std::string header =
      "#include <stdint.h>\nstruct tvmgen_m_inputs { void* x; };\n"
      "struct tvmgen_m_outputs { void* y; };\n" +
      run + ";\n";
  write(checkout.ml("m_lib0.c"), "#include <tvmgen_m.h>\nuint8_t sram[64];\n" + run +
                                     " {return tvmgen_m___tvm_main__(inputs->x,outputs->y,((uint8_t*)&sram));}\n");
  write(checkout.ml("m_lib1.c"),
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }\n"
        "  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* sram_0_var) {\n"
        "  void* a_let = (&(sram_0_var[0]));\n  if (tvmgen_m_op(x_buffer_var, a_let) != 0 ) return -1;\n"
        "  if (tvmgen_m_op(a_let, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n");
  write(checkout.ml("tvmgen_m.h"), header + "extern uint8_t sram[64];\n");
  CHECK(contains(refused(checkout, checkout.options()), "it lacks the lines below\n  extern uint8_t sram[64]\n"));
  write(checkout.ml("tvmgen_m.h"), header + "extern uint8_t other[64];\n");
  CHECK(outcome_of(plan, checkout.options()).code == exit_ok);
}

TEST_CASE("in place: the header has the contents of the application's parameter pools") {
  const Checkout checkout;
  const std::string stock = read(checkout.ml("tvmgen_default.h"));
  std::string header = stock;
  const auto replace = [&](const std::string& old, const std::string& text) {
    const std::size_t at = header.find(old);
    REQUIRE(at != std::string::npos);
    header.replace(at, old.size(), text);
  };
  replace("struct tvmgen_default_outputs* outputs\n",
          "struct tvmgen_default_outputs* outputs,\n"
          "struct tvmgen_default_workspace_pools* workspace_pools\n");
  replace("int32_t tvmgen_default_run(",
          "struct tvmgen_default_workspace_pools {\n  void* flash;\n  void* sram;\n};\n"
          "#define TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE 4\n"
          "#define TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA \\\n  1, 2, 3, 4\n"
          "#define TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE 8\n"
          "int32_t tvmgen_default_run(");
  const auto with_pools = [&](const std::string& emit) {
    write(checkout.temporary.file("pools.yaml"),
          "workspace_pools:\n  - name: sram\nparameter_pools:\n  - name: flash\n"
          "    targets: {c: ro}\n    emit: " +
              emit + "\n");
    PlanOptions options = checkout.options();
    options.pools_file = checkout.temporary.file("pools.yaml");
    return options;
  };
  // The old header has other ways to the pools, or there is none.
  CHECK(contains(refused(checkout, with_pools("header")), "the firmware could no longer use the header"));
  write(checkout.ml("tvmgen_default.h"), header);
  CHECK(contains(refused(checkout, with_pools("binary")), "parameter pools with 'emit: binary' need more files"));
  CHECK(contains(refused(checkout, with_pools("array")), "macro TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA"));
  const PlanOptions options = with_pools("header");
  const auto before = checkout.texts();
  REQUIRE(outcome_of(plan, options).code == exit_ok);
  const auto after = checkout.texts();
  CHECK(after.size() == before.size() + 3);  // copies
  const std::string planned = read(checkout.ml("tvmgen_default.h"));
  CHECK(contains(planned, "#define TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA \\\n"));
  CHECK(contains(planned, "#define TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE "));
  CHECK(contains(planned, "struct tvmgen_default_workspace_pools {\n"));
}

TEST_CASE("in place: who loads the contents of a pool from a file is told that they are others") {
  const Checkout checkout;
  fs::remove_all(checkout.temporary.path / "ml");
  fs::create_directories(checkout.temporary.path / "ml");
  const std::string run =
      "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs, struct "
      "tvmgen_m_workspace_pools* workspace_pools)";
  write(checkout.ml("tvmgen_m.h"),
        "#include <stdint.h>\nstruct tvmgen_m_inputs { void* x; };\nstruct tvmgen_m_outputs { void* y; };\n"
        "struct tvmgen_m_workspace_pools { void* flash; };\n"
        "#define TVMGEN_M_FLASH_CONSTANT_POOL_SIZE 4\n#define TVMGEN_M_FLASH_CONSTANT_POOL_DATA 0x03,0x01,0x07,0x02\n" +
            run + ";\n");
  write(checkout.ml("m_lib0.c"),
        "#include <tvmgen_m.h>\n" + run +
            " {return tvmgen_m___tvm_main__(inputs->x,outputs->y,((uint8_t*)workspace_pools->flash));}\n");
  write(checkout.ml("m_lib1.c"),
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* flash_1_var) {\n  void* gain_let = (&(flash_1_var[0]));\n"
        "  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = (p[i] + ((int8_t*)gain_let)[i]);\n  }\n  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* flash_0_var) {\n"
        "  if (tvmgen_m_op(x_buffer_var, y_buffer_var, flash_0_var) != 0 ) return -1;\n  return 0;\n}\n");
  PlanOptions options = checkout.options();
  const auto told = [&](const std::string& emit) {
    write(checkout.temporary.file("pools.yaml"), "parameter_pools:\n  - {name: flash, targets: {c: ro}, " + emit +
                                                     "}\nworkspace_pools:\n  - {name: sram, internal: true}\n");
    options.pools_file = checkout.temporary.file("pools.yaml");
    options.dry_run = true;
    const Outcome outcome = outcome_of(plan, options);
    CHECK_MESSAGE(outcome.err.empty(), outcome.err);
    return contains(outcome.out,
                    "the contents of parameter pool 'flash' are others than TVM's: an application that does "
                    "not take them from TVMGEN_M_FLASH_CONSTANT_POOL_DATA, but loads them from a file");
  };
  CHECK(told("emit: header"));
  options.in_place = false;
  CHECK_FALSE(told("internal: true"));
}

TEST_CASE("in place: without a header there is no place for the contents of the application's pools") {
  const Checkout checkout;
  fs::remove(checkout.ml("tvmgen_default.h"));
  write(checkout.temporary.file("pools.yaml"),
        "workspace_pools:\n  - name: sram\nparameter_pools:\n  - name: flash\n    targets: {c: ro}\n");
  PlanOptions options = checkout.options();
  options.pools_file = checkout.temporary.file("pools.yaml");
  CHECK(
      contains(refused(checkout, options), "there is no header for the contents of the application's parameter pools"));
}

TEST_CASE("source trees: what inputs and outputs are; no archive is made of one without metadata.json") {
  const Checkout checkout("lstm");
  InspectOptions options;
  options.model.model = checkout.temporary.file("ml");
  const Outcome outcome = outcome_of(inspect, options);
  CHECK(contains(outcome.out, "  input   x_0      float32    64\n"));
  CHECK(contains(outcome.out, "  output  output1  float32    96\n"));
  PlanOptions planning = checkout.options();
  planning.in_place = false;
  planning.output = checkout.temporary.file("planned.tar");
  CHECK(contains(refused(checkout, planning), "an archive needs metadata.json, which"));
}

TEST_CASE("in place: archives, and options that contradict it, are refused") {
  const Checkout checkout;
  PlanOptions options = checkout.options();
  options.model.model = testdata + "/cast_subtract.tar";
  CHECK(contains(refused(checkout, options), "--in-place: found an archive, expected a directory or a C file"));
  options = checkout.options();
  options.output = checkout.temporary.file("out");
  CHECK(contains(refused(checkout, options), "--in-place: found -o as well"));
  options = checkout.options();
  options.in_place = false;
  options.force = true;
  CHECK(contains(refused(checkout, options), "--force: expected --in-place"));
}

TEST_CASE("in place: changes that git has not committed are not overwritten, unless forced") {
  const Checkout checkout;
  checkout.git("init -q");
  CHECK(contains(refused(checkout, checkout.options()), "git has uncommitted changes"));  // not even added
  checkout.git("add .");
  checkout.git("commit -q -m stock");
  write(checkout.ml("notes.txt"), "of no account");
  const std::string stock = read(checkout.ml("default_lib1.c"));
  write(checkout.ml("default_lib1.c"), stock + "\n");
  const std::string error = refused(checkout, checkout.options());
  CHECK(contains(error, "git has uncommitted changes of files that would be overwritten"));
  CHECK(contains(error, "ml/default_lib1.c"));
  PlanOptions forced = checkout.options();
  forced.force = true;
  CHECK(outcome_of(plan, forced).code == exit_ok);
  checkout.git("checkout -q -- ml");
  ::setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
  CHECK(outcome_of(plan, checkout.options()).code == exit_ok);
  ::unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
  CHECK(contains(refused(checkout, checkout.options(), exit_archive), "found C that usmp-plan wrote"));
}

TEST_CASE("in place: what counts is what the last commit has, whatever git is told to overlook") {
  const Checkout checkout;
  const TemporaryDirectory elsewhere;
  checkout.git("init -q");
  checkout.git("add .");
  checkout.git("commit -q -m stock");
  const fs::path operators = checkout.ml("default_lib1.c");
  const std::string stock = read(operators);
  const auto edited = [&](const std::string& how, const std::string& file = "default_lib1.c: not as in") {
    write(operators, stock + "/* an edit */\n");
    const std::string error = refused(checkout, checkout.options());
    CHECK_MESSAGE(contains(error, file), how << ": " << error);
  };
  edited("plain");
  checkout.git("update-index --assume-unchanged ml/default_lib1.c");
  edited("assumed unchanged");
  checkout.git("update-index --no-assume-unchanged ml/default_lib1.c");
  checkout.git("update-index --skip-worktree ml/default_lib1.c");
  edited("left out of the work tree");
  checkout.git("update-index --no-skip-worktree ml/default_lib1.c");
  checkout.git("config status.showUntrackedFiles no");
  checkout.git("config core.worktree '" + elsewhere.path.string() + "'");
  edited("another work tree");
  checkout.git("config --unset core.worktree");
  checkout.git("add .");
  edited("staged");
  checkout.git("reset -q");
  write(checkout.temporary.path / ".git/info/exclude", "ml\n");
  checkout.git("rm -q --cached -r ml");
  checkout.git("commit -q -m gone");
  edited("ignored", "default_lib1.c: not in the last commit");
  checkout.git("reset -q --hard HEAD~1");
  // A replacement that git shows for the commit's contents; they are still the old ones.
  write(operators, stock + "/* an edit */\n");
  checkout.git("replace $(git -C '" + checkout.temporary.path.string() +
               "' rev-parse HEAD:ml/default_lib1.c) $(git -C '" + checkout.temporary.path.string() +
               "' hash-object -w ml/default_lib1.c)");
  edited("replaced");
  // Another repository that has the edit, and one that has nothing.
  const std::string other = elsewhere.path.string();
  fs::copy(checkout.temporary.path, elsewhere.path, fs::copy_options::recursive);
  const auto in_other = [&](const std::string& arguments) {
    REQUIRE(std::system(
                ("git -C '" + other + "' -c user.name=t -c user.email=t@example.org " + arguments + " > /dev/null 2>&1")
                    .c_str()) == 0);
  };
  in_other("replace -d $(git -C '" + other + "' replace)");
  in_other("add -f ml");
  in_other("commit -q -m edit");
  for (const auto& [name, value] : {std::pair("GIT_DIR", other + "/.git"), std::pair("GIT_WORK_TREE", other),
                                    std::pair("GIT_CEILING_DIRECTORIES", checkout.temporary.path.string()),
                                    std::pair("GIT_INDEX_FILE", other + "/.git/index"),
                                    std::pair("GIT_OBJECT_DIRECTORY", other + "/.git/objects")}) {
    ::setenv(name, value.c_str(), 1);
    edited(name);
    ::unsetenv(name);
  }
  // Committed as it is, whatever the index says, and whatever git is told to print.
  write(operators, stock);
  checkout.git("update-index --force-remove ml/default_lib1.c");
  ::setenv("GIT_TRACE", "1", 1);
  const Outcome outcome = outcome_of(plan, checkout.options());
  ::unsetenv("GIT_TRACE");
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
}

TEST_CASE("in place: where no repository has a file, a copy stays beside it") {
  const Checkout checkout;
  const fs::path operators = checkout.ml("default_lib1.c");
  const std::string stock = read(operators);
  fs::permissions(operators, fs::perms::owner_read | fs::perms::owner_write);
  const std::string earlier = stock.substr(0, stock.size() - 1) + " ";  // an edit that changes no size
  write(checkout.ml("default_lib1.c.orig"), earlier);
  write(checkout.ml("default_lib0.c.orig"), read(checkout.ml("default_lib0.c")));  // there already
  const std::string header = read(checkout.ml("tvmgen_default.h"));
  const auto before = files_below(checkout.temporary.path);
  PlanOptions options = checkout.options();
  options.dry_run = true;
  CHECK(contains(outcome_of(plan, options).out, "would be copied as they were"));
  CHECK(files_below(checkout.temporary.path) == before);
  options.dry_run = false;
  const Outcome outcome = outcome_of(plan, options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(contains(outcome.out, "copied as they were, since no git repository has them:\n"));
  CHECK(contains(outcome.out, "default_lib1.c.orig2\n"));
  CHECK(read(checkout.ml("default_lib1.c.orig2")) == stock);
  CHECK(read(checkout.ml("default_lib1.c.orig")) == earlier);
  CHECK(read(checkout.ml("tvmgen_default.h.orig")) == header);
  CHECK_FALSE(fs::exists(checkout.ml("default_lib0.c.orig2")));
  CHECK(fs::status(checkout.ml("default_lib1.c.orig2")).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(files_below(checkout.temporary.path).size() == before.size() + 2);
  write(operators, stock);
  const Checkout other;
  options = other.options();
  options.force = true;
  const auto files = files_below(other.temporary.path);
  CHECK(outcome_of(plan, options).code == exit_ok);
  CHECK(files_below(other.temporary.path) == files);
}

TEST_CASE("in place: files keep owner and group") {
  if (::geteuid() != 0) return;  // who else may give files away
  const Checkout checkout;
  const fs::path operators = checkout.ml("default_lib1.c");
  REQUIRE(::chown(operators.c_str(), 1234, 5678) == 0);
  fs::permissions(operators, fs::perms::owner_read | fs::perms::group_read);
  REQUIRE(outcome_of(plan, checkout.options()).code == exit_ok);
  for (const char* name : {"default_lib1.c", "default_lib1.c.orig"}) {
    struct stat status = {};
    REQUIRE(::stat(checkout.ml(name).c_str(), &status) == 0);
    CHECK_MESSAGE(status.st_uid == 1234, name);
    CHECK_MESSAGE(status.st_gid == 5678, name);
    CHECK_MESSAGE((status.st_mode & 0777) == 0440, name);
  }
}

TEST_CASE("in place: git runs nothing that the checkout names") {
  const Checkout checkout;
  const TemporaryDirectory marks;  // outside
  const fs::path mark = marks.path / "mark";
  const fs::path script = marks.path / "script";
  write(script, "#!/bin/sh\ntouch '" + mark.string() + "'\ncat\n");
  fs::permissions(script, fs::perms::owner_all);
  checkout.git("init -q");
  checkout.git("add .");
  checkout.git("commit -q -m stock");
  PlanOptions options = checkout.options();
  options.dry_run = true;
  const auto touch = [&] {  // git has to compare the contents
    const std::string stock = read(checkout.ml("default_lib1.c"));
    write(checkout.ml("default_lib1.c"), "");
    write(checkout.ml("default_lib1.c"), stock);
  };
  const auto runs_script = [&](int code) {
    fs::remove(mark);
    touch();
    const Outcome outcome = outcome_of(plan, options);
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    return fs::exists(mark);
  };
  const auto git_runs_script = [&] {
    fs::remove(mark);
    touch();
    const std::string status = "git -C '" + checkout.temporary.path.string() + "' status > /dev/null 2>&1; test -e '";
    return std::system((status + mark.string() + "'").c_str()) == 0;
  };

  checkout.git("config core.fsmonitor '" + script.string() + "'");
  CHECK(git_runs_script());
  CHECK(!runs_script(exit_ok));
  checkout.git("config --unset core.fsmonitor");

  write(checkout.temporary.path / ".git" / "info" / "attributes", "*.c filter=a.B\n");
  for (const char* setting : {"clean", "process"}) {
    checkout.git("config filter.a.B.required true");
    checkout.git("config filter.a.B." + std::string(setting) + " '" + script.string() + "'");
    CHECK(git_runs_script());
    CHECK(!runs_script(exit_ok));
    checkout.git("config --remove-section filter.a.B");
  }
  write(checkout.temporary.path / ".git" / "info" / "attributes", "*.c filter=a=b\n");  // -c cannot name this one
  checkout.git("config filter.a=b.clean '" + script.string() + "'");
  CHECK(git_runs_script());
  CHECK(!runs_script(exit_ok));
  checkout.git("config --remove-section filter.a=b");

  const fs::path objects = checkout.temporary.path / ".git" / "objects";
  fs::rename(objects, marks.path / "objects");  // all are missing
  fs::create_directories(objects);
  checkout.git("config core.repositoryFormatVersion 1");
  checkout.git("config extensions.partialClone origin");
  checkout.git("config remote.origin.promisor true");
  checkout.git("config remote.origin.url '" + marks.path.string() + "'");
  checkout.git("config remote.origin.uploadpack \"touch '" + mark.string() + "'; false\"");
  CHECK(git_runs_script());
  CHECK(!runs_script(exit_usage));
}

TEST_CASE("in place: each file is looked up in its own repository") {
  const Checkout checkout;
  fs::create_directory(checkout.ml("include"));
  fs::create_directory(checkout.ml("src"));
  fs::rename(checkout.ml("tvmgen_default.h"), checkout.ml("include") / "tvmgen_default.h");
  for (const char* name : {"default_lib0.c", "default_lib1.c"})
    fs::rename(checkout.ml(name), checkout.ml("src") / name);
  checkout.git("init -q");
  write(checkout.temporary.path / ".gitignore", "src/\n");
  checkout.git("add .");
  checkout.git("commit -q -m header");
  checkout.git("init -q ml/src");
  PlanOptions options = checkout.options();
  options.model.model = checkout.temporary.path.string();
  const std::string error = refused(checkout, options);
  CHECK(contains(error, "ml/src/default_lib0.c: not in the last commit\n"));
  CHECK(contains(error, "ml/src/default_lib1.c: not in the last commit\n"));
  CHECK_FALSE(contains(error, "tvmgen_default.h"));
  checkout.git("-C ml/src add .");
  checkout.git("-C ml/src -c user.name=test -c user.email=test@example.org commit -q -m stock");
  CHECK(outcome_of(plan, options).code == exit_ok);
}

TEST_CASE("in place: an extracted archive's metadata.json gets the new figures") {
  const Checkout checkout;
  for (const usmp::mlf::Member& member : usmp::mlf::read_archive(testdata + "/repeated_op.tar").members) {
    const fs::path path = checkout.temporary.path / "archive" / member.name;
    fs::create_directories(path.parent_path());
    write(path, member.bytes);
  }
  const auto before = files_below(checkout.temporary.path / "archive");
  PlanOptions options = checkout.options();
  options.model.model = checkout.temporary.file("archive");
  // TIR beside the C knows nothing of what was edited there.
  const fs::path operators = checkout.temporary.path / "archive/codegen/host/src/default_lib1.c";
  std::string edited = read(operators);
  const std::string entry = "tvmgen_default___tvm_main__(";
  const std::size_t body = edited.find('{', edited.rfind(entry)) + 1;
  write(operators, "static volatile int runs;\n" + edited.insert(body, "\n  ++runs;"));
  PlanOptions from_tir = options;
  from_tir.in_place = false;
  from_tir.dry_run = true;
  const std::string lost =
      "the C of the entry has statements that its TIR lacks, which is what is read; --from c reads";
  CHECK(contains(outcome_of(plan, from_tir).out, lost));
  from_tir.model.from = "tir";
  CHECK_FALSE(contains(outcome_of(plan, from_tir).out, lost));
  const Outcome outcome = outcome_of(plan, options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(contains(outcome.out, "  metadata.json (memory figures)\n"));
  auto with_copies = before;
  for (const std::string& name : before) {
    if (name == "metadata.json" || name.starts_with("codegen/host/src/default_lib") ||
        name.ends_with("/tvmgen_default.h"))
      with_copies.insert(name + ".orig");
  }
  CHECK(files_below(checkout.temporary.path / "archive") == with_copies);
  CHECK(contains(read(operators), "++runs;"));
  const std::string header = read(checkout.temporary.path / "archive/codegen/host/include/tvmgen_default.h");
  const std::string macro = "TVMGEN_DEFAULT_WORKSPACE_SIZE ";
  const std::size_t at = header.find(macro) + macro.size();
  const std::string size = header.substr(at, header.find('\n', at) - at);
  CHECK(contains(read(checkout.temporary.path / "archive/metadata.json"), "\"workspace_size_bytes\": " + size + "\n"));
  // Now it holds planned C. The TIR is there, so nobody is told to add it; the copies are the way back.
  std::string again = refused(checkout, options, exit_archive);
  CHECK((contains(again, "found C that usmp-plan wrote") && !contains(again, "there is no TIR")));
  options.model.from = "tir";
  again = refused(checkout, options, exit_archive);
  CHECK(contains(again, "restore it from its copy, '" + operators.parent_path().string() + "/default_lib"));
  CHECK(contains(again, ".c.orig', or plan it into a directory with -o"));
}
