"""Algorithms written in Python: the JSON of C++'s, and the checker's refusals."""
import json

import pytest

import tutti
from tutti import schedule


def ring(plan, rank, size, count, forget=None):
    """reduce-scatter around the ring, then allgather: least volume, 2(p-1) rounds

    As algorithms/allreduce_ring.cpp; without the step that is to be forgotten.
    """
    source, output = plan.input.blocks(size), plan.output.blocks(size)
    if size == 1:
        plan.copy(plan.input, plan.output)
    incoming = plan.scratch(source[0].count if size > 1 else 0)
    after, before = (rank + 1) % size, (rank - 1) % size
    for step in range(1, size):
        given, block = (rank - step) % size, (rank - step - 1) % size
        mine = source[block]
        theirs = incoming[: mine.count]
        plan.send((source if step == 1 else output)[given], after)
        plan.recv(theirs, before)
        if forget != "reduce":
            plan.reduce(theirs, mine, output[block])
    for step in range(size - 1):
        if forget != "send" or rank != 1:
            plan.send(output[(rank - step) % size], after)
        plan.recv(output[(rank - step - 1) % size], before)


def builder(function, collective="allreduce", order="any", name="ring"):
    return schedule.Builder(collective, name, order=order)(function)


@pytest.mark.parametrize("ranks, count", [(1, 5), (2, 1), (5, 24), (8, 1024), (9, 7)])
@pytest.mark.parametrize("problem", [{}, {"in_place": True}, {"fused": True}])
def test_a_ring_in_python_is_that_of_cpp(ranks, count, problem):
    ours, theirs = builder(ring).of(ranks, count, **problem), schedule.of("allreduce", "ring", ranks, count, **problem)
    of_cpp = json.loads(theirs.to_json())
    del of_cpp["source"]  # which only registered algorithms have
    assert json.loads(ours.to_json()) == of_cpp
    assert ours.svg() == theirs.svg() and ours.to_text() == theirs.to_text() and ours.cost() == theirs.cost()


def test_a_broadcast_in_python_is_that_of_cpp():
    @schedule.Builder("broadcast", "chain")
    def chain(plan, rank, size, count):
        place = (rank - plan.root) % size
        whole = plan.input if place == 0 else plan.output
        if place > 0:
            plan.recv(plan.output, (rank - 1) % size)
        if place + 1 < size:
            plan.send(whole, (rank + 1) % size)
        if place == 0:
            plan.copy(plan.input, plan.output)

    ours = chain.of(ranks=5, count=8, root=2)
    assert ours.verify().rounds == 4
    assert chain.verify(ranks=range(1, 6)) > 50


def test_signals_regions_lists_and_paces():
    @schedule.Builder("barrier", "dissemination")
    def dissemination(plan, rank, size, count):
        distance = 1
        while distance < size:
            plan.signal((rank + distance) % size)
            plan.wait((rank - distance) % size)
            distance *= 2

    ours, theirs = dissemination.of(ranks=7), schedule.of("barrier", "dissemination", ranks=7)
    assert json.loads(ours.to_json())["ranks"] == json.loads(theirs.to_json())["ranks"]

    @schedule.Builder("alltoall", "pairs")
    def pairs(plan, rank, size, count):
        mine, theirs = plan.input.blocks(size), plan.output.blocks(size)
        if size == 1:
            plan.copy([mine[0]], theirs[0])
        elif size == 2:  # both halves of a block in one message, after the copy
            other = 1 - rank
            plan.copy(mine[rank], theirs[rank])
            plan.follow(0, plan.steps)
            half = count // 2
            plan.send([mine[other][:half], mine[other][half:]], other)
            plan.recv([theirs[other][:half], theirs[other][half:]], other)

    assert pairs.of(ranks=2, count=6).verify().cost().messages == 1


def test_order_of_ranks():
    @schedule.Builder("allreduce", "pair")
    def pair(plan, rank, size, count):
        if size == 1:
            return plan.copy(plan.input, plan.output)
        theirs = plan.scratch(count)
        plan.send(plan.input, 1 - rank)
        plan.recv(theirs, 1 - rank)
        plan.reduce_in_order(1 - rank, theirs, plan.input, plan.output)

    assert pair.verify(ranks=(1, 2)) == 24
    assert json.loads(pair.of(ranks=2).to_json())["requires"]["commutative"] is False


def refusal(function, ranks=4, count=8, **how):
    made = builder(function, **how).of(ranks, count)
    with pytest.raises(schedule.NotProved) as refused:
        made.verify()
    assert made.fault in str(refused.value) and made.title in str(refused.value)
    assert f"not proved: {made.fault}" in str(made) and '"fault"' in made.to_json()
    assert f"not proved: {made.fault}" in made.to_text(0) and made.to_json(0)  # of one rank, too
    with pytest.raises(tutti.StateError, match="not proved"):
        made.cost()
    return made.fault


