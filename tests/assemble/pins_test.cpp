// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pins of the pools file and of earlier plans: which offsets are fixed, and how each wrong name is told.
#include "usmp/assemble/pins.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace usmp::assemble::pins_test {
namespace {

using config::PinSpec;
using plan_file::PlanDocument;

PinSpec pin_of(std::string buffer, std::string pool, Bytes offset, std::string place = "line 7, column 3") {
  PinSpec pin;
  pin.buffer = std::move(buffer);
  pin.pool = std::move(pool);
  pin.offset = offset;
  pin.place = std::move(place);
  return pin;
}

// Two pools; buffers x of f, y of f, twice t of f, t of g, and k, which may only be in the second pool. x conflicts
// with y and with the first t of f.
Assembly example() {
  Assembly assembly;
  assembly.problem.pools = {{.name = "dtcm", .capacity = 256, .alignment = 16, .reserved = 32}, {.name = "sram"}};
  assembly.problem.horizon = 10;
  const auto add = [&](const char* name, const char* function, Bytes size, LiveRange live) {
    assembly.problem.buffers.push_back({.name = name,
                                        .function = function,
                                        .size = size,
                                        .alignment = 8,
                                        .candidates = {PoolId(0), PoolId(1)},
                                        .live = {live}});
  };
  add("x", "f", 64, {0, 4});
  add("y", "f", 64, {2, 6});
  add("t", "f", 32, {3, 5});
  add("t", "f", 32, {5, 8});
  add("t", "g", 16, {6, 9});
  add("k", "g", 8, {0, 10});
  assembly.problem.buffers.back().candidates = {PoolId(1)};
  return assembly;
}

std::string message_of(const std::vector<PinSpec>& pins) {
  Assembly assembly = example();
  try {
    (void)pin(assembly, pins);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

std::string unknown(const PinSpec& pin) {
  const Assembly assembly = example();
  try {
    throw_unknown_buffer(pin, {&assembly});
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_CASE("a pin fixes pool and offset, and only of its buffer") {
  Assembly assembly = example();
  PinSpec second = pin_of("t", "sram", 8);
  second.function = "f";
  second.occurrence = 1;
  CHECK((pin(assembly, {pin_of("x", "dtcm", 48), second, pin_of("z", "sram", 0)}) == std::vector{true, true, false}));
  const std::vector<Buffer>& buffers = assembly.problem.buffers;
  CHECK(buffers[0].pinned == 48);
  CHECK((buffers[0].candidates == std::vector{PoolId(0)}));
  CHECK(buffers[3].pinned == 8);
  CHECK((buffers[3].candidates == std::vector{PoolId(1)}));
  for (const std::size_t i : {1U, 2U, 4U, 5U}) CHECK_FALSE(buffers[i].pinned.has_value());
  CHECK(buffers[1].candidates.size() == 2);
  CHECK_FALSE(invalid_reason(assembly.problem).has_value());
}

TEST_CASE("names that say too little are refused with the choices") {
  CHECK(message_of({pin_of("t", "sram", 0)}) ==
        "line 7, column 3: buffer 't' is ambiguous, there are 3: expected the key function, such as {buffer: t, "
        "function: f, "
        "occurrence: 0} (32 bytes), {buffer: t, function: f, occurrence: 1} (32 bytes), {buffer: t, function: g} (16 "
        "bytes)");
  PinSpec pin = pin_of("t", "sram", 0);
  pin.function = "f";
  CHECK(message_of({pin}) ==
        "line 7, column 3: buffer 't' is ambiguous, there are 2: expected the key occurrence, such as {buffer: t, "
        "function: f, "
        "occurrence: 0} (32 bytes), {buffer: t, function: f, occurrence: 1} (32 bytes)");
  pin.occurrence = 2;
  CHECK(message_of({pin}) ==
        "line 7, column 3: occurrence is 2, but 't' of 'f' names 2 planned buffers, counted from 0");
  pin.function = "g";
  pin.occurrence = 0;
  CHECK(message_of({pin}) == "accepted");
  pin.function.reset();
  CHECK(message_of({pin}).find("expected the key function") != std::string::npos);
}

TEST_CASE("unknown buffers, functions and pools come with near spellings") {
  const std::string list = "; usmp-plan inspect --transform all lists the buffers that the transformations leave";
  CHECK(unknown(pin_of("kk", "sram", 0)) == "line 7, column 3: unknown buffer 'kk' (did you mean 'k'?)" + list);
  CHECK(unknown(pin_of("nothing", "sram", 0)) == "line 7, column 3: unknown buffer 'nothing'" + list);
  PinSpec pin = pin_of("t", "sram", 0);
  pin.function = "ff";
  CHECK(unknown(pin) == "line 7, column 3: no function 'ff' declares a planned buffer 't' (did you mean 'f'?)");
  pin.function = "main";
  CHECK(unknown(pin) == "line 7, column 3: no function 'main' declares a planned buffer 't': expected one of f, g");
  CHECK(message_of({pin_of("x", "dtmc", 0)}) == "line 7, column 3: unknown pool 'dtmc' (did you mean 'dtcm'?)");
  CHECK(message_of({pin_of("k", "dtcm", 32)}) ==
        "line 7, column 3: buffer 'k' of 'g' may not be in pool 'dtcm': expected one of sram");
}

TEST_CASE("contradictions are told at the pin that makes them") {
  CHECK(message_of({pin_of("x", "dtcm", 64, "a"), pin_of("y", "dtcm", 96, "b"), pin_of("k", "sram", 0, "c")}) ==
        "b: buffer 'y' is pinned to offset 96 of pool 'dtcm' and overlaps buffer 'x', pinned to offset 64 and live at "
        "the same time");
  CHECK(message_of({pin_of("k", "sram", 0, "a"), pin_of("x", "dtcm", 40, "b")}) ==
        "b: buffer 'x' is pinned to offset 40 of pool 'dtcm', which is not a multiple of its alignment 16");
  CHECK(message_of({pin_of("x", "dtcm", 16)}) ==
        "line 7, column 3: buffer 'x' is pinned to offset 16 of pool 'dtcm', but its first 32 bytes are reserved");
  CHECK(message_of({pin_of("x", "dtcm", 208)}).find("the pool's capacity is 256") != std::string::npos);
  CHECK(message_of({pin_of("x", "dtcm", 32, "a"), pin_of("x", "dtcm", 32, "b")}) ==
        "b: buffer 'x' of 'f' is pinned twice (first at a)");
}

TEST_CASE("a pin that cannot stand leaves the problem as it was") {
  Assembly assembly = example();
  CHECK_THROWS_AS((void)pin(assembly, {pin_of("k", "sram", 0), pin_of("x", "dtcm", 40)}), Error);
  for (const Buffer& buffer : assembly.problem.buffers) CHECK_FALSE(buffer.pinned.has_value());
}

PlanDocument::Buffer place(const std::string& name, const std::string& function, const std::string& pool, Bytes size,
                           Bytes offset) {
  PlanDocument::Buffer buffer;
  buffer.name = name;
  buffer.function = function;
  buffer.pool = pool;
  buffer.size = size;
  buffer.offset = offset;
  return buffer;
}

PlanDocument earlier() {
  PlanDocument plan;
  plan.module = "default";
  plan.buffers = {place("x", "f", "dtcm", 64, 48), place("t", "f", "sram", 32, 0), place("t", "f", "sram", 32, 8),
                  place("t", "g", "", 16, 0), place("k", "g", "sram", 8, 64)};
  return plan;
}

std::vector<std::optional<Bytes>> pinned_offsets(const Assembly& assembly) {
  std::vector<std::optional<Bytes>> offsets;
  for (const Buffer& buffer : assembly.problem.buffers) offsets.push_back(buffer.pinned);
  return offsets;
}

using Offsets = std::vector<std::optional<Bytes>>;
constexpr std::nullopt_t open = std::nullopt;

TEST_CASE("an earlier plan pins what it placed") {
  Assembly assembly = example();
  CHECK(pin_as_before(assembly, earlier()).empty());
  CHECK((pinned_offsets(assembly) == Offsets{48, open, 0, 8, open, 64}));
  CHECK((assembly.problem.buffers[2].candidates == std::vector{PoolId(1)}));
}

TEST_CASE("pins of the pools file win over those of an earlier plan") {
  Assembly assembly = example();
  CHECK((pin(assembly, {pin_of("x", "sram", 128)}) == std::vector{true}));
  CHECK(pin_as_before(assembly, earlier()).empty());
  CHECK((pinned_offsets(assembly) == Offsets{128, open, 0, 8, open, 64}));
  CHECK((assembly.problem.buffers[0].candidates == std::vector{PoolId(1)}));
}

TEST_CASE("what has changed since an earlier plan is left to the planner, with a sentence for each reason") {
  Assembly assembly = example();
  PlanDocument plan = earlier();
  plan.buffers[0].size = 60;
  plan.buffers[1].pool = "ddr";
  plan.buffers[2].offset = 4;
  plan.buffers.push_back(place("k", "g", "sram", 8, 0));
  plan.buffers.push_back(place("y", "f", "dtcm", 64, 224));
  CHECK((pin_as_before(assembly, plan) ==
         std::vector<std::string>{"not pinned as in the earlier plan, the module no longer has the buffer: 'k' of 'g'",
                                  "not pinned as in the earlier plan, the size has changed: 'x' of 'f'",
                                  "not pinned as in the earlier plan, the pool is no longer a candidate: 't' of 'f'",
                                  "not pinned as in the earlier plan, the place is taken or no longer in the pool: "
                                  "'t' of 'f', 'y' of 'f'"}));
  CHECK((pinned_offsets(assembly) == Offsets{open, open, open, open, open, 64}));
  CHECK_FALSE(invalid_reason(assembly.problem).has_value());
}

TEST_CASE("many names in one sentence are cut") {
  Assembly assembly = example();
  PlanDocument plan;
  for (int i = 0; i < 9; ++i) plan.buffers.push_back(place("n" + std::to_string(i), "f", "sram", 1, 0));
  const auto sentences = pin_as_before(assembly, plan);
  REQUIRE(sentences.size() == 1);
  CHECK(sentences[0].ends_with("'n5' of 'f' and 3 more"));
}

}  // namespace
}  // namespace usmp::assemble::pins_test
