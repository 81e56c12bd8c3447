"""The API's process starts the others, and ends when they do."""

import asyncio
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import wire
from api import Api
from web import listen

SERVE = pathlib.Path(__file__).resolve().with_name("serve.py")
STOP_S, STOP_AFTER_FAULT_S = 20, 5  # a profiler in a process writes its files before that ends


class Processes:
    """The scheduler and the workers."""

    def __init__(self, options):
        self.api_end, scheduler_end = socket.socketpair()
        pairs = [socket.socketpair() for _ in range(options.workers)]
        self.running = {"scheduler": self._start("scheduler", 0, [scheduler_end, *(pair[0] for pair in pairs)])}
        for number, pair in enumerate(pairs):
            self.running[f"worker {number}"] = self._start("worker", number, [pair[1]])
        for end in (scheduler_end, *(end for pair in pairs for end in pair)):
            end.close()  # so that a process that dies is noticed by the others

    @staticmethod
    def _start(role, number, ends):
        descriptors = [end.fileno() for end in ends]
        command = [sys.executable, str(SERVE), *sys.argv[1:], "--role", role, "--number", str(number), "--descriptors", *map(str, descriptors)]
        return subprocess.Popen(command, pass_fds=descriptors, stdin=subprocess.DEVNULL)

    def wait(self, seconds):
        """They end by themselves, because their channels did. True: all of them, and without a fault."""
        until = time.monotonic() + seconds
        for name, process in self.running.items():
            try:
                process.wait(max(until - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.returncode:
                print(f"nl-serve: {name} ended with status {process.returncode}", file=sys.stderr)
        return not any(process.returncode for process in self.running.values())


async def serve(options, listener, processes, begin):
    """Until a signal, which is True, or the end of another process."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    reader, writer = await asyncio.open_connection(sock=processes.api_end)

    async def follow():
        settings = await wire.receive(reader)
        if settings is None:
            return
        api = Api(options, writer, settings)
        await listen(listener, api.route)
        host, port = listener.getsockname()[:2]
        pids = {"api": os.getpid(), **{name: process.pid for name, process in processes.running.items()}}
        print(json.dumps({"ready": True, "host": host, "port": port, "ready_s": round(time.monotonic() - begin, 3), "pids": pids, **settings}), flush=True)
        while (message := await wire.receive(reader)) is not None:
            api.take(message)

    following, stopping = asyncio.ensure_future(follow()), asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()  # raises what went wrong in there
        return stopped.is_set()
    finally:
        writer.close()


def run_engine(options, begin):
    """Returns the exit status."""
    try:
        listener = socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))  # it is ours at once; who connects before the engine is ready is refused
    except OSError as error:
        print(f"nl-serve: {options.host}:{options.port}: {error.strerror}", file=sys.stderr)
        return 1
    if options.records:
        open(options.records, "w").close()
    processes = Processes(options)
    stopped = False
    try:
        stopped = asyncio.run(serve(options, listener, processes, begin))
    finally:
        processes.api_end.close()
        ended_well = processes.wait(STOP_S if stopped else STOP_AFTER_FAULT_S)
    return 0 if stopped and ended_well else 1
