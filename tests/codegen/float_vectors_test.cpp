// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of four floats at a time: the same bits as sums of one, wherever they run, and which arrays are none.
#include "codegen/float_vectors.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "codegen/case_program.hpp"

namespace usmp::codegen::testing::float_vectors_test {
namespace {

constexpr std::int64_t four = 4;

ExprRef neighbours(const ExprRef& first) { return ramp(first, 1, static_cast<int>(four)); }
ExprRef repeated(const ExprRef& value) { return broadcast(value, static_cast<int>(four)); }

// Numbers of all sizes: with them sums round, become infinite, or too small for a whole exponent.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> all;
  while (all.size() < count) {
    seed = seed * 1664525U + 1013904223U;
    const int exponent = seed % 8 == 0 ? static_cast<int>(seed >> 8U) % 120 - 130 : static_cast<int>(seed >> 8U) % 8;
    all.push_back(std::ldexp(static_cast<float>(static_cast<std::int32_t>(seed) >> 4), exponent - 24));
  }
  return all;
}

struct VectorProgram : CaseProgram {
  VarId sum(Block& body, const char* name, std::int64_t elements = four) {
    const VarId id = pointer(name, f32);
    tir::Allocate allocate;
    allocate.var = id;
    allocate.type = f32;
    allocate.extents = {imm(elements)};
    allocate.on_stack = true;
    body.push_back({allocate});
    return id;
  }
  [[nodiscard]] static ExprRef floats_at(VarId storage, const ExprRef& first) {
    return tir::make_load(type_of(tir::TypeCode::float_, 32, static_cast<int>(four)), storage, neighbours(first));
  }
  [[nodiscard]] static ExprRef value_of(VarId sum) { return floats_at(sum, imm(0)); }
  [[nodiscard]] static tir::Stmt set(VarId storage, const ExprRef& first, ExprRef value) {
    return store(storage, neighbours(first), std::move(value));
  }
};

TEST_CASE("float vectors: sums of products on an emulated core") {
  VectorProgram program;
  std::uint32_t seed = 1;
  for (const std::int64_t terms : {1, 2, 7, 20}) {
    for (const int form : {0, 1, 2, 3}) {
      const auto count = static_cast<std::size_t>(terms);
      const std::vector<float> x = numbers(count * 8, ++seed);
      const std::vector<float> w = numbers(count * 8, seed + 1000);
      // 0: one number of the data for all, 1: data side by side, 2: no weights, 3: weights in front
      std::vector<float> expected;
      for (std::size_t i = 0; i < 8; ++i) {
        float total = form == 2 ? x[i] : 0.5F;
        for (std::size_t k = 0; k < count; ++k) {
          const float data = form == 0 || form == 3 ? x[k * 8] : x[k * 8 + i];
          const float product = form == 2 ? data : data * w[k * 8 + i];
          total = total + product;
        }
        expected.push_back(total);
      }
      program.operation("sums", {floats(x), floats(w)}, floats(expected), [&](const std::vector<VarId>& in, VarId out) {
        const VarId k = program.var("k", i32);
        const ExprRef at = mul(program.ref(k), imm(8));
        Block all;
        Block terms_of;
        std::vector<VarId> sums;
        for (const std::int64_t first : {0, 4}) {
          const VarId sum = program.sum(all, first == 0 ? "low" : "high");
          sums.push_back(sum);
          all.push_back(VectorProgram::set(
              sum, imm(0),
              form == 2 ? VectorProgram::floats_at(in[0], imm(first)) : repeated(tir::make_float(0.5, f32))));
          const ExprRef side_by_side = VectorProgram::floats_at(in[0], add(at, imm(first)));
          const ExprRef same = repeated(program.load(in[0], at));
          const ExprRef weights = VectorProgram::floats_at(in[1], add(at, imm(first)));
          const ExprRef term = form == 0   ? mul(same, weights)
                               : form == 1 ? mul(side_by_side, weights)
                               : form == 2 ? side_by_side
                                           : mul(weights, same);
          terms_of.push_back(VectorProgram::set(sum, imm(0), add(VectorProgram::value_of(sum), term)));
        }
        all.push_back(loop(k, imm(0), imm(terms), terms_of));
        for (std::size_t i = 0; i < 2; ++i) {
          all.push_back(
              VectorProgram::set(out, imm(static_cast<std::int64_t>(i) * four), VectorProgram::value_of(sums[i])));
        }
        return all;
      });
    }
  }
  CHECK(program.text().find("usmp_floats low;") != std::string::npos);
  CHECK(program.text().find("float low") == std::string::npos);
  program.run();
  program.run_on_helium();
}

TEST_CASE("float vectors: other arrays stay arrays") {
  VectorProgram program;
  const auto text_with = [&](std::int64_t elements, const std::function<void(Block&, VarId, VarId, VarId)>& change) {
    const std::vector<float> x = numbers(8, 3);
    std::vector<float> expected(x.begin(), x.begin() + 4);
    program.operation("array", {floats(x)}, floats(expected), [&](const std::vector<VarId>& in, VarId out) {
      Block body;
      const VarId sum = program.sum(body, "sum", elements);
      body.push_back(VectorProgram::set(sum, imm(0), VectorProgram::floats_at(in[0], imm(0))));
      change(body, sum, in[0], out);
      body.push_back(VectorProgram::set(out, imm(0), VectorProgram::value_of(sum)));
      return body;
    });
  };
  text_with(5, [](Block&, VarId, VarId, VarId) {});
  // One lane is read, or set.
  text_with(
      4, [&](Block& body, VarId sum, VarId, VarId out) { body.push_back(store(out, imm(0), program.load(sum, 1))); });
  text_with(4, [&](Block& body, VarId sum, VarId x, VarId) { body.push_back(store(sum, imm(1), program.load(x, 1))); });
  // An operator that has no helper.
  text_with(4, [&](Block& body, VarId sum, VarId x, VarId) {
    const ExprRef value = VectorProgram::value_of(sum);
    body.push_back(VectorProgram::set(sum, imm(0), binary(ExprKind::max, value, VectorProgram::floats_at(x, imm(0)))));
  });
  // Every second element.
  text_with(4, [&](Block& body, VarId sum, VarId x, VarId) {
    const ExprRef apart = ramp(imm(0), 2, static_cast<int>(four));
    const ExprRef value = tir::make_load(VectorProgram::value_of(sum)->type, x, apart);
    body.push_back(VectorProgram::set(sum, imm(0), value));
    body.push_back(VectorProgram::set(sum, imm(0), VectorProgram::floats_at(x, imm(0))));
  });
  CHECK(program.text().find("usmp_floats") == std::string::npos);
  program.run();
}

}  // namespace
}  // namespace usmp::codegen::testing::float_vectors_test
