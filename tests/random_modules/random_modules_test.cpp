// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// 200 random modules on every test run: each planned by every algorithm into several sets of pools, each plan replayed,
// a part of the emitted C compiled and run. Campaigns of more: `make random-modules`.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "random_modules/campaign.hpp"
#include "random_modules/generate.hpp"
#include "random_modules/networks.hpp"
#include "random_modules/programs.hpp"
#include "random_modules/shrink.hpp"
#include "random_modules/tvm_c.hpp"
#include "random_modules/tvm_json.hpp"
#include "random_modules/tvm_spelling.hpp"
#include "tir_support/c_tokens.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules::random_modules_test {
namespace {

constexpr std::uint64_t first_seed = 1;
constexpr std::uint64_t modules = 200;

// Whether an operand of min or max is a narrow sum, difference or product.
bool leaves_type_inside_min_or_max(const tir::Module& module) {
  bool found = false;
  tir::for_each_expr_in(module.functions[module.entry].body, [&](const tir::Expr& expr) {
    if (expr.kind != tir::ExprKind::min && expr.kind != tir::ExprKind::max) return;
    for (const tir::ExprRef& operand : expr.operands) {
      const bool is_arithmetic = operand->kind >= tir::ExprKind::add && operand->kind <= tir::ExprKind::mul;
      found = found || (is_arithmetic && operand->type.is_integer() && operand->type.bits < 32);
    }
  });
  return found;
}

TEST_CASE("random modules compute what the reference interpreter computes, with every algorithm and pool set") {
  Settings settings;
  settings.seed = first_seed;
  settings.count = modules;
  settings.variants = 1;
  settings.jobs = std::max(1U, std::min(2U, std::thread::hardware_concurrency()));
  const Totals totals = run_campaign(settings);
  for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
  if (!totals.failures.empty()) {
    const Shrunk small = shrink_failure(totals.failures.front(), settings);
    MESSAGE("the first one, made small:\n" << small.module << small.what);
  }
  CHECK(totals.modules == modules);
  CHECK(totals.undefined <= modules / 20);
  CHECK(totals.plans > modules * 30);
  CHECK(totals.sharing > modules / 2);
  CHECK(totals.product.replayed > modules / 10);
  CHECK(totals.product.wrong > modules * 4);
  CHECK(totals.variants >= modules - totals.undefined);
}

TEST_CASE("what is made small stays well formed, also where the program never comes") {
  std::size_t candidates = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto fails = [&](const TestModule& test) {
      ++candidates;
      const auto fault = tir::find_fault(test.module);
      CHECK_MESSAGE(!fault, "seed " << seed << ": " << (fault ? tir::to_string(test.module, *fault) : ""));
      return false;  // so that all changes are asked about
    };
    (void)shrink(generate(seed, Contents::all), fails, 500);
  }
  CHECK(candidates > 1000);
}

// Also split, planned, emitted and run.
TEST_CASE("what TVM writes of random modules in C is read as what they are") {
  for (const Kind kind : {Kind::modules, Kind::networks}) {
    Settings settings;
    settings.kind = kind;
    settings.from_c = true;
    settings.seed = first_seed;
    settings.count = modules;
    settings.compile_every = 2;
    settings.variants = 1;
    settings.jobs = std::max(1U, std::min(2U, std::thread::hardware_concurrency()));
    if (kind == Kind::networks) settings.steps = *transform::parse_steps("all");
    const Totals totals = run_campaign(settings);
    for (const Failure& failure : totals.failures) FAIL_CHECK("seed " << failure.seed << ": " << failure.what);
    CHECK(totals.modules == modules);
    CHECK(totals.unspelled <= (kind == Kind::modules ? modules * 2 / 5 : modules / 50));
    CHECK(totals.undefined == 0);
    CHECK(totals.plans > modules * 10);
    CHECK(totals.compiled > modules / 4);
  }
}

TEST_CASE("every form of TVM's C occurs") {
  const std::vector<std::string> forms = {
      "for ( int32_t",
      "while ( 1 ) { if ( ! (",
      "} else {",
      "condval_0 ;",
      "TVMBackendAllocWorkspace ( 1 , 0 , ( uint64_t )",
      "== NULL ) { return - 1 ; }",
      "if ( TVMBackendFreeWorkspace ( 1 , 0 ,",
      "* ) TVMBackendAllocWorkspace",
      "!= 0 ) return - 1 ;",
      "( void ) tvmgen_zqx_op0 (",
      "tvmgen_zqx_run_model ( void * arg0 ,",
      "[ ( 0 ) ]",
      "= ( & ( global_workspace_0_var [ ",
      "= ( & ( global_const_workspace_0_var [ ",
      "= ( & ( flash_0_var [ ",
      "static const struct global_const_workspace {",
      "static struct global_const_workspace {",
      "[ 4 ] __attribute__ ( ( packed , aligned ( 16 ) ) ) ;",
      "static uint8_t global_workspace [",
      "__tvm_param__p0 [",
      "( arg0 , arg1 ) ;",
      "expf ( ",
      "( int64_t ) 1 << ( ( int64_t ) (",
  };
  std::set<std::string> found;
  for (std::uint64_t seed = first_seed; seed < first_seed + modules; ++seed) {
    for (const TestModule& test : {generate(seed, Contents::in_c), generate_network(seed)}) {
      const auto files = in_tvm_c(test);
      if (!files) continue;
      for (const CFile& file : *files) {
        const std::string text = joined(c_tokens(file.text), " ");
        for (const std::string& form : forms) {
          if (text.find(form) != std::string::npos) found.insert(form);
        }
      }
    }
  }
  for (const std::string& form : forms) CHECK_MESSAGE(found.contains(form), form);
}

