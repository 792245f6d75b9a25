"""Schedules of collectives, without MPI: read, proved, priced and drawn; and algorithms written in Python.

    import tutti.schedule
    ring = tutti.schedule.of("allreduce", "ring", ranks=8, count=1024)
    print(ring)                  # as `tutti show` does; in a notebook, `ring` is a picture
    ring.cost().time             # microseconds, in a simulation
    ring.verify()

An algorithm is a function that writes the steps of one rank:

    @tutti.schedule.Builder("allgather", "to all")
    def to_all(plan, rank, size, count):
        blocks = plan.output.blocks(size)
        plan.copy(plan.input, blocks[rank])
        for peer in range(size):
            if peer != rank:
                plan.send(plan.input, peer)
                plan.recv(blocks[peer], peer)

    to_all.verify()              # proves it for many ranks and counts
    to_all.of(ranks=4).to_json()
"""
import dataclasses
import functools
import math
import numbers
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tutti import _native
from tutti._errors import ArgumentError, Error

_native.require_main_interpreter()
_offline = _native.module("_offline")
Plan, Region = _offline.Plan, _offline.Region

__all__ = ["Algorithm", "Builder", "Cost", "Network", "NotProved", "Parameter", "Plan", "Region", "Schedule", "algorithms",
           "costs", "of"]


class NotProved(Error):
    """The checker refutes a schedule: the text says which step of which rank is at fault, and why."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A number that changes an algorithm's schedules, written behind a colon: "knomial:4"."""

    name: str
    default: int
    least: int
    most: int


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """An algorithm of the registry.

    `order` is "of ranks" where operands are combined in the order of ranks, "of nodes" where that holds if the ranks of a
    node follow each other, "fixed" where they are combined so in the fixed order, "any" where the operation
    must be commutative, "-" where nothing is combined. `levels` is 1 where all ranks are alike, 2 with nodes, 3 with
    sockets.
    """

    collective: str
    name: str
    order: str
    levels: int
    parameter: Parameter | None
    summary: str
    source: str


@dataclasses.dataclass(frozen=True)
class Network:
    """What a simulation takes for a message, in microseconds: alpha + beta * elements inside a node, alpha_between +
    beta_between * elements from node to node; gamma for each element reduced, delta for each copied. A node sends `links`
    messages to others at a time at full speed. The defaults are those of `tutti cost`."""

    alpha: float = 0.2
    beta: float = 1e-4
    gamma: float = 1e-4
    delta: float = 0
    alpha_between: float = 2
    beta_between: float = 3.2e-4
    links: int = 1

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < math.inf:
                raise ArgumentError(f"Network: {field.name} is {value!r}; allowed: a number, 0 and more")


@dataclasses.dataclass(frozen=True)
class Cost:
    """The cost of a schedule for the busiest rank, in messages and elements; `rounds` is the longest chain of messages,
    `time` the microseconds of a simulation."""

    messages: int
    rounds: int
    sent: int
    reduced: int
    copied: int
    scratch: int
    time: float


@functools.cache
def algorithms(collective: str | None = None) -> tuple[Algorithm, ...]:
    """The algorithms there are, of one collective or of all."""
    found = _offline.algorithms(collective)
    return tuple(Algorithm(**facts | {"parameter": facts["parameter"] and Parameter(*facts["parameter"])}) for facts in found)


