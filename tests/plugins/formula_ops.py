#!/usr/bin/env python3
"""Writes calls of attention, grouped_mm, _scaled_mm and _fused_rms_norm_backward with results by plain formulas:
scores, softmax and its Jacobian row by row, products group by group. Nothing is shared with the kernels; dtypes are f64 and f8, whose
arithmetic Python has. Usage: formula_ops.py FOLDER"""

import gzip
import itertools
import json
import math
import pathlib
import random
import sys

draw = random.Random(15)
INFINITY = float("inf")


class Array:
    def __init__(self, shape, fill, dtype="f64"):
        self.shape, self.dtype = list(shape), dtype
        self.data = {i: fill(i) for i in itertools.product(*map(range, shape))}

    def __getitem__(self, index):
        return self.data[index]

    def value(self):
        flat = [self.data[i] for i in itertools.product(*map(range, self.shape))]
        text = [str(x) if isinstance(x, float) and math.isinf(x) else x for x in flat]
        return {"tensor": {"dtype": self.dtype, "shape": self.shape, "data": text}}


def normal(*shape):
    return Array(shape, lambda i: round(draw.gauss(0, 1), 3))


def dims(array, ndim):
    """The array's shape and elements as if it had `ndim` dims, size 1 stretched."""
    missing = ndim - len(array.shape)

    def at(*index):
        own = index[missing:]
        return array[tuple(0 if n == 1 else i for n, i in zip(array.shape, own))]

    return at


