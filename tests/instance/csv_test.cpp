// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CSV of instances: buffers that are read, every mistake with its place, columns that are written.
#include "usmp/instance/csv.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/instance/limits.hpp"
#include "usmp/support/error.hpp"

namespace usmp::instance::csv_test {

using instance::csv_with_offsets;
using instance::CsvInstance;
using instance::parse_csv;

namespace {

// What a bad file is told: "PLACE: message".
std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_csv(text));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

const std::string header = "id,lower,upper,size\n";

}  // namespace

TEST_CASE("a row is a buffer in one pool without bound") {
  const Problem problem = parse_csv(header + "a,0,2,32\nb,1,4,16\n").problem;
  REQUIRE(problem.pools.size() == 1);
  CHECK(problem.pools[0].name == "pool");
  CHECK_FALSE(problem.pools[0].capacity.has_value());
  REQUIRE(problem.buffers.size() == 2);
  CHECK(problem.horizon == 4);
  const Buffer& buffer = problem.buffers[1];
  CHECK(buffer.name == "b");
  CHECK(buffer.size == 16);
  CHECK(buffer.alignment == 1);
  CHECK(buffer.live == std::vector<LiveRange>{{1, 4}});
  CHECK(buffer.candidates == std::vector{PoolId(0)});
  CHECK_FALSE(buffer.pinned.has_value());
}

TEST_CASE("columns stand in any order; offsets pin, empty ones do not") {
  const Problem problem = parse_csv("offset,size,alignment,upper,lower,id\n64,32,16,2,0,a\n,16,8,4,1,b\n").problem;
  REQUIRE(problem.buffers.size() == 2);
  CHECK(problem.buffers[0].pinned == 64);
  CHECK(problem.buffers[0].alignment == 16);
  CHECK(problem.buffers[0].size == 32);
  CHECK_FALSE(problem.buffers[1].pinned.has_value());
  CHECK(problem.buffers[1].live == std::vector<LiveRange>{{1, 4}});
}

TEST_CASE("the column end is inclusive") {
  const Problem problem = parse_csv("id,lower,end,size\na,3,3,8\nb,0,9,8\n").problem;
  CHECK(problem.buffers[0].live == std::vector<LiveRange>{{3, 4}});
  CHECK(problem.buffers[1].live == std::vector<LiveRange>{{0, 10}});
  CHECK(problem.horizon == 10);
}

TEST_CASE("rows of one id are live ranges of one buffer, joined where they touch") {
  const CsvInstance read = parse_csv(
      "id,lower,upper,size,offset\n"
      "a,8,9,32,\n"
      "b,0,9,16,\n"
      "a,0,2,32,0\n"
      "a,2,3,32,\n");
  REQUIRE(read.problem.buffers.size() == 2);
  CHECK(read.problem.buffers[0].live == std::vector<LiveRange>{{0, 3}, {8, 9}});
  CHECK(read.problem.buffers[0].pinned == 0);
  CHECK(read.rows == std::vector{BufferId(0), BufferId(1), BufferId(0), BufferId(0)});
}

TEST_CASE("quotes, CR LF, empty lines, a byte order mark and a missing line end") {
  const Problem problem =
      parse_csv("\xEF\xBB\xBF\"id\",lower,upper,size\r\n\r\n\"a,\"\"b\"\"\nc\",0,\"2\",32\r\nd,1,2,3").problem;
  REQUIRE(problem.buffers.size() == 2);
  CHECK(problem.buffers[0].name == "a,\"b\"\nc");
  CHECK(problem.buffers[0].size == 32);
  CHECK(problem.buffers[1].name == "d");
  CHECK(problem.buffers[1].size == 3);
  CHECK(parse_csv(header).problem.buffers.empty());
  CHECK(parse_csv(header + "a,0,1,1\r").problem.buffers.size() == 1);
}

