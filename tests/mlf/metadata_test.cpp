// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Metadata of all versions: what is read, every wrong member with its path, what is written back.
#include "usmp/mlf/metadata.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "mlf/tar_builder.hpp"

namespace usmp::mlf::metadata_test {
namespace {

using nlohmann::json;
using test::error_of;

Archive archive_of(std::vector<std::pair<std::string, std::string>> files) {
  Archive archive;
  archive.path = "a.tar";
  for (auto& [name, bytes] : files) archive.members.push_back({name, bytes, 0644});
  return archive;
}

// A module's entry of metadata.json, as TVM 0.12 writes it.
json module_entry() {
  return json::parse(R"({"executors": ["aot"], "model_name": "default", "style": "full-model", "target": ["c "],
    "memory": {"functions": {
      "main": [{"device": 1, "workspace_size_bytes": 100, "constants_size_bytes": 7, "io_size_bytes": 50,
                "inputs": {"x": {"dtype": "int8", "size": 4}}, "outputs": {"y": {"dtype": "float32", "size": 8}}}],
      "operator_functions": [{"function_name": "f", "workspace": [{"device": 1, "workspace_size_bytes": 64}]}]}}})");
}

json version_7(const json& entry, const std::string& name = "default") {
  return {{"version", 7}, {"modules", {{name, entry}}}};
}

std::string error_for(const json& document) {
  const std::string text = document.dump();
  return error_of([&] { (void)read_metadata(archive_of({{"metadata.json", text}})); });
}

std::string names(const std::vector<model::Tensor>& tensors) {
  std::string result;
  for (const model::Tensor& t : tensors) {
    result += t.name + ":" + t.dtype + ":" + (t.size ? std::to_string(*t.size) : "?") + " ";
  }
  return result;
}

TEST_CASE("version 7: every module, sorted, with its figures") {
  json document = version_7(module_entry(), "zeta");
  document["modules"]["alpha"] = module_entry();
  const Archive archive = archive_of({{"metadata.json", document.dump()}, {"src/zeta.tir.json", "{}"}});
  const Metadata metadata = read_metadata(archive);
  CHECK(metadata.version == 7);
  REQUIRE(metadata.modules.size() == 2);
  CHECK(metadata.modules[0].name == "alpha");
  CHECK(metadata.modules[0].tir_member.empty());
  CHECK(metadata.modules[1].name == "zeta");
  CHECK(metadata.modules[1].tir_member == "src/zeta.tir.json");
  CHECK(metadata.modules[1].workspace_bytes == 100);
  CHECK(names(metadata.modules[1].inputs) == "x:int8:4 ");
  CHECK(names(metadata.modules[1].outputs) == "y:float32:8 ");
  CHECK_FALSE(metadata.modules[1].packed_interface);
}

TEST_CASE("versions: 5 is flat, near ones are read as 5 or 7, others refused") {
  for (const int version : {1, 4, 5}) {
    json document = module_entry();
    document["version"] = version;
    document["model_name"] = "net";
    const Metadata metadata = read_metadata(archive_of({{"metadata.json", document.dump()}}));
    CHECK(metadata.version == 5);
    REQUIRE(metadata.modules.size() == 1);
    CHECK(metadata.modules[0].name == "net");
    CHECK(metadata.modules[0].workspace_bytes == 100);
  }
  json document = module_entry();
  document["version"] = 6;
  CHECK(read_metadata(archive_of({{"metadata.json", document.dump()}})).version == 7);
  document["version"] = 8;
  CHECK(error_for(document) == "a.tar: metadata.json: version: found version 8, expected 5 or 7");
  for (const json& wrong : {json("x"), json(-7), json(7.0), json(0), json(1e300), json::array({7})}) {
    document["version"] = wrong;
    CHECK(error_for(document) == "a.tar: metadata.json: version: found version " + wrong.dump() + ", expected 5 or 7");
  }
  document.erase("version");
  CHECK(error_for(document) == "a.tar: metadata.json: there is no \"version\", expected 5 or 7");
  document["version"] = 5;
  document.erase("model_name");
  CHECK(error_for(document) == "a.tar: metadata.json: there is neither \"modules\" nor \"model_name\"");
}

TEST_CASE("only whole models run ahead of time are plannable") {
  json entry = module_entry();
  entry["executors"] = {"graph"};
  CHECK(error_for(version_7(entry)) ==
        "a.tar: metadata.json: modules.default.executors: found \"graph\", expected \"aot\": the graph executor plans "
        "memory at run time; compile with --executor=aot");
  entry["executors"] = {"graph", "aot"};
  CHECK(error_for(version_7(entry)) == "no error");
  entry.erase("executors");
  CHECK(error_for(version_7(entry)) == "no error");
  entry["runtimes"] = {"graph"};
  CHECK(error_for(version_7(entry)).find("modules.default.runtimes: found \"graph\"") != std::string::npos);

  json operators = module_entry();
  operators["version"] = 7;
  operators["style"] = "operator";
  CHECK(error_for(operators) ==
        "a.tar: metadata.json: style: found style \"operator\", expected \"full-model\": only whole models can be "
        "planned");
}

TEST_CASE("a missing metadata.json: what there is, and what there should be") {
  CHECK(error_of([] {
          (void)read_metadata(archive_of({{"a", ""}, {"b/c", ""}}));
        }) ==
        "a.tar: metadata.json: missing; the archive contains 'a', 'b/c', expected a Model Library Format archive with "
        "metadata.json, codegen/ and src/ at its top");
  CHECK(error_of([] {
          (void)read_metadata(archive_of({{"m/metadata.json", ""}}));
        }).ends_with(" (there is 'm/metadata.json': was the archive packed from outside its directory?)"));
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 9; ++i) many.emplace_back(std::string("f").append(std::to_string(i)), "");
  CHECK(error_of([&] { (void)read_metadata(archive_of(many)); }).find("'f5' and 3 more, expected") !=
        std::string::npos);
}

