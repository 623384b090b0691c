"""Machine code for a wheel: usual releases are made, and what Numba compiles for them goes into one file.

python building/machine_code.py FILE

Where NUMBA_CACHE_DIR names a folder, what is compiled stays there, and a build that was stopped resumes.

It is compiled in two processes at once, for the processor of `shoal.machine_code.baseline`, and as it happens: a
release is made of a small invented table for each way through the program, so nothing lists kernels or types.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

WORKERS = 2


def main() -> None:
    target = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        environment = {"NUMBA_CACHE_DIR": folder} | os.environ | compiler_settings()
        command = [sys.executable, __file__]
        works = [subprocess.Popen([*command, "--part", str(part)], env=environment) for part in range(WORKERS)]
        ends = [each.wait() for each in works]
        if any(ends):
            raise SystemExit("not all releases could be made")
        subprocess.run([*command, "--pack", target], env=environment, check=True)


def compiler_settings() -> dict[str, str]:
    """What tells Numba which processor the code is for; this one must be able to run it."""
    from llvmlite.binding import get_host_cpu_features

    from shoal.machine_code import baseline

    wanted = baseline()
    if wanted is None:
        raise SystemExit("no machine code is made for this kind of processor")
    name, features = wanted
    have = get_host_cpu_features() if features else {}
    if lacking := [each for each in features if not have.get(each, False)]:
        raise SystemExit(f"this processor cannot run the code: it lacks {', '.join(lacking)}")
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in features)}


def make_releases(part: int) -> None:
    """Every WORKERS-th of the ways, each on an invented table in a file."""
    import warnings

    from ways import WAYS

    from shoal.errors import ShoalWarning

    warnings.simplefilter("ignore", ShoalWarning)
    with tempfile.TemporaryDirectory() as folder:
        for number, way in enumerate(WAYS):
            if number % WORKERS == part:
                way(Path(folder) / f"{number}.csv")


def pack(target: Path) -> None:
    """What is in the cache, for kernels that Python calls: those that only kernels call are part of these."""
    import shoal.kernels
    from shoal.machine_code import write

    for module in walk_packages(shoal.kernels.__path__, "shoal.kernels."):
        import_module(module.name)
    write(target, kept_kernels())


def kept_kernels() -> Iterator[tuple[str, str, dict[Any, Any]]]:
    """Each kernel with its stamp and what the cache has of it."""
    import inspect

    from numba.core.dispatcher import Dispatcher
    from numba.core.registry import cpu_target

    from shoal.kernels.compiled import stamp_of
    from shoal.machine_code import name_of

    processor = cpu_target.target_context.codegen().magic_tuple()
    rooms = [module for name, module in sorted(sys.modules.items()) if name.startswith("shoal.kernels.")]
    for room in rooms:
        for each in vars(room).values():
            if isinstance(each, Dispatcher) and each.py_func.__module__ == room.__name__:
                if each.targetoptions.get("no_cpython_wrapper"):
                    continue
                if kept := kept_for(processor, each._cache._cache_file):
                    yield name_of(each.py_func), stamp_of(Path(inspect.getfile(each.py_func))), kept


def kept_for(processor: Any, cache: Any) -> dict[Any, Any]:
    """What a cache has of a kernel for this processor, by types; a folder that was named may hold more."""
    found = {key[0]: cache.load(key) for key in cache._load_index() if key[1] == processor}
    return {signature: code for signature, code in found.items() if code is not None}


if __name__ == "__main__":
    if sys.argv[1] == "--part":
        make_releases(int(sys.argv[2]))
    elif sys.argv[1] == "--pack":
        pack(Path(sys.argv[2]))
    else:
        main()
