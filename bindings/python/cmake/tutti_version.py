"""The package's version for pip: that of include/tutti/version.h, of the tree around this folder or of an installed Tutti."""
import os
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent.parent


def headers():
    yield HERE.parent.parent / "include" / "tutti" / "version.h"
    prefixes = [os.environ.get("Tutti_ROOT", "")] + re.split("[:;]", os.environ.get("CMAKE_PREFIX_PATH", ""))
    defined = re.findall(r"-D(?:Tutti_ROOT|CMAKE_PREFIX_PATH)(?::\w+)?=(\S+)", os.environ.get("CMAKE_ARGS", ""))
    for prefix in prefixes + defined + ["/usr/local", "/usr"]:
        if prefix:
            yield pathlib.Path(prefix) / "include" / "tutti" / "version.h"


def version():
    for header in headers():
        if header.is_file():
            return re.search(r'TUTTI_VERSION "([^"]+)"', header.read_text()).group(1)
    facts = HERE / "PKG-INFO"  # of an unpacked sdist
    if facts.is_file():
        return re.search(r"^Version: (.+)$", facts.read_text(), re.M).group(1)
    raise RuntimeError(
        "tutti: neither Tutti's source tree nor an installed Tutti was found. Install from the tree (pip install "
        "./bindings/python), or set Tutti_ROOT to the prefix where Tutti is installed."
    )


def dynamic_metadata(_settings, _project):
    return {"version": version()}
