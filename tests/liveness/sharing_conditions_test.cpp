// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which buffers may share bytes at all: what has to die, what has to be born, and near misses of each condition.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "liveness/program_of_nests.hpp"

namespace usmp::liveness::testing::sharing_conditions_test {
namespace {

// --- What dies and what is born --------------------------------------------------------------------------------------

// out[i] = in[i]
tir::Stmt copy(Program& p, VarId out, VarId in) { return p.for_i(16, block(p.store(out, p.i(), p.load(in, p.i())))); }

TEST_CASE("neither is needed outside of the time they share in the loop") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  SUBCASE("the old one dies there") {
    CHECK(p.found({copy(p, out, in)}) == "in>=out+0");
    p.is_kept(in);
    CHECK(p.found({copy(p, out, in)}).empty());
  }
  SUBCASE("the new one is born there") {
    CHECK(p.found({p.call("look", {in}), copy(p, out, in)}) == "in>=out+0");
    CHECK(p.found({p.call("touch", {out}), copy(p, out, in)}).empty());
  }
  SUBCASE("not in a later loop") { CHECK(p.found({copy(p, out, in), copy(p, out, in)}).empty()); }
  SUBCASE("the outermost loop is what counts") {
    const VarId flag = p.kept("flag");
    CHECK(p.found({p.for_i(4, block(p.for_j(4, block(p.store(out, p.j(), p.load(in, p.j())))),
                                    p.when(p.load(flag, 0), block(p.store(flag, 0, p.load(in, 3))))))}) ==
          "in>=out+4; out>=in+4");
  }
}

TEST_CASE("two buffers of one loop alone: one is taken for the old one") {
  Program p;
  const VarId first = p.temporary("first", 16);
  const VarId second = p.temporary("second", 16);
  const VarId kept = p.kept("kept");
  SUBCASE("in the order of their use") {
    CHECK(p.found({p.for_i(16, block(p.store(first, p.i(), p.number(1)), p.store(second, p.i(), p.load(first, p.i())),
                                     p.store(kept, 0, p.load(second, p.i()))))}) == "first>=second+0");
  }
  SUBCASE("written one after the other") {
    CHECK(p.found({p.for_i(16, block(p.store(first, p.i(), p.number(1)), p.store(second, p.i(), p.number(1))))}) ==
          "first>=second+0");
  }
  SUBCASE("a store of the old one above the new one's bytes would destroy these") {
    CHECK(p.found({p.for_i(16, block(p.store(second, p.i(), p.number(1)), p.store(first, p.i(), p.load(second, p.i())),
                                     p.store(kept, 0, p.load(first, p.i()))))}) == "first>=second+1");
  }
}

TEST_CASE("loops in a row: what is written in one and read in another") {
  Program p;
  const VarId a = p.buffer("a", 8);
  const VarId b = p.buffer("b", 8);
  const VarId out = p.buffer("out", 16);
  const auto copy_to = [&](std::int64_t offset, VarId from) {
    return p.for_i(8, block(p.store(out, add(p.i(), offset), p.load(from, p.i()))));
  };
  const tir::Stmt first = copy_to(0, a);
  const tir::Stmt second = copy_to(8, b);
  SUBCASE("parts that follow each other may stand where they go to") {
    CHECK(p.found({first, second}) == "a>=out+0; b>=out+8");
    CHECK(p.found({second, first}) == "b>=out+8; out>=b+0");
  }
  SUBCASE("other statements between them") {
    CHECK(p.found({first, p.call("look", std::vector<VarId>{}), second}) == "a>=out+0; b>=out+8");
    CHECK(p.found({first, p.for_j(4, block(p.call("look", std::vector<VarId>{}))), second}) == "a>=out+0; b>=out+8");
  }
  SUBCASE("accesses between them that are none of a loop's loads and stores") {
    CHECK(p.found({first, p.call("look", {b}), second}) == "a>=out+0");
    CHECK(p.found({first, p.call("touch", {out}), second}) == "a>=out+0");
    CHECK(p.found({first, p.store(b, 0, p.number(1)), second}) == "a>=out+0");
    CHECK(p.found({first, p.for_j(4, block(p.call("look", {b}))), second}) == "a>=out+0");
    CHECK(p.found({first, p.for_j(4, block(p.call("look", {a}))), second}) == "b>=out+8");
  }
  SUBCASE("the loops before the one that is born and behind the one that dies do not matter") {
    CHECK(p.found({p.call("look", {b}), first, second, p.call("look", {out})}) == "a>=out+0; b>=out+8");
  }
  SUBCASE("what is read again must still be there") {
    CHECK(p.found({first, second, p.for_i(8, block(p.store(b, p.i(), p.load(a, p.i()))))}).empty());
    CHECK(p.found({first, second, p.for_i(4, block(p.store(out, p.i(), p.load(a, p.i()))))}) == "b>=out+8");
    CHECK(p.found({first, p.for_i(4, block(p.store(out, add(p.i(), 8), p.load(a, p.i()))))}) == "a>=out+8");
  }
  SUBCASE("one type in all of them") {
    const auto wide = [&](std::int64_t offset) {
      const ExprRef value = cast(int8_type, tir::make_load(int32_type, b, p.i()));
      return p.for_i(2, block(p.store(out, add(p.i(), offset), value)));
    };
    CHECK(p.found({first, wide(8)}) == "a>=out+0; b>=out+8");
    CHECK(p.found({wide(0), wide(8)}) == "b>=out+5");
    CHECK(p.found({wide(0), second}).empty());
  }
  SUBCASE("too many loops") {
    std::vector<tir::Stmt> loops(31, first);
    loops.push_back(second);
    CHECK(p.found(loops) == "a>=out+8; b>=out+8");
    loops.insert(loops.begin(), first);
    CHECK(p.found(loops) == "a>=out+8");
  }
}

TEST_CASE("a loop over more than 256 buffers is not looked into") {
  for (const std::size_t others : {std::size_t{254}, std::size_t{255}}) {
    Program p;
    const VarId in = p.buffer("in", 2);
    const VarId out = p.buffer("out", 2);
    tir::Block body = block(p.store(out, p.i(), p.load(in, p.i())));
    for (std::size_t i = 0; i < others; ++i) {
      const VarId other = p.kept("other" + std::to_string(i));
      body.push_back(p.store(other, 0, p.load(other, 0)));
    }
    CHECK(p.found({p.for_i(2, body)}).empty() == (others == 255));
  }
}

TEST_CASE("a buffer that lives while another one is written elsewhere") {
  Program p;
  const VarId part = p.temporary("part", 8);
  const VarId out = p.buffer("out", 16);
  const auto loop = [&](VarId to, std::int64_t offset, const ExprRef& value) {
    return p.for_i(8, block(p.store(to, add(p.i(), offset), value)));
  };
  // The lower half is written before `part` exists.
  CHECK(p.found({loop(out, 0, p.number(1)), loop(part, 0, p.number(2)), loop(out, 8, p.load(part, p.i()))}) ==
        "part>=out+8");
  CHECK(p.found({p.call("touch", {out}), loop(part, 0, p.number(2)), loop(out, 8, p.load(part, p.i()))}).empty());
}

TEST_CASE("of several runs the largest distance counts, and each has to allow it") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const auto lifetime = [&](std::vector<tir::Stmt> nests) { return p.scope(p.body(std::move(nests))); };
  const tir::Stmt straight = copy(p, out, in);
  const tir::Stmt ahead = p.for_i(13, block(p.store(out, add(p.i(), 3), p.load(in, p.i()))));
  CHECK(p.distances_of(block(lifetime({straight}))) == "in>=out+0");
  CHECK(p.distances_of(block(lifetime({ahead}))) == "in>=out+3; out>=in+10");
  CHECK(p.distances_of(block(lifetime({straight}), lifetime({ahead}))) == "in>=out+3");
  CHECK(p.distances_of(block(lifetime({ahead}), lifetime({straight}))) == "in>=out+3");
  CHECK(p.distances_of(block(lifetime({straight}), lifetime({straight, p.call("look", {in})}))).empty());
  CHECK(p.distances_of(block(lifetime({p.call("touch", {out}), straight}), lifetime({straight}))).empty());
  // Only one of them is live.
  CHECK(p.distances_of(block(lifetime({straight}), p.scope(block(p.allocate(in, 16), p.call("fill", {in}))))) ==
        "in>=out+0");
}