TEST_CASE("malformed JSON is placed by line and column") {
  const auto error = [](const std::string& text) {
    return error_of([&] { (void)read_metadata(archive_of({{"metadata.json", text}})); });
  };
  CHECK(error("{\n  \"version\": 7,\n  oops}")
            .starts_with(
                "a.tar: metadata.json: line 3, column 3: malformed JSON: syntax error while parsing object key"));
  CHECK(error("").starts_with("a.tar: metadata.json: line 1, column 1: malformed JSON: "));
  CHECK(error("{\"version\": 1e999}").starts_with("a.tar: metadata.json: malformed JSON: "));
  CHECK(error("{\"a\": \"\xFF\"}").find("malformed JSON") != std::string::npos);
  CHECK(error("{\"modules\": {},\n \"modules\": {}}") ==
        "a.tar: metadata.json: line 2, column 2: the key 'modules' appears twice");
  CHECK(error("[]") == "a.tar: metadata.json: found a JSON array, expected an object");
  CHECK(error(std::string(100000, '[')) == "a.tar: metadata.json: nested more than 64 levels deep");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(error(objects) == "a.tar: metadata.json: nested more than 64 levels deep");
}

TEST_CASE("wrong types and ranges are named with their path") {
  const std::string in_main = "a.tar: metadata.json: modules.default.memory.functions.main";
  const auto with = [](const char* pointer, const json& value) {
    json document = version_7(module_entry());
    document[json::json_pointer(std::string("/modules/default/memory/functions") + pointer)] = value;
    return error_for(document);
  };
  const std::string bytes = ", expected a number of bytes (an integer from 0 to 9223372036854775807)";
  CHECK(with("/main/0/workspace_size_bytes", -1) == in_main + "[0].workspace_size_bytes: found -1" + bytes);
  CHECK(with("/main/0/workspace_size_bytes", 18446744073709551615U) ==
        in_main + "[0].workspace_size_bytes: found 18446744073709551615" + bytes);
  CHECK(with("/main/0/workspace_size_bytes", 1.5) == in_main + "[0].workspace_size_bytes: found 1.5" + bytes);
  CHECK(with("/main/0/inputs/x/size", "4") == in_main + "[0].inputs.x.size: found \"4\"" + bytes);
  CHECK(with("/main/0/inputs/x/dtype", 8) == in_main + "[0].inputs.x.dtype: found 8, expected a string");
  CHECK(with("/main/0/inputs", json::array()) == in_main + "[0].inputs: found a JSON array, expected an object");
  CHECK(with("/main", 3) == in_main + ": found 3, expected an array");
  CHECK(with("/main", json::array()) == "no error");
  CHECK(with("/main/0/workspace_size_bytes", nullptr) == "no error");
  CHECK(error_for({{"version", 7}, {"modules", json::object()}}) ==
        "a.tar: metadata.json: modules: there are no modules");
  CHECK(error_for({{"version", 7}, {"modules", {{"m", nullptr}}}}) ==
        "a.tar: metadata.json: modules: module \"m\" is null, expected an object");
  json executors = module_entry();
  executors["executors"] = {1};
  CHECK(error_for(version_7(executors)) ==
        "a.tar: metadata.json: modules.default.executors[0]: found 1, expected a string");
  for (const char* name : {"", "../x", "a/b", ".hidden", "a\nb"}) {
    CHECK(error_for(version_7(module_entry(), name)).find("cannot be part of a file name") != std::string::npos);
  }
  json many = json::object();
  for (int i = 0; i <= 100; ++i) many[std::string("m").append(std::to_string(i))] = module_entry();
  CHECK(error_for({{"version", 7}, {"modules", many}}) ==
        "a.tar: metadata.json: modules: more than 100 modules, the limit");
  many.erase("m100");
  CHECK(error_for({{"version", 7}, {"modules", many}}) == "no error");
}