def test_mutants_are_refused():
    assert "reads garbage" in refusal(lambda *arguments: ring(*arguments, forget="reduce"))
    assert "rank 2, step" in refusal(lambda *arguments: ring(*arguments, forget="send"))
    assert "order of ranks" in refusal(ring, order="ranks")

    def late(plan, rank, size, count):  # all receive before they send
        plan.recv(plan.output, (rank - 1) % size)
        plan.signal((rank + 1) % size)

    assert refusal(late)

    def waits(plan, rank, size, count):
        plan.wait((rank - 1) % size)
        plan.signal((rank + 1) % size)

    assert "deadlock under eager flow control" in refusal(waits, collective="barrier")

    def alone(plan, rank, size, count):
        plan.copy(plan.input, plan.output)

    assert "not element 0 of ranks 0 to 3, each once" in refusal(alone)


@pytest.mark.parametrize("write, text", [
    (lambda plan: plan.send(plan.input, plan.rank), "rank 0 of 2 cannot exchange messages with rank 0"),
    (lambda plan: plan.recv(plan.output, plan.size), "rank 0 of 2 cannot exchange messages with rank 2"),
    (lambda plan: plan.copy(plan.output, plan.input), "rank 0: .*input"),
    (lambda plan: plan.copy(plan.input[:2], plan.output[:3]), "rank 0: .*"),
    (lambda plan: plan.input[::2], "steps of 1"),
    (lambda plan: plan.input.blocks(0), r"blocks\(0\): allowed: 1 to 1048576"),
    (lambda plan: plan.input.blocks(10**9), r"blocks\(1000000000\): allowed: 1 to 1048576"),
])
def test_what_is_no_step(write, text):
    with pytest.raises(tutti.ArgumentError, match=text):
        builder(lambda plan, *_: write(plan)).of(ranks=2, count=8)


def test_exceptions_of_the_function_come_through():
    with pytest.raises(ZeroDivisionError):
        builder(lambda plan, rank, size, count: 1 / rank).of(ranks=2)
    with pytest.raises(TypeError):
        builder(lambda plan: None).of()
    with pytest.raises(tutti.ArgumentError, match="has no function"):
        schedule.Builder("allreduce", "empty").of()
    with pytest.raises(tutti.ArgumentError, match="order 'all': allowed: ranks, any"):
        builder(ring, order="all").of()
    with pytest.raises(tutti.ArgumentError, match="'sum' is no collective"):
        schedule.Builder("sum", "ring")
    with pytest.raises(tutti.ArgumentError, match="allowed: 1 to 256"):
        builder(ring).of(ranks=1000)


def test_a_plan_is_over_with_its_function():
    kept = []
    builder(lambda plan, rank, size, count: (kept.append(plan), ring(plan, rank, size, count))).of(ranks=2)
    with pytest.raises(tutti.ArgumentError, match="only by the function that it was given to"):
        kept[0].send(kept[1].input, 1)


def test_regions():
    seen = []
    builder(lambda plan, rank, size, count: (seen.append(plan.input), ring(plan, rank, size, count))).of(ranks=2, count=10)
    whole = seen[0]
    assert (whole.buffer, whole.offset, whole.count, len(whole)) == ("input", 0, 10, 10)
    assert repr(whole[2:5]) == "input[2:5]" and whole[2:5] == whole[:8][2:5] and whole[-2:].offset == 8
    assert [block.count for block in whole.blocks(3)] == [4, 3, 3]
    assert len({whole[:3], whole[0:3]}) == 1


def test_a_saved_schedule_runs(comm, tmp_path_factory):
    np = pytest.importorskip("numpy", reason="numpy is not installed")
    path = str(tmp_path_factory.mktemp("schedules") / "ring.json")
    name = comm.broadcast(np.frombuffer(path.encode().ljust(400), dtype=np.uint8).copy()).tobytes().decode().strip()
    if comm.rank == 0:
        builder(ring).of(ranks=comm.size, count=comm.size).save(path)
    for count in (1, 5, 24, 1000):
        y = comm.allreduce(np.full(count, comm.rank + 1), algorithm=f"file:{name}")
        np.testing.assert_array_equal(y, np.full(count, comm.size * (comm.size + 1) // 2))
    with pytest.raises(tutti.ArgumentError, match="No such file"):
        comm.allreduce(np.ones(3), algorithm="file:/nowhere/ring.json")


def test_what_is_wrong_is_not_saved(tmp_path):
    path = tmp_path / "ring.json"
    wrong = builder(lambda *arguments: ring(*arguments, forget="reduce"))
    with pytest.raises(schedule.NotProved):
        wrong.of(ranks=4).save(path)
    assert not path.exists()
