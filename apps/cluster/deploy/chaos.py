#!/usr/bin/env python3
"""Runs a small training on a cluster whose parts are killed, starved and cut off, and compares it with one machine.

    apps/cluster/deploy/chaos.py [--build target/release] [PART ...]

Parts: kills (100 kill -9 of workers, 10 of the leader, 5 restarts of the server, delayed and repeated
acknowledgements), disk (the server's disk is full for a while; as root, which mounts a tmpfs of a few megabytes), store (a thousand short iterations on a server with 32 MB
of disk; as root), partition (a minute without packets; as root, in network namespaces) and netns (delay, loss, reordering,
duplicates and partitions between leader, server and workers in namespaces of their own; as root). Without a part: all.
Needs nats-server, and ip and mount for the parts as root. Exits with 1 if a byte of a run differs.
"""

import argparse
import contextlib
import fcntl
import heapq
import json
import os
import pathlib
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

PARTS = ["kills", "disk", "store", "partition", "netns"]

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
overlap = 1
"""


# Many iterations of some milliseconds, with jobs of some 55 KB.
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

    def __init__(self, build, iterations, simulations, store=None, address="127.0.0.1", inside=(), config=CONFIG):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turnstone-chaos-"))
        self.turnstone = str(pathlib.Path(build).resolve() / "turnstone")
        self.port, self.address = free_port(), address
        self.store = store or self.folder / "store"
        (self.folder / "config.toml").write_text(config.format(iterations=iterations, simulations=simulations))
        self.url = f"nats://{address}:{self.port}"
        self.log = open(self.folder / "log", "ab")
        self.inside = list(inside)
        self.names = 0

    def start_server(self):
        command = ["nats-server", "-a", self.address, "-p", str(self.port), "-js", "-sd", str(self.store)]
        self.server = subprocess.Popen(self.inside + command, stdout=self.log, stderr=self.log)
        time.sleep(0.5)

    def alone(self):
        start = time.monotonic()
        command = [self.turnstone, "train", "config.toml", "--run", "alone", "--quiet"]
        subprocess.run(command, cwd=self.folder, check=True)
        print(f"  one machine: {time.monotonic() - start:.0f} s", flush=True)

    def lead(self, resume=False, url=None, inside=None):
        what = ["--resume", "led"] if resume else ["config.toml", "--run", "led"]
        command = [self.turnstone, "train", *what, "--cluster", url or self.url, "--ack-wait", "2"]
        return subprocess.Popen((inside or self.inside) + command, cwd=self.folder, stdout=self.log, stderr=self.log)

    def worker(self, url=None, inside=None):
        command = [self.turnstone, "worker", url or self.url, "--threads", "1"]
        return subprocess.Popen((inside or self.inside) + command, cwd=self.folder, stdout=self.log, stderr=self.log)

    def status(self):
        command = [self.turnstone, "cluster", "status", self.url, "--json", "--listen", "1.2"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

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

    def end(self, what, seconds):
        different, files = self.differences()
        verdict = f"DIFFERENT: {different}" if different else f"the same bytes in {files} files"
        print(f"  {what}: {seconds:.0f} s, {verdict}", flush=True)
        if not different:
            shutil.rmtree(self.folder, ignore_errors=True)
        return not different


def metrics(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("timing", "crc")} for line in lines]


def stop(*processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


class Proxy(threading.Thread):
    """Passes bytes between clients and the server. Acknowledgements of clients are delayed and sent twice."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target, self.listener = port, socket.create_server(("127.0.0.1", 0))
        self.port, self.repeated = self.listener.getsockname()[1], 0

    def run(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.pump, args=(server, client, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(client, server, True), daemon=True).start()

    def pump(self, source, sink, towards_server):
        rng, held, whole = random.Random(1), b"", threading.Lock()
        try:
            while data := source.recv(1 << 16):
                if not towards_server:
                    sink.sendall(data)
                    continue
                held += data
                while b"\r\n" in held:
                    line, _, rest = held.partition(b"\r\n")
                    length = 0
                    if line.startswith((b"PUB ", b"HPUB ")):
                        length = int(line.split()[-1]) + 2
                    if len(rest) < length:
                        break
                    message, held = held[:len(line) + 2 + length], rest[length:]
                    with whole:
                        sink.sendall(message)
                    if line.startswith(b"PUB $JS.ACK.") and rng.random() < 0.3:
                        self.repeated += 1
                        late = threading.Timer(rng.uniform(0, 3), self.again, (sink, message, whole))
                        late.daemon = True
                        late.start()
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.close()
            except OSError:
                pass

    @staticmethod
    def again(sink, message, whole):
        try:
            with whole:
                sink.sendall(message)
        except OSError:
            pass


def kills(build, workers, leaders, restarts, iterations):
    place = Place(build, iterations, 24)
    place.alone()
    place.start_server()
    proxy = Proxy(place.port)
    proxy.start()
    url = f"nats://127.0.0.1:{proxy.port}"
    start, rng = time.monotonic(), random.Random(2)
    leader = place.lead(url=url)
    crew = [place.worker(url=url) for _ in range(3)]
    todo = ["worker"] * workers + ["leader"] * leaders + ["server"] * restarts
    rng.shuffle(todo)
    done = []
    while leader.poll() is None:
        time.sleep(rng.uniform(0.2, 0.9))
        if not todo or leader.poll() is not None:
            continue
        what = todo.pop()
        done.append(what)
        if what == "worker":
            at = rng.randrange(len(crew))
            stop(crew[at])
            crew[at] = place.worker(url=url)
        elif what == "leader":
            stop(leader)
            leader = place.lead(resume=(place.folder / "led" / "config.toml").exists(), url=url)
        else:
            stop(place.server)
            place.start_server()
    stop(place.server, *crew)
    counts = {what: done.count(what) for what in ("worker", "leader", "server")}
    print(f"  killed: {counts}, {proxy.repeated} acknowledgements repeated, {len(todo)} kills left over", flush=True)
    return place.end("kills", time.monotonic() - start) and leader.returncode == 0


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
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass


def used(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def disk(build):
    """The store of the server fills up; someone makes room and starts it again."""
    with small_disk("6m") as mount:
        place = Place(build, 12, 24, store=mount / "store")
        place.alone()
        place.start_server()
        start = time.monotonic()
        leader, crew = place.lead(), [place.worker() for _ in range(2)]
        for _ in range(3):
            time.sleep(3)
            fill(mount / "filler")
            free = shutil.disk_usage(mount).free
            time.sleep(6)
            (mount / "filler").unlink()
            stop(place.server)
            place.start_server()
            print(f"  full ({free} bytes left) for six seconds, then room and a restart", flush=True)
        leader.wait(600)
        stop(place.server, *crew)
        return place.end("disk", time.monotonic() - start) and leader.returncode == 0


def store(build, iterations):
    """Old jobs cost the server no disk: many more bytes of jobs go through it than it has room for."""
    with small_disk("32m") as mount:
        place = Place(build, iterations, 0, store=mount / "store", config=SHORT)
        place.alone()
        place.start_server()
        start, most = time.monotonic(), 0
        leader, worker = place.lead(), place.worker()
        while leader.poll() is None:
            time.sleep(1)
            try:
                most = max(most, used(mount))
            except OSError:
                pass  # a file has just been removed
        bytes_of_jobs = sum(stream["bytes"] for stream in place.status()["streams"].values())
        print(f"  {iterations} iterations: at most {most / 1e6:.1f} MB of disk, {used(mount) / 1e6:.1f} MB at the end, "
              f"{bytes_of_jobs / 1e6:.1f} MB of messages", flush=True)
        stop(place.server, worker)
        return place.end("store", time.monotonic() - start) and leader.returncode == 0


class Wire(threading.Thread):
    """A network in user space between namespaces, one TAP device in each: frames are late, lost, doubled and out of order.

    It stands for tc's netem, which not every kernel has."""

    def __init__(self, names, delay=0.04, jitter=0.03, loss=0.02, double=0.01):
        super().__init__(daemon=True)
        self.delay, self.jitter, self.loss, self.double = delay, jitter, loss, double
        self.cut, self.rng, self.counts = set(), random.Random(3), {"frames": 0, "lost": 0, "doubled": 0, "cut": 0}
        self.files = {}
        for name in names:
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            # TUNSETIFF with IFF_TAP and IFF_NO_PI.
            fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", f"tap-{name}".encode()[:15], 0x1002))
            self.files[device] = name

    def run(self):
        waiting, number = [], 0
        while True:
            pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.5
            for source in select.select(list(self.files), [], [], pause)[0]:
                try:
                    frame = os.read(source, 1 << 16)
                except OSError:
                    continue
                for sink in self.files:
                    if sink == source:
                        continue
                    self.counts["frames"] += 1
                    if {self.files[source], self.files[sink]} & self.cut:
                        self.counts["cut"] += 1
                        continue
                    copies = 1 + (self.rng.random() < self.double)
                    self.counts["doubled"] += copies - 1
                    for _ in range(copies):
                        if self.rng.random() < self.loss:
                            self.counts["lost"] += 1
                            continue
                        number += 1
                        late = self.delay + self.rng.uniform(-self.jitter, self.jitter) * self.delay / 0.04
                        heapq.heappush(waiting, (time.monotonic() + late, number, sink, frame))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, sink, frame = heapq.heappop(waiting)
                try:
                    os.write(sink, frame)
                except OSError:
                    pass


class Namespaces:
    """Namespaces of the server, the leader and two workers, joined by a wire."""

    names = ("server", "leader", "w1", "w2")

    def __init__(self, **disturbances):
        self.wire = Wire(self.names, **disturbances)
        self.prefix = f"ts{os.getpid() % 10000}"

    def __enter__(self):
        for i, name in enumerate(self.names):
            space = self.of(name)
            for command in (
                f"ip netns add {space}", f"ip link set tap-{name} netns {space}", f"ip -n {space} link set lo up",
                f"ip -n {space} addr add 10.77.0.{i + 1}/24 dev tap-{name}", f"ip -n {space} link set tap-{name} up",
            ):
                subprocess.run(command.split(), check=True)
        self.wire.start()
        return self

    def of(self, name):
        return self.prefix + name

    def inside(self, name):
        return ["ip", "netns", "exec", self.of(name)]

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", self.of(name)], stderr=subprocess.DEVNULL)


def apart(build, what, disturbances, cuts, seconds, iterations):
    """A run whose leader, server and workers are in namespaces; each of `cuts` is cut off in turn for `seconds`."""
    with Namespaces(**disturbances) as spaces:
        place = Place(build, iterations, 24, address="10.77.0.1", inside=spaces.inside("server"))
        place.alone()
        place.start_server()
        start = time.monotonic()
        leader = place.lead(inside=spaces.inside("leader"))
        crew = [place.worker(inside=spaces.inside(name)) for name in ("w1", "w2")]
        for names in cuts:
            time.sleep(4)
            if leader.poll() is not None:
                print("  the run was over before all cuts: give it more iterations", flush=True)
                return False
            spaces.wire.cut = set(names)
            time.sleep(seconds)
            spaces.wire.cut = set()
            print(f"  {' and '.join(names)} cut off for {seconds} s", flush=True)
        leader.wait(900)
        stop(place.server, *crew)
        print(f"  {spaces.wire.counts}", flush=True)
        return place.end(what, time.monotonic() - start) and leader.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="target/release", help="folder with the program")
    parser.add_argument("--workers", type=int, default=100, help="kills of workers")
    parser.add_argument("--leaders", type=int, default=10, help="kills of the leader")
    parser.add_argument("--restarts", type=int, default=5, help="restarts of the server")
    parser.add_argument("--iterations", type=int, default=40, help="iterations of the run that is killed")
    parser.add_argument("--short", type=int, default=1000, help="iterations of the part store")
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all without")
    args = parser.parse_args()
    parts = args.parts or PARTS
    sound = True
    for part in parts:
        print(part, flush=True)
        if part != "kills" and os.geteuid() != 0:
            print("  skipped: needs root")
            continue
        if part == "kills":
            sound &= kills(args.build, args.workers, args.leaders, args.restarts, args.iterations)
        elif part == "disk":
            sound &= disk(args.build)
        elif part == "store":
            sound &= store(args.build, args.short)
        elif part == "partition":
            quiet = {"delay": 0, "jitter": 0, "loss": 0, "double": 0}
            sound &= apart(args.build, part, quiet, [("leader",), ("w1",)], 60, 80)
        elif part == "netns":
            sound &= apart(args.build, part, {}, [("w1", "w2"), ("leader",), ("w2",)], 12, 10)
        else:
            parser.error(f"unknown part {part}")
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
