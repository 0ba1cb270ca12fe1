"""Draws calls of ops by their sample texts and runs them with PyTorch: kernels_torch.py OPS.json CALLS.json.

Run by kernels.py with the Python that has PyTorch. The output is {"torch", "calls", "skipped"}; calls are in the
format onedim.golden_ops/1.
"""

import json
import math
import re
import sys

import torch

DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64,
    "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
    "c64": torch.complex64, "c128": torch.complex128, "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
TENSOR = re.compile(r"(\w+)\[([\d,]*)\](?::([a-z]+)(?:\(([^)]*)\))?)?$")
# Attributes that stand for themselves in every call and have no meaning here.
IGNORED = {"device", "layout", "pin_memory", "memory_format", "generator"}


class Skipped(Exception):
    pass


def split_top(text: str, separator: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += character in "[(" or 0
        depth -= character in "])" or 0
        if character == separator and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def real_values(shape, domain, generator):
    values = torch.randn(shape, generator=generator, dtype=torch.float64) * 3
    name = domain[0]
    if name == "positive":
        return values.abs() + 0.1
    if name == "nonnegative":
        return values.abs()
    if name == "nonzero":
        return values + 0.1 * torch.sign(values) + (values == 0)
    if name == "unit":
        return torch.rand(shape, generator=generator, dtype=torch.float64) * 1.9 - 0.95
    if name == "probability":
        return torch.rand(shape, generator=generator, dtype=torch.float64)
    if name == "values":
        choices = torch.tensor([float(value) for value in domain[1].split(",")], dtype=torch.float64)
        return choices[torch.randint(len(choices), shape, generator=generator)]
    if name == "nonfinite":
        odd = torch.tensor([math.nan, math.inf, -math.inf], dtype=torch.float64)
        picks = odd[torch.randint(3, shape, generator=generator)]
        return torch.where(torch.rand(shape, generator=generator) < 0.2, picks, values)
    return values


def draw_tensor(text: str, generator: torch.Generator) -> torch.Tensor:
    match = TENSOR.match(text)
    if not match or match.group(1) not in DTYPES:
        raise Skipped(f"cannot draw {text}")
    dtype = DTYPES[match.group(1)]
    shape = [int(size) for size in match.group(2).split(",") if size]
    domain = (match.group(3) or "", match.group(4) or "")
    if domain[0] == "index":
        return torch.randint(max(1, int(domain[1])), shape, generator=generator).to(dtype)
    if domain[0] == "offsets":
        cuts = torch.randint(int(domain[1]) + 1, shape, generator=generator).sort().values
        cuts[-1:] = int(domain[1])
        return cuts.to(dtype)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    values = real_values(shape, domain, generator)
    if dtype.is_complex:
        return torch.complex(values, real_values(shape, domain, generator)).to(dtype)
    if not dtype.is_floating_point and domain[0] != "values":
        values = values.round().abs() if dtype == torch.uint8 else values.round()
        if domain[0] in ("positive", "nonzero"):
            values = torch.where(values == 0, torch.ones_like(values), values)
    return values.to(dtype)


def parse_value(text: str):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}.get(text, text)


def schema_arguments(schema: str) -> list[tuple[str, str]]:
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    arguments = []
    for part in split_top(inside, ","):
        words = part.split("=")[0].split()
        if len(words) == 2:
            arguments.append((words[0], words[1]))
    return arguments


