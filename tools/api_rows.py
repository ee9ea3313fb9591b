"""Rows of the API tables: how several observations of one name become one, how rows are written."""

import dataclasses
import re

EFFECTS_WITHOUT_GRAPH = ("CUTS", "CUTS_VIEW", "MAKES", "NUMBER", "NONE")
ROW = re.compile(
    r'^API\("(?P<name>[^"]+)", (?P<effect>\w+), (?P<result>\w+), (?P<count>-?\d+), (?P<flags>.*)\)$'
)


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    effect: str
    result: str
    count: int = 0
    flags: tuple = ()

    def text(self):
        flags = " | ".join(self.flags) or "0"
        return f'API("{self.name}", {self.effect}, {self.result}, {self.count}, {flags})'


def parse(path):
    """The rows of a .def file by name."""
    rows = {}
    for line in path.read_text().splitlines():
        match = ROW.match(line)
        if match is None:
            continue
        flags = tuple(f.strip() for f in match["flags"].split("|") if f.strip() != "0")
        rows[match["name"]] = Row(
            match["name"], match["effect"], match["result"], int(match["count"]), flags
        )
    return rows


# Tuples whose length the caller chooses, though the samples have one only.
AS_MANY_AS_ASKED = {
    f"torch.{owner}{name}"
    for owner in ("", "Tensor.")
    for name in """unbind split_with_sizes unsafe_split_with_sizes atleast_1d atleast_2d atleast_3d
    unbind_copy split_with_sizes_copy meshgrid broadcast_tensors""".split()
}


# What a running total, a growing concatenation or a running extreme is made with.
SUMS_UP = """add sub cat concat concatenate stack vstack hstack sum maximum minimum max min fmax fmin
index_put index_add scatter_add copy logaddexp where append""".split()


def merge(name, seen, extra=()):
    """One row from all observations of a name; None when they say nothing."""
    seen = [s for s in seen if s.shape not in ("other", "nested")]
    if not seen:
        return None
    flags = set(extra)
    shapes = {s.shape for s in seen}
    if shapes <= {"number", "bool", "str", "shape", "numbers", "none"}:
        return plain(name, seen, shapes, flags)
    effect = effect_of(seen, flags)
    result, count = result_of(name, seen, shapes, flags)
    if effect in ("IN_PLACE", "CUTS_IN_PLACE") and all(s.same for s in seen):
        result, count = "SAME", 0
    if effect == "ALIASES" and "API_MAYBE" not in flags:
        result, count = "SAME", 0
    if effect not in EFFECTS_WITHOUT_GRAPH:
        for s in seen:
            flags |= {f"API_SAVES_{kind.upper()}" for kind in s.saves}
        if name.rsplit(".", 1)[1].rstrip("_") in SUMS_UP:
            flags.add("API_SUMS_UP")
    if count and effect not in EFFECTS_WITHOUT_GRAPH:
        flags |= clean_elements(seen, count)
    return Row(name, effect, result, count, order(flags))


def plain(name, seen, shapes, flags):
    if any(s.mutates for s in seen):
        return Row(name, "IN_PLACE", "NOTHING", 0, order(flags))
    kinds = {
        "number": "NUMBER",
        "bool": "BOOL",
        "str": "STR",
        "shape": "SHAPE",
        "numbers": "NUMBERS",
        "none": "NOTHING",
    }
    shape = sorted(shapes - {"none"})[0] if shapes != {"none"} else "none"
    return Row(name, "NONE", kinds[shape], 0, order(flags))


def effect_of(seen, flags):
    graphs = [s for s in seen if any(s.grads)]
    if any(s.mutates for s in seen):
        if not all(s.mutates for s in seen):
            flags.add("API_MAYBE")
        return "IN_PLACE"
    if not graphs:
        if all(s.tensors == 0 for s in seen):
            return "MAKES"
        if all(s.same for s in seen) and any(s.inputs for s in seen):
            return "CUTS_IN_PLACE"
        return "CUTS_VIEW" if all(s.shares for s in seen) else "CUTS"
    copies = [s for s in graphs if not s.same]
    if any(s.same for s in graphs) and not any(s.saves for s in copies):
        if not all(s.same for s in graphs):
            flags.add("API_MAYBE")
        return "ALIASES"
    apart = [s for s in copies if not s.shares]
    if any(s.shares for s in copies) and not any(s.saves for s in apart):
        if apart:
            flags.add("API_MAYBE")
        return "VIEWS"
    return "PASSES"


