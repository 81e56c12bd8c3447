"""A client of `nl-stage mcp`: what an agent's program does, without one. Both kinds of revision."""

import json
import os
import queue
import subprocess
import threading

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
TASKS = "io.modelcontextprotocol/tasks"


class Failure(Exception):
    """A request was answered with an error."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code, self.error = error["code"], error


class Client:
    """One server, started here. legacy: it is asked as by clients that begin with `initialize`."""

    def __init__(self, nl_stage, words=(), folder=None, environment=None, legacy=False, tasks=False):
        self.process = subprocess.Popen([nl_stage, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=folder, env={**os.environ, **(environment or {})})
        self.legacy, self.tasks, self.last_id = legacy, tasks, 0
        self.messages = queue.Queue()  # of the server, as they come; None: it has ended
        self.kept = []                 # that were not what somebody waited for
        self.bytes_read = 0
        self.errors = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=lambda: self.errors.append(self.process.stderr.read()), daemon=True).start()
        if legacy:
            self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
            self.notify("notifications/initialized")

    def _read(self):
        for line in self.process.stdout:
            self.bytes_read += len(line)
            try:
                self.messages.put(json.loads(line))
            except ValueError:
                self.messages.put({"not_json": line[:200].decode(errors="replace")})
        self.messages.put(None)

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def begin(self, method, params=None, number=None):
        """Sends a request; returns its id."""
        self.last_id += 1
        number = self.last_id if number is None else number
        params = dict(params or {})
        if not self.legacy:
            capabilities = {"extensions": {TASKS: {}}} if self.tasks else {}
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": capabilities,
                               "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}, **params.get("_meta", {})}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def next_message(self, timeout=60):
        return self.messages.get(timeout=timeout)

    def answer_to(self, number, timeout=120):
        """The result of a request; what comes before it is kept."""
        while True:
            message = self.next_message(timeout)
            if message is None:
                raise EOFError("the server has ended")
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise Failure(message["error"])
                return message["result"]
            self.kept.append(message)

    def request(self, method, params=None, timeout=120):
        return self.answer_to(self.begin(method, params), timeout)

    def call(self, tool, timeout=120, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments}, timeout)

    def content(self, tool, **arguments):
        """What the verb prints with --json; raises where it is an error."""
        result = self.call(tool, **arguments)
        if result["isError"]:
            raise Failure({"code": 0, "message": json.dumps(result["structuredContent"])})
        return result["structuredContent"]

    def close(self, timeout=30):
        """Closes the server's input, as clients do; returns its exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.close()
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait()
