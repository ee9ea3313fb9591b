"""What graphlint costs: start-up, speed, memory, beside ruff in the same run.

usage: bench.py [FOLDER...]     default: some packages of tests/corpus.txt
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "graphlint"
PACKAGES = ["flair", "gpytorch", "lightly", "pyro-ppl", "speechbrain", "tianshou", "ultralytics"]
ROUNDS = 5
PATIENCE = 20  # seconds for the rounds of one row


def run(command: list[str]) -> tuple[float, float]:
    """Wall seconds and peak MiB of one run."""
    begun = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise SystemExit(f"bench: {' '.join(command)} ended with {child.returncode}")
    return took, usage.ru_maxrss / 1024


def best(command: list[str]) -> tuple[float, float]:
    results = [run(command)]
    while len(results) < ROUNDS and sum(took for took, _ in results) < PATIENCE:
        results.append(run(command))
    return min(took for took, _ in results), max(peak for _, peak in results)


def python_files(folders: list[str]) -> list[pathlib.Path]:
    return [path for folder in folders for path in pathlib.Path(folder).rglob("*.py") if path.is_file()]


def corpus() -> list[str]:
    command = [sys.executable, str(ROOT / "tests" / "corpus.py"), *PACKAGES]
    folder = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return [str(path) for name in PACKAGES if (path := pathlib.Path(folder, name)).is_dir()]


def ruff() -> str | None:
    environment = ROOT / "build-bench"
    program = environment / "bin" / "ruff"
    if not program.exists():
        made = [sys.executable, "-m", "venv", str(environment)]
        pip = [str(environment / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "ruff"]
        if subprocess.run(made).returncode or subprocess.run(pip).returncode:
            return None
    return str(program)


def start_up(command: list[str]) -> float:
    return statistics.median(run(command)[0] for _ in range(100)) * 1000


def main() -> int:
    folders = sys.argv[1:] or corpus()
    files = python_files(folders)
    size = sum(path.stat().st_size for path in files)
    megabytes = size / 1e6
    aim = 16 + 20 * size / 2**20
    print(f"{len(files)} files, {megabytes:.1f} MB, {os.cpu_count()} cores")

    check = [str(PROGRAM), "check", "--isolated", "--no-cache", "--exit-zero", "--quiet"]
    rows = {
        "graphlint": [*check, *folders],
        "graphlint --no-skip": [*check, "--no-skip", *folders],
        "graphlint --jobs 1": [*check, "--jobs", "1", *folders],
    }
    program = ruff()
    if program:
        rows["ruff --isolated --no-cache"] = [
            program, "check", "--isolated", "--no-cache", "--exit-zero", "--quiet", *folders]
    seconds = {}
    for name, command in rows.items():
        seconds[name], peak = best(command)
        rate = megabytes / seconds[name]
        print(f"{name:28} {seconds[name] * 1000:9.1f} ms {rate:8.1f} MB/s {peak:8.1f} MiB peak")
    print(f"{'aim for memory':28} {aim:32.1f} MiB")
    if program:
        ratio = seconds["ruff --isolated --no-cache"] / seconds["graphlint"]
        print(f"graphlint is {ratio:.2f} times as fast as ruff")
    print(f"start-up: {start_up([str(PROGRAM), 'version']):.2f} ms (aim 3), true: {start_up(['true']):.2f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
