// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of constants before and after the pass, run by the interpreter, with near misses.
#include "transform/added_constants.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transform/program.hpp"

namespace usmp::transform::testing::added_constants_test {
namespace {

// for i { y[i] = x[i] + a[i] - b[i]; }, with parts exchanged by the tests.
struct Fixture : Program {
  VarId x = input("x", 4);
  VarId y = output("y", 8);
  VarId a = pointer("a", int16_type);
  VarId b = pointer("b", int32_type);
  VarId c = pointer("c", int8_type);
  VarId i = number("i");
  std::vector<std::int64_t> of_a = {1, -2, 300, 7};
  std::vector<std::int64_t> of_b = {100000, 5, -6, 2};
  std::vector<std::int64_t> of_c = {1, 2, 3, 4};

  [[nodiscard]] tir::Stmt constant(VarId id, const std::vector<std::int64_t>& values) const {
    const tir::DataType type = module().var(id).element;
    tir::Constant data{type, {static_cast<std::int64_t>(values.size())}, {}};
    for (const std::int64_t value : values) {
      for (int byte = 0; byte < type.bytes(); ++byte) data.bytes.push_back(static_cast<char>(value >> (8 * byte)));
    }
    return {tir::AllocateConst{id, type, std::make_shared<const tir::Constant>(std::move(data)), {}}};
  }
  [[nodiscard]] ExprRef of(VarId id, const ExprRef& index) const {
    const ExprRef value = load(id, index);
    return value->type == int32_type ? value : tir::make_cast(int32_type, value);
  }
  [[nodiscard]] ExprRef of(VarId id) const { return of(id, var(i)); }
  [[nodiscard]] ExprRef plain() const { return sub(add(of(x), of(a)), of(b)); }
  void with(const ExprRef& value, tir::Block more = {}) {
    tir::Block all =
        block(constant(a, of_a), constant(b, of_b), constant(c, of_c), loop(i, 4, block(store(y, var(i), value))));
    for (tir::Stmt& stmt : more) all.push_back(std::move(stmt));
    body(std::move(all));
  }
  // What was done.
  std::string added() {
    std::string all;
    for (const Change& change : add_up_constants(changed())) all += change.function + ": " + change.text + "\n";
    check_same();
    if (all.empty()) CHECK(is_unchanged());
    return all;
  }
  // The elements of a, which has become int32.
  std::vector<std::int64_t> sums() {
    std::vector<std::int64_t> all;
    for (const tir::Stmt& stmt : op().body) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant == nullptr || constant->var != a) continue;
      CHECK(constant->type == int32_type);
      CHECK(constant->data->type == int32_type);
      CHECK(changed().var(a).element == int32_type);
      for (std::size_t at = 0; at < constant->data->bytes.size(); at += 4) {
        std::uint32_t bits = 0;
        for (std::size_t byte = 4; byte-- > 0;)
          bits = bits << 8U | static_cast<unsigned char>(constant->data->bytes[at + byte]);
        all.push_back(static_cast<std::int32_t>(bits));
      }
    }
    return all;
  }
  [[nodiscard]] bool has(const std::string& what) { return text().find(what) != std::string::npos; }
};

TEST_CASE_FIXTURE(Fixture, "added constants: two that are added to one number are one") {
  with(plain());
  CHECK(added() == "f: b: added to a (16 bytes)\n");
  CHECK(sums() == std::vector<std::int64_t>{-99999, -7, 306, 5});
  CHECK(has("y[i] = x[i] + a[i]\n"));
  CHECK_FALSE(has("constant b"));
  CHECK(has("constant c"));
}

TEST_CASE_FIXTURE(Fixture, "added constants: on either side, with either sign") {
  SUBCASE("in front") {
    with(add(of(a), sub(of(x), of(b))));
    CHECK(added() == "f: b: added to a (16 bytes)\n");
    CHECK(has("y[i] = x[i] + a[i]\n"));
  }
  SUBCASE("the number is subtracted") {
    with(sub(of(a), add(of(x), of(b))));
    CHECK(added() == "f: b: added to a (16 bytes)\n");
    CHECK(has("y[i] = a[i] - x[i]\n"));
    CHECK(sums() == std::vector<std::int64_t>{-99999, -7, 306, 5});
  }
  SUBCASE("twice subtracted") {
    with(sub(of(x), sub(of(b), of(a))));
    CHECK_FALSE(added().empty());
    CHECK(has("y[i] = x[i] + b[i]\n"));
  }
}

