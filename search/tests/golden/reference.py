"""The reference that the golden trees are made with: games as trees, evaluations, and both searches from the formulas of
their papers, in double precision. Nothing here comes from the program under test.

AlphaZero's PUCT: Silver et al. 2017. First-play urgency, forced playouts, policy-target pruning: Wu 2019 (KataGo). Gumbel
search: Danihelka et al. 2022. Proven results: README.md.
"""

import json
import math
import random
import subprocess

CHECKPOINT = 8
# The smallest prior that has a logarithm in single precision.
TINY = 1.1754944e-38
# Two actions whose scores are closer than this, but not equal, could swap places between two float formats.
CLOSE = 2e-6


# ---- Games: positions as text -----------------------------------------------------------------------------------------


def sign(margin):
    return (margin > 0) - (margin < 0)


class Toy:
    """A tree written as text: `mover(child child ...)`, a leaf is the margin of player 1. A position is the number of
    a node, counted in the order of the text."""

    game = "toy"

    def __init__(self, text):
        self.start_text = text
        self.nodes = []
        tokens = text.replace("(", " ( ").replace(")", " ) ").split()
        self._parse(tokens, 0)
        self.start = "0"

    def _parse(self, tokens, at):
        number = len(self.nodes)
        self.nodes.append(None)
        if at + 1 < len(tokens) and tokens[at + 1] == "(":
            mover, children, at = int(tokens[at]), [], at + 2
            while tokens[at] != ")":
                children.append(str(len(self.nodes)))
                at = self._parse(tokens, at)
            self.nodes[number] = (1 if mover == 1 else -1, None, children)
        else:
            self.nodes[number] = (1, sign(int(tokens[at])), [])
        return at + 1

    def expand(self, position):
        """Sign of the mover, result for the first side or None, positions after each legal action."""
        return self.nodes[int(position)]


class RealGame:
    """A game of the workspace; the example `golden_positions` tells its rules."""

    process = None

    def __init__(self, game, position):
        self.game, self.start, self.start_text, self.known = game, position, position, {}
        if RealGame.process is None:
            command = "cargo run -q -p turnstone-search --example golden_positions".split()
            RealGame.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def expand(self, position):
        if position not in self.known:
            self.process.stdin.write(f"{self.game}|{position}\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            self.known[position] = (answer["mover"], answer["result"], answer["after"])
        return self.known[position]


def grown(rng, widths, depth, movers):
    """Text of a tree whose nodes at ply `i` have `widths[i]` children, then one each, down to `depth`, where the game is
    drawn; `movers(rng, ply)` says who moves."""

    def node(ply):
        if ply == depth:
            return "0"
        children = [node(ply + 1) for _ in range(widths[ply] if ply < len(widths) else 1)]
        return f"{movers(rng, ply)}({' '.join(children)})"

    return node(0)


# ---- Evaluations: numbers that belong to a position ------------------------------------------------------------------


class Evaluations:
    """Value and probability of a draw for the first side, and priors, drawn once per position."""

    def __init__(self, world, name, given=None, spread=1.0, draws=False, sharp=1.0):
        self.world, self.name, self.spread, self.draws, self.sharp = world, name, spread, draws, sharp
        self.table = dict(given or {})
        self.used = {}

    def __call__(self, position):
        if position not in self.table:
            rng = random.Random(f"{self.name} {position}")
            actions = len(self.world.expand(position)[2])
            draw = round(rng.uniform(0.0, 0.6), 2) if self.draws else 0.0
            value = round(rng.uniform(-1, 1) * self.spread * (1 - draw), 3)
            weights = [rng.gammavariate(1.0, 1.0) ** self.sharp + 0.01 for _ in range(actions)]
            self.table[position] = [value, draw, shares(weights)]
        self.used[position] = self.table[position]
        return self.table[position]


def shares(weights, digits=4):
    """Shares of sum 1 with few digits."""
    rounded = [round(w / sum(weights), digits) for w in weights]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 1 - sum(rounded), digits)
    assert abs(sum(rounded) - 1) < 1e-9 and min(rounded) >= 0
    return rounded