TEST_CASE("one function called several times: each pair of its arguments by itself") {
  Program p;
  const VarId from = p.pointer("from");
  const VarId to = p.pointer("to");
  p.function("op", {from, to}, block(copy(p, to, from)));
  const VarId a = p.buffer("a", 16);
  const VarId b = p.temporary("b", 16);
  const VarId c = p.temporary("c", 16);
  p.is_kept(c);
  SUBCASE("a chain") { CHECK(p.found({p.call("op", {a, b}), p.call("op", {b, c})}) == "a>=b+0; b>=c+0"); }
  SUBCASE("a reader behind") {
    CHECK(p.found({p.call("op", {a, b}), p.call("op", {a, c}), p.call("look", {b})}) == "a>=c+0");
  }
  SUBCASE("in a loop of the caller") {
    CHECK(p.found({p.for_i(3, block(p.call("op", {a, b}), p.call("op", {b, c})))}).empty());
  }
}

// --- Inputs and outputs ----------------------------------------------------------------------------------------------

TEST_CASE("outputs never die, inputs are never born") {
  Program p;
  const VarId in = p.pointer("in");
  const VarId out = p.pointer("out");
  const VarId old = p.pointer("old");
  const VarId made = p.pointer("made");
  const auto allocate_both = [&](tir::Block body) {
    body.insert(body.begin(), {p.allocate(old, 8), p.allocate(made, 8)});
    return body;
  };
  const auto copy_8 = [&](VarId to, VarId from) { return p.for_i(8, block(p.store(to, p.i(), p.load(from, p.i())))); };
  const auto distances = [&](tir::Block body, Options options = with_io()) {
    p.module().functions.clear();
    p.entry({in, out}, allocate_both(std::move(body)));
    return text_of(p.build(), options);
  };
  SUBCASE("an input dies, an output is born") {
    CHECK(distances(block(copy_8(made, in), copy_8(out, made))) == "in>=made+0; made>=out+0");
    CHECK(distances(block(copy_8(out, in))) == "in>=out+0");
    CHECK(distances(block(copy_8(out, in)), {}).empty());  // the application's memory
  }
  SUBCASE("an output that is read last in a loop at the end of the program") {
    CHECK(distances(block(copy_8(old, in), copy_8(made, old))) == "in>=old+0; old>=made+0");
    CHECK(distances(block(copy_8(out, in), copy_8(made, out))) == "in>=out+0");
  }
  SUBCASE("an output is written last, from a buffer that was begun later") {
    const VarId i = p.i_var();
    const auto upper = p.loop(i, 4, block(p.store(out, add(p.i(), 4), p.load(made, p.i()))));
    const auto lower = p.loop(i, 4, block(p.store(out, p.i(), p.load(in, p.i()))));
    CHECK(distances(block(lower, copy_8(made, in), upper)) == "in>=made+0; in>=out+4; made>=out+4");
  }
  SUBCASE("an input that is read first in a loop at the begin") {
    const auto first = p.for_i(8, block(p.store(old, p.i(), p.load(in, p.i()))));
    CHECK(distances(block(first, copy_8(out, in))) == "in>=out+0");
  }
  SUBCASE("of two outputs, one is made of the other") {
    const VarId second = p.pointer("second");
    const Options options{.workspace_io = true, .inputs = {in}, .outputs = {out, second}};
    p.entry({in, out, second}, block(copy_8(out, in), copy_8(second, out)));
    CHECK(text_of(p.build(), options) == "in>=out+0");
  }
  SUBCASE("both at once") {
    const Options both{.workspace_io = true, .inputs = {in, out}, .outputs = {out}};
    CHECK(distances(block(copy_8(out, in)), both).empty());
    CHECK(distances(block(copy_8(made, out), copy_8(out, made)), both).empty());
    const Options apart{.workspace_io = true, .inputs = {in}, .outputs = {out}};
    CHECK(distances(block(copy_8(out, in)), apart) == "in>=out+0");
  }
}