TEST_CASE_FIXTURE(Fixture, "added constants: three, and what stands around them") {
  with(mul(add(sub(add(of(x), of(a)), of(b)), of(c)), 3));
  CHECK(added() == "f: b: added to a (16 bytes)\nf: c: added to a (4 bytes)\n");
  CHECK(sums() == std::vector<std::int64_t>{-99998, -5, 309, 9});
  CHECK(has("y[i] = (x[i] + a[i]) * 3\n"));
}

TEST_CASE_FIXTURE(Fixture, "added constants: indices that are the same in another form, and lets of them") {
  const VarId half = number("half");
  body(block(constant(a, of_a), constant(b, of_b),
             loop(half, 2,
                  block(let(i, mul(var(half), 2)),
                        store(y, var(half), sub(add(load(x, 0), of(a)), of(b, add(var(half), var(half)))))))));
  CHECK_FALSE(added().empty());
}

TEST_CASE_FIXTURE(Fixture, "added constants: equal ones in one sum count once each") {
  of_b = of_a;
  SUBCASE("in it only") {
    module().vars[b.index()].element = int16_type;
    with(add(add(of(x), of(a)), of(b)));
    CHECK(added() == "f: b: added to a (8 bytes)\n");
    CHECK(sums() == std::vector<std::int64_t>{2, -4, 600, 14});
  }
  SUBCASE("and elsewhere: they are stored once as it is") {
    module().vars[c.index()].element = int32_type;
    of_c = of_b;
    with(plain(), block(store(y, 5, of(c, imm(0)))));
    CHECK(added().empty());
  }
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "added constants: not where that is something else, or takes more bytes") {
  SUBCASE("other elements") { with(sub(add(of(x), of(a)), of(b, sub(imm(3), var(i))))); }
  SUBCASE("another number of elements") {
    of_b.push_back(1);
    with(plain());
  }
  SUBCASE("two other numbers") { with(sub(add(add(of(x), of(a)), of(x, imm(0))), of(b))); }
  SUBCASE("no other number") { with(sub(of(a), of(b))); }
  SUBCASE("a sum that does not fit") {
    module().vars[a.index()].element = int32_type;
    of_a[0] = 2147483000;
    of_b[0] = -1000;
    with(sub(add(mul(add(mul(of(x), 0), 1), -1000000), of(a)), of(b)));
  }
  SUBCASE("read again") { with(plain(), block(store(y, 5, of(b, imm(1))))); }
  SUBCASE("twice in one sum") { with(add(add(of(x), of(b)), of(b))); }
  SUBCASE("all equal, which is a literal") {
    of_b = {3, 3, 3, 3};
    with(plain());
  }
  SUBCASE("of wider numbers") {
    const auto wide = [&](const ExprRef& value) { return tir::make_cast(int64_type, value); };
    with(tir::make_cast(int32_type, sub(add(wide(of(x)), wide(of(a))), wide(of(b)))));
  }
  SUBCASE("what a cast leaves of it") {
    with(sub(add(of(x), tir::make_cast(int32_type, tir::make_cast(int8_type, load(a, var(i))))), of(b)));
  }
  SUBCASE("without sign, of 32 bits") {
    module().vars[b.index()].element = {tir::TypeCode::uint, 32, 1};
    with(plain());
  }
  CHECK(added().empty());
}

TEST_CASE_FIXTURE(Fixture, "added constants: not of other pools") {
  with(plain());
  std::get<tir::AllocateConst>(op().body[1].node).candidate_pools = {"flash"};
  CHECK(add_up_constants(changed()).empty());
  std::get<tir::AllocateConst>(op().body[0].node).candidate_pools = {"flash"};
  CHECK_FALSE(add_up_constants(changed()).empty());
}

}  // namespace
}  // namespace usmp::transform::testing::added_constants_test
