# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Small networks in C as TVM writes it, edited at random: Model(seed).files(). Used by random_edits.py."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import kept_c
from kept_c import EXTERN, HEAD

SIZE = 64  # elements of a tensor
# Names that people give to everything: tensors, results, parameters, what macros declare.
NAMES = ["rc", "status", "t", "n", "p", "x", "y", "from", "to", "out", "in", "data", "begun", "sum", "p0", "buf", "tmp", "ret", "err", "work",
         "conv", "a", "b", "total", "seen", "result", "src", "dst"]

FIRMWARE = """#include <stdio.h>
#include <string.h>
#include "tvmgen_m.h"
int32_t device(int32_t n);
uint32_t now(void);
void observe(const void* bytes, int count);
void log_value(int value);
struct job { const void* src_place; void* dst_place; };
void start(const void* src_place, void* dst_place);
void start_job(const struct job* job);
void finish(void);
void reset_workspace(void);
void add_memory(const void* begin, size_t size);
void remember(const void* p, int words);
void dump_remembered(const char* who);
EXTERNS
static uint32_t ticks;
static int calls, failing, code;
uint32_t now(void) { dump_remembered("now"); return ticks += 3; }
int32_t device(int32_t n) { dump_remembered("device"); printf("device %d\\n", (int)n); return ++calls == failing ? code : 0; }
void observe(const void* bytes, int count) {
  unsigned sum = 0;
  remember(bytes, 0);
  dump_remembered("observe");
  for (int i = 0; i < count; ++i) sum = sum * 31 + ((const uint8_t*)bytes)[i];
  printf("observes %d: %u\\n", count, sum);
}
void log_value(int value) { dump_remembered("log_value"); printf("logs %d\\n", value); }
void start(const void* src_place, void* dst_place) {
  remember(src_place, 0);
  remember(dst_place, 0);
  dump_remembered("start");
}
void start_job(const struct job* job) {
  remember(job, 2);
  dump_remembered("start_job");
}
void finish(void) { dump_remembered("finish"); }
int main(void) {
  static int8_t x[64], y[64];
  uint32_t state = 7;
  add_memory(x, sizeof x);
  add_memory(y, sizeof y);
  for (int run = 0; run < 5; ++run) {
    struct tvmgen_m_inputs inputs = {x};
    struct tvmgen_m_outputs outputs = {y};
    calls = 0;
    failing = run == 2 ? 1 : run == 3 ? 2 : 0;
    code = run == 2 ? -5 : 3;
    for (int i = 0; i < 64; ++i) x[i] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
    memset(y, 0, sizeof y);
    int status = (int)tvmgen_m_run(&inputs, &outputs);
    reset_workspace();
    printf("run %d: %d at %u\\n", run, status, (unsigned)now());
    if (status == 0) for (int i = 0; i < 64; ++i) printf("%d ", y[i]);
    printf("\\n");
    PRINTS
  }
  return 0;
}
"""


@dataclass
class Tensor:
    number: int
    type: str = "int8_t"
    storage: str = "model"  # or "static", "local", "struct", "list"
    name: str = ""  # how the entry names it
    declared_type: str = "void"
    in_file: bool = False  # the pointer is a variable of the file
    check: bool = True

    @property
    def bytes(self) -> int:
        return SIZE * {"int8_t": 1, "int16_t": 2, "int32_t": 4}[self.type]


@dataclass
class Step:
    """A step of the entry. @3@ is tensor 3."""
    kind: str  # call, raw, alloc, free
    text: str
    uses: set[int] = field(default_factory=set)
    tensor: int = -1
    can_fail: bool = False
    rc: bool = False  # uses `rc` of the entry


