#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Where the runner of faults finds texts: any file, any whitespace, the function that is named."""
import pathlib
import tempfile
import unittest

import places

SOURCE = """
namespace n {
struct Pair {
  Pair(int a, int b) : a_{a}, b_{b} { count(a == b); }
  int first() const { return at( 0 ); }
};
template <class T>
int Range<T>::first(const std::vector<T>& of,
                    int otherwise) {
  const auto brace = '{';  // "}"
  const auto pick = [&](int i) { return of[i] == brace; };
  if (of.empty()) {
    return at(
        0);
  }
  return pick(first_of(1));
}
}
"""


class Places(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for name in ("src/one/a.cpp", "src/two/sub/b.cpp", "apps/c.cpp"):
            path = pathlib.Path(directory.name, name)
            path.parent.mkdir(parents=True)
            path.write_text(SOURCE if name.endswith("a.cpp") else f"int {path.stem}_only();\n", encoding="utf-8")
        self.tree = places.Tree(pathlib.Path(directory.name))

    def mutate(self, old, **options):
        file, text = self.tree.mutate({"old": old, "new": "NEW", **options})
        return file.name, text

    def test_any_file(self):
        self.assertEqual(self.mutate("b_only ( )"), ("src/two/sub/b.cpp", "int NEW;\n"))
        self.assertEqual(self.mutate(" c_only"), ("apps/c.cpp", "int NEW();\n"))

    def test_a_space_is_not_a_part_of_a_word(self):
        with self.assertRaisesRegex(places.NotFound, "0 times"):
            self.mutate(" only()")
        with self.assertRaisesRegex(places.NotFound, "0 times"):
            self.mutate("intb_only")

    def test_functions(self):
        with self.assertRaisesRegex(places.NotFound, r"2 times, not once.*a\.cpp:5, .*a\.cpp:13"):
            self.mutate("return at(0);")
        self.assertIn("first() const { NEW }", self.mutate("return at(0);", **{"in": "Pair::first"})[1])
        self.assertIn("    NEW\n  }", self.mutate("return at(0);", **{"in": "Range::first"})[1])
        self.assertIn("{ NEW; };", self.mutate("return of[i] == brace", **{"in": "pick"})[1])
        self.assertIn("{ NEW(a == b); }", self.mutate("count", **{"in": "Pair"})[1])
        for name in ("first_of", "at", "if", "Range"):
            with self.assertRaisesRegex(places.NotFound, "0 times in " + name):
                self.mutate("return at(0);", **{"in": name})


if __name__ == "__main__":
    unittest.main()
