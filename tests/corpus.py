"""Unpacks packages of tests/corpus.txt (or those named) and prints the folder.

usage: corpus.py [PACKAGE...]

They are kept in GRAPHLINT_CORPUS (default: graphlint-corpus in the user's cache folder); what is there is not
fetched again. A package that cannot be had is named on standard error.
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def corpus_folder() -> pathlib.Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("GRAPHLINT_CORPUS") or os.path.join(cache, "graphlint-corpus"))


def package_names() -> list[str]:
    lines = (HERE / "corpus.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def download(name: str, folder: str) -> bool:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    for kind in ("--only-binary=:all:", "--no-binary=:all:"):
        command = [*pip, "--no-build-isolation", kind, "--dest", folder, name]
        try:
            got = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
        except subprocess.TimeoutExpired:
            return False
        if got.returncode == 0:
            return True
    return False


def unpack(archive: pathlib.Path, target: pathlib.Path) -> None:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(target)
    else:
        with tarfile.open(archive) as opened:
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            opened.extractall(target, **safe)


def fetch(name: str, target: pathlib.Path) -> bool:
    if target.is_dir():
        return True
    with tempfile.TemporaryDirectory() as got:
        if not download(name, got):
            return False
        partial = target.with_suffix(".partial")
        for archive in pathlib.Path(got).iterdir():
            unpack(archive, partial)
        partial.rename(target)
    return True


def main() -> int:
    folder = corpus_folder()
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in sys.argv[1:] or package_names() if not fetch(name, folder / name)]
    for name in missing:
        print(f"corpus: {name} cannot be had", file=sys.stderr)
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
