"""C and C++ source as a check needs it: comments or string literals blanked out, line numbers kept."""

import re

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+'""",
    re.S,
)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(source):
    """Without comments and the insides of literals."""
    return TOKEN.sub(lambda m: blank(m.group()), source)


def without_comments(source):
    return TOKEN.sub(lambda m: blank(m.group()) if m.group().startswith(("//", "/*")) else m.group(), source)


def string_literals(source):
    """(line, text) of every string literal."""
    for match in TOKEN.finditer(source):
        text = match.group()
        if text.startswith(("//", "/*", "'")):
            continue
        inner = text[text.index("(") + 1 : text.rindex(")")] if text.startswith("R") else text[1:-1]
        yield source.count("\n", 0, match.start()) + 1, inner
