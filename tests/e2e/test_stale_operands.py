#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Tests of stale_operands.py."""

import unittest

from stale_operands import stale_operands

STORE = "    red0[0] = ((v_) > (x) ? (v_) : (x));\n"


def c_of(*lines: str) -> str:
    return "int32_t f(int32_t* red0, int32_t* red1, int32_t x) {\n  for (int32_t i = 0; i < 4; ++i) {\n" + "".join(lines) + "  }\n  return 0;\n}\n"


class StaleOperands(unittest.TestCase):
    def test_used_after_the_store(self) -> None:
        again = "    red0[0] = ((v_) > (y) ? (v_) : (y));\n"
        self.assertEqual(stale_operands(c_of("    int32_t v_ = red0[0];\n", STORE, again)), [again.strip()])
        typed = "    int32_t v_ = ((int32_t*)red0)[0];\n"
        self.assertEqual(stale_operands(c_of(typed, STORE.replace("red0[0] =", "((int32_t*)red0)[0] ="), again)), [again.strip()])
        self.assertEqual(len(stale_operands(c_of("    int32_t v_ = red0[0];\n", STORE, "    int32_t w_ = (v_ + 1);\n"))), 1)

    def test_used_before_or_of_another(self) -> None:
        load = "    int32_t v_ = red0[0];\n"
        self.assertEqual(stale_operands(c_of(load, STORE)), [])
        self.assertEqual(stale_operands(c_of(load, STORE, load, STORE)), [])
        self.assertEqual(stale_operands(c_of(load, STORE.replace("red0[0] =", "red1[0] ="), STORE)), [])
        self.assertEqual(stale_operands(c_of("    int32_t v_ = (x * 2);\n", STORE, STORE)), [])

    def test_another_block(self) -> None:
        inner = "    {\n      int32_t v_ = red0[0];\n  " + STORE + "    }\n"
        self.assertEqual(stale_operands(c_of(inner, inner)), [])
        outer = "    int32_t v_ = red0[0];\n    {\n  " + STORE + "    }\n" + STORE
        self.assertEqual(len(stale_operands(c_of(outer))), 1)


if __name__ == "__main__":
    unittest.main()