class Schedule:
    """The steps of all ranks for one problem. In a notebook it is a picture."""

    def __init__(self, schedules: Any) -> None:
        self._schedules = schedules

    @property
    def title(self) -> str:
        return self._schedules.title

    @property
    def fault(self) -> str | None:
        """Why it is not proved; None if it is."""
        return self._schedules.fault or None

    def verify(self) -> "Schedule":
        """Raises NotProved if the checker refutes the schedule; returns it."""
        if self.fault:
            raise NotProved(f"{self.title}: {self.fault}")
        return self

    def _checked(self, rank: int | None) -> int:
        """-1 for all ranks."""
        if rank is None:
            return -1
        ranks = self._schedules.ranks
        if isinstance(rank, bool) or not isinstance(rank, numbers.Integral) or not 0 <= rank < ranks:
            raise ArgumentError(f"rank is {rank!r}; allowed: 0 to {ranks - 1}, or None for all")
        return int(rank)

    @property
    def rounds(self) -> int:
        """The longest chain of messages, each sent only after the one before has arrived."""
        return self._schedules.cost()["rounds"]

    def steps_by_round(self, rank: int) -> list[int]:
        """The round of each step of a rank, from 1."""
        return self._schedules.rounds()[self._checked(rank)]

    def cost(self, network: Network = Network()) -> Cost:
        """The Cost for the busiest rank."""
        return Cost(**self._schedules.cost(), time=self._schedules.time(*dataclasses.astuple(network)))

    def to_text(self, rank: int | None = None) -> str:
        """What `tutti show` prints; of one rank, or all."""
        return self._schedules.text(self._checked(rank))

    def to_json(self, rank: int | None = None) -> str:
        """What `tutti show --format json` prints."""
        return self._schedules.json(self._checked(rank))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file of schedules, which calls take as the algorithm "file:PATH" (docs/schedule-files.md).

        Its chunks are the elements that the schedule was built for. NotProved is raised, and nothing written, if it is wrong.
        """
        text = self.verify().to_json()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def to_dot(self) -> str:
        """Graphviz: steps, dependencies and messages."""
        return self._schedules.dot()

    def svg(self) -> str:
        """A picture of ranks and time steps, of up to 64 ranks."""
        return self._schedules.svg()

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except ArgumentError:  # too large a picture: the notebook shows the text
            return None

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Schedule: {self.title}>"


def of(collective: str, algorithm: str, ranks: int = 8, count: int = 24, *, root: int = 0, in_place: bool = False,
       fused: bool = False, nodes: Sequence[int] = (), sockets: Sequence[int] = ()) -> Schedule:
    """The Schedule of an algorithm of the registry: "ring", or with a parameter and a size of segments (elements), as in
    "knomial:4/1024".

    `count`: elements of the whole vector, or of one rank's block where there is one per rank. `nodes`, `sockets`: how many
    ranks each has, for algorithms of several levels.
    """
    return Schedule(_offline.of(collective, algorithm, ranks, count, root, in_place, fused, list(nodes), list(sockets)))


def costs(collective: str, ranks: int = 8, count: int = 1024, network: Network = Network(), **problem: Any) -> dict[str, Cost]:
    """The Cost of every algorithm of a collective by name, the fastest first."""
    all_costs = {algorithm.name: of(collective, algorithm.name, ranks, count, **problem).cost(network)
                 for algorithm in algorithms(collective)}
    return dict(sorted(all_costs.items(), key=lambda item: item[1].time))


class Builder:
    """An algorithm of one's own: `Builder(collective, name)(function)`, or as a decorator, where `function(plan, rank, size,
    count)` writes the steps of a rank into `plan`, a Plan. It must depend on nothing but these, and plan.root. The first
    line of its docstring stands in pictures.

    `order`: "any" if the algorithm combines elements in another order than that of ranks, so that the operation must be
    commutative.
    """

    def __init__(self, collective: str, name: str, order: str = "ranks") -> None:
        algorithms(collective)  # refuses what is no collective
        self.collective, self.name, self.order = collective, name, order
        self.function: Callable[..., Any] | None = None

    def __call__(self, function: Callable[..., Any]) -> "Builder":
        built = Builder(self.collective, self.name, self.order)
        built.function = function
        return functools.update_wrapper(built, function)

    def of(self, ranks: int = 8, count: int = 24, *, root: int = 0, in_place: bool = False, fused: bool = False,
           nodes: Sequence[int] = (), sockets: Sequence[int] = ()) -> Schedule:
        """The Schedule for one problem, proved or not. ArgumentError says what the function wrote that is no step."""
        if self.function is None:
            raise ArgumentError(f"{self.name} has no function: Builder(collective, name)(function)")
        summary = (self.function.__doc__ or "").strip().partition("\n")[0]
        return Schedule(_offline.built(self.collective, self.name, summary, self.order, self.function, ranks, count, root,
                                       in_place, fused, list(nodes), list(sockets)))

    def verify(self, ranks: Iterable[int] = range(1, 18), counts: Sequence[int] = (0, 1, 2, 7, 24, 64)) -> int:
        """Proves it for all these ranks and counts, in place too, with the first and last root; NotProved says which problem
        is refuted. Returns the number of problems."""
        problems = [(size, count, root, in_place) for size in ranks for count in counts for in_place in (False, True)
                    for root in sorted({0, size - 1 if self.collective in _WITH_ROOT else 0})]
        for size, count, root, in_place in problems:
            self.of(size, count, root=root, in_place=in_place).verify()
        return len(problems)

    def __repr__(self) -> str:
        return f"<Builder: {self.collective} {self.name}>"


_WITH_ROOT = ("broadcast", "reduce", "gather", "scatter")
