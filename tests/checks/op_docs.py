"""Each op says what it is: schema, summary, example, kernel and at least five samples."""

import offered_ops
import tree

SAMPLES = 5


def faults_of(op):
    name = f"{op['name']} ({op['pack']})"
    for field in ("schema", "summary"):
        if not op.get(field):
            yield f"{name}: has no {field}"
    if not op.get("example", "-"):
        yield f"{name}: has no example"
    if op["samples"] < SAMPLES:
        yield f"{name}: has {op['samples']} samples, at least {SAMPLES} are wanted"
    if not op["compute"]:
        yield f"{name}: has no kernel"


def main():
    ops = offered_ops.offered_ops()
    faults = [fault for op in ops for fault in faults_of(op)] if ops else ["no op found"]
    tree.finish("op docs", faults, f"{len(ops)} ops")


if __name__ == "__main__":
    main()