// Without what optimisers make of TVM's habits: puns through pointers, signed overflow of what is not used.
TEST_CASE("the reference interpreter computes what a compiler makes of TVM's spelling") {
  constexpr std::uint64_t expressions = 4000;
  std::vector<TestModule> tests;
  std::vector<Outcome> outcomes;
  std::vector<Emitted> spelled;
  for (std::uint64_t seed = first_seed; seed < first_seed + expressions; ++seed) {
    TestModule test = generate_expression(seed);
    std::optional<Emitted> c = in_tvm_spelling(test);
    if (!c) continue;
    try {
      outcomes.push_back(Interpreter(test.module).run(arguments_of(test)));
    } catch (const Undefined&) {
      continue;
    }
    tests.push_back(std::move(test));
    spelled.push_back(std::move(*c));
  }
  CHECK(tests.size() > expressions / 3);
  std::vector<Variant> variants;
  std::size_t leaving = 0;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    variants.push_back({&tests[i], &outcomes[i], &spelled[i]});
    if (leaves_type_inside_min_or_max(tests[i].module)) ++leaving;
  }
  CHECK(leaving > expressions / 80);
  const Compiler plain{"gcc -O0", "gcc -O0 -std=c99 -ffp-contract=off -fno-strict-aliasing -fno-builtin "};
  for (const Mismatch& mismatch : run_variants(variants, plain, false)) {
    FAIL_CHECK("seed " << tests[mismatch.variant].seed << ": " << mismatch.what << "\n"
                       << spelled[mismatch.variant].operators << tir::print(tests[mismatch.variant].module));
  }
}

TEST_CASE("a seed always gives the same module") {
  // The texts of the first modules, added up; the same on every machine.
  std::uint64_t sum = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + 20; ++seed) {
    for (const char c : tir::print(generate(seed).module)) sum = sum * 31 + static_cast<unsigned char>(c);
  }
  CHECK(tir::print(generate(7).module) == tir::print(generate(7).module));
  CHECK(tir::print(generate(7).module) != tir::print(generate(8).module));
  CHECK(sum == 14581082431479575362U);
}

TEST_CASE("modules are read back from TVM's JSON as what they are") {
  for (std::uint64_t seed = first_seed; seed < first_seed + modules; ++seed) {
    const TestModule test = generate(seed);
    for (const bool modern : {false, true}) {
      const std::string fault = round_trip_fault(test.module, modern);
      CHECK_MESSAGE(fault.empty(), "seed " << seed << (modern ? " with buffers" : "") << ": " << fault);
    }
  }
}

// What occurs in the 200 modules.
struct Occurrences {
  std::set<std::size_t> statements;  // indices into the variant
  std::set<tir::ExprKind> expressions;
  std::set<std::string> operators;
  std::set<std::string> types;
  std::size_t repeated_calls = 0;
  std::size_t passed_twice = 0;
  std::size_t non_zero_starts = 0;
  std::size_t dynamic_extents = 0;
  std::size_t conditional_allocates = 0;
  std::size_t candidate_pools = 0;
  std::size_t store_predicates = 0;
  std::size_t load_predicates = 0;
  std::size_t nested_allocates = 0;
  std::size_t vectors = 0;
  std::size_t packed = 0;         // modules with the packed interface
  std::size_t views = 0;          // pointers bound to storage of another element type
  std::size_t punned_loads = 0;   // of another type than the pointer's
  std::size_t punned_stores = 0;  // likewise
  std::size_t recast = 0;         // storage passed to parameters of two element types by one function
  std::size_t converted = 0;      // storage passed to a parameter of another element type
};

// What a pointer is made of, if that is one variable.
std::optional<tir::VarId> base_of(const tir::Expr& pointer) {
  if (pointer.kind == tir::ExprKind::var) return pointer.var;
  if (pointer.op == tir::Op::address_of) return pointer.operands.at(0)->var;
  if (pointer.op == tir::Op::tvm_access_ptr) return base_of(*pointer.operands.at(1));
  return std::nullopt;
}