def draw_arguments(op: dict, sample: str, generator: torch.Generator) -> dict:
    parts = split_top(sample, ";")
    attributes = dict(part.split("=", 1) for part in parts if re.match(r"\w+\s*=", part))
    tensors = [part for part in parts if not re.match(r"\w+\s*=", part)]
    arguments = {}
    slots = [(kind, name) for kind, name in schema_arguments(op["schema"]) if kind.startswith("Tensor")]
    slots = [slot for slot in slots if slot[1] not in attributes]
    for kind, name in slots:
        if not tensors:
            break
        is_list = "[" in re.sub(r"\([^)]*\)", "", kind)
        if is_list and len(slots) == 1 and not tensors[0].startswith("[["):
            items = split_top(tensors[0][1:-1], ";") if re.match(r"\[(\w+\[|-)", tensors[0]) else tensors
            tensors = []
        elif is_list:
            items = split_top(tensors.pop(0)[1:-1], ";")
        else:
            text = tensors.pop(0)
            arguments[name] = None if text == "-" else draw_tensor(text, generator)
            continue
        arguments[name] = [None if item == "-" else draw_tensor(item, generator) for item in items]
    for name, text in attributes.items():
        arguments[name.strip()] = parse_value(text.strip())
    return arguments


def to_torch(value, kind: str):
    if isinstance(value, str) and value in DTYPES and "ScalarType" in kind or kind.startswith("ScalarType"):
        return DTYPES.get(value, value)
    return value


def to_json(value):
    if isinstance(value, torch.Tensor):
        flat = torch.view_as_real(value.resolve_conj()).reshape(-1, 2) if value.is_complex() else value.reshape(-1)
        data = flat.to(torch.float64).tolist() if value.is_floating_point() or value.is_complex() else flat.tolist()
        return {"tensor": {"dtype": NAMES[value.dtype], "shape": list(value.shape), "data": finite_text(data)}}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, torch.dtype):
        return {"dtype": NAMES[value]}
    if isinstance(value, complex):
        return [finite_text(value.real), finite_text(value.imag)]
    return finite_text(value)


def finite_text(value):
    if isinstance(value, list):
        return [finite_text(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def is_written(argument) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def overload_of(name: str):
    space = torch.ops.aten
    base, _, overload = name.partition(".")
    if base == "prims":
        space, (base, _, overload) = torch.ops.prims, overload.partition(".")
    packet = getattr(space, base, None)
    function = getattr(packet, overload or "default", None) if packet is not None else None
    if function is None:
        raise Skipped("PyTorch has no such op")
    return function


def run_call(op: dict, function, sample: str, generator: torch.Generator) -> dict:
    arguments = draw_arguments(op, sample, generator)
    kinds = {name: kind for kind, name in schema_arguments(op["schema"])}
    given = {name: to_json(to_torch(value, kinds.get(name, ""))) for name, value in arguments.items()}
    theirs = {argument.name for argument in function._schema.arguments}
    keywords = {n: to_torch(v, kinds.get(n, "")) for n, v in arguments.items() if n not in IGNORED}
    unknown = sorted(set(keywords) - theirs)
    if unknown:
        raise Skipped(f"PyTorch's schema has no argument {', '.join(unknown)}")
    outputs = function(**keywords)
    if outputs is None:  # forms over lists return nothing where they write
        outputs = [item for a in function._schema.arguments if is_written(a) for item in keywords[a.name]]
    listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return {"op": op["name"], "arguments": given, "outputs": [to_json(output) for output in listed]}


def calls_of(op: dict, draws: int, seed: int, skipped: list) -> list[dict]:
    calls = []
    try:
        function = overload_of(op["name"])
    except Skipped as why:
        skipped.append((op["name"], str(why)))
        return calls
    for sample in op["sample_calls"]:
        for draw in range(draws):
            generator = torch.Generator().manual_seed(seed * 1000 + draw)
            try:
                calls.append(run_call(op, function, sample, generator))
            except Exception as why:  # PyTorch refuses in many ways; each is told
                skipped.append((f"{op['name']} {sample}", str(why).splitlines()[0][:160] if str(why) else repr(why)))
                break
    return calls


def main() -> None:
    with open(sys.argv[1]) as file:
        wanted = json.load(file)
    skipped, calls = [], []
    for op in wanted["ops"]:
        calls += calls_of(op, wanted["draws"], wanted["seed"], skipped)
    with open(sys.argv[2], "w") as file:
        json.dump({"torch": torch.__version__, "calls": calls, "skipped": skipped}, file)


if __name__ == "__main__":
    main()
