"""A plugin of pytest: it puts this folder's file into the package of dimensions."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path

NAME = "controllers.engine.drift"

spec = find_spec(NAME)
assert spec is not None
assert spec.loader is not None
assert spec.submodule_search_locations is not None
spec.submodule_search_locations.append(str(Path(__file__).parent / "files"))
package = module_from_spec(spec)
sys.modules[NAME] = package
spec.loader.exec_module(package)
