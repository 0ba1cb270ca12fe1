"""No file and no function grows past its cap: headers 300 lines, the ABI header 450, sources 500, functions 60."""

import re

import cpp_text
import tree

HEADER_CAP, ABI_CAP, SOURCE_CAP, FUNCTION_CAP = 300, 450, 500, 60
# A brace that follows one of these opens no function.
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^;(){}]*$|\bextern\s+\"?\s*\"?\s*$")


def file_cap(name):
    if name.endswith("onedim/pack.h"):
        return ABI_CAP
    return HEADER_CAP if name.endswith((".h", ".hpp", ".cuh")) else SOURCE_CAP


def functions(source):
    """(name, first line, last line) of each outermost brace block that is not a namespace, type or enum."""
    code = re.sub(r"^[ \t]*#.*?(?<!\\)$", lambda m: cpp_text.blank(m.group()), cpp_text.code_only(source),
                  flags=re.M | re.S)
    stack, found, start = [], [], 0  # start: where the current declaration began
    for position, char in enumerate(code):
        if char == ";" and not any(kind == "body" for kind, _, _ in stack):
            start = position + 1
        elif char == "{":
            head = code[start:position]
            inside = any(kind == "body" for kind, _, _ in stack)
            kind = "inner" if inside else ("scope" if SCOPE.search(head) and "(" not in tail(head) else "body")
            stack.append((kind, start, position))
            if kind == "scope":
                start = position + 1
        elif char == "}" and stack:
            kind, begin, _ = stack.pop()
            if kind == "body":
                head = code[begin:position]
                first = code.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1
                found.append((label(head), first, code.count("\n", 0, position) + 1))
            if kind != "inner":
                start = position + 1
    return found


def tail(head):
    """The part of a declaration that decides what its brace opens: behind the last `template<...>`."""
    return re.sub(r"template\s*<.*?>\s*(?=(class|struct|union)\b)", "", head, flags=re.S)


def label(head):
    match = re.search(r"([~\w:]+)\s*\(", head)
    return match.group(1) if match else head.strip().split("\n")[0][:40]


def main():
    faults, names = [], tree.files(".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".py", ".sh")
    longest = ("", 0)
    for name in names:
        source = tree.read(name)
        lines = source.count("\n")
        if lines > file_cap(name):
            faults.append(f"{name}: {lines} lines, at most {file_cap(name)}: split it by what it says")
        if name.endswith((".py", ".sh")):
            continue
        for function, first, last in functions(source):
            if last - first + 1 > longest[1]:
                longest = (f"{name}:{function}", last - first + 1)
            if last - first + 1 > FUNCTION_CAP:
                faults.append(f"{name}:{first}: `{function}` has {last - first + 1} lines, at most {FUNCTION_CAP}")
    tree.finish("size caps", faults, f"{len(names)} files; longest function {longest[0]} with {longest[1]} lines")


if __name__ == "__main__":
    main()