TEST_CASE("every mistake is told with its place") {
  const std::string range = ", expected an integer from 0 to 9223372036854775807";
  const std::string columns = ", expected id,lower,upper,size[,alignment][,offset]";
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "line 1: found nothing, expected a row that names the columns"},
      {"\n\n", "line 1: found nothing, expected a row that names the columns"},
      {"id,lower,upper\n", "line 1: no column 'size'" + columns},
      {"id,lower,size\n", "line 1: no column 'upper' (or 'end')" + columns},
      {"\nid,lower,upper,sise\n", "line 2: unknown column 'sise' (did you mean 'size'?)" + columns},
      {"id,lower,upper,size,gaps\n", "line 1: unknown column 'gaps'" + columns},
      {"id,lower,upper,size,id\n", "line 1: column 'id' appears twice"},
      {"id,lower,upper,end,size\n", "line 1: found both 'upper' and 'end', expected one of them"},
      {header + "a,0,2\n", "line 2: found 3 fields, expected 4 as in the first row"},
      {header + "a,0,2,3,4\n", "line 2: found 5 fields, expected 4 as in the first row"},
      {header + "\na,x,2,32\n", "line 3, column 'lower': found 'x'" + range},
      {header + "a,0,,32\n", "line 2, column 'upper': found nothing" + range},
      {header + "a,0, 2,32\n", "line 2, column 'upper': found ' 2'" + range},
      {header + "a,0,2,-1\n", "line 2, column 'size': found '-1'" + range},
      {header + "a,0,2,1.5\n", "line 2, column 'size': found '1.5'" + range},
      {header + "a,0,2,+1\n", "line 2, column 'size': found '+1'" + range},
      {header + "a,-1,2,1\n", "line 2, column 'lower': found '-1'" + range},
      {header + "a,0,2,9223372036854775808\n", "line 2, column 'size': found '9223372036854775808'" + range},
      {header + "a,0,2,\"\x1b[31m1\"\n", "line 2, column 'size': found '?[31m1'" + range},
      {header + "a,0,2," + std::string(50, '1'),
       "line 2, column 'size': found '" + std::string(40, '1') + "...'" + range},
      {header + ",0,2,1\n", "line 2, column 'id': found nothing, expected a name"},
      {header + "a,2,2,1\n", "line 2, column 'upper': found 2, expected more than lower, 2"},
      {"id,lower,end,size\na,3,2,1\n", "line 2, column 'end': found 2, expected no less than lower, 3"},
      {"id,lower,end,size\na,3,9223372036854775807,1\n",
       "line 2, column 'end': found 9223372036854775807, expected less"},
      {"id,lower,upper,size,alignment\na,0,1,1,0\n",
       "line 2, column 'alignment': found '0', expected an integer from 1 to 9223372036854775807"},
      {header + "a,0,1,8\nb,0,1,8\na,2,3,9\n",
       "line 4, column 'size': found 9, expected 8 as in line 2 of the same id"},
      {"id,lower,upper,size,offset\na,0,1,8,0\na,2,3,8,8\n",
       "line 3, column 'offset': found 8, expected 0 as in line 2 of the same id"},
      {"id,lower,upper,size,alignment\na,0,1,8,1\na,2,3,8,2\n",
       "line 3, column 'alignment': found 2, expected 1 as in line 2 of the same id"},
      {header + "a,4,8,8\na,0,5,8\n", "line 2: the live range overlaps another one of the same id, 'a'"},
      {header + "a,0,2,\"32\n", "line 2, column 7: the quote is never closed"},
      {header + "\"a\nb\"c,0,2,32\n",
       "line 3, column 3: found text after a quoted field, expected a comma or the end of the line"},
      {header + "a,0,2,3\"2\n",
       "line 2, column 8: found a quote inside a field, expected quotes around the whole field or none"},
      {header + "a,0,2,9223372036854775807\n", "the buffers need more than 72057594037927936 bytes in total"},
      {"id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n",
       "buffer 'b' is pinned to offset 2 of pool 'pool' and overlaps buffer 'a', pinned to offset 0 and live at the "
       "same time"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(fault_of(c.text) == c.message);
  }
}

TEST_CASE("a file that is too large is refused") {
  std::string text = header;
  text.resize(instance::max_text_bytes + 1, '\n');
  CHECK(fault_of(text) == "larger than 67108864 bytes");
  text = header;
  for (std::size_t i = 0; i <= instance::max_buffers; ++i) text += "a,0,1,1\n";
  CHECK(fault_of(text) == "line 1000002: found more than 1000000 rows");
  CHECK(fault_of(header + std::string(999, ',')) == "line 2: found 1000 fields, expected 4 as in the first row");
  CHECK(fault_of(header + std::string(1000, ',')) == "line 2, column 1001: found more than 1000 fields");
}

TEST_CASE("offsets are written in a column of their own, rows and fields stay as they were") {
  const std::string text = "size,id,lower,upper\r\n\r\n32,\"a,1\",0,2\r\n16,b,01,4\r\n32,\"a,1\",6,7";
  const CsvInstance read = parse_csv(text);
  const Plan plan = {{{PoolId(0), 0}, {PoolId(0), 48}}};
  CHECK(csv_with_offsets(text, read, plan) ==
        "size,id,lower,upper,offset\n32,\"a,1\",0,2,0\n16,b,01,4,48\n32,\"a,1\",6,7,0\n");
}

TEST_CASE("a column of offsets is filled, and what is written is read back as the same buffers, pinned") {
  const std::string text = "id,offset,lower,upper,size\na,,0,2,32\nb,64,1,4,16\n";
  const CsvInstance read = parse_csv(text);
  const Plan plan = {{{PoolId(0), 7}, {PoolId(0), 64}}};
  const std::string written = csv_with_offsets(text, read, plan);
  CHECK(written == "id,offset,lower,upper,size\na,7,0,2,32\nb,64,1,4,16\n");
  const Problem again = parse_csv(written).problem;
  CHECK(again.buffers[0].pinned == 7);
  CHECK(again.buffers[0].live == read.problem.buffers[0].live);
  CHECK(csv_with_offsets(written, parse_csv(written), plan) == written);
}

TEST_CASE("many live ranges of one buffer, last first, are read in time") {
  std::string text = header;
  constexpr int count = 200000;
  for (int i = count; i > 0; --i) {
    text += "a," + std::to_string(2 * i) + "," + std::to_string(2 * i + 1) + ",8\n";
  }
  CHECK(parse_csv(text).problem.buffers.at(0).live.size() == count);
}

}  // namespace usmp::instance::csv_test