TEST_CASE("metadata.json has a limit") {
  constexpr std::size_t limit = 16777216;
  std::string text = version_7(module_entry()).dump();
  text.resize(limit, ' ');
  const auto error = [&] { return error_of([&] { (void)read_metadata(archive_of({{"metadata.json", text}})); }); };
  CHECK(error() == "no error");
  text += ' ';
  CHECK(error() == "a.tar: metadata.json: has 16777217 bytes, expected at most 16777216");
}

TEST_CASE("the header decides the order of inputs and outputs; without one, numbers count as numbers") {
  json entry = module_entry();
  json& main = entry["memory"]["functions"]["main"][0];
  const auto tensor = [](int size) { return json{{"dtype", "int8"}, {"size", size}}; };
  main["outputs"] = {{"output10", tensor(10)}, {"output2", tensor(2)}, {"output1", tensor(1)}};
  main["inputs"] = {{"b:0", tensor(1)}, {"a/0", tensor(2)}, {"a.0", tensor(3)}, {"1st", tensor(4)}};
  const std::string metadata = version_7(entry, "my-net").dump();

  Archive archive = archive_of({{"metadata.json", metadata}});
  CHECK(names(read_metadata(archive).modules[0].outputs) == "output1:int8:1 output2:int8:2 output10:int8:10 ");

  archive.members.push_back({"codegen/host/include/tvmgen_my_net.h",
                             "/* struct tvmgen_my_net_inputs { void* wrong; }; */\n"
                             "struct tvmgen_my_net_inputs {\n  void* b_0; // first\n  void* a_0;\n  void* a_0;\n"
                             "  void* 1st;\n};\n"
                             "struct tvmgen_my_net_outputs { void* output10; void* output1; };\n"
                             "int32_t tvmgen_my_net_run(struct tvmgen_my_net_inputs* inputs);\n",
                             0644});
  const model::Description module = read_metadata(archive).modules[0];
  CHECK(names(module.inputs) == "b:0:int8:1 a.0:int8:3 a/0:int8:2 1st:int8:4 ");
  CHECK(names(module.outputs) == "output10:int8:10 output1:int8:1 output2:int8:2 ");
}

TEST_CASE("without tensors in metadata.json the header gives names, its macros sizes") {
  json entry = module_entry();
  entry["memory"]["functions"]["main"][0].erase("inputs");
  entry["memory"]["functions"]["main"][0].erase("outputs");
  const Archive archive = archive_of({{"metadata.json", version_7(entry).dump()},
                                      {"codegen/host/include/tvmgen_default.h",
                                       "#define TVMGEN_DEFAULT_X_2_SIZE 64\n#define TVMGEN_DEFAULT_X_10_SIZE (64)\n"
                                       "#  define TVMGEN_DEFAULT_OUT_SIZE 12 // bytes\n"
                                       "struct tvmgen_default_inputs { void* x_10; void* x_2; };\n"
                                       "struct tvmgen_default_outputs\n{ void *out; };\n"}});
  const model::Description module = read_metadata(archive).modules[0];
  CHECK(names(module.inputs) == "x_10::? x_2::64 ");
  CHECK(names(module.outputs) == "out::12 ");
}

TEST_CASE("updated figures change the figures and nothing else") {
  json document = version_7(module_entry());
  document["modules"]["other"] = module_entry();
  document["zzz"] = {{"kept", "\xC3\xA4"}};
  const Archive archive = archive_of({{"metadata.json", document.dump()}});
  const std::string text = updated_metadata(archive, {{"default", 4096, 512}});
  json expected = document;
  json& functions = expected["modules"]["default"]["memory"]["functions"];
  functions["main"][0]["workspace_size_bytes"] = 4096;
  functions["main"][0]["constants_size_bytes"] = 512;
  functions["operator_functions"][0]["workspace"][0]["workspace_size_bytes"] = 0;
  CHECK(json::parse(text) == expected);
  CHECK(text.starts_with("{\n  \"modules\": {\n    \"default\": {\n      \"executors\": [\n"));
  CHECK(text.find("\\u00e4") != std::string::npos);

  json flat = module_entry();
  flat["version"] = 5;
  const json updated = json::parse(updated_metadata(archive_of({{"metadata.json", flat.dump()}}), {{"default", 1, 2}}));
  CHECK(updated["memory"]["functions"]["main"][0]["workspace_size_bytes"] == 1);
  CHECK(updated["memory"]["functions"]["main"][0]["constants_size_bytes"] == 2);
  CHECK(updated["version"] == 5);

  json odd = version_7(module_entry());
  odd["modules"]["default"]["memory"]["functions"] = {{"main", 3}, {"operator_functions", {1, {{"workspace", "x"}}}}};
  const Archive odd_archive = archive_of({{"metadata.json", odd.dump()}});
  CHECK(json::parse(updated_metadata(odd_archive, {{"default", 1, 2}})) == odd);
}