TEST_CASE("a loop that runs as often as data say, or from where they say") {
  using tir::testing::select;
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const VarId flag = p.kept("flag");
  const VarId n = p.integer("n");
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return select(less(p.var(n), make_int(3)), make_int(low), make_int(high));
  };
  const auto loop = [&](const ExprRef& min, const ExprRef& extent) {
    tir::Stmt copy = p.ranged(p.i_var(), min, extent, block(p.store(out, p.i(), p.load(in, p.i()))));
    return p.for_j(1, block(p.let(n, cast(int32_type, p.load(flag, 0))), std::move(copy)));
  };
  CHECK(p.found({loop(make_int(0), make_int(16))}) == "in>=out+0");
  CHECK(p.found({loop(make_int(0), between(1, 16))}).empty());
  CHECK(p.found({loop(between(0, 8), make_int(8))}).empty());
}

// --- Near misses: what is not understood -----------------------------------------------------------------------------

TEST_CASE("each buffer is accessed through one pointer to its first byte") {
  Program p;
  const VarId from = p.pointer("from");
  const VarId to = p.pointer("to");
  const VarId other = p.pointer("other");
  const ExprRef sum = add(p.load(from, p.i()), p.load(other, p.i()));
  p.function("op", {from, to}, block(copy(p, to, from)));
  p.function("add", {from, other, to}, block(p.for_i(16, block(p.store(to, p.i(), sum)))));
  const VarId in = p.buffer("in", 32);
  const VarId out = p.buffer("out", 16);
  SUBCASE("passed as it is") { CHECK(p.found({p.call("op", {in, out})}) == "in>=out+0; out>=in+16"); }
  SUBCASE("passed at an offset") {
    CHECK(p.found({p.call("op", {p.address_of(in, 4), p.var(out)})}).empty());
    CHECK(p.found({p.call("op", {p.var(in), p.address_of(out, 4)})}).empty());
    CHECK(p.found({p.call("op", {p.access_ptr(in, 4, 16), p.var(out)})}).empty());
  }
  SUBCASE("passed twice") {
    const VarId more = p.buffer("more", 16);
    CHECK(p.found({p.call("add", {in, more, out})}) == "in>=out+0; more>=out+0; out>=in+16");
    CHECK(p.found({p.call("add", {in, in, out})}).empty());
  }
  SUBCASE("through another function") {
    const VarId a = p.pointer("a");
    const VarId b = p.pointer("b");
    p.function("whole", {a, b}, block(p.call("op", {a, b})));
    p.function("shifted", {a, b}, block(p.call("op", {p.address_of(a, 4), p.var(b)})));
    CHECK(p.found({p.call("whole", {in, out})}) == "in>=out+0; out>=in+16");
    CHECK(p.found({p.call("shifted", {in, out})}).empty());
    CHECK(p.found({p.call("whole", {p.address_of(in, 4), p.var(out)})}).empty());
  }
  SUBCASE("a variable for the pointer") {
    const VarId pointer = p.pointer("pointer");
    CHECK(p.found({p.let(pointer, p.address_of(in, 4)), copy(p, out, pointer)}).empty());
    CHECK(p.found({p.let(pointer, p.var(in)), p.call("op", {pointer, out})}).empty());
    CHECK(p.found({p.let(pointer, p.var(in)),
                   p.for_i(16, block(p.store(out, p.i(), add(p.load(in, p.i()), p.load(pointer, p.i())))))})
              .empty());
  }
  SUBCASE("one of two") {
    const VarId pointer = p.pointer("pointer");
    const VarId more = p.buffer("more", 16);
    const ExprRef one_of = choice(p.load(p.kept("flag"), 0), p.var(in), p.var(more));
    CHECK(p.found({p.let(pointer, one_of), copy(p, out, pointer)}).empty());
    CHECK(p.found({p.call("op", {one_of, p.var(out)})}).empty());
  }
}

