"""Changes that mean nothing must not change what graphlint finds.

usage: metamorphic.py PROGRAM [PATH...]

Each path (and each in GRAPHLINT_METAMORPHIC) is a Python file, a folder that is one program because it has a
main.py, or a folder of such. Without paths: the fixtures of rules and idioms. Every program is linted as it is and
after each change of tests/metamorphic_changes.py; findings are compared by file, row and code, rows of the
changed program being those of the original.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from metamorphic_changes import CHANGES, unchanged

ROOT = pathlib.Path(__file__).resolve().parent.parent
OTHER_TESTS = {"broken", "corpus", "ir", "lsp", "report", "runtime"}
# What runs there is compared by what it prints: nothing is to be found.
PLAIN_PROGRAMS = ROOT / "fixtures" / "replay" / "python"


def programs_in(path: pathlib.Path):
    """Yields {relative name: text} for each program in a path, with a name to tell it by."""
    if path.is_file():
        if path.suffix == ".py":
            yield path, {path.name: path.read_text(encoding="utf-8-sig")}
    elif (path / "main.py").exists():
        yield path, {
            file.relative_to(path).as_posix(): file.read_text(encoding="utf-8-sig")
            for file in sorted(path.rglob("*.py"))
        }
    elif path.is_dir() and path != PLAIN_PROGRAMS:
        for inner in sorted(path.iterdir()):
            yield from programs_in(inner)


def default_paths() -> list[pathlib.Path]:
    return [folder for folder in sorted((ROOT / "fixtures").iterdir()) if folder.name not in OTHER_TESTS]


def lint(program: str, folder: str) -> dict[str, list[tuple[int, str]]]:
    """The findings under a folder, by file."""
    command = [program, "check", "--isolated", "--no-cache", "--confirm", "never", "--exit-zero"]
    command += ["--min-confidence", "likely", "--format", "json", "."]
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"{program} ended with {result.returncode}: {result.stderr.decode(errors='replace')}")
    findings = collections.defaultdict(list)
    for finding in json.loads(result.stdout)["findings"]:
        name = os.path.normpath(finding["filename"]).replace(os.sep, "/")
        findings[name].append((finding["location"]["row"], finding["code"]))
    return findings


def verdicts(program: str, versions: list) -> list[set]:
    """For each changed program the set of (original file, original row, code)."""
    with tempfile.TemporaryDirectory() as folder:
        for number, version in enumerate(versions):
            for name, (text, _, _) in version.items():
                path = pathlib.Path(folder, f"p{number}", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="")
        findings = lint(program, folder)
    result = []
    for number, version in enumerate(versions):
        found = set()
        for name, (_, original, rows) in version.items():
            found |= {(original, rows[row], code) for row, code in findings[f"p{number}/{name}"]}
        result.append(found)
    return result


def tell(where: pathlib.Path, change: str, before: set, after: set) -> None:
    for name, row, code in sorted(before - after):
        print(f"{where}: {name}:{row}: {code} is lost by: {change}")
    for name, row, code in sorted(after - before):
        print(f"{where}: {name}:{row}: {code} is new after: {change}")


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    extra = os.environ.get("GRAPHLINT_METAMORPHIC", "").split(os.pathsep)
    paths = [pathlib.Path(path) for path in sys.argv[2:]] or default_paths()
    paths += [pathlib.Path(path) for path in extra if path]
    programs = [program for path in paths for program in programs_in(path)]
    if not programs:
        sys.exit("no program")
    baseline = verdicts(sys.argv[1], [unchanged(files) for _, files in programs])
    differing, counts = 0, []
    for change, apply in CHANGES.items():
        changed = [(index, apply(files)) for index, (_, files) in enumerate(programs)]
        changed = [(index, version) for index, version in changed if version]
        counts.append(f"{change} {len(changed)}")
        for (index, _), after in zip(changed, verdicts(sys.argv[1], [version for _, version in changed])):
            where = programs[index][0]
            if after == baseline[index]:
                continue
            tell(where, change, baseline[index], after)
            differing += 1
    found = sum(len(findings) for findings in baseline)
    print(f"{len(programs)} programs, {found} findings; {', '.join(counts)}; {differing} differ")
    return 1 if differing or not found else 0


if __name__ == "__main__":
    sys.exit(main())
