# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Finds the text that a fault replaces: in any source file, whatever its whitespace, once in the whole tree."""
import functools
import pathlib
import re

LITERAL_OR_COMMENT = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
FUNCTION = re.compile(r"((?:\w+(?:<[^<>()]*>)?::)*~?\w+|operator[^\w\s(]+|operator\(\))\s*\(")
LAMBDA = re.compile(r"(\w+)\s*=\s*\[")
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)")
NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "alignas", "requires", "decltype"}


class NotFound(Exception):
    """The text does not stand exactly once where it is looked for."""


def is_word(character):
    return character.isalnum() or character == "_"


@functools.lru_cache(maxsize=1)  # one text is looked for in many files
def squeeze(text):
    """The text without the whitespace that a formatter may change, and the position of each character that is left."""
    kept = []
    positions = []
    for match in re.finditer(r"\S+", text):
        word = match.group()
        if kept and is_word(kept[-1]) and is_word(word[0]):
            kept.append(" ")
            positions.append(match.start() - 1)
        kept += word
        positions += range(match.start(), match.end())
    return "".join(kept), positions


def blocks(text):
    """Every {…} of code as (begin of its head, end, head); a head is what stands between the statement before and the brace."""
    blank = LITERAL_OR_COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    blank = re.sub(r"^[ \t]*#[^\n]*", lambda found: " " * len(found.group()), blank, flags=re.MULTILINE)
    found = []
    open_blocks = []  # (begin of the head, place of the brace)
    begin = 0
    parentheses = 0
    enclosing_parentheses = []
    for place, character in enumerate(blank):
        if character in "([":
            parentheses += 1
        elif character in ")]":
            parentheses -= 1
        elif character == "{":
            open_blocks.append((begin, place))
            enclosing_parentheses.append(parentheses)
            begin, parentheses = place + 1, 0
        elif character == "}" and open_blocks:
            head, brace = open_blocks.pop()
            parentheses = enclosing_parentheses.pop()
            found.append((head, place + 1, blank[head:brace]))
            # A list in braces is a part of the head it stands in, as in a constructor's ": a_{a}, b_{b} {".
            begin = head if blank[place + 1:].lstrip()[:1] in (",", "{", ")", ".") else place + 1
        elif character == ";" and parentheses == 0:
            begin = place + 1
    return found


def name_of(head):
    """The function or lambda whose head this is, or None."""
    head = re.sub(r"^\s*template\s*<.*?>\s*(?=\w)", "", head, flags=re.DOTALL)
    function = FUNCTION.search(head)
    lambda_ = LAMBDA.search(head)
    if lambda_ and (not function or lambda_.start() < function.start()):
        return lambda_.group(1)
    if function and function.group(1) not in NOT_FUNCTIONS:
        return re.sub(r"<.*?>(?=::)", "", function.group(1))
    return None


class SourceFile:
    def __init__(self, path, root):
        self.path = path
        self.name = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.squeezed, self.positions = squeeze(self.text)
        self._functions = None

    def functions(self):
        """(begin, end, names) of all functions and lambdas with a name; a member of a class has a second name, Class::name."""
        if self._functions is None:
            all_blocks = blocks(self.text)
            self._functions = []
            for begin, end, head in all_blocks:
                name = name_of(head)
                if name is None:
                    continue
                names = {name, name.split("::")[-1]}
                for outer_begin, outer_end, outer_head in all_blocks:
                    if outer_begin < begin and end < outer_end and (kind := CLASS.search(outer_head)):
                        names.add(kind.group(1) + "::" + name)
                self._functions.append((begin, end, names))
        return self._functions

    def enclosing(self, place):
        """The names of the functions around a place, innermost first."""
        around = [(end - begin, names) for begin, end, names in self.functions() if begin <= place < end]
        return [names for _, names in sorted(around, key=lambda entry: entry[0])]

    def find(self, old):
        """All (begin, end) of the text, whatever its whitespace."""
        wanted, _ = squeeze(old)
        found = []
        at = self.squeezed.find(wanted)
        while at >= 0:
            begin, end = self.positions[at], self.positions[at + len(wanted) - 1] + 1
            begins_a_word = not (old[0].isspace() and begin > 0 and is_word(wanted[0]) and is_word(self.text[begin - 1]))
            ends_a_word = not (old[-1].isspace() and is_word(wanted[-1]) and is_word(self.text[end:end + 1] or " "))
            if begins_a_word and ends_a_word:
                found.append((begin, end))
            at = self.squeezed.find(wanted, at + 1)
        return found


class Tree:
    """The source files in which faults are put; whoever reads them twice gets what they were the first time."""

    def __init__(self, root):
        self.files = [SourceFile(path, root) for directory in ("src", "apps")
                      for path in sorted(pathlib.Path(root, directory).rglob("*.cpp"))]

    def places(self, mutant):
        """All (file, begin, end) where the old text of a mutant stands, in the function it names if it names one."""
        function = mutant.get("in")
        found = [(file, begin, end) for file in self.files for begin, end in file.find(mutant["old"])]
        if function is None:
            return found
        return [(file, begin, end) for file, begin, end in found
                if any(function in names for names in file.enclosing(begin))]

    def mutate(self, mutant):
        """(the file in which the fault stands, its text with the fault)"""
        places = self.places(mutant)
        if len(places) != 1:
            where = f" in {mutant['in']}" if "in" in mutant else ""
            files = ", ".join(f"{file.name}:{file.text.count(chr(10), 0, begin) + 1}" for file, begin, _ in places)
            raise NotFound(f"the old text stands {len(places)} times{where}, not once: {mutant['old']!r} {files}".rstrip())
        file, begin, end = places[0]
        return file, file.text[:begin] + mutant["new"] + file.text[end:]
