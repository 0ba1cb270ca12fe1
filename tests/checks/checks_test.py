"""The checks find what they are for, and leave alone what is fine."""

import unittest

import cpp_text
import layering
import one_definition
import op_references
import readme
import size_caps
import words


class CppText(unittest.TestCase):
    def test_comments_and_literals_are_told_apart(self):
        source = 'int a = 1\'000; // "no"\nauto b = "//yes"; /* "no" */ auto c = R"x(mm(")x";'
        self.assertEqual([text for _, text in cpp_text.string_literals(source)], ["//yes", 'mm("'])
        self.assertIn('"//yes"', cpp_text.without_comments(source))
        self.assertNotIn("no", cpp_text.without_comments(source))

    def test_line_numbers_survive(self):
        source = "/* one\ntwo */\n\"three\""
        self.assertEqual(list(cpp_text.string_literals(source)), [(3, "three")])
        self.assertEqual(cpp_text.code_only(source).count("\n"), 2)


class SizeCaps(unittest.TestCase):
    def lengths(self, source):
        return {name: last - first + 1 for name, first, last in size_caps.functions(source)}

    def test_functions_are_measured_from_their_head(self):
        source = "namespace a {\nstruct S {\n  int f() {\n    if (x) {\n    }\n  }\n};\ntemplate <class T>\nT g(T x) {\n  return x;\n}\n}\n"
        self.assertEqual(self.lengths(source), {"f": 4, "g": 4})

    def test_braces_in_literals_and_macros_do_not_count(self):
        source = '#define OPEN {\nint f() {\n  return "{"[0] + \'{\';\n}\nint g() { return 0; }\n'
        self.assertEqual(self.lengths(source), {"f": 3, "g": 1})

    def test_a_lambda_belongs_to_its_function(self):
        self.assertEqual(self.lengths("int f() {\n  auto g = [] {\n  };\n  return 1;\n}\n"), {"f": 5})

    def test_the_abi_header_has_a_cap_of_its_own(self):
        self.assertEqual(size_caps.file_cap("plugin_api/include/onedim/pack.h"), 450)
        self.assertEqual(size_caps.file_cap("core/base/text.hpp"), 300)


class Layering(unittest.TestCase):
    def test_arrows_point_down(self):
        for name, quoted, target, wrong in [
            ("plugins/a/a.cpp", True, "core/base/text.hpp", True),
            ("plugins/a/a.cpp", True, "../b/b.hpp", True),
            ("plugins/a/a.cpp", False, "onedim/pack.hpp", False),
            ("core/tensor/tensor.cpp", True, "core/base/text.hpp", False),
            ("core/tensor/tensor.cpp", True, "core/layout/layout.hpp", True),
            ("core/tensor/tensor.cpp", True, "tools/session.hpp", True),
            ("core/tensor/tensor.cpp", True, "tensor.hpp", True),
            ("plugin_api/include/onedim/pack.hpp", False, "fmt/core.h", True),
            ("plugin_api/include/onedim/pack.hpp", False, "vector", False),
            ("tools/onedim.cpp", True, "core/pack/registry.hpp", False),
        ]:
            self.assertEqual(bool(layering.include_fault(name, quoted, target)), wrong, (name, target))


class OneDefinition(unittest.TestCase):
    def test_types_of_one_name_are_found(self):
        one = "namespace a {\nstruct S {\n};\nenum class E : int { kOne };\n}  // namespace a\n"
        two = "namespace a {\nnamespace {\nenum class E { kTwo };\n}  // namespace\nclass S : T {\n};\n}  // namespace a\n"
        self.assertEqual(list(one_definition.types(one)), [("a::S", 2), ("a::E", 4)])
        faults = list(one_definition.faults_of([("one.hpp", one), ("two.hpp", two)]))
        self.assertEqual(len(faults), 1)
        self.assertIn("two.hpp:5: a::S is another type at one.hpp:2", faults[0])

    def test_parts_of_a_type_are_names_of_their_own(self):
        source = "namespace a {\nstruct S::Impl {\n};\nstruct S;\n}  // namespace a\nnamespace b {\nstruct S {\n};\n}  // namespace b\n"
        self.assertEqual(list(one_definition.types(source)), [("a::S::Impl", 2), ("b::S", 7)])


