"""Running a grid: which blocks are resident, and in what order chunks are served.

Blocks start in ascending order. A chunk runs until its threads have ended or all that is left of it
spins. Chunks that spin stay resident while the next ones start, and are served in turn, so that a block may
wait for a later one, as long as all that wait fit into memory.
"""

from __future__ import annotations

from planc.diagnostics import Diagnostic, ReplayError
from planc.diagnostics.diagnostic import Fact
from planc.simt.budget import refuse_livelock, signature
from planc.simt.chunk import Chunk
from planc.simt.launch import Launch, RunStatistics

CHUNK_BYTES = 8 << 20
"""Registers, local and shared memory of one chunk, about."""
CHUNK_THREADS = 1 << 16
"""Threads of one chunk, at most (a block is never cut)."""
RESIDENT_BYTES = 1 << 30
"""Memory of all chunks that wait for others, at most."""


def run_grid(launch: Launch) -> RunStatistics:
    """Run every block of a launch."""
    per_block = _block_bytes(launch)
    blocks = max(1, min(CHUNK_BYTES // per_block, CHUNK_THREADS // launch.block_threads))
    total = launch.block_count
    runner = _Runner(launch, blocks, max(1, RESIDENT_BYTES // (per_block * blocks)))
    while runner.next < total or runner.resident:
        if runner.has_room():
            runner.start()
        runner.serve()
    return RunStatistics(
        launch.executed,
        total * launch.block_threads,
        total * launch.block_warps,
        total,
        runner.chunks,
        launch.dispatches,
    )


def _block_bytes(launch: Launch) -> int:
    codes = launch.functions.values()
    # Functions that call each other are in flight together; the entry and the largest are a fair guess.
    thread = launch.entry.bytes_per_thread() + max(code.bytes_per_thread() for code in codes)
    local = sum(code.local_size for code in codes)
    return launch.block_threads * (thread // 2 + local + 64) + launch.shared_bytes()


class _Runner:
    """The resident chunks of a launch."""

    def __init__(self, launch: Launch, blocks: int, limit: int) -> None:
        self.launch = launch
        self.blocks = blocks
        self.limit = limit
        self.next = 0
        self.chunks = 0
        self.resident: list[Chunk] = []
        self._before: object = None
        self._served = 0

    def has_room(self) -> bool:
        """Whether another chunk is there to start and may be resident."""
        return self.next < self.launch.block_count and len(self.resident) < self.limit

    def start(self) -> None:
        """Start the next chunk; it stays resident if it spins."""
        count = min(self.blocks, self.launch.block_count - self.next)
        chunk = Chunk(self.launch, self.next, count)
        self.next += count
        self.chunks += 1
        if not chunk.run():
            self.resident.append(chunk)

    def serve(self) -> None:
        """Give every resident chunk a turn; refuse to go on where none can ever get further."""
        effects = self.launch.effects
        if effects == self._served and self.has_room():
            # Nothing that they could wait for has happened since their last turn.
            return
        for chunk in list(self.resident):
            chunk.wake()
            if chunk.run():
                self.resident.remove(chunk)
        self._served = self.launch.effects
        if not self.resident or self.has_room() or self.launch.effects != effects:
            self._before = None
            return
        now = [signature(chunk) for chunk in self.resident]
        if now == self._before:
            self._refuse()
        self._before = now

    def _refuse(self) -> None:
        launch = self.launch
        if self.next >= launch.block_count:
            refuse_livelock(self.resident[0])
        resident = sum(chunk.blocks for chunk in self.resident)
        facts: dict[str, Fact] = {"kernel": launch.name, "resident_blocks": resident}
        facts["blocks"] = launch.block_count
        waiting = f"{resident} blocks of `{launch.name}` wait for blocks that have not started"
        message = f"{waiting}, and more do not fit in memory"
        cure = "launch at most as many blocks as can run at once"
        raise ReplayError(Diagnostic("PLC763", message, None, cure, facts=facts))