def result_of(name, seen, shapes, flags):
    counts = {s.count for s in seen if s.shape == "tuple"}
    if "list" in shapes or len(counts) > 1 or name in AS_MANY_AS_ASKED:
        if "tensor" in shapes:
            flags.add("API_TUPLE_IF_FLAG")
            return "TENSOR", 0
        return "TENSOR_LIST", 0
    if "tuple" in shapes and "tensor" in shapes:
        flags.add("API_TUPLE_IF_DIM" if "API_TUPLE_IF_DIM" in flags else "API_TUPLE_IF_FLAG")
        return "TENSOR", counts.pop()
    flags.discard("API_TUPLE_IF_DIM")
    if "tuple" in shapes:
        return "TENSORS", counts.pop()
    return "TENSOR", 0


def clean_elements(seen, count):
    tuples = [s for s in seen if s.shape == "tuple" and len(s.grads) == count and any(s.grads)]
    clean = [i for i in range(min(count, 16)) if tuples and not any(s.grads[i] for s in tuples)]
    return {f"API_CLEAN({i})" for i in clean}


FLAG_ORDER = """API_SAVES_INPUT API_SAVES_RESULT API_SAVES_HIDDEN API_OUT API_INPLACE
API_TUPLE_IF_DIM API_TUPLE_IF_FLAG API_DTYPE API_LEAF API_MAYBE API_TO_CPU API_DEVICE API_WAITS
API_EVAL_SAME API_WEIGHTS API_TRANSPARENT API_EACH API_KEYED API_ATTRIBUTE API_ALL API_PROPERTY
API_LAZY API_PERMANENT API_BUFFER API_FRONT API_GROWS API_DETACHES API_NO_DIFF API_OPAQUE
API_NESTED API_SIZES API_SCALAR API_SUMS_UP API_TELLS API_UNCHECKED API_READS_ONE
API_SAME_SHAPE""".split()


def order(flags):
    """Flags in the order of api.h, then API_RUNS, API_ARG, API_CLEAN."""
    known = [f for f in FLAG_ORDER if f in flags]
    return tuple(known + sorted(flags - set(known), key=lambda f: (len(f), f)))


# What a hand-written row may say in place of what a call alone shows.
REFINES = {
    "NONE": "NUMBER BACKWARD MODE CONTEXT HOOK STEP ZERO_GRAD FLUSH SYNC CALLS CUTS ALIASES VIEWS "
    "ITERATES STORES GETS PARAMETERS REMOVES SAVES_FOR_BACKWARD OBJECT WRAPS",
    "OBJECT": "MODE CONTEXT OPTIMIZER LOADER WRAPS CALLS CACHES MAKES NONE CONTAINER MODULE",
    "ALIASES": "REQUIRES_GRAD CONTEXT WRAPS",
    "PASSES": "ALIASES CALLS VIEWS",
    "CUTS": "COPIES GRAD MAKES",
    "MAKES": "CUTS",
    "IN_PLACE": "",
}


# Rows that say other than the call that was measured, and why they are right.
ALLOWED = {
    "torch.Tensor.new": "usually given sizes, and then the result has no graph",
}


def contradiction(hand, measured):
    """What a hand-written row says that PyTorch does not do; None when they agree."""
    if hand.name in ALLOWED:
        return None
    refined = REFINES.get(measured.effect, "").split()
    if hand.effect != measured.effect and hand.effect not in refined:
        return f"{hand.name}: by hand {hand.effect}, measured {measured.effect}"
    if hand == measured:
        return f"{hand.name}: the measured row says the same"
    lost = [f for f in measured.flags if f.startswith("API_CLEAN") and f not in hand.flags]
    if lost or (hand.result in ("TENSOR", "TENSORS") and hand.count != measured.count):
        return f"{hand.name}: measured {measured.text()}"
    return None
