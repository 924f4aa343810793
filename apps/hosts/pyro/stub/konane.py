"""The rules of Konane as Pyro's page has them, for the tests."""

OPENINGS = {"O": [(1, 1), (4, 4), (5, 5), (8, 8)], "X": [(1, 8), (4, 5), (5, 4), (8, 1)]}
DIRECTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0)]


def full_board():
    return [["O" if x % 2 == y % 2 else "X" for y in range(8)] for x in range(8)]


def at(board, x, y):
    return board[x - 1][y - 1] if 1 <= x <= 8 and 1 <= y <= 8 else None


def legal(board, piece):
    """All commands of the player with this piece."""
    gaps = [(x, y) for x in range(1, 9) for y in range(1, 9) if at(board, x, y) == ""]
    if not gaps:
        return ["remove(%d,%d)" % cell for cell in OPENINGS[piece]]
    if len(gaps) == 1:
        x, y = gaps[0]
        beside = [(x + a, y + b) for a, b in DIRECTIONS]
        return ["remove(%d,%d)" % cell for cell in beside if at(board, *cell) == piece]
    commands = []
    for x in range(1, 9):
        for y in range(1, 9):
            for a, b in DIRECTIONS:
                path, p, q = [x, y], x, y
                other = "X" if piece == "O" else "O"
                while at(board, x, y) == piece and at(board, p + a, q + b) == other and at(board, p + 2 * a, q + 2 * b) == "":
                    p, q = p + 2 * a, q + 2 * b
                    path += [p, q]
                    commands.append("jump(%s)" % ",".join(map(str, path)))
    return commands


def play(board, command):
    """Does what a command says, without a question."""
    numbers = [int(number) for number in command[:-1].split("(")[1].split(",")]
    cells = list(zip(numbers[::2], numbers[1::2]))
    (x, y) = cells[0]
    piece, board[x - 1][y - 1] = board[x - 1][y - 1], ""
    for (x1, y1), (x2, y2) in zip(cells, cells[1:]):
        board[(x1 + x2) // 2 - 1][(y1 + y2) // 2 - 1] = ""
    if len(cells) > 1:
        x, y = cells[-1]
        board[x - 1][y - 1] = piece
