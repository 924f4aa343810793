"""Checks a certificate of `turnstone certify`: that the agent with these moves comes to the result that it says, whatever its
opponent plays. Uses the rules of the package and nothing else of it; docs/certify.md describes the file.

    python check_certificate.py FILE
"""

import json
import sys
import zlib

import turnstone_rl as turnstone


def moves_of(data):
    """The numbers of `data`, as a function of how many values the next one may have; None at the end."""
    at = 0

    def move(values):
        nonlocal at
        first, width = at, (values - 1).bit_length()
        if first + width > 8 * len(data):
            return None
        at += width
        word = int.from_bytes(data[first // 8 : first // 8 + 4], "little")
        return word >> first % 8 & (1 << width) - 1

    return move, lambda: 8 * len(data) - at < 8 and (not data or data[-1] >> 8 - (8 * len(data) - at) == 0)


def worst_result(start, seat, move):
    """The worst result for the agent, 1, 0 or -1; the number of positions, and in how many of them it is to move."""
    numbers, positions = {start: 0}, [start]
    successors, values, decisions = [], [], 0
    for state in positions:  # grows meanwhile
        values.append(state.returns(seat) if state.is_over else 0)
        actions = state.legal_actions()
        if actions and state.to_play == seat:
            decisions += 1
            place = move(len(actions))
            if place is None or place >= len(actions):
                raise ValueError(f"move {decisions} is missing or illegal")
            actions = [actions[place]]
        successors.append([])
        for action in actions:
            after = state.play(action)
            if after not in numbers:
                numbers[after] = len(positions)
                positions.append(after)
            successors[-1].append(numbers[after])
    # A loss spreads to all from which it can be reached, then a win to all whose successors are won; the rest is drawn.
    for value, follows in [(-1, any), (1, all)]:
        changed = True
        while changed:
            changed = False
            for at in reversed(range(len(positions))):
                if successors[at] and values[at] == 0 and follows(values[n] == value for n in successors[at]):
                    values[at], changed = value, True
    return values[0], len(positions), decisions


def check(data):
    """Raises ValueError if the bytes of a file are no certificate or prove another claim; returns the claim."""
    first, _, data = data.partition(b"\n")
    sealed, claim = first.decode(), json.loads(first)
    unsealed = sealed[: sealed.rindex(',"crc":"')] + "}"
    if claim["turnstone_certificate"] != 1 or claim["result"] not in (0, 1) or claim["seat"] not in (1, 2):
        raise ValueError("another version, or no claim")
    if claim["crc"] != f"{zlib.crc32(unsealed.encode()):08x}" or claim["checksum"] != f"{zlib.crc32(data):08x}":
        raise ValueError("it is damaged")
    start = turnstone.State(claim["game"], params=claim["params"])
    if start.game.version != claim["version"]:
        raise ValueError("another version of the game")
    move, is_at_end = moves_of(data)
    found = worst_result(start, claim["seat"] - 1, move)
    if found != (claim["result"], claim["positions"], claim["decisions"]) or not is_at_end():
        raise ValueError(f"the result, the positions and the decisions are {found}, or there are moves left")
    return claim


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        claim = check(file.read())
    result = "wins" if claim["result"] == 1 else "does not lose"
    print(f"proven: {claim['agent']} as player {claim['seat']} of {claim['game']} {result}, whatever is played against it")