class Words(unittest.TestCase):
    def found(self, line):
        return [what for pattern, what in words.CHECKS if pattern.search(line)]

    def test_marks_paths_and_hosts_are_found(self):
        for line in ["// TO" "DO: later", "a quick fix for " "now", "cd /ho" "me/me/x", "see ../sha" "red/x", "https://py" "pi.org/x"]:
            self.assertEqual(len(self.found(line)), 1, line)

    def test_plain_text_is_left_alone(self):
        for line in ["/usr/lib/x", "build/release", "share/onedim", "todos(x)", "https://example.org", "a/home/x"]:
            self.assertEqual(self.found(line), [], line)


class OpReferences(unittest.TestCase):
    def faults(self, golden, graphs, text):
        ops = [{"name": "a", "form_of": None}, {"name": "b.x", "form_of": None}, {"name": "a_", "form_of": "a"}]
        return list(op_references.faults_of(ops, golden, graphs, op_references.read_references(text)))

    def test_a_call_or_a_stated_reference_will_do(self):
        self.assertEqual(self.faults({"a": "f"}, {"a_": "g"}, "b.*  by hand\n"), [])

    def test_what_has_neither_is_told(self):
        self.assertIn("b.x", self.faults({"a": "f"}, {}, "")[0])
        self.assertIn("b.x", self.faults({"a": "f"}, {}, "b.*\n")[0])

    def test_an_idle_statement_is_told(self):
        self.assertIn("a names", self.faults({"a": "f", "b.x": "f"}, {}, "a  by hand\n")[0])

    def test_an_overload_that_nobody_offers_is_told_with_its_file(self):
        self.assertIn("c: is in g", self.faults({"a": "f", "b.x": "f"}, {"c": "g"}, "")[0])

    def test_likewise_stands_for_the_reference_before(self):
        self.assertEqual(op_references.read_references("# no\n\na  by hand\nb  likewise\n"), {"a": "by hand", "b": "by hand"})


class Readme(unittest.TestCase):
    def test_commands_and_their_output(self):
        block = "$ a\nx\n$ b <<E\n> c\n> E\n"
        self.assertEqual(readme.commands(block), [("a", ["x"]), ("b <<E\nc\nE", [])])

    def test_dots_stand_for_lines_and_for_text(self):
        fits = readme.pattern(["a", "...", "took ... s"])
        self.assertTrue(fits.match("a\nb\nc\ntook 1.5 s\n"))
        self.assertTrue(fits.match("a\ntook 1.5 s\n"))
        self.assertFalse(fits.match("a\ntook 1.5 s\nmore\n"))
        self.assertFalse(fits.match("b\ntook 1.5 s\n"))

    def test_no_output_is_an_output(self):
        self.assertIsNone(readme.difference("true", [], False, ""))
        self.assertIsNotNone(readme.difference("echo x", [], False, "x\n"))
        self.assertIsNotNone(readme.difference("true", ["x"], False, ""))

    def test_printed_commands_are_run_and_must_find_again(self):
        wanted = [*readme.with_findings([("a", ["bad", "    onedim validate x", "  onedim y"], False)])]
        self.assertEqual([command for command, *_ in wanted], ["a", "onedim validate x"])
        self.assertIsNone(readme.difference(*wanted[1], "any\n", 1))
        self.assertIsNotNone(readme.difference(*wanted[1], "any\n", 2))

    def test_figures_vary_where_the_block_says_so(self):
        line = ["mm  ok     88 rules, 265 ms"]
        self.assertIsNone(readme.difference("c", line, True, "mm     ok  9 rules, 1.2 s\n"))
        self.assertIsNotNone(readme.difference("c", line, True, "mm  bad  88 rules, 265 ms\n"))
        self.assertIsNotNone(readme.difference("c", line, False, "mm  ok     88 rules, 266 ms\n"))


if __name__ == "__main__":
    unittest.main(verbosity=0)
