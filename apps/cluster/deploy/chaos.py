#!/usr/bin/env python3
"""Runs a small training on a cluster whose parts are killed, stopped and starved, and compares it with one machine.

    apps/cluster/deploy/chaos.py [--build target/release] [--server nats-server] [PART ...]

Parts: kills (100 kill -9 of workers, 10 of the leader, 5 restarts of the server, 2 of them without its store, and 10 stops of a
worker), disk (the server's disk is full for a while; as root, which mounts a tmpfs of a few megabytes), store (2,000 short
iterations on a server that may store 32 MB, with its use of disk and memory). Without a part: all. Exits with 1 if a byte of a run
differs.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONFIG = """
seed = 5
[game]
name = "mancala"
stones = 3
[net]
kind = "residual_mlp"
blocks = 1
width = 32
[search]
simulations = {simulations}
[self_play]
games_per_iteration = 48
concurrent_games = 12
threads = 2
[learn]
batch = 32
samples_per_position = 1
window = 3000
threads = 1
[arena]
every = 4
games = 6
final_games = 6
simulations = 4
opponents = ["random"]
best_games = 4
[run]
iterations = {iterations}
checkpoint_steps = 200
overlap = true
"""

# Many iterations of some milliseconds, with networks of some 55 KB.
SHORT = """
seed = 5
[game]
name = "mu_torere"
max_plies = 20
[net]
kind = "residual_mlp"
blocks = 1
width = 64
[search]
simulations = 2
[self_play]
games_per_iteration = 2
concurrent_games = 2
threads = 1
[learn]
batch = 8
samples_per_position = 1
window = 100
threads = 1
[arena]
every = 0
final_games = 2
simulations = 2
opponents = ["random"]
[run]
iterations = {iterations}
checkpoint_steps = 100000
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Place:
    """A folder with a server, a run on one machine and a run on the cluster."""

    def __init__(self, args, iterations, simulations, store=None, config=CONFIG):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turnstone-chaos-"))
        self.turnstone, self.program = str(pathlib.Path(args.build).resolve() / "turnstone"), args.server
        self.store = store or self.folder / "store"
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        (self.folder / "config.toml").write_text(config.format(iterations=iterations, simulations=simulations))
        listen = f'listen: "127.0.0.1:{self.port}"'
        limit = f'jetstream {{ store_dir: "{self.store}", max_file_store: 32MB }}'
        (self.folder / "server.conf").write_text(f"{listen}\n{limit}\n")
        self.log = open(self.folder / "log", "ab")

    def spawn(self, *command):
        return subprocess.Popen(command, cwd=self.folder, stdout=self.log, stderr=self.log)

    def start_server(self):
        self.server = self.spawn(self.program, "-c", "server.conf")
        time.sleep(0.5)

    def alone(self):
        start = time.monotonic()
        command = [self.turnstone, "train", "config.toml", "--run", "alone", "--quiet"]
        subprocess.run(command, cwd=self.folder, check=True)
        print(f"  one machine: {time.monotonic() - start:.0f} s", flush=True)

    def lead(self):
        resume = (self.folder / "led" / "config.toml").exists()
        what = ["--resume", "led"] if resume else ["config.toml", "--run", "led"]
        return self.spawn(self.turnstone, "train", *what, "--cluster", self.url, "--ack-wait", "2")

    def worker(self):
        return self.spawn(self.turnstone, "worker", self.url, "--threads", "1")

    def differences(self):
        one, other = self.folder / "alone", self.folder / "led"
        names = {path.relative_to(run) for run in (one, other) for part in ("", "replay", "checkpoints")
                 for path in (run / part).iterdir() if path.is_file()}
        different = []
        for name in sorted(names):
            if str(name) in ("lock", "config.toml", "provenance.jsonl"):
                continue
            if str(name) == "metrics.jsonl":
                same = metrics(one) == metrics(other)
            else:
                files = [run / name for run in (one, other)]
                same = all(path.exists() for path in files) and files[0].read_bytes() == files[1].read_bytes()
            if not same:
                different.append(str(name))
        return different, len(names)

    def end(self, what, leader, start):
        different, files = self.differences()
        sound = leader.returncode == 0 and not different
        verdict = f"the same bytes in {files} files" if sound else f"DIFFERENT: {different}, see {self.folder}"
        print(f"  {what}: {time.monotonic() - start:.0f} s, {verdict}", flush=True)
        if sound:
            shutil.rmtree(self.folder, ignore_errors=True)
        return sound