TEST_CASE("let expressions, in which a variable may stand for another pointer, are not followed") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const auto let_in = [&](VarId var, const ExprRef& value, const ExprRef& body) {
    tir::Expr let = *tir::testing::make_operator(ExprKind::let, body->type, {value, body});
    let.var = var;
    return tir::make_expr(std::move(let));
  };
  const VarId number = p.integer("number");
  const VarId pointer = p.pointer("pointer");
  const ExprRef by_number = let_in(number, sub(15, p.i()), p.load(in, p.var(number)));
  const ExprRef by_pointer = let_in(pointer, p.var(in), p.load(pointer, p.i()));
  const ExprRef by_same = let_in(p.i_var(), sub(15, p.i()), p.load(in, p.i()));
  CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), by_number)))}).empty());
  CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), by_same)))}).empty());
  CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), by_pointer)))}).empty());
}

TEST_CASE("a loop that is not followed, beside one that is") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  tir::Expr let =
      *tir::testing::make_operator(ExprKind::let, int8_type, {sub(15, p.i()), p.load(in, p.var(p.j_var()))});
  let.var = p.j_var();
  const tir::Stmt unfollowed = p.for_i(16, block(p.store(out, p.i(), tir::make_expr(std::move(let)))));
  CHECK(p.found({copy(p, out, in)}) == "in>=out+0");
  CHECK(p.found({copy(p, out, in), unfollowed}).empty());
  CHECK(p.found({unfollowed, copy(p, out, in)}).empty());
}

