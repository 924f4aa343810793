"""A board on whose lines three pieces in a row make a mill, for Morris and Morabaraba."""


class Board:
    """Points are numbered by their place in `names`; a side's pieces are a frozenset of points."""

    def __init__(self, names, mills, edges=""):
        self.names = names.split()
        self.point = {name: point for point, name in enumerate(self.names)}
        self.points = range(len(self.names))
        lines = [[self.point[name] for name in mill.split("-")] for mill in mills.split()]
        self.mills = [frozenset(line) for line in lines]
        self.near = [set() for _ in self.points]
        for line in lines + [[self.point[name] for name in edge.split("-")] for edge in edges.split()]:
            for a, b in zip(line, line[1:]):
                self.near[a].add(b)
                self.near[b].add(a)

    def closes(self, pieces, point):
        """Whether `point` and two of the pieces make a mill."""
        return any(point in mill and mill <= pieces | {point} for mill in self.mills)

    def outside_mills(self, pieces):
        return pieces - {point for mill in self.mills if mill <= pieces for point in mill}

    def empty(self, pieces):
        return set(self.points) - pieces[0] - pieces[1]

    def text(self, pieces, letters):
        owner = lambda point: 0 if point in pieces[0] else 1 if point in pieces[1] else 2
        return "".join(letters[owner(point)] for point in self.points)

    def place(self, point):
        return self.names[point]

    def move(self, start, end):
        return f"{self.names[start]}-{self.names[end]}"

    def remove(self, point):
        return f"x{self.names[point]}"

    def parse(self, action):
        """The kind of an action, `place`, `move` or `remove`, and its points."""
        if action in self.point:
            return "place", [self.point[action]]
        if action.startswith("x"):
            return "remove", [self.point[action[1:]]]
        return "move", [self.point[name] for name in action.split("-")]
