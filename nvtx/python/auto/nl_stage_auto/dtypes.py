"""dtypes-<pid>.json: the data types of operators, which their ranges do not have.

    {"operators": [{"name": "aten::mm", "shapes": "[[1, 2048], [2048, 2048]]", "dtypes": "[bfloat16, bfloat16]"}], "errors": {}}

Shapes are spelled as in the ranges. An argument that is not a tensor is a - in dtypes, and left out at the end.
"""

import os
import threading

from .whole_file import write_whole

_MOST = 5000
_NAMES = {
    "float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16", "bool": "bool",
    "long int": "int64", "long": "int64", "long long": "int64", "int": "int32", "short int": "int16", "short": "int16",
    "signed char": "int8", "unsigned char": "uint8", "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
}
_NO_TENSOR = frozenset({"", "Scalar", "ScalarList", "None"})


def name_of(type_name):
    """torch's name of a type that Kineto names as C++ does: c10::Float8_e4m3fn is float8_e4m3fn."""
    if type_name in _NO_TENSOR:
        return "-"
    return _NAMES.get(type_name) or type_name.rpartition("::")[2].lower()


def described(event):
    """(name, shapes, types) of one call, None where it has none, or where a list of tensors hides their shapes."""
    types = [str(name) for name in event.dtypes()]
    if not any(name not in _NO_TENSOR for name in types) or "TensorList" in types:
        return None
    names = [name_of(name) for name in types]
    while names[-1] == "-":
        names.pop()
    shapes = [[int(size) for size in shape] for shape in event.shapes()]
    return str(event.name()), str(shapes), f"[{', '.join(names)}]"


class Dtypes:
    def __init__(self, folder, faults):
        self._folder = os.path.abspath(folder)  # the workload may change its folder
        self._faults = faults
        self.forget()

    def forget(self):
        """At the start, and in a child of fork."""
        self._lock = threading.Lock()
        self._found = {}  # (name, shapes, types), in the order of their first call

    def add(self, result):
        """result: what the profiler returned when types were switched off."""
        try:
            for event in result.events():
                found = described(event)
                with self._lock:
                    if found is not None and len(self._found) < _MOST:
                        self._found.setdefault(found)
            self.write()
        except Exception as error:
            self._faults.note("operators: types", error)

    def write(self):
        """A process that had nothing to do with torch leaves no file."""
        try:
            import json
            with self._lock:
                operators = [dict(zip(("name", "shapes", "dtypes"), found)) for found in self._found]
            errors = self._faults.counts()
            if operators or errors:
                write_whole(self._folder, "dtypes", json.dumps({"operators": operators, "errors": errors}))
        except Exception as error:
            self._faults.note("writing dtypes", error)