TEST_CASE("TVM's own text of metadata.json comes back unchanged but for the figures") {
  const Archive archive = read_archive(USMP_TESTDATA "/ds_cnn.tar");
  const std::string before = archive.find("metadata.json")->bytes;
  const std::string after = updated_metadata(archive, {});
  CHECK(before == after);
}

model::Description described() {
  model::Description module;
  module.name = "net";
  module.inputs = {{.name = "x:0", .dtype = "int8", .size = 6, .shape = {{1, 2, 3}}, .quantization = {{0.1F, -128}}}};
  module.outputs = {{.name = "y", .dtype = "float32", .size = 8, .shape = {{2}}}};
  module.states = {{"b", "int16", std::string("\x00\xFF\x01\x00", 4)}, {"a", "int8", "7"}};
  return module;
}

TEST_CASE("new metadata is read as what it was made of") {
  const UnplannedFigures figures{.workspace_bytes = 100, .constants_bytes = 7, .workspace_of = {{"f", 64}}};
  const std::string text = new_metadata(described(), figures);
  const json main = json::parse(text)["modules"]["net"]["memory"]["functions"]["main"][0];
  CHECK(main["constants_size_bytes"] == 7);
  CHECK(main["io_size_bytes"] == 14);
  const Metadata metadata = read_metadata(archive_of({{"metadata.json", text}}));
  REQUIRE(metadata.modules.size() == 1);
  const model::Description& module = metadata.modules.front();
  CHECK(module.name == "net");
  CHECK(module.workspace_bytes == 100);
  CHECK(names(module.inputs) == "x:0:int8:6 ");
  CHECK(names(module.outputs) == "y:float32:8 ");
  CHECK(module.inputs[0].shape == described().inputs[0].shape);
  REQUIRE(module.inputs[0].quantization.has_value());
  CHECK(module.inputs[0].quantization->scale == 0.1F);
  CHECK(module.inputs[0].quantization->zero_point == -128);
  CHECK_FALSE(module.outputs[0].quantization.has_value());
  REQUIRE(module.states.size() == 2);
  CHECK(module.states[0].name == "b");
  CHECK(module.states[0].dtype == "int16");
  CHECK(module.states[0].initial == described().states[0].initial);
  CHECK(module.states[1].initial == "7");
}

TEST_CASE("numbers and states that contradict themselves") {
  json document = json::parse(new_metadata(described(), {}));
  json& main = document["modules"]["net"]["memory"]["functions"]["main"][0];
  json& state = main["state"][0];
  std::string place = "state[0]";
  std::string message;
  SUBCASE("no base64") {
    state["initial"] = "AP8BAA=";
    place += ".initial";
    message = "base64 text of 7 characters is cut off, expected a multiple of 4";
  }
  SUBCASE("another size") {
    state["size"] = 5;
    place += ".size";
    message = "found 5 bytes, expected the 4 bytes of \"initial\"";
  }
  SUBCASE("no type") {
    state.erase("dtype");
    message = "there is no \"dtype\"";
  }
  SUBCASE("a name that C has not") {
    state["name"] = "a-b";
    place += ".name";
    message = "found no C identifier";
  }
  SUBCASE("a scale of 0") {
    main["inputs"]["x:0"]["scale"] = 0;
    place = "inputs.x:0.scale";
    message = "expected a finite scale above 0";
  }
  SUBCASE("an endless scale") {
    main["inputs"]["x:0"]["scale"] = 1e300;
    place = "inputs.x:0.scale";
    message = "expected a finite scale above 0";
  }
  SUBCASE("a zero point that is none") {
    main["inputs"]["x:0"]["zero_point"] = 0.5;
    place = "inputs.x:0.zero_point";
    message = "found 0.5, expected an integer of 64 bits";
  }
  SUBCASE("a negative extent") {
    main["outputs"]["y"]["shape"] = {-2};
    place = "outputs.y.shape[0]";
    message = "found -2, expected an integer of at least 0";
  }
  CHECK(error_for(document) == "a.tar: metadata.json: modules.net.memory.functions.main[0]." + place + ": " + message);
}

}  // namespace
}  // namespace usmp::mlf::metadata_test