TEST_CASE("one loop over buffers of several sizes: each pair by itself") {
  Program p;
  const VarId from = p.pointer("from");
  const VarId to = p.pointer("to");
  const VarId at = p.pointer("at");
  const ExprRef anywhere = p.load(from, cast(int32_type, p.load(at, 0)));
  p.function("op", {from, to, at}, block(p.for_i(16, block(p.store(to, p.i(), anywhere)))));
  const VarId flag = p.kept("flag");
  const VarId small = p.buffer("small", 16);
  const VarId large = p.buffer("large", 32);
  const VarId first = p.temporary("first", 16);
  const VarId second = p.temporary("second", 16);
  p.is_kept(first);
  p.is_kept(second);
  CHECK(p.found({p.call("op", {small, first, flag}), p.call("op", {large, second, flag})}) ==
        "large>=second+15; small>=first+15");
}

TEST_CASE("the first iteration of a loop comes after the last one of the loop before") {
  Program p;
  const VarId a = p.buffer("a", 8);
  const VarId b = p.buffer("b", 8);
  const VarId out = p.buffer("out", 16);
  const VarId kept = p.kept("kept");
  CHECK(p.found({p.for_i(8, block(p.store(out, p.i(), p.load(a, p.i())))),
                 p.for_i(8, block(p.store(kept, 0, add(p.load(b, p.i()), p.load(out, 0)))))}) == "a>=out+0; b>=out+8");
}

TEST_CASE("a loop that calls functions, or lets pointers out, is not followed") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const tir::Stmt store = p.store(out, p.i(), p.load(in, p.i()));
  CHECK(p.found({p.for_i(16, block(store, p.evaluate(tir::make_call(int32_type, "tir.exp", {p.i()}))))}) ==
        "in>=out+0");
  CHECK(p.found({p.for_i(16, block(store, p.call("elsewhere", std::vector<VarId>{})))}).empty());
  CHECK(p.found({p.for_i(16, block(store, p.call("look", {in})))}).empty());
  CHECK(p.found({p.for_i(16, block(store, p.evaluate(tir::make_call(int32_type, "tir.prefetch", {p.var(in)}))))})
            .empty());
  p.function("op", {}, {});
  CHECK(p.found({p.for_i(16, block(store, p.call("op", std::vector<VarId>{})))}).empty());
  CHECK(p.found({p.for_i(16, block(store, p.evaluate(tir::make_cast(tir::int64_type, p.var(in)))))}).empty());
}

