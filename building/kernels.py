"""A step of the build: machine code goes into the wheel where SHOAL_MACHINE_CODE=1 asks for it.

A wheel with machine code is for one version of Python on one system, and is called so. Without it the wheel is the
same everywhere.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WANTED = os.environ.get("SHOAL_MACHINE_CODE") == "1"


class MachineCode(BuildHookInterface):
    """Compiles what usual releases need, and puts it beside the kernels."""

    def dependencies(self) -> list[str]:
        """What it takes to run Shoal."""
        return list(self.metadata.core.dependencies) if WANTED else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the wheel is put together; an editable installation runs from its sources."""
        if not WANTED or version != "standard":
            return
        self.folder = tempfile.TemporaryDirectory()
        made = Path(self.folder.name) / "made"
        source = str(Path(self.root) / "src")
        paths = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, Path(self.root) / "building" / "machine_code.py", made]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": paths})
        name = f"machine-code-{sys.implementation.cache_tag}-{sysconfig.get_platform()}.pack"
        build_data["force_include"][str(made)] = f"shoal/kernels/{name}"
        build_data["pure_python"] = False
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp{sys.version_info[0]}{sys.version_info[1]}-none-{system}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is written."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
