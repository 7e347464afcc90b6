// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Memory that readers take stays in proportion to what they read: files of very many small parts, which have the most
// to hold for each byte, against a factor each. The heap is counted by operator new, which all of the program's own
// memory comes from.
#include <malloc.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/instance/csv.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/tir_json/reader.hpp"

using namespace usmp;

namespace {

std::size_t used = 0;
std::size_t peak = 0;

}  // namespace

void* operator new(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  used += malloc_usable_size(block);
  peak = std::max(peak, used);
  return block;
}
void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  used -= malloc_usable_size(block);
  std::free(block);
}
void operator delete(void* block, std::size_t /*size*/) noexcept { operator delete(block); }

namespace {

constexpr std::size_t text_bytes = 2'000'000;

// `part` again and again, with "#" replaced by a number, between a beginning and an end.
std::string repeated(const std::string& front, const std::string& part, const std::string& back,
                     std::size_t bytes = text_bytes) {
  std::string text = front;
  text.reserve(bytes + 1000);
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    for (const char c : part) {
      if (c == '#') {
        text += std::to_string(i);
      } else {
        text += c;
      }
    }
  }
  // Lists end without the comma.
  if (text.back() == ',') text.pop_back();
  return text + back;
}

struct Case {
  std::string name;
  std::string text;
  std::function<void(const std::string&)> read;
  double most;  // bytes of heap for each byte of text
};

void read_tir(const std::string& text) {
  fuzz::accepts({ErrorKind::archive}, [&] { (void)liveness::analyse(tir_json::read_module(text)); });
}

void read_metadata(const std::string& text) {
  mlf::Archive archive;
  archive.members.push_back({.name = "metadata.json", .bytes = text});
  fuzz::accepts({ErrorKind::archive}, [&] { (void)mlf::read_metadata(archive); });
}

template <class Read>
std::function<void(const std::string&)> usage(const Read& read) {
  return [read](const std::string& text) { fuzz::accepts({ErrorKind::usage}, [&] { (void)read(text); }); };
}

// A module whose entry is a list of as many statements as the text holds.
std::string statements() {
  const std::string front =
      R"({"root":1,"nodes":[{"type_key":""},{"type_key":"IRModule","attrs":{"functions":"2","attrs":"0"}},)"
      R"({"type_key":"Map","data":[3,5]},{"type_key":"GlobalVar","attrs":{"name_hint":"4"}},)"
      R"({"type_key":"runtime.String","repr_str":"__tvm_main__"},)"
      R"({"type_key":"tir.PrimFunc","attrs":{"params":"0","body":"6","buffer_map":"0","attrs":"0"}},)"
      R"({"type_key":"tir.SeqStmt","attrs":{"seq":"7"}},{"type_key":"Array","data":[)";
  const std::string back =
      R"(]},{"type_key":"tir.Call","attrs":{"op":"9","args":"10","dtype":"int32"}},{"type_key":"Op","repr_str":"tir.f"},)"
      R"({"type_key":"Array"},{"type_key":"tir.Evaluate","attrs":{"value":"8"}}],"b64ndarrays":[],"attrs":{}})";
  return repeated(front, "11,", back);
}

std::vector<Case> cases() {
  const auto csv = usage([](const std::string& text) { return instance::parse_csv(text); });
  const auto problem = usage([](const std::string& text) { return instance::parse_problem(text); });
  const auto plan = usage([](const std::string& text) { return plan_file::parse_plan_document(text); });
  const auto pools = [](const std::string& text) {
    fuzz::accepts({ErrorKind::usage}, [&] { (void)config::parse_pools(text); });
  };
  const std::string nodes = R"({"root":0,"b64ndarrays":[],"attrs":{},"nodes":[)";
  return {
      {"CSV, rows", repeated("id,lower,upper,size\n", "#,0,1,1\n", ""), csv, 60},
      {"CSV, live ranges", repeated("id,lower,upper,size\n", "a,#,#9,1\n", ""), csv, 60},
      {"problem, buffers",
       repeated(R"({"format":"usmp-plan/problem","version":1,"horizon":9,"pools":[{"name":"a"}],"buffers":[)",
                R"({"id":#,"size":1,"candidates":["a"],"live":[]},)", "]}"),
       problem, 60},
      {"problem, live ranges",
       repeated(R"({"format":"usmp-plan/problem","version":1,"horizon":9999999,"pools":[{"name":"a"}],"buffers":[)"
                R"({"id":0,"size":1,"candidates":["a"],"live":[)",
                "[1,2],", "]}]}"),
       problem, 60},
      {"plan, buffers",
       repeated(R"({"schema":"usmp-plan/plan","schema_version":2,"module":"m","buffers":[)",
                R"({"name":"a","function":"f","size":1,"pool":null},)", "]}"),
       plan, 60},
      {"plan, empty lists", repeated(R"({"schema":[)", "[],", "]}"), plan, 60},
      {"metadata.json, empty objects", repeated("[", "{},", "]"), read_metadata, 60},
      {"pools file, list entries", repeated("workspace_pools:\n", "- a\n", "", 1'000'000), pools, 80},
      {"TIR JSON, empty nodes", repeated(nodes, R"({"type_key":""},)", "]}"), read_tir, 60},
      {"TIR JSON, strings", repeated(nodes, R"({"type_key":"a","repr_str":"b"},)", "]}"), read_tir, 60},
      {"TIR JSON, attributes", repeated(nodes + R"({"type_key":"a","attrs":{)", R"("#":"",)", "}}]}"), read_tir, 60},
      {"TIR JSON, indices", repeated(nodes + R"({"type_key":"Array","data":[)", "0,", "]}]}"), read_tir, 60},
      {"TIR JSON, keys", repeated(nodes + R"({"type_key":"Map","keys":[)", R"("",)", "]}]}"), read_tir, 60},
      {"TIR JSON, blobs", repeated(R"({"b64ndarrays":[)", R"("",)", "]}"), read_tir, 60},
      {"TIR JSON, statements", statements(), read_tir, 120},
  };
}

}  // namespace

int main() {
  bool holds = true;
  std::printf("| text | bytes | heap bytes a byte | limit |\n|---|---|---|---|\n");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (const Case& c : cases()) {
    const std::size_t before = used;
    peak = used;
    c.read(c.text);
    const double factor = static_cast<double>(peak - before) / static_cast<double>(c.text.size());
    std::printf("| %s | %zu | %.1f | %.0f |%s\n", c.name.c_str(), c.text.size(), factor, c.most,
                factor <= c.most ? "" : " beyond its limit");
    holds = holds && factor <= c.most && factor > 0;
  }
  return holds ? 0 : 1;
}