class Model:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.level = self.random.choice((0.5, 1, 1, 2, 2, 3, 4))  # how much is edited
        r = self.random
        self.planned = r.random() < 0.45
        # What the firmware uses of the C, which only what is planned in place has.
        self.calls_entry = not self.planned and r.random() < 0.1
        self.one_file = r.random() < 0.15
        self.file_head: list[str] = []  # declarations in front of the operators
        self.file_middle: list[str] = []  # in front of the entry
        self.header: list[str] = []
        self.externs: list[str] = []
        self.prints: list[str] = []
        self.used_macros: set[str] = set()
        self.free_names = NAMES[:]
        r.shuffle(self.free_names)
        self.counter = 0
        # A driver goes on with tensors when its functions have returned.
        self.drives = self.chance(0.4)
        self.front: list[str] = []
        self.helpers: dict[str, str] = {}
        self.rc_name = r.choice(("rc", "status", "ret", "err"))
        self.is_rc_declared = False
        self.fail_text = "return -1;"
        self.make()

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def edited(self, probability: float) -> bool:
        """Whether to make an edit that is made the more often, the more is edited."""
        return self.random.random() < probability * self.level / 3

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self) -> int:
        self.counter += 1
        return self.counter

    # --- the network

    def make(self) -> None:
        r = self.random
        count = r.randint(4, 6) if self.drives else r.randint(2, 5)
        self.tensors: list[Tensor] = [Tensor(0), Tensor(1)]  # x and y
        steps: list[Step] = []
        self.operators: list[str] = []
        made = [0]
        for i in range(count):
            is_last = i == count - 1
            if is_last:
                target = 1
            else:
                target = len(self.tensors)
                self.tensors.append(Tensor(target, r.choice(("int8_t", "int8_t", "int8_t", "int16_t", "int32_t"))))
            sources = [made[-1]] + ([r.choice(made)] if self.chance(0.3) else [])
            steps.append(self.operator(sources, target))
            made.append(target)
        self.name_tensors()
        steps = self.add_statements(steps)
        steps = self.wrap(steps)
        if self.planned:
            self.place(steps)
        steps = self.with_storage(steps)
        self.steps = steps

    def operator(self, sources: list[int], target: int) -> Step:
        kind = self.pick("add", "add", "mix", "reverse", "window", "scratch", "device", "static")
        if kind == "device" and not self.chance(0.6):
            kind = "add"
        if kind == "static" and not self.chance(0.3):
            kind = "add"
        types = [self.tensors[one].type for one in sources]
        type_ = self.tensors[target].type
        name = f"tvmgen_m_fused_{kind}_{len(self.operators)}"
        params = [f"{one}* p{i}" for i, one in enumerate(types)] + [f"{type_}* T_out"]
        takes_pool = self.planned and kind == "scratch"
        if takes_pool or (self.planned and self.chance(0.2)):
            params.append("uint8_t* global_workspace_1_var")
            takes_pool = True
        second = "p1" if len(types) > 1 else "p0"
        k = self.random.randint(1, 9)
        body = {
            "add": f"    T_out[i] = (({type_})((p0[i] / 2) + ({type_}){k}));\n",
            "mix": f"    T_out[i] = (({type_})((p0[i] / 3) - ({second}[(63 - i)] / 2)));\n",
            "reverse": f"    T_out[i] = (({type_})(p0[(63 - i)] / {k}));\n",
            "device": f"    T_out[i] = (({type_})((p0[i] / 2) + ({type_}){k}));\n",
            "static": f"    T_out[i] = (({type_})((p0[i] / 2) + ({type_})before));\n",
        }
        front = ""
        end = "  return 0;\n"
        if kind == "window":
            loop = (f"  for (int32_t i = 0; i < 64; ++i) {{\n    int32_t sum[1];\n    sum[0] = 0;\n    for (int32_t k = 0; k < 4; ++k) {{\n"
                    f"      sum[0] = (sum[0] + (((int32_t)p0[((i / 4) * 4) + k]) / 4));\n    }}\n    T_out[i] = (({type_})sum[0]);\n  }}\n")
        elif kind == "scratch":
            if self.planned:
                front = "  void* temp_let = (&(global_workspace_1_var[SCRATCH]));\n"
            else:
                front = ("  void* temp_let = TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 8);\n  if (temp_let == NULL) {\n    return -1;\n  }\n")
                end = "  if (TVMBackendFreeWorkspace(1, 0, temp_let) != 0) {\n    return -1;\n  }\n" + end
            loop = (f"  for (int32_t i = 0; i < 64; ++i) {{\n    ((int8_t*)temp_let)[i] = ((int8_t)(p0[i] / 2));\n  }}\n"
                    f"  for (int32_t i_1 = 0; i_1 < 64; ++i_1) {{\n    T_out[i_1] = (({type_})(((int8_t*)temp_let)[(63 - i_1)] + ({type_}){k}));\n  }}\n")
        else:
            loop = f"  for (int32_t i = 0; i < 64; ++i) {{\n{body[kind]}  }}\n"
        if kind == "device":
            end = "  return device((int32_t)p0[3]);\n" if self.chance(0.5) else "  int32_t r = device((int32_t)T_out[3]);\n  return r;\n"
        if kind == "static":
            front = "  static int32_t before;\n  before = (before + 1) % 7;\n"
        self.operators.append(EXTERN + f"TVM_DLL int32_t {name}({', '.join(params)}) {{\n{front}{loop}{end}}}\n")
        arguments = [self.argument(one) for one in [*sources, target]] + (["@pool@"] if takes_pool else [])
        return Step("call", f"{name}({', '.join(arguments)})", {*sources, target}, can_fail=kind == "device")

    def argument(self, t: int) -> str:
        if not self.edited(0.12):
            return f"@{t}@"
        type_ = self.tensors[t].type
        return self.pick(f"({type_}*)@{t}@", f"(void*)@{t}@", f"(@{t}@)", f"({type_}*)@{t}@ + 0", f"&(({type_}*)@{t}@)[0]", f"&*({type_}*)@{t}@",
                         f"({type_}*)(void*)@{t}@", f"@{t}@ ? @{t}@ : NULL", f"(0, @{t}@)" if self.chance(0.2) else f"({type_}*)(@{t}@)")

    def name_tensors(self) -> None:
        x, y = self.tensors[:2]
        x.name, y.name = "x_buffer_var", "y_buffer_var"
        x.declared_type = y.declared_type = "int8_t"
        if self.edited(0.3):
            x.name = self.free_names.pop()
        if self.edited(0.3):
            y.name = self.free_names.pop()
        if self.chance(0.2):
            x.declared_type = "void"
        for tensor in self.tensors[2:]:
            tensor.name = f"sid_{tensor.number}" + ("_let" if self.planned else "")
            if self.edited(0.3):
                tensor.name = self.free_names.pop()
            if self.edited(0.25):
                tensor.declared_type = tensor.type
            if self.edited(0.06):
                tensor.storage = self.pick("static", "local", "struct", "list", "list", "file static")
            elif self.edited(0.01):
                tensor.in_file = True
            tensor.check = not self.edited(0.15)

    # --- statements between the calls

    def helper(self, name: str) -> str:
        texts = {
            "observe": "void observe(const void* bytes, int count);",
            "log_value": "void log_value(int value);",
            "now": "uint32_t now(void);",
            "depth": "static int depth(const int8_t* p, int n) { return n == 0 ? 0 : p[n - 1] + depth(p, n - 1); }",
            "each": "static void each(void (*f)(const void*, int), const void* p) { f(p, 5); }",
            "view": "typedef struct { const void* data; int at; } view_t;\nstatic void show(const view_t* v) { log_value(((const int8_t*)v->data)[v->at]); }",
            "first": "static int8_t first_of(const void* p) { return *(const int8_t*)p; }",
            "touch": "static void touch(void* p, int at) { ((int8_t*)p)[at] = (int8_t)(at + 1); }",
            "id": "static void* same(void* p) { return p; }",
            "SHOW": "#define SHOW(t) observe((t), 8)",
            "READ": "#define READ(t, i) (((const int8_t*)(t))[(i)])",
            "BUMP": "#define BUMP(v) do { int sum = (v); total += sum; } while (0)",
            "COUNT": "#define COUNT() (seen++)",
            "POKE": "#define POKE(t, i, v) ((int8_t*)(t))[i] = (int8_t)(v)",
            "seen": self.pick("static int seen;", "int seen;", "static volatile int seen;"),
            "total": self.pick("static int total;", "int total;"),
            "last": self.pick("static void* last;", "static const void* last;", "void* last;"),
            "enabled": "static volatile int enabled = 1;",
            "start": "void start(const void* src_place, void* dst_place);",
            "start_job": "struct job { const void* src_place; void* dst_place; };\nvoid start_job(const struct job* job);",
            "finish": "void finish(void);",
            "keep_last": "static void keep_last(void* p) { last = p; }",
        }
        needs = {"view": ["log_value"], "each": ["observe"], "SHOW": ["observe"], "BUMP": ["total"], "COUNT": ["seen"], "keep_last": ["last"]}
        for other in needs.get(name, []):
            self.helper(other)
        if name not in self.helpers:
            self.helpers[name] = texts[name]
            if name in ("seen", "total") and self.helpers[name].startswith("int"):
                self.externs.append(f"extern int {name};")
                self.prints.append(f'printf("{name} %d\\n", {name});')
        return name

    def read(self, t: int) -> str:
        """A number of the tensor."""
        i = self.random.randint(0, 60)
        kind = self.random.randint(0, 7)
        if kind == 0:
            self.helper("READ")
            return f"READ(@{t}@, {i})"
        if kind == 1:
            self.helper("first")
            return f"first_of(@{t}@)"
        if kind == 2:
            self.helper("depth")
            return f"depth((const int8_t*)@{t}@, 5)"
        if kind == 3:
            return f"*((const int8_t*)@{t}@ + {i})"
        if kind == 4:
            return f"*(int8_t*)(void*)@{t}@"
        if kind == 5:
            return f"(({self.tensors[t].type}*)@{t}@)[{i}] % 100"
        return f"((int8_t*)@{t}@)[{i}]"

    def statement(self, live: list[int]) -> Step:
        """One that somebody adds where these tensors have values, all of them set."""
        r = self.random
        t = r.choice(live)
        u = r.choice(live)
        n = self.number()
        if self.chance(0.35):  # without tensors
            self.helper("log_value"), self.helper("seen"), self.helper("total"), self.helper("now"), self.helper("COUNT")
            text = self.pick("seen++;", "log_value(seen);", "COUNT();", f"total += {n};", f'log_value((int)now());', f"static int runs_{n}; log_value(++runs_{n});",
                             f"if (seen > 3) total = 0;", f"{{ static int first_{n} = 1; if (first_{n}) {{ first_{n} = 0; log_value({n}); }} }}",
                             f"for (int i = 0; i < 3; ++i) total += i;", f"const int was_{n} = seen; total += was_{n};", f"seen = seen % 5, total++;",
                             f"if (total == 1000) return 0;", f"if (seen == 9) {{ log_value(9); return -7; }}", "/* if (0) { */", "// } else {",
                             "#ifdef NEVER\n  if (seen) return 3;\n#endif", "#if 1\n  total ^= 1;\n#else\n  total = 0;\n#endif",
                             "do { seen += 2; } while (seen % 2);", "assert_that(seen >= 0);" if False else "(void)seen;")
            if self.chance(0.3):
                text = self.hiding_statement(n)
            return Step("raw", text)
        reads = [
            lambda: (self.helper("observe"), f"observe(@{t}@, {r.choice((1, 8, 64))});")[1],
            lambda: (self.helper("SHOW"), f"SHOW(@{t}@);")[1],
            lambda: (self.helper("log_value"), f"log_value({self.read(t)});")[1],
            lambda: (self.helper("total"), f"total += {self.read(t)};")[1],
            lambda: (self.helper("BUMP"), f"BUMP({self.read(t)});")[1],
            lambda: (self.helper("total"), f"for (int i = 0; i < 9; ++i) total += ((const int8_t*)@{t}@)[i];")[1],
            lambda: (self.helper("total"), f"{{ const int8_t* alias = (const int8_t*)@{t}@ + 3; total += *alias; }}")[1],
            lambda: (self.helper("log_value"), f"{{ const int8_t* q = (const int8_t*)@{t}@; const int8_t* const* pq = &q; log_value((*pq)[4]); }}")[1],
            lambda: (self.helper("view"), f"{{ view_t v = {{@{t}@, 3}}; show(&v); }}")[1],
            lambda: (self.helper("view"), f"{{ view_t v; v.data = @{t}@; v.at = 2; show(&v); }}")[1],
            lambda: (self.helper("view"), f"show(&(view_t){{.data = @{t}@, .at = 1}});")[1],
            lambda: (self.helper("observe"), f"{{ const void* both[2] = {{@{t}@, @{u}@}}; for (int i = 0; i < 2; ++i) observe(both[i], 3); }}")[1],
            lambda: (self.helper("each"), f"each(observe, @{t}@);")[1],
            lambda: (self.helper("log_value"), f"if ({self.read(t)} > 20) log_value({n});")[1],
            lambda: (self.helper("log_value"), f"if ({self.read(t)} == 77) {{ log_value({n}); return 5; }}")[1],
            lambda: f"if ({self.read(t)} == 55) return {self.pick('0', '-4', '6')};",
            lambda: (self.helper("log_value"), f"log_value((const void*)@{t}@ == (const void*)@{u}@);" if t != u else f"log_value(@{t}@ != NULL);")[1],
            lambda: (self.helper("log_value"), f"log_value(memcmp(@{t}@, @{u}@, 16) == 0);")[1],
            lambda: (self.helper("observe"), f"observe((const int8_t*)@{t}@ + {n % 40}, 4);")[1],
            lambda: (self.helper("total"), f"total += {self.read(t)} > {self.read(u)} + 1 ? 1 : 2;")[1],
        ]
        writes = [
            lambda: f"((int8_t*)@{t}@)[{n % 60}] = {n % 100};",
            lambda: f"*(int8_t*)@{t}@ = (int8_t)({self.read(u)});",
            lambda: f"memset(@{t}@, 0, {r.choice((1, 16, 64))});",
            lambda: f"memcpy(@{t}@, @{u}@, 64);" if t != u else f"memset(@{t}@, 1, 4);",
            lambda: (self.helper("touch"), f"touch(@{t}@, {n % 60});")[1],
            lambda: (self.helper("POKE"), f"POKE(@{t}@, 5, {n % 100});")[1],
            lambda: f"for (int i = 0; i < 64; ++i) ((int8_t*)@{t}@)[i] = (int8_t)(((int8_t*)@{t}@)[i] / 2);",
            lambda: f"{{ int8_t* q = (int8_t*)@{t}@; int8_t** pq = &q; (*pq)[3] = 9; }}",
            lambda: f"{{ int8_t* q = (int8_t*)@{t}@; while (q < (int8_t*)@{t}@ + 8) *q++ = 1; }}",
            lambda: f"{{ union {{ void* v; int8_t* b; }} u = {{@{t}@}}; u.b[2] = 8; }}",
            lambda: (self.helper("id"), f"((int8_t*)same(@{t}@))[7] = 3;")[1],
            lambda: f"if ({self.read(t)} > 10) ((int8_t*)@{t}@)[0] = 10;",
        ]
        if t == 0 or self.chance(0.7):
            return Step("raw", r.choice(reads)(), {t, u})
        return Step("raw", r.choice(writes)(), {t, u})

    def start(self, t: int, u: int) -> Step:
        kind = self.random.randint(0, 3)
        self.helper("start" if kind < 2 else "start_job")
        text = [f"start(@{t}@, @{u}@);", f"{{ int8_t* q = (int8_t*)@{t}@ + 1; start(q, @{u}@); }}",
                f"{{ struct job j = {{@{t}@, @{u}@}}; start_job(&j); }}", f"start_job(&(struct job){{.dst_place = @{u}@, .src_place = @{t}@}});"][kind]
        return Step("raw", text, {t, u})

    def hiding_statement(self, n: int) -> str:
        """One whose names may be others', here or where it comes to stand."""
        self.helper("log_value"), self.helper("seen"), self.helper("total")
        name = self.pick("sum", "rc", "status", "t", "n", "data", "verbose", "sid_2", "sid_3", "x", "from", "total", "seen", "level")
        if self.chance(0.4) and name not in ("total", "seen", "sid_2", "sid_3", "x", "from"):
            # A variable of the file with such a name, and a macro that uses it.
            if f"file {name}" not in self.helpers:
                self.helpers[f"file {name}"] = f"static int {name} = {n};"
                self.helpers[f"macro {name}"] = f"#define ADD_{name.upper()}(v) ({name} += (v))"
                self.helpers[f"macro show {name}"] = f"#define LOG_{name.upper()}() log_value({name})"
            return self.pick(f"ADD_{name.upper()}({n});", f"LOG_{name.upper()}();", f"{name} += {n};", f"log_value({name});")
        return self.pick(
            f"{{ int {name} = {n}; {name}++; log_value({name}); }}", f"for (int {name} = 0; {name} < 2; ++{name}) log_value({name});",
            f"{{ struct {{ int {name}; }} s = {{{n}}}; log_value(s.{name}); }}", f"{{ enum {{ LEVEL = {n} }}; log_value(LEVEL); }}",
            f"{{ typedef int {name}; {name} v = {n}; log_value(v); }}", f"if (seen >= 0) {{ int {name} = {n}; log_value(-{name}); }} else {{ log_value(0); }}",
            f"{{ const char* s = \"}} {name}; /* \"; log_value(s[0]); }}", f"log_value('{{'); // {name} {{", f"/* {name} = 0; }} */ log_value({n});",
            f"{{ int a = {n}, {name} = a; log_value(a + {name}); }}", f"{{ static int {name} = {n}; log_value({name}++); }}",
            f"switch (seen & 1) {{ case 0: log_value({n}); break; default: total++; }}", f"do {{ int {name} = seen; total += {name}; }} while (total < 0);")

    def add_statements(self, steps: list[Step]) -> list[Step]:
        result: list[Step] = []
        live = [0]
        kept: int | None = None
        for step in steps:
            while self.edited(0.35):
                result.append(self.statement(live))
            result.append(step)
            for one in step.uses:
                if one not in live:
                    live.append(one)
            if self.drives and self.chance(0.8 if len(live) < 4 else 0.2):
                result.append(self.start(live[-1], self.random.choice(live)))
            if self.drives and self.chance(0.5):
                self.helper("finish")
                result.append(Step("raw", "finish();"))
            if kept is not None and self.chance(0.6):
                self.helper("log_value")
                result.append(Step("raw", self.pick("log_value(((const int8_t*)last)[1]);", "{ const int8_t* q = last; log_value(q[2]); }"), {kept}))
                kept = None
            if self.edited(0.08):
                kept = self.random.choice(live)
                self.helper("last")
                if self.chance(0.3):
                    self.helpers["last"] = self.helpers["last"].replace("const ", "")
                    self.helper("keep_last")
                    result.append(Step("raw", f"keep_last(@{kept}@);", {kept}))
                else:
                    result.append(Step("raw", f"last = @{kept}@;", {kept}))
            if self.edited(0.03) and len(live) > 2:
                a, b = self.random.sample(live, 2)
                if self.tensors[a].type == self.tensors[b].type and a > 1 and b > 1:
                    n = self.number()
                    result.append(Step("alias", f"void* swap_{n} = @{a}@; @{a}@ = @{b}@; @{b}@ = swap_{n};", {a, b}))
            if self.edited(0.06) and len(live) > 1:  # another name for a tensor from there on
                t = self.random.choice(live)
                n = self.number()
                result.append(Step("alias", f"{self.tensors[t].type}* also_{n} = ({self.tensors[t].type}*)@{t}@;", {t}))
                result.append(Step("raw", self.pick(f"also_{n}[3] = 5;", f"total += also_{n}[2];", f"memset(also_{n}, 0, 9);"), {t}))
                self.helper("total")
                for later in steps[steps.index(step) + 1:]:
                    if later.kind == "call" and self.chance(0.5):
                        later.text = later.text.replace(f"@{t}@", f"also_{n}", 1)
                        later.uses.add(t)
                        later.kind = "bound call"
        if self.drives:
            self.helper("finish")
            result.append(Step("raw", "finish();"))
        while self.edited(0.35):
            result.append(self.statement(live))
        return result

    # --- around calls

    def wrap(self, steps: list[Step]) -> list[Step]:
        result = []
        for step in steps:
            if step.kind not in ("call", "bound call") or not self.edited(0.15):
                result.append(step)
                continue
            n = self.number()
            bound = step.kind == "bound call"
            kind = self.random.randint(0, 9)
            check = self.check(step.text, "return -1;", step.can_fail)
            is_simple = "\n" not in check
            if kind == 0:
                text = f"for (int32_t k_{n} = 0; k_{n} < 2; ++k_{n}) {{\n  {check}\n}}"
            elif kind == 1:
                self.helper("enabled")
                text = f"if (enabled) {{\n  {check}\n}}"
            elif kind == 2:
                text = f"{check}\n  {self.check(step.text, 'return -1;', step.can_fail)}"
            elif kind == 3:
                text = f"#if 1\n  {check}\n#endif"
            elif kind == 4:
                text = f"#ifndef NO_RUN_{n}\n  {check}\n#else\n  return -3;\n#endif"
            elif kind == 5:
                self.helper("now"), self.helper("log_value")
                text = f"{{\n  uint32_t begun = now();\n  {check}\n  log_value((int)(now() - begun));\n}}"
            elif kind == 6:
                self.helper("now"), self.helper("log_value")
                text = f"uint32_t t{n} = now();\n  {check}\n  log_value((int)(now() - t{n}));"
            elif kind == 7:
                self.helper("enabled")
                text = f"if (!enabled) return 0;\n  {check}"
            elif kind == 8:
                text = f"int32_t tries_{n} = 2;\n  while (tries_{n}-- > 0) {{\n  {check}\n  }}"
            elif self.chance(0.8):
                text = check
            else:
                self.helper("seen")
                text = f"switch (seen % 2) {{\n  default:\n  {check}\n  }}" if is_simple else check
            result.append(Step("alias" if bound else "raw", text, step.uses, rc="@rc@" in text))
        return result

    def macro(self, name: str) -> str:
        rc = self.pick("rc", "status", "ret", "x", "t")
        log = self.pick("", "log_value((int)%s); " % rc, "seen += %s; " % rc)
        texts = {
            "CHECK": [f"#define CHECK(c) do {{ int32_t {rc} = (c); if ({rc} != 0) {{ {log}return {rc}; }} }} while (0)", "#define CHECK(c) if ((c) != 0) return -1",
                      "#define CHECK(c) do { if (c) return -1; } while (0)", "#define CHECK(c) if (!(c)) {} else return -2",
                      f"#define CHECK(c) {{ const int {rc} = c; if ({rc}) {{ {log}return -1; }} }}",
                      "#ifdef NEVER\n#define CHECK(c) (void)(c)\n#else\n#define CHECK(c) do { if ((c) != 0) return -1; } while (0)\n#endif"],
            "RUN": [f"#define RUN(label, ...) do {{ uint32_t begun = now(); if ((__VA_ARGS__) != 0) return -1; log_value((int)(now() - begun)); (void)label; }} while (0)",
                    "#define RUN(label, c) do { if ((c) != 0) { log_value((int)sizeof(label)); return -1; } } while (0)",
                    f"#define RUN(label, c) int32_t label##_rc = (c); if (label##_rc != 0) return label##_rc"],
            "OK": ["#define OK 0", "#define OK (0)", "enum { OK = 0 };"],
            "FAILED": ["#define FAILED(c) ((c) != 0)", "#define FAILED(c) (c)", "#define FAILED(c) (seen++, (c) != 0)"],
            "unlikely": ["#define unlikely(c) __builtin_expect(!!(c), 0)", "#define unlikely(c) (c)"],
            "CALL": ["#define CALL(f, ...) f(__VA_ARGS__)", "#define CALL(f, a, ...) f(a, __VA_ARGS__)"],
        }
        if name not in self.helpers:
            text = self.random.choice(texts[name])
            for word in ("log_value", "now", "seen"):
                if word in text:
                    self.helper(word)
            self.helpers[name] = text
        return name

    def check(self, call: str, fail: str, can_fail: bool) -> str:
        """A call that is checked. @rc@ is the entry's variable."""
        if not self.edited(0.6):
            return f"if ({call} != 0 ) {fail}"
        self.helper("log_value"), self.helper("seen")
        n = self.number()
        rc = "@rc@"
        plain = [
            f"if ({call} != 0) {{\n    {fail}\n  }}", f"if ({call}) {fail}", f"{{ int32_t rc = {call}; if (rc != 0) {fail} }}",
            f"int32_t rc_{n} = {call};\n  if (rc_{n}) {{ {fail} }}", f"{rc} = {call};\n  if ({rc} != 0) {fail}", f"if (({rc} = {call}) != 0) {fail}",
            f"if (({rc} = {call})) {{ log_value({rc}); {fail} }}", f"if ({call} != 0) {{ log_value({n}); {fail} }}",
            f"if ({call} != 0)\n  {{\n    seen = 0;\n    {fail}\n  }}", f"{{ int8_t rc = (int8_t){call}; if (rc) return rc; }}",
            f"int32_t e_{n} = {call};\n  if (e_{n} != 0) {{ log_value(e_{n}); return e_{n}; }}", f"{rc} = {call};\n  if ({rc}) return {rc};",
        ]
        # What is refused, or is not what it looks like.
        odd = [
            lambda: f"if (0 != {call}) {{ {fail} }}", lambda: f"if (!({call} == 0)) {fail}", lambda: f"if (({call}) != 0) {fail}",
            lambda: f"do {{ if ({call} != 0) {fail} }} while (0);", lambda: f"if ({call} == 0) {{ seen++; }} else {{ {fail} }}",
            lambda: f"if ({call}) {{ log_value({n}); {fail} }} else {{ seen += 2; }}", lambda: f"const int32_t failed_{n} = ({call} != 0);\n  if (failed_{n}) {fail}",
            lambda: f"{rc} = {call};\n  seen += 3;\n  if ({rc}) {{ {fail} }}", lambda: f"(void){call};", lambda: f"{call};", lambda: f"if (seen++, {call}) {fail}",
            lambda: f"if ({call} && 1) {fail}", lambda: f"while ({call}) {fail}", lambda: f"switch ({call}) {{ case 0: break; default: {fail} }}",
            lambda: f"{rc} = {call} ? -1 : 0;\n  if ({rc}) {fail}", lambda: f"if ({call} < 0) {fail}", lambda: f"if ({call} > 0) {fail}", lambda: f"seen += {call};",
            lambda: f"{rc} |= {call};\n  if ({rc}) {fail}", lambda: f"if ({call} == 1) {fail}", lambda: f"if ({call} != -1) {{ }} else {fail}",
            lambda: f"uint8_t small_{n} = (uint8_t){call};\n  if (small_{n}) {fail}", lambda: f"if ({self.helper('enabled')} && {call}) {fail}",
            lambda: f"if ({call}) seen--;", lambda: f"if ({call} != 0) log_value({n});", lambda: f"if ({rc} == 0) {rc} = {call};\n  if ({rc}) {fail}",
            lambda: f"{self.macro('CHECK')}({call});", lambda: f"{self.macro('CHECK')}({call} != 0);",
            lambda: f"{self.macro('RUN')}({'conv_%d' % n if '##' in self.helpers.get(self.macro('RUN'), '') else chr(34) + 'l' + chr(34)}, {call});",
            lambda: f"if ({call} != {self.macro('OK')}) {fail}", lambda: f"if ({self.macro('FAILED')}({call})) {fail}",
            lambda: f"if ({self.macro('unlikely')}({call} != 0)) {{ {fail} }}", lambda: f"if ({self.macro('CALL')}({call.replace('(', ', ', 1)} != 0) {fail}",
        ]
        return self.random.choice(odd)() if self.chance(0.05) else self.random.choice(plain)

    # --- storage

    def place(self, steps: list[Step]) -> None:
        """Offsets in the pool, as TVM plans them."""
        live: dict[int, tuple[int, int]] = {}
        for i, step in enumerate(steps):
            for one in step.uses:
                live[one] = (min(live.get(one, (i, i))[0], i), i)
        self.offsets: dict[int, int] = {}
        size = 0
        for one in sorted(live, key=lambda t: live[t][0]):
            if one < 2:
                continue
            at = 0
            while any(live[other][0] <= live[one][1] and live[one][0] <= live[other][1] and at < self.offsets[other] + self.tensors[other].bytes
                      and self.offsets[other] < at + self.tensors[one].bytes for other in self.offsets):
                at += 16
            self.offsets[one] = at
            size = max(size, at + self.tensors[one].bytes)
        self.operators = [text.replace("SCRATCH", str(size)) for text in self.operators]
        self.pool_size = size + 64

    def with_storage(self, steps: list[Step]) -> list[Step]:
        """With the statements that get and give back tensors."""
        first: dict[int, int] = {}
        for i, step in enumerate(steps):
            for one in step.uses:
                first.setdefault(one, i)
        allocs: dict[int, list[Step]] = {}
        in_front = self.chance(0.6)
        frees: list[Step] = []
        order = sorted((one for one in first if one > 1), key=lambda one: first[one])
        if self.chance(0.3):
            self.random.shuffle(order)
            in_front = True
        lists: list[int] = []
        for one in order:
            tensor = self.tensors[one]
            at = 0 if in_front else first[one]
            star = f"{tensor.declared_type}*"
            cast = f"({tensor.declared_type}*)" if tensor.declared_type != "void" else ""
            if tensor.storage in ("static", "local"):
                word = "static " if tensor.storage == "static" else ""
                allocs.setdefault(at, []).append(Step("alias", f"{word}{tensor.type} {tensor.name}[{SIZE}];", {one}, tensor=one))
                if not word and self.planned:
                    allocs[at][-1].text = f"{tensor.type} {tensor.name}[{SIZE}] = {{0}};"
                continue
            if tensor.storage == "file static":
                self.file_middle.append(f"static {tensor.type} {tensor.name}[{SIZE}];")
                continue
            if tensor.storage == "struct":
                self.file_middle.append(f"static struct {{ int32_t used; {tensor.type} data[{SIZE}]; }} store_{one};")
                tensor.name = f"store_{one}.data"
                continue
            if self.planned:
                value = self.pick(*[f"(&(global_workspace_0_var[{self.offsets[one]}]))"] * 3, f"&global_workspace_0_var[{self.offsets[one]}]",
                                  f"(global_workspace_0_var + {self.offsets[one]})") if self.edited(0.5) else f"(&(global_workspace_0_var[{self.offsets[one]}]))"
            else:
                value = f"TVMBackendAllocWorkspace(1, 0, (uint64_t){tensor.bytes}, 0, 8)"
            if self.planned and tensor.declared_type not in ("void", "uint8_t"):
                cast = f"({tensor.declared_type}*)"
            if tensor.storage == "list":
                where = self.pick("file", "entry")
                name = f"tensors_{one}"
                if where == "file":
                    self.file_middle.append(f"static void* {name}[2];")
                    text = f"{name}[1] = {value};"
                else:
                    text = f"void* {name}[2];\n  {name}[1] = {value};"
                tensor.name = f"{name}[1]"
                allocs.setdefault(at, []).append(Step("alias" if where == "entry" else "raw", text, {one}, tensor=one))
                lists.append(one)
            elif tensor.in_file:
                kind = self.pick("static", "static", "static", "plain", "struct", "null")
                if kind == "struct":
                    self.file_middle.append(f"static struct {{ {star} data; int used; }} hold_{one};")
                    tensor.name = f"hold_{one}.data"
                elif kind == "plain":
                    self.file_middle.append(f"{star} {tensor.name};")
                else:
                    self.file_middle.append(f"static {star} {tensor.name}{' = NULL' if kind == 'null' else ''};")
                allocs.setdefault(at, []).append(Step("raw", f"@{one}@ = {cast}{value};", {one}, tensor=one))
            else:
                space = self.pick("* ", " *", "* const ", "*", " * ") if self.edited(0.2) else "* "
                allocs.setdefault(at, []).append(Step("alloc", f"{tensor.declared_type}{space}{tensor.name} = {cast}{value};", {one}, tensor=one))
            if not self.planned:
                if tensor.check:
                    check = self.pick("if (@%d@ == NULL) {\n    return -1;\n  }", "if (@%d@ == NULL) return -1;", "if (!@%d@) return -1;", "if (NULL == @%d@) return -2;") % one
                    allocs[at][-1].text += "\n  " + check
                free = f"TVMBackendFreeWorkspace(1, 0, @{one}@)"
                frees.append(Step("raw", f"if ({free} != 0) {{\n    return -1;\n  }}" if not self.edited(0.2) else
                                  self.pick(f"if ({free}) return -1;", f"(void){free};", f"{free};"), {one}))
        frees.reverse()
        result: list[Step] = []
        for i, step in enumerate(steps):
            result += allocs.get(i, [])
            result.append(step)
        return result + frees

    # --- functions of the entry

    def is_in_entry(self, tensor: Tensor) -> bool:
        return tensor.storage == "list" and not any(tensor.name.split("[")[0] in text for text in self.file_middle)

    # --- text

    def render(self, steps: list[Step], fail: str, mapping: dict[int, str]) -> str:
        """Lines of these steps, by the names of the place."""
        lines: list[str] = []
        for i, step in enumerate(steps):
            if step.kind in ("call", "bound call"):
                rest = steps[i + 1:]
                call = step.text
                if rest and rest[0].kind == "call" and self.edited(0.02):
                    lines.append(f"  if ({call} != 0 || {rest[0].text} != 0) {fail}")
                    rest[0] = steps[i + 1] = Step("raw", "", rest[0].uses)
                    continue
                lines.append("  " + self.check(call, fail, step.can_fail))
            elif step.text:
                text = step.text
                if fail != "return -1;":
                    text = text.replace("return -1;", fail)
                if text.startswith("#"):
                    lines.append(text)
                else:
                    lines.append("  " + text)
        return self.named("\n".join(lines), mapping)

    def named(self, text: str, mapping: dict[int, str]) -> str:
        def name(match: re.Match[str]) -> str:
            one = int(match.group(1))
            return mapping.get(one, self.tensors[one].name)
        text = re.sub(r"@(\d+)@", name, text)
        return text.replace("@pool@", "global_workspace_0_var")

    def entry(self) -> str:
        x, y = self.tensors[:2]
        params = [f"{x.declared_type}* {x.name}", f"{y.declared_type}* {y.name}"]
        if self.planned:
            params.append("uint8_t* global_workspace_0_var")
        body = self.render(self.steps, "return -1;", {})
        rc = ""
        if "@rc@" in body:
            rc = f"  int32_t {self.rc_name}{' = 0' if self.chance(0.9) or '|=' in body or '== 0)' in body else ''};\n"
            body = body.replace("@rc@", self.rc_name)
        front = ""
        if self.edited(0.1):
            front = f"  if ({x.name} == NULL) return -9;\n"
        end = "  return 0;\n"
        if self.edited(0.1):
            end = self.pick("  return (0);\n", "  return 0;\n", "  return 0 ;\n")
        return EXTERN + f"TVM_DLL int32_t tvmgen_m___tvm_main__({', '.join(params)}) {{\n{rc}{front}{body}\n{end}}}\n"

    def files(self) -> dict[str, str]:
        entry = self.entry()
        macros = [text for name, text in self.helpers.items()]
        order = sorted(macros, key=lambda text: 0 if re.match(r"(static )?(volatile )?(const )?(int|void\*|uint32_t|void|const void\*|static void\*|volatile int) \*?\w+( = 1)?(;|\()", text) and "{" not in text
                       else 1)
        helpers = "\n".join(order) + "\n"
        device = "int32_t device(int32_t n);\n"
        middle = self.file_middle[:]
        if self.edited(0.2):
            self.random.shuffle(middle)
        middle_text = "\n".join(middle) + "\n"
        files = {"tvmgen_m.h": kept_c.HEADER.replace("4096", "65536")}
        entry_file = kept_c.planned_entry(self.pool_size) if self.planned else kept_c.unplanned_entry()
        entry_file = entry_file.replace("#endif\n;\n", "#endif\n")
        head = HEAD
        if self.chance(0.3) and not self.externs:
            headers = "".join(f"#include <{one}>\n" for one in ("stdint.h",))
            files["trace.h"] = f"#ifndef TRACE_H\n#define TRACE_H\n{headers}{helpers}#endif\n"
            head += '#include "trace.h"\n'
            helpers = ""
        operators = self.operators[:]
        if self.chance(0.3):
            self.random.shuffle(operators)
        if self.chance(0.5):
            files["m_lib1.c"] = head + device + helpers + "".join(operators) + middle_text + entry
        elif self.chance(0.5):
            files["m_lib1.c"] = head + device + helpers + middle_text + "".join(operators) + entry
        else:  # operators in a file of their own
            prototypes = "".join(re.search(r"TVM_DLL (int32_t tvmgen_\w+\([^)]*\))", text).group(1) + ";\n" for text in operators)
            files["m_lib1.c"] = head + prototypes + helpers + middle_text + entry
            files["m_lib2.c"] = HEAD + device + "".join(operators)
        files["m_lib0.c"] = entry_file
        if self.one_file and "m_lib2.c" not in files:
            files["m_lib1.c"] += re.sub(r"TVM_DLL int32_t tvmgen_m___tvm_main__.*\n", "", entry_file)
            del files["m_lib0.c"]
        return files

    @property
    def firmware(self) -> str:
        text = FIRMWARE
        if self.calls_entry:
            x, y = (self.tensors[i].declared_type for i in range(2))
            text = text.replace("EXTERNS", f"int32_t tvmgen_m___tvm_main__({x}* from, {y}* to);\nEXTERNS").replace(
                "tvmgen_m_run(&inputs, &outputs)", "tvmgen_m___tvm_main__(inputs.x, outputs.y)")
        return text.replace("EXTERNS", "\n".join(self.externs)).replace("PRINTS", "\n    ".join(self.prints))
