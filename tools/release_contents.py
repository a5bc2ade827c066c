"""Write what a release holds beside its files: ``SHA256SUMS``, and an SBOM as CycloneDX 1.6.

``python tools/release_contents.py dist``: of the wheels and the source distribution in a folder,
and the packages that ``pyproject.toml`` asks for. The same files give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PROJECT = tomllib.loads(
    (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every wheel and source distribution, by name."""
    files = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def sbom(files: dict[str, str]) -> dict[str, Any]:
    """Return the list of contents: the package, its files, and what it asks for."""
    name, version = PROJECT["name"], PROJECT["version"]
    own = f"pkg:pypi/{name}@{version}"
    needed = sorted(re.split(r"[^A-Za-z0-9._-]", line)[0] for line in PROJECT["dependencies"])
    needs = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package}",
            "name": package,
            "purl": f"pkg:pypi/{package}",
        }
        for package in needed
    ]
    parts = [
        {
            "type": "file",
            "bom-ref": file,
            "name": file,
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }
        for file, digest in files.items()
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": name,
                "version": version,
                "purl": own,
                "licenses": [{"license": {"id": PROJECT["license"]}}],
            }
        },
        "components": [*needs, *parts],
        "dependencies": [{"ref": own, "dependsOn": [need["bom-ref"] for need in needs]}],
    }


def main(folder: Path) -> int:
    """Write both files; 1 where there is nothing to list."""
    files = digests(folder)
    if not files:
        print(f"{folder} has no wheel and no source distribution", file=sys.stderr)
        return 1
    sums = "".join(f"{digest}  {file}\n" for file, digest in files.items())
    (folder / "SHA256SUMS").write_text(sums, encoding="ascii")
    listed = json.dumps(sbom(files), indent=2) + "\n"
    (folder / "bearsketch.cdx.json").write_text(listed, encoding="utf-8")
    print(sums, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