# ---- The reference ---------------------------------------------------------------------------------------------------


def halving(considered, simulations):
    """Sequential halving: for each simulation the visits that the action in turn has had. Every round spends about the same
    number of simulations; the last two actions share what is left over."""
    if considered <= 1:
        return list(range(simulations))
    rounds, turns, visits, left = math.ceil(math.log2(considered)), [], 0, considered
    while len(turns) < simulations:
        each = max(1, simulations // (rounds * left))
        turns += [visits + extra for extra in range(each) for _ in range(left)]
        visits, left = visits + each, max(2, left // 2)
    return turns[:simulations]


class Node:
    def __init__(self, world, position):
        self.position = position
        self.sign, self.proven, self.after = world.expand(position)
        self.children, self.taken, self.priors, self.raw = [], [], None, None
        self.n, self.value, self.draw = 0, 0.0, 0.0  # visits, sums of expected results and of draws, for the first side

    def mean(self):
        """Expected result and probability of a draw: exact if proven."""
        if self.proven is not None:
            return float(self.proven), float(self.proven == 0)
        return self.value / max(self.n, 1), self.draw / max(self.n, 1)


class Reference:
    """Both searches, from their papers, in double precision. A node's `children` hold None where no simulation went."""

    def __init__(self, world, evaluations, method, draw_value=0.0):
        self.world, self.evaluations, self.method, self.draw_value = world, evaluations, method, draw_value
        self.root = Node(world, world.start)

    # -- statistics, from the view of a node's mover

    def visits(self, node):
        return list(node.taken)

    def worth(self, value, draw):
        """What an expected result is worth to the first side if a draw has a value of its own."""
        return value + self.draw_value * draw

    def q(self, node, action):
        """Value of a visited action: exact if proven, else the mean over its simulations."""
        child = node.children[action]
        if child.proven is not None:
            return node.sign * self.worth(child.proven, float(child.proven == 0))
        return node.sign * self.worth(child.value / child.n, child.draw / child.n)

    def lost(self, node, action):
        child = node.children[action]
        return child is not None and self.counts(node, action) and child.proven == -node.sign

    def counts(self, node, action):
        return node.taken[action]

    # -- one simulation

    def evaluate(self, node):
        value, draw, priors = self.evaluations(node.position)
        node.raw, node.priors = (value, draw), list(priors)
        node.children, node.taken = [None] * len(priors), [0] * len(priors)
        return value, draw

    def simulate(self):
        """Runs one simulation."""
        path, node = [], self.root
        while node.priors is not None and (node is self.root or node.proven is None):
            action = self.select(node)
            path.append((node, action))
            if node.children[action] is None:
                node.children[action] = Node(self.world, node.after[action])
                node = node.children[action]
                break
            node = node.children[action]
        estimate = self.evaluate(node) if node.proven is None else None
        estimate = self.arrive(node, estimate)
        for node, action in reversed(path):
            node.taken[action] += 1
            if node.proven is None:
                node.proven = self.prove(node)
            estimate = self.arrive(node, estimate)

    def arrive(self, node, estimate):
        if node.proven is not None:
            estimate = (float(node.proven), float(node.proven == 0))
        node.n, node.value, node.draw = node.n + 1, node.value + estimate[0], node.draw + estimate[1]
        return estimate

    def prove(self, node):
        """A proven win of the mover proves the node; if all children are proven the best of them does."""
        known = [c.proven if c is not None and self.counts(node, a) else None for a, c in enumerate(node.children)]
        if node.sign in known:
            return node.sign
        if None in known:
            return None
        return node.sign * max(node.sign * value for value in known)

    def select(self, node):
        if self.method["kind"] == "puct":
            return self.select_puct(node)
        if node is self.root:
            return self.select_at_gumbel_root()
        return self.select_inside_gumbel(node)

    @staticmethod
    def greatest(scores):
        """Index of the greatest score, the first among equals; None stands for an action that is out of the question."""
        order = sorted((s for s in scores if s is not None), reverse=True)
        if len(order) > 1 and 0 < order[0] - order[1] < CLOSE * max(1.0, abs(order[0])):
            raise ArithmeticError(f"too close to call: {order[:2]}")
        return scores.index(order[0])

    # -- PUCT

    def puct_score(self, node, action, visits=None):
        n = self.visits(node)
        if n[action]:
            q = self.q(node, action)
        else:
            seen = sum(p for p, count in zip(node.priors, n) if count)
            mean = node.sign * self.worth(node.value / node.n, node.draw / node.n)
            q = max(mean - self.method["fpu_reduction"] * math.sqrt(seen), -1.0)
        visits = n[action] if visits is None else visits
        return q + self.method["c_puct"] * node.priors[action] * math.sqrt(node.n) / (1 + visits)

    def forced(self, node, action):
        return math.sqrt(self.method["forced_playouts"] * node.priors[action] * node.n)

    def select_puct(self, node):
        if node is self.root:
            for action, n in enumerate(self.visits(node)):
                due = self.forced(node, action)
                if 0 < abs(n - due) < CLOSE:
                    raise ArithmeticError(f"too close to call: {n} visits of {due}")
                if 0 < n < due and not self.lost(node, action):
                    return action
        actions = range(len(node.priors))
        return self.greatest([None if self.lost(node, a) else self.puct_score(node, a) for a in actions])

    def pruned_visits(self):
        root, visits = self.root, self.visits(self.root)
        if not self.method["forced_playouts"]:
            return [float(n) for n in visits]
        best = visits.index(max(visits))
        bar = None if self.lost(root, best) else self.puct_score(root, best)
        pruned = []
        for action, n in enumerate(visits):
            kept = n
            if n < visits[best] and bar is not None:
                for _ in range(math.ceil(self.forced(root, action))):
                    score = self.puct_score(root, action, kept - 1) if kept else math.inf
                    if abs(score - bar) < CLOSE:
                        raise ArithmeticError(f"too close to call: {score} against {bar}")
                    if kept == 0 or not self.lost(root, action) and score >= bar:
                        break
                    kept -= 1
                kept = 0 if kept == 1 else kept
            pruned.append(float(kept))
        return pruned

    # -- Gumbel

    def completed(self, node):
        """Completed values, by the mover's view, and what they are multiplied by against the logits."""
        n = self.visits(node)
        visited = [a for a in range(len(n)) if n[a]]
        mass = sum(node.priors[a] for a in visited)
        known = sum(node.priors[a] * self.q(node, a) for a in visited) / mass if mass else 0.0
        raw = node.sign * self.worth(*node.raw)
        mixed = (raw + sum(n) * known) / (1 + sum(n))
        # The paper's q lies in 0..1 and ours in -1..1: half of the paper's scale.
        scale = 0.5 * self.method["c_scale"] * (self.method["c_visit"] + max(n))
        return [self.q(node, a) if n[a] else mixed for a in range(len(n))], scale

    def logits(self, node):
        return [math.log(max(p, TINY)) for p in node.priors]

    def improved(self, node):
        """softmax(logits + sigma(completed q)), nothing for proven losses; None if there are only such."""
        q, scale = self.completed(node)
        x = [l + scale * q for l, q in zip(self.logits(node), q)]
        live = [a for a in range(len(x)) if not self.lost(node, a)]
        if not live:
            return None
        top = max(x[a] for a in live)
        e = [math.exp(x[a] - top) if a in live else 0.0 for a in range(len(x))]
        return [value / sum(e) for value in e]

    def gumbel_scores(self):
        q, scale = self.completed(self.root)
        logits = self.logits(self.root)
        every = [g + l + scale * q for g, l, q in zip(self.gumbels, logits, q)]
        return [None if self.lost(self.root, a) else s for a, s in enumerate(every)]

    def fresh(self):
        """Visits of the root's actions in this search."""
        return [n - before for n, before in zip(self.visits(self.root), self.before)]

    def select_at_gumbel_root(self):
        turn = self.schedule.pop(0)
        scores = self.gumbel_scores()
        in_turn = [s if n == turn else None for s, n in zip(scores, self.fresh())]
        return self.greatest(in_turn if any(s is not None for s in in_turn) else scores)

    def select_inside_gumbel(self, node):
        n = self.visits(node)
        policy = self.improved(node)
        scores = [p - count / (1 + sum(n)) for p, count in zip(policy, n)]
        return self.greatest([None if self.lost(node, a) else s for a, s in enumerate(scores)])

    def winner(self):
        scores = self.gumbel_scores()
        live = [n for n, s in zip(self.fresh(), scores) if s is not None]
        most = max(live, default=0)
        return self.greatest([s if n == most else None for s, n in zip(scores, self.fresh())])

    # -- what comes of it

    def policy(self):
        root = self.root
        n, sign = self.visits(root), root.sign
        known = [sign * c.proven if n[a] and c.proven is not None else None for a, c in enumerate(root.children)]
        weights = self.pruned_visits() if self.method["kind"] == "puct" else self.improved(root) or [0.0] * len(n)
        sure = max((k for k in known if k is not None), default=-1)
        # What is proven worse than what is sure has no share, and nothing else has one beside a sure win.
        all_known = None not in known
        keep = [k == sure and (k > -1 or all_known) if k is not None else sure < 1 for k in known]
        weights = [w if k else 0.0 for w, k in zip(weights, keep)]
        if sum(weights) == 0:
            weights = [max(p, TINY) if k else 0.0 for p, k in zip(root.priors, keep)]
        return [w / sum(weights) for w in weights]

    def estimate(self):
        """Expected result and draws at the root, for the first side."""
        root, n = self.root, self.visits(self.root)
        policy = self.improved(root) if self.method["kind"] == "gumbel" else None
        mass = sum(p for p, count in zip(policy, n) if count) if policy else 0.0
        if root.proven is not None or mass == 0.0:
            return root.mean()
        means = [(p, c.mean()) for p, count, c in zip(policy, n, root.children) if count]
        return tuple(sum(p * m[i] for p, m in means) / mass for i in (0, 1))

    def begin(self, stage):
        """Sets out for a stage's simulations at an expanded root."""
        root = self.root
        if noise := stage.get("noise"):
            f = self.method["noise_fraction"]
            root.priors = [(1 - f) * p + f * x for p, x in zip(root.priors, noise)]
        if self.method["kind"] == "gumbel":
            self.gumbels = stage["gumbels"]
            self.before = self.visits(root)
            considered = min(self.method["considered"], len(root.priors))
            self.schedule = halving(considered, stage["simulations"])

    def run(self, stage):
        """Runs a stage and returns what is found at each checkpoint."""
        if self.root.priors is None:
            self.arrive(self.root, self.evaluate(self.root))
        self.begin(stage)
        after = []
        for done in range(1, stage["simulations"] + 1):
            if self.root.proven is None:
                self.simulate()
                if done % CHECKPOINT == 0 or done == stage["simulations"] or self.root.proven is not None:
                    after.append(self.report(done))
        return after

    def report(self, done):
        root, n = self.root, self.visits(self.root)
        value, draw = self.estimate()
        policy = self.policy()
        halving = self.method["kind"] == "gumbel" and root.proven is None
        return {
            "simulations": done,
            "priors": root.priors,
            "visits": n,
            "q": [root.sign * c.mean()[0] if n[a] else 0.0 for a, c in enumerate(root.children)],
            "proven": [c.proven if n[a] else None for a, c in enumerate(root.children)],
            "policy": policy,
            "choice": self.winner() if halving else policy.index(max(policy)),
            "value": value,
            "draw": draw,
        }

    def advance(self, action):
        self.root = self.root.children[action]
