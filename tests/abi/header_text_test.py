"""What the ABI header promises in words: a thread tag on every function pointer, struct_size first in every
struct that may grow."""

import os
import re
import unittest

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../plugin_api/include/onedim/pack.h")
TAGS = ("[load-thread]", "[thread-safe]", "[callback]")
# A declaration with the comments before it, and the comment behind it on the same line.
DECLARATION = re.compile(r"(?:/\*.*?\*/|[^;/{}]|/(?!\*))*;(?:[ \t]*/\*.*?\*/)?", re.S)
STRUCT = re.compile(r"(/\*(?:(?!\*/).)*\*/)?\s*(?:typedef )?struct (\w+) \{\s*(?:/\*.*?\*/\s*)*([^;]*);", re.S)


def untagged(header):
    """Names of function pointers that have no thread tag, or more than one."""
    for match in DECLARATION.finditer(header):
        name = re.search(r"\(\*(\w+)\)\s*\(", re.sub(r"/\*.*?\*/", "", match.group(), flags=re.S))
        if name and sum(match.group().count(tag) for tag in TAGS) != 1:
            yield name.group(1)


def function_pointers(header):
    return re.findall(r"\(\*(\w+)\)\s*\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S))


def unsized(header):
    """Structs that neither are [frozen] nor start with struct_size."""
    for comment, name, first in STRUCT.findall(header):
        if "[frozen]" not in comment and not re.fullmatch(r"uint(32|64)_t struct_size", first.strip()):
            yield name


class HeaderText(unittest.TestCase):
    def setUp(self):
        with open(HEADER, encoding="utf-8") as file:
            self.header = file.read()

    def test_every_function_pointer_has_one_thread_tag(self):
        self.assertGreater(len(function_pointers(self.header)), 20)
        self.assertEqual(list(untagged(self.header)), [])

    def test_a_missing_tag_is_seen(self):
        places = [m.start() for tag in TAGS for m in re.finditer(re.escape(tag), self.header)]
        legend = self.header.index("#ifndef ONEDIM_PACK_H")
        for at in (place for place in places if place > legend):
            broken = self.header[:at] + self.header[at:].replace("[", "(", 1)
            self.assertEqual(len(list(untagged(broken))), 1, self.header[at - 60 : at + 20])

    def test_the_legend_defines_each_tag(self):
        legend = self.header[: self.header.index("#ifndef ONEDIM_PACK_H")]
        for tag in TAGS:
            self.assertIn(tag, legend)

    def test_structs_that_grow_start_with_their_size(self):
        self.assertGreater(len(STRUCT.findall(self.header)), 15)
        self.assertEqual(list(unsized(self.header)), [])

    def test_a_missing_size_is_seen(self):
        broken = self.header.replace("  uint64_t struct_size;\n", "", 1)
        self.assertEqual(len(list(unsized(broken))), 1)


if __name__ == "__main__":
    unittest.main()