void count_types(const tir::Module& module, const tir::Function& function, Occurrences& all) {
  const auto element_of = [&](tir::VarId var) { return module.var(var).element; };
  std::map<tir::VarId, std::set<std::string>> passed_as;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node); let != nullptr && let->value->type.is_handle()) {
      const auto base = base_of(*let->value);
      if (base && element_of(*base) != element_of(let->var)) ++all.views;
    }
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (store->value->type.element() != element_of(store->storage)) ++all.punned_stores;
    }
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) {
        if (expr.kind == tir::ExprKind::load && expr.type.element() != element_of(expr.var)) ++all.punned_loads;
        const auto call = tir::named_call(expr);
        const auto callee = call ? module.find(*call->name) : std::nullopt;
        if (!callee) return;
        for (std::size_t i = 0; i < call->arguments.size(); ++i) {
          const tir::Expr& argument = *call->arguments[i];
          const auto base = argument.type.is_handle() ? base_of(argument) : std::nullopt;
          if (!base) continue;
          const tir::DataType type = module.functions[*callee].params[i].element;
          passed_as[*base].insert(tir::to_string(type));
          if (type != element_of(*base)) ++all.converted;
        }
      });
    });
  });
  for (const auto& [var, types] : passed_as) {
    if (types.size() > 1) ++all.recast;
  }
}

void count(const tir::Expr& expr, Occurrences& all) {
  all.expressions.insert(expr.kind);
  if (expr.kind == tir::ExprKind::call) all.operators.insert(std::string(tir::operator_name(expr).substr(4)));
  all.types.insert(tir::to_string(expr.type.element()));
  if (expr.kind == tir::ExprKind::load && expr.operands.size() > 1) ++all.load_predicates;
  if (expr.type.is_vector()) ++all.vectors;
  const auto call = tir::named_call(expr);
  if (!call) return;
  std::set<tir::VarId> vars;
  for (const tir::ExprRef& argument : call->arguments) {
    if (argument->type.is_handle() && argument->var.valid() && !vars.insert(argument->var).second) ++all.passed_twice;
  }
}

void count(const tir::Function& function, Occurrences& all) {
  std::map<std::string, std::size_t> calls;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    all.statements.insert(stmt.node.index());
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      if (allocate->condition) ++all.conditional_allocates;
      if (!allocate->candidate_pools.empty()) ++all.candidate_pools;
      if (!tir::allocation_size(*allocate).bytes) ++all.dynamic_extents;
    }
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      if (tir::as_int(*loop->min) != 0) ++all.non_zero_starts;
      if (!tir::as_int(*loop->extent)) ++all.dynamic_extents;
    }
    if (const auto* store = std::get_if<tir::Store>(&stmt.node); store != nullptr && store->predicate) {
      ++all.store_predicates;
    }
    for (const tir::Block* block : tir::blocks_of(stmt)) {
      for (const tir::Stmt& inner : *block) {
        if (std::holds_alternative<tir::Allocate>(inner.node)) ++all.nested_allocates;
      }
    }
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) {
        count(expr, all);
        if (const auto call = tir::named_call(expr); call && calls[*call->name]++ > 0) ++all.repeated_calls;
      });
    });
  });
}

TEST_CASE("every kind of statement, expression and operator occurs") {
  Occurrences all;
  for (std::uint64_t seed = first_seed; seed < first_seed + modules; ++seed) {
    const TestModule test = generate(seed);
    if (test.packed) ++all.packed;
    for (const tir::Function& function : test.module.functions) {
      count(function, all);
      count_types(test.module, function, all);
    }
  }
  CHECK(all.statements.size() == std::variant_size_v<decltype(tir::Stmt::node)>);
  for (auto kind = tir::ExprKind::int_imm; kind <= tir::ExprKind::call;
       kind = static_cast<tir::ExprKind>(static_cast<int>(kind) + 1)) {
    CHECK_MESSAGE(all.expressions.contains(kind), "expression kind " << static_cast<int>(kind));
  }
  // All of TVM's operators but hints, those without a defined value, and those that TVM writes in the entry alone.
  const std::set<std::string> left_out = {
      "assume",         "handle_add_byte_offset", "lookup_param", "prefetch", "tvm_stack_make_array",
      "tvm_struct_set", "tvm_throw_last_error",   "undef"};
  for (const tir::OpInfo& row : tir::all_ops()) {
    if (!row.name.starts_with("tir.")) continue;
    const std::string op(row.name.substr(4));
    CHECK_MESSAGE(all.operators.contains(op) != left_out.contains(op), op);
  }
  for (const char* type : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                           "bfloat16", "float32", "float64", "handle"}) {
    CHECK_MESSAGE(all.types.contains(type), type);
  }
  CHECK(all.repeated_calls > 0);
  CHECK(all.passed_twice > 0);
  CHECK(all.non_zero_starts > 0);
  CHECK(all.dynamic_extents > 0);
  CHECK(all.conditional_allocates > 0);
  CHECK(all.candidate_pools > 0);
  CHECK(all.store_predicates > 0);
  CHECK(all.load_predicates > 0);
  CHECK(all.nested_allocates > 0);
  CHECK(all.vectors > 0);
  CHECK(all.packed > modules / 8);
  CHECK(all.views > modules / 4);
  CHECK(all.punned_loads > 0);
  CHECK(all.punned_stores > 0);
  CHECK(all.recast > modules / 10);
  CHECK(all.converted > modules / 4);
}

}  // namespace
}  // namespace usmp::random_modules::random_modules_test
