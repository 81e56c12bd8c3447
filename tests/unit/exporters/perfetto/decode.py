#!/usr/bin/env python3
"""Reads a Perfetto trace without any code of nl-stage or Perfetto, and prints as JSON what a viewer would show.

Usage: decode.py TRACE

Knows the wire format of protobuf and the field numbers of Perfetto's trace_packet.proto, track_event.proto,
track_descriptor.proto, debug_annotation.proto and interned_data.proto. Like Perfetto's trace processor it sorts
events by time (those of one time stay in the file's order) and keeps a stack of open slices for each track.
"""
import json
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            if at + length > len(data):
                raise ValueError(f"field {number} ends {at + length - len(data)} bytes after the data")
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"field {number} has wire type {wire}")
        yield number, value


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


class Trace:
    def __init__(self):
        self.errors = []
        self.tracks = {}
        self.interned = {1: {}, 2: {}, 3: {}, 29: {}}
        self.events = []
        self.packets = 0
        self.state_cleared = False
        self.realtime_ns = None

    def read(self, data):
        for number, value in fields(data):
            assert number == 1, number
            self.packets += 1
            self.packet(message(value))

    def packet(self, packet):
        if packet.get(10) != [1]:
            self.errors.append("a packet of another sequence")
        self.state_cleared |= packet.get(13) == [1]
        for data in packet.get(12, []):
            for table, entries in message(data).items():
                for entry in entries:
                    entry = message(entry)
                    iid, text = entry[1][0], entry[2][0].decode()  # throws where it is not UTF-8
                    if iid in self.interned[table]:
                        self.errors.append(f"{table}: {iid} was interned twice")
                    self.interned[table][iid] = text
        for data in packet.get(60, []):
            self.descriptor(message(data))
        for data in packet.get(6, []):
            clocks = [message(clock) for clock in message(data)[1]]
            self.realtime_ns = {c[1][0]: c[2][0] for c in clocks}.get(1)
        for data in packet.get(11, []):
            event = message(data)
            if event[9][0] in (1, 3) and (not self.state_cleared or packet.get(13) != [2]):
                self.errors.append("an event that needs names, without saying so")
            self.events.append((packet[8][0], len(self.events), self.event(event)))

    def descriptor(self, track):
        uuid = track[1][0]
        if uuid in self.tracks:
            self.errors.append(f"track {uuid} is described twice")
        out = {"name": track.get(2, [b""])[0].decode(), "parent": track.get(5, [0])[0], "kind": "track"}
        for number, kind, pid, tid, name in ((3, "process", 1, 0, 6), (4, "thread", 1, 2, 5)):
            if number in track:
                inner = message(track[number][0])
                out.update(kind=kind, pid=inner[pid][0], tid=inner.get(tid, [0])[0], name=inner.get(name, [b""])[0].decode())
        if 8 in track:
            inner = message(track[8][0])
            out.update(kind="counter", unit=inner.get(3, inner.get(6))[0] if 3 in inner else inner[6][0].decode())
        self.tracks[uuid] = out

    def event(self, event):
        out = {"type": event[9][0], "track": event[11][0], "flow": event.get(47, []), "end_flow": event.get(48, [])}
        if out["type"] in (1, 3):
            out["name"] = self.interned[2][event[10][0]]
            out["category"] = self.interned[1][event[3][0]]
            out["args"] = dict(self.argument(message(a)) for a in event.get(4, []))
        if out["type"] == 4:
            out["value"] = signed(event[30][0]) if 30 in event else struct.unpack("<d", struct.pack("<Q", event[44][0]))[0]
        return out

    def argument(self, arg):
        name = self.interned[3][arg[1][0]]
        if 17 in arg:
            return name, self.interned[29][arg[17][0]]
        return name, arg[3][0] if 3 in arg else signed(arg[4][0])

    def play(self):
        slices, open_slices, counters, instants, flows, starts = [], {}, {}, [], [], {}
        for time, _, event in sorted(self.events, key=lambda e: e[:2]):
            if event["track"] not in self.tracks:
                self.errors.append(f"an event on track {event['track']}, which nobody described")
                continue
            stack = open_slices.setdefault(event["track"], [])
            if event["type"] == 1:
                slices.append({"track": event["track"], "name": event["name"], "category": event["category"], "start": time,
                               "duration": None, "depth": len(stack), "args": event["args"]})
                stack.append(len(slices) - 1)
                for flow in event["flow"]:
                    starts[flow] = len(slices) - 1
                for flow in event["end_flow"]:
                    if flow not in starts:
                        self.errors.append(f"an arrow that comes from nowhere: {flow}")
                    else:
                        flows.append([starts.pop(flow), len(slices) - 1])
            elif event["type"] == 2:
                if stack:
                    top = slices[stack.pop()]
                    top["duration"] = time - top["start"]
                else:
                    self.errors.append(f"an end at {time} on track {event['track']} with nothing open")
            elif event["type"] == 3:
                instants.append({"track": event["track"], "name": event["name"], "time": time})
            else:
                counters.setdefault(str(event["track"]), []).append([time, event["value"]])
        for track, stack in open_slices.items():
            self.errors += [f"'{slices[i]['name']}' on track {track} never ends" for i in stack]
        return {"packets": self.packets, "errors": self.errors, "tracks": {str(k): v for k, v in self.tracks.items()},
                "slices": slices, "instants": instants, "counters": counters, "flows": flows, "realtime_ns": self.realtime_ns}


def main():
    trace = Trace()
    with open(sys.argv[1], "rb") as file:
        trace.read(file.read())
    json.dump(trace.play(), sys.stdout)


if __name__ == "__main__":
    main()