class Attention:
    def __init__(self, q, k, v, mask=None, causal=False, scale=None, shift=0):
        self.q, self.k, self.v = q, k, v
        (self.batch, self.heads, self.rows, depth), self.keys = q.shape, k.shape[2]
        self.group = self.heads // k.shape[1]
        self.scale = 1 / math.sqrt(depth) if scale is None else scale
        self.weights = {}
        self.lse = {}
        add = dims(mask, 4) if mask else lambda *_: 0.0
        for b, h, i in itertools.product(range(self.batch), range(self.heads), range(self.rows)):
            row = []
            for j in range(self.keys):
                dot = sum(q[b, h, i, d] * k[b, h // self.group, j, d] for d in range(depth))
                hidden = causal and j > i + shift
                extra = add(b, h, i, j)
                if isinstance(extra, bool):
                    hidden, extra = hidden or not extra, 0.0
                row.append(-INFINITY if hidden else dot * self.scale + extra)
            exps = [math.exp(x) for x in row]
            total = sum(exps)
            self.lse[b, h, i] = math.log(total) if total else -INFINITY
            self.weights[b, h, i] = [x / total if total else 0.0 for x in exps]

    def out(self):
        return Array([self.batch, self.heads, self.rows, self.v.shape[3]],
                     lambda i: sum(p * self.v[i[0], i[1] // self.group, j, i[3]]
                                   for j, p in enumerate(self.weights[i[:3]])))

    def gradients(self, grad, mask=None):
        """Of sum(grad * out), by the Jacobian of each row's softmax."""
        grad_q, grad_k, grad_v = (Array(x.shape, lambda i: 0.0) for x in (self.q, self.k, self.v))
        grad_mask = Array(mask.shape, lambda i: 0.0) if mask else None
        for (b, h, i), p in self.weights.items():
            g, width, depth = h // self.group, self.v.shape[3], self.q.shape[3]
            to_p = [sum(grad[b, h, i, e] * self.v[b, g, j, e] for e in range(width))
                    for j in range(self.keys)]
            for j, pj in enumerate(p):
                slope = sum(to_p[l] * pl * ((1.0 if l == j else 0.0) - pj) for l, pl in enumerate(p))
                for e in range(width):
                    grad_v.data[b, g, j, e] += pj * grad[b, h, i, e]
                for d in range(depth):
                    grad_q.data[b, h, i, d] += self.scale * slope * self.k[b, g, j, d]
                    grad_k.data[b, g, j, d] += self.scale * slope * self.q[b, h, i, d]
                if mask:
                    full = (b, h, i, j)[4 - len(mask.shape):]
                    at = tuple(0 if n == 1 else x for n, x in zip(mask.shape, full))
                    grad_mask.data[at] += slope
        return grad_q, grad_k, grad_v, grad_mask


def call(op, outputs, **arguments):
    plain = {name: x.value() if isinstance(x, Array) else x for name, x in arguments.items()}
    return {"op": op, "arguments": plain, "outputs": [x.value() if x else None for x in outputs]}


def attention_calls():
    cases = [((2, 2, 2, 3, 4, 2, 3), None, False, None), ((1, 4, 2, 5, 5, 3, 3), None, True, None),
             ((2, 3, 1, 4, 6, 2, 2), "full", False, 0.3), ((1, 2, 2, 3, 5, 2, 2), "row", True, None),
             ((1, 2, 1, 5, 3, 1, 2), "bool", False, None)]
    for (b, h, g, q, k, d, e), kind, causal, scale in cases:
        query, key, value = normal(b, h, q, d), normal(b, g, k, d), normal(b, g, k, e)
        mask = {"full": lambda: normal(b, h, q, k), "row": lambda: normal(1, k), None: lambda: None,
                "bool": lambda: Array([q, k], lambda i: i[0] != 2 and draw.random() < 0.7, "bool")}[kind]()
        rows = Attention(query, key, value, mask, causal, scale)
        out, lse = rows.out(), Array([b, h, q], lambda i: rows.lse[i])
        inputs = {"query": query, "key": key, "value": value}
        common = {"dropout_p": 0.0, "is_causal": causal, "scale": scale}
        yield call("_scaled_dot_product_flash_attention_for_cpu", [out, lse], **inputs, attn_mask=mask,
                   **common)
        if kind == "bool":
            continue
        weights = Array([b, h, q, k], lambda i: rows.weights[i[:3]][i[3]])
        yield call("_scaled_dot_product_attention_math", [out, weights], **inputs, attn_mask=mask, **common,
                   enable_gqa=True)
        grad = normal(b, h, q, e)
        grads = rows.gradients(grad, mask)
        saved = {"query": query, "key": key, "value": value, "out": out, "logsumexp": lse}
        yield call("_scaled_dot_product_flash_attention_for_cpu_backward", grads[:3], grad_out=grad, **saved,
                   attn_mask=mask, **common)
        number = Array([], lambda i: 7, "i64")
        yield call("_scaled_dot_product_efficient_attention_backward", grads, grad_out_=grad, **saved,
                   attn_bias=mask, philox_seed=number, philox_offset=number,
                   grad_input_mask=[True, True, True, mask is not None], **common)
        if mask:
            continue
        unpadded = {"cum_seq_q": None, "cum_seq_k": None, "max_q": q, "max_k": k}
        for form, bias in (("flash", {}), ("cudnn", {"attn_bias": None})):
            yield call(f"_scaled_dot_product_{form}_attention_backward", grads[:3], grad_out=grad, **saved,
                       **bias, **unpadded, philox_seed=number, philox_offset=number, **common)


def grouped_calls():
    def product(a, b, m, n, terms):
        return sum(a(m, k) * b(k, n) for k in terms)

    for ends in ([2, 2, 5], [0, 5, 5], [5, 5, 5]):
        begin = dict(zip(range(3), [0] + ends))
        inside = {g: range(begin[g], ends[g]) for g in range(3)}
        group_of = {i: g for g in range(3) for i in inside[g]}
        offs = Array([3], lambda i: ends[i[0]], "i32")
        a, b = normal(5, 4), normal(3, 4, 6)
        yield call("_grouped_mm", [Array([5, 6], lambda i: product(
            lambda m, k: a[m, k], lambda k, n: b[group_of[i[0]], k, n], *i, range(4)))], self=a, mat2=b, offs=offs)
        c, d = normal(3, 3, 4), normal(4, 6)
        wide = Array([3], lambda i: ends[i[0]] + 1, "i32")
        column = {n: next(g for g in range(3) if n < ends[g] + 1) for n in range(max(ends) + 1)}
        yield call("_grouped_mm", [Array([3, 6], lambda i: product(
            lambda m, k: c[column[i[1]], m, k], lambda k, n: d[k, n], *i, range(4)))], self=c, mat2=d, offs=wide)
        e, f = normal(3, 6), normal(6, 4)
        yield call("_grouped_mm", [Array([3, 3, 4], lambda i: product(
            lambda m, k: e[m, k], lambda k, n: f[k, n], i[1], i[2], inside[i[0]]))], self=e, mat2=f, offs=offs)
    a, b = normal(2, 3, 4), normal(2, 4, 2)
    yield call("_grouped_mm", [Array([2, 3, 2], lambda i: product(
        lambda m, k: a[i[0], m, k], lambda k, n: b[i[0], k, n], i[1], i[2], range(4)))], self=a, mat2=b)


def scaled_calls():
    def eighths(*shape):
        return Array(shape, lambda i: draw.choice([-2.0, -1.5, -0.5, 0.0, 0.25, 1.0, 1.75, 3.0]), "f8e4m3fn")

    def scales(*shape):
        return Array(shape, lambda i: draw.choice([0.25, 0.5, 1.5, 2.0]), "f32")

    cases = [((3, 4, 2), (), (1,)), ((3, 4, 2), (3, 1), (1, 2)), ((2, 130, 3), (2, 2), (2, 3)),
             ((130, 3, 2), (2, 1), (1, 2)), ((2, 256, 130), (2, 2), (2, 2))]
    for (m, k, n), shape_a, shape_b in cases:
        a, b, scale_a, scale_b = eighths(m, k), eighths(k, n), scales(*shape_a), scales(*shape_b)
        bias = Array([n], lambda i: draw.choice([-1.0, 0.5]), "f32")

        def place(array, i, j, rows, columns):
            if len(array.shape) < 2:
                return array[tuple(0 for _ in array.shape)]
            at = tuple(0 if size == 1 else x if size == whole else x // 128
                       for size, x, whole in zip(array.shape, (i, j), (rows, columns)))
            return array[at]

        yield call("_scaled_mm", [Array([m, n], lambda i: bias[i[1],] + sum(
            a[i[0], x] * place(scale_a, i[0], x, m, k) * b[x, i[1]] * place(scale_b, x, i[1], k, n)
            for x in range(k)), "f32")], self=a, mat2=b, scale_a=scale_a, scale_b=scale_b, bias=bias,
            out_dtype={"dtype": "f32"})


def norm_calls():
    """y = x r w with r = (mean x^2 + eps)^-1/2 of a row: dx_i = r (g_i w_i - x_i r^2 mean(g w x)), dw = sum g x r."""
    for rows, n, has_weight in ((3, 4, True), (5, 2, True), (2, 5, False), (1, 3, True)):
        grad, x = normal(rows, n), normal(rows, n)
        weight = normal(n) if has_weight else None
        rstd = Array([rows, 1], lambda i: 1 / math.sqrt(sum(x[i[0], k] ** 2 for k in range(n)) / n + 1e-3))

        def scaled(i, k):
            return grad[i, k] * (weight[k,] if weight else 1.0)

        def to_x(at):
            (i, j), r = at, rstd[at[0], 0]
            mean = sum(scaled(i, k) * x[i, k] for k in range(n)) / n
            return r * (scaled(i, j) - x[i, j] * r * r * mean)

        to_weight = Array([n], lambda j: sum(grad[i, j[0]] * x[i, j[0]] * rstd[i, 0] for i in range(rows)))
        yield call("_fused_rms_norm_backward", [Array([rows, n], to_x), to_weight if weight else None],
                   grad_out=grad, input=x, normalized_shape=[n], rstd=rstd, weight=weight,
                   output_mask=[True, has_weight])


def write(path, calls):
    text = json.dumps({"format": "onedim.golden_ops/1", "calls": list(calls)}, separators=(",", ":"))
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(text.encode())


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder / "attention_ops.json.gz", attention_calls())
    write(folder / "grouped_mm_ops.json.gz", grouped_calls())
    write(folder / "scaled_mm_ops.json.gz", scaled_calls())
    write(folder / "norm_ops.json.gz", norm_calls())


if __name__ == "__main__":
    main()