def metrics(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("timing", "crc")} for line in lines]


def stop(*processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def kills(args):
    place = Place(args, args.iterations, 400)
    place.alone()
    place.start_server()
    start, rng, done = time.monotonic(), random.Random(2), []
    leader, crew = place.lead(), [place.worker() for _ in range(3)]
    todo = ["worker"] * args.workers + ["leader"] * args.leaders + ["stop"] * (args.workers // 10)
    todo += ["server"] * (args.restarts - args.restarts // 2) + ["wipe"] * (args.restarts // 2)
    rng.shuffle(todo)
    while leader.poll() is None:
        time.sleep(rng.uniform(0.2, 0.9))
        if not todo or leader.poll() is not None:
            continue
        done.append(what := todo.pop())
        at = rng.randrange(len(crew))
        if what == "worker":
            stop(crew[at])
            crew[at] = place.worker()
        elif what == "leader":
            stop(leader)
            leader = place.lead()
        elif what == "stop":
            crew[at].send_signal(signal.SIGSTOP)
            time.sleep(3)
            crew[at].send_signal(signal.SIGCONT)
        else:
            stop(place.server)
            if what == "wipe":
                shutil.rmtree(place.store)
            place.start_server()
    stop(place.server, *crew)
    counts = {what: done.count(what) for what in ("worker", "leader", "stop", "server", "wipe")}
    print(f"  killed: {counts}, {len(todo)} left over", flush=True)
    return place.end("kills", leader, start)


@contextlib.contextmanager
def small_disk(size):
    """A file system of this size."""
    mount = pathlib.Path(tempfile.mkdtemp(prefix="turnstone-full-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", mount])


def fill(path):
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def disk(args):
    """The disk of the server fills up; someone makes room and starts it again."""
    with small_disk("6m") as mount:
        place = Place(args, 12, 24, store=mount / "store")
        place.alone()
        place.start_server()
        start, leader, crew = time.monotonic(), place.lead(), [place.worker() for _ in range(2)]
        for _ in range(3):
            time.sleep(3)
            fill(mount / "filler")
            time.sleep(6)
            (mount / "filler").unlink()
            stop(place.server)
            place.start_server()
        leader.wait(600)
        stop(place.server, *crew)
        return place.end("disk", leader, start)


def store(args):
    """Old networks and results cost the server nothing."""
    place = Place(args, args.short, 0, config=SHORT)
    place.alone()
    place.start_server()
    start, leader, worker, most, marks = time.monotonic(), place.lead(), place.worker(), 0, [500, 1000, 1990]
    while leader.poll() is None:
        time.sleep(0.5)
        used = sum(path.stat().st_size for path in place.store.rglob("*") if path.is_file() and path.exists())
        most = max(most, used)
        with contextlib.suppress(OSError, StopIteration):
            iterations = len((place.folder / "led" / "metrics.jsonl").read_text().splitlines())
            if marks and iterations >= marks[0]:
                memory = [memory_of(process) for process in (place.server, worker, leader)]
                print(f"  iteration {iterations}: {used / 1e6:.1f} MB of disk; server, worker and leader have "
                      f"{', '.join(f'{bytes / 1e6:.0f}' for bytes in memory)} MB of memory", flush=True)
                marks.pop(0)
    print(f"  {args.short} iterations: at most {most / 1e6:.1f} MB of disk", flush=True)
    stop(place.server, worker)
    return place.end("store", leader, start)


def memory_of(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="target/release", help="folder with the program")
    parser.add_argument("--server", default="nats-server", help="the server's program")
    parser.add_argument("--workers", type=int, default=100, help="kills of workers")
    parser.add_argument("--leaders", type=int, default=10, help="kills of the leader")
    parser.add_argument("--restarts", type=int, default=5, help="restarts of the server")
    parser.add_argument("--iterations", type=int, default=40, help="iterations of the run that is killed")
    parser.add_argument("--short", type=int, default=2000, help="iterations of the part store")
    parser.add_argument("parts", nargs="*", help="kills, disk, store; all without")
    args = parser.parse_args()
    sound = True
    for part in args.parts or ["kills", "disk", "store"]:
        print(part, flush=True)
        if part == "disk" and os.geteuid() != 0:
            print("  skipped: needs root")
            continue
        sound &= {"kills": kills, "disk": disk, "store": store}[part](args)
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
