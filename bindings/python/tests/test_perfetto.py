"""What `pvm trace export --to perfetto` writes, as Perfetto's own published schema reads it.

The package `perfetto` has the schema's descriptor as Google publishes it. Its trace processor is a program that it
fetches when it is first used, which no test may do: so the rules that the processor goes by are judged here.
"""

from __future__ import annotations

import importlib
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE
from test_native import STAGE

pytestmark = pytest.mark.skipif(not STAGE, reason="NEOPVM_PREFIX names no installation")

SAMPLES = Path(__file__).parents[3] / "crates/pvm-trace/tests/samples"
# Written without types; mypy takes them for anything.
schema: Any = importlib.import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
unknown: Any = importlib.import_module("google.protobuf.unknown_fields")

BOOT, REALTIME = 6, 1
NEEDS_STATE, STATE_CLEARED = 2, 1


def pvm(*words: str) -> str:
    done = subprocess.run(
        [f"{STAGE}/bin/pvm", *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def strangers(message: Any, path: str) -> list[str]:
    """Fields that the schema does not have, wherever they are."""
    found = [f"{path}.{field.field_number}" for field in unknown.UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type is not None:
            each = [value] if hasattr(value, "ListFields") else value
            found += [name for one in each for name in strangers(one, f"{path}.{field.name}")]
    return found


class Read:
    """A trace, with what holds for a sequence of packets put into each of its events."""

    def __init__(self, packets: Any) -> None:
        self.tracks: dict[int, Any] = {}
        self.events: list[tuple[int, int, str, Any]] = []
        self.arguments: Counter[str] = Counter()
        names: dict[int, dict[int, str]] = {}
        argument_names: dict[int, dict[int, str]] = {}
        default_track: dict[int, int] = {}
        for packet in packets:
            own = packet.trusted_packet_sequence_id
            if packet.HasField("track_descriptor"):
                about = packet.track_descriptor
                assert about.uuid not in self.tracks, f"track {about.uuid} is described twice"
                assert not about.HasField("parent_uuid") or about.parent_uuid in self.tracks
                self.tracks[about.uuid] = about
            if packet.sequence_flags & STATE_CLEARED:
                names[own], argument_names[own] = {}, {}
                default_track[own] = packet.trace_packet_defaults.track_event_defaults.track_uuid
            for entry in packet.interned_data.event_names:
                assert entry.iid > 0 and entry.iid not in names[own], "a name's number is used twice"
                names[own][entry.iid] = entry.name
            for entry in packet.interned_data.debug_annotation_names:
                argument_names[own][entry.iid] = entry.name
            if not packet.HasField("track_event"):
                continue
            assert own != 0 and packet.HasField("timestamp")
            event = packet.track_event
            if packet.sequence_flags & NEEDS_STATE:
                assert own in default_track, "an event came before the state of its sequence"
            track = event.track_uuid if event.HasField("track_uuid") else default_track[own]
            assert track in self.tracks, f"an event of track {track}, which nobody has described"
            name = names[own][event.name_iid] if event.HasField("name_iid") else ""
            self.arguments.update(argument_names[own][one.name_iid] for one in event.debug_annotations)
            self.events.append((packet.timestamp, track, name, event))

    def on(self, track: int) -> list[tuple[int, str, Any]]:
        return [(at, name, event) for at, of, name, event in self.events if of == track]


def exported(sample: Path, tmp_path: Path) -> Any:
    out = tmp_path / "run.pftrace"
    pvm("trace", "export", str(sample), "--to", "perfetto", "-o", str(out))
    trace = schema.Trace()
    trace.ParseFromString(out.read_bytes())
    assert trace.IsInitialized()
    return trace


def records(sample: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pvm("trace", "show", "--events", "--json", str(sample)).splitlines()]


# By so much a message of the sample may be taken before it was sent, in nanoseconds: the second one is of a recorder
# that could be interrupted between two clocks.
@pytest.mark.parametrize(("name", "slip"), [("ring-1.trace", 0), ("nas-is-1.trace", 2_000_000)])
def test_perfettos_schema_knows_every_field_and_the_trace_keeps_its_rules(
    name: str, slip: int, tmp_path: Path
) -> None:
    sample = SAMPLES / name
    trace = exported(sample, tmp_path)
    assert strangers(trace, "trace") == []
    read, told = Read(trace.packet), records(sample)
    kinds = schema.TrackEvent.Type
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    begun = 0
    for track, about in read.tracks.items():
        open_slices: list[int] = []
        last = 0
        for at, label, event in read.on(track):
            assert at >= last, f"track {track} goes back in time"
            last = at
            assert about.HasField("counter") == (event.type == kinds.TYPE_COUNTER)
            if event.type == kinds.TYPE_SLICE_BEGIN:
                assert label
                open_slices.append(at)
                begun += 1
            elif event.type == kinds.TYPE_SLICE_END:
                assert open_slices, f"track {track}: a slice ends that has not begun"
                assert open_slices.pop() <= at
            for flow in event.flow_ids:
                begins.setdefault(flow, []).append(at)
            for flow in event.terminating_flow_ids:
                ends.setdefault(flow, []).append(at)
        assert not open_slices, f"track {track}: {len(open_slices)} slices have no end"
    # Every record that takes time is a slice; what takes none is a point.
    points = {"mark", "state", "progress", "route", "begin", "end"}
    assert begun == sum(record["what"] not in points for record in told)
    # A message begins one flow, which ends once, and not before.
    pairs = [(begins[flow], ends[flow]) for flow in begins.keys() & ends.keys()]
    assert all(len(sent) == len(taken) == 1 and sent[0] <= taken[0] + slip for sent, taken in pairs)
    assert len(pairs) == json.loads(pvm("trace", "profile", "--json", str(sample)))["matched"] > 0
    assert read.arguments["bytes"] == read.arguments["peer"] > 0


def test_ids_of_processes_and_threads_are_their_own_and_the_clock_is_told(tmp_path: Path) -> None:
    sample = SAMPLES / "ring-1.trace"
    trace = exported(sample, tmp_path)
    read = Read(trace.packet)
    processes = [about.process.pid for about in read.tracks.values() if about.HasField("process")]
    threads = [about.thread for about in read.tracks.values() if about.HasField("thread")]
    assert len(processes) == len(set(processes)) == 4
    assert len({thread.tid for thread in threads}) == len(threads)
    assert {thread.pid for thread in threads} <= set(processes)
    # Times are those of the trace's clock, and of the day.
    [snapshot] = [packet.clock_snapshot for packet in trace.packet if packet.HasField("clock_snapshot")]
    clocks = {clock.clock_id: clock.timestamp for clock in snapshot.clocks}
    assert set(clocks) == {BOOT, REALTIME} and clocks[BOOT] == clocks[REALTIME]
    assert snapshot.primary_trace_clock == BOOT
    assert not any(packet.HasField("timestamp_clock_id") for packet in trace.packet)
    assert clocks[BOOT] == min(at for at, *_ in read.events)