TEST_CASE("a buffer that pointers out of sight may reach never dies") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.temporary("out", 16);  // both live to the end of the program
  const VarId hidden = p.buffer("hidden", 1, tir::handle_type);
  const VarId again = p.pointer("again");
  const tir::Stmt loop = p.for_i(16, block(p.store(out, p.i(), add(p.load(in, p.i()), p.load(again, p.i())))));
  CHECK(p.found({p.store(hidden, 0, p.var(in)), p.let(again, p.load(hidden, 0)), loop}).empty());
  CHECK(p.found({p.let(again, p.load(hidden, 0)), loop}) == "in>=out+0");
}

TEST_CASE("types that C keeps apart are not overlaid") {
  Program p;
  constexpr tir::DataType int16_type{tir::TypeCode::int_, 16, 1};
  const auto between = [&](tir::DataType from, tir::DataType to) {
    const VarId in = p.buffer("in", 16, from);
    const VarId out = p.buffer("out", 16, to);
    std::string text = p.found({p.for_i(16, block(p.store(out, p.i(), cast(to, p.load(in, p.i())))))});
    p.forget();
    return text;
  };
  CHECK(between(int32_type, int32_type) == "in>=out+0");
  CHECK(between(float32_type, float32_type) == "in>=out+0");
  CHECK(between(float32_type, int8_type) == "in>=out+0");
  CHECK(between(tir::uint8_type, int8_type) == "in>=out+0");
  CHECK(between(int32_type, float32_type).empty());
  CHECK(between(int32_type, int16_type).empty());
  SUBCASE("nor one that is accessed as two types") {
    const VarId in = p.buffer("in", 16);
    const VarId out = p.buffer("out", 16);
    const ExprRef wide = tir::make_load(int32_type, in, make_int(0));
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), add(cast(int8_type, wide), p.load(in, p.i())))))}).empty());
  }
}

TEST_CASE("loops that run once are none") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  CHECK(p.found({p.loop(p.j_var(), 1, block(copy(p, out, in)))}) == "in>=out+0");
  CHECK(p.found({p.loop(p.j_var(), 1, block(p.store(out, 0, p.load(in, 0))))}).empty());
}

TEST_CASE("a buffer inside the loop is neither born nor dies in it") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const VarId inner = p.pointer("inner");
  CHECK(p.found({p.for_i(16, block(p.allocate(inner, 16), p.store(inner, 0, p.load(in, p.i())),
                                   p.store(out, p.i(), p.load(inner, 0))))}) == "in>=out+0");
}

TEST_CASE("constants and buffers of unknown size take no part") {
  Program p;
  const VarId data = p.pointer("data");
  const VarId unknown = p.pointer("unknown");
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const ExprRef sum = add(p.load(in, p.i()), add(p.load(data, p.i()), p.load(unknown, p.i())));
  CHECK(p.found({p.constant(data, std::string(16, '\1')),
                 p.allocate(unknown, std::vector{cast(int32_type, p.load(p.kept("flag"), 0))}),
                 p.for_i(16, block(p.store(out, p.i(), sum)))}) == "in>=out+0");
}

TEST_CASE("what is found names the function in which both meet first") {
  Program p;
  const VarId from = p.pointer("from");
  const VarId to = p.pointer("to");
  p.function("op", {from, to}, block(copy(p, to, from)));
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const tir::Module module = p.module_of({p.call("op", {in, out})});
  const std::vector<StorageDistance> found = find_distances(module);
  REQUIRE(found.size() == 1);
  CHECK(found[0].below == out);
  CHECK(found[0].above == in);
  CHECK(module.functions[found[0].function].name == "op");
}

}  // namespace
}  // namespace usmp::liveness::testing::sharing_conditions_test
