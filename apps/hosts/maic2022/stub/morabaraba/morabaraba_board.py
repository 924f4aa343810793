"""The contest's board."""

from core import Color

POINTS = "a1 a4 a7 b2 b4 b6 c3 c4 c5 d1 d2 d3 d5 d6 d7 e3 e4 e5 f2 f4 f6 g1 g4 g7".split()
CELLS = {name: (int(name[1]) - 1, "abcdefg".index(name[0])) for name in POINTS}

LINES = """
    a1a4a7 b2b4b6 c3c4c5 d1d2d3 d5d6d7 e3e4e5 f2f4f6 g1g4g7 a1d1g1 b2d2f2
    c3d3e3 a4b4c4 e4f4g4 c5d5e5 b6d6f6 a7d7g7 a1b2c3 c5b6a7 g1f2e3 e5f6g7
""".split()
MILLS = [[CELLS[line[i : i + 2]] for i in (0, 2, 4)] for line in LINES]


class MorabarabaBoard:
    """Which cow stands on which cell."""

    def __init__(self):
        self.cells = {cell: Color.empty for cell in CELLS.values()}

    def get_cell_color(self, cell):
        return self.cells.get(cell, Color.empty)

    def get_player_pieces_on_board(self, color):
        assert isinstance(color, Color)
        return sorted(cell for cell, owner in self.cells.items() if owner == color)

    def get_all_empty_cells(self):
        return self.get_player_pieces_on_board(Color.empty)

    def mills(self):
        return MILLS

    def player_mills(self, player):
        return [mill for mill in MILLS if all(self.cells[cell] == Color(player) for cell in mill)]

    def names(self, cell):
        return next(name for name in POINTS if CELLS[name] == cell)

    def coordinates(self, name):
        return CELLS[name]
