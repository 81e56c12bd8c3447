"""Messages between the processes of the engine: pickled tuples, each after its length, over Unix sockets."""

import pickle
import socket

LENGTH_BYTES = 4


def pack(message):
    body = pickle.dumps(message, protocol=5)
    return len(body).to_bytes(LENGTH_BYTES, "little") + body


async def receive(reader):
    """The next message from an asyncio stream. None: the other side is gone."""
    try:
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "little")
        return pickle.loads(await reader.readexactly(length))
    except (EOFError, ConnectionError):  # of asyncio, IncompleteReadError is an EOFError
        return None


class Channel:
    """The blocking end of a socket. It reads no further than the message that it returns, so that select() sees the next one."""

    def __init__(self, file_descriptor):
        self._socket = socket.socket(fileno=file_descriptor)

    def fileno(self):
        return self._socket.fileno()

    def send(self, message):
        self._socket.sendall(pack(message))

    def receive(self):
        """The next message. None: the other side is gone."""
        head = self._exactly(LENGTH_BYTES)
        body = self._exactly(int.from_bytes(head, "little")) if head else None
        return pickle.loads(body) if body else None

    def _exactly(self, count):
        parts = []
        while count:
            try:
                part = self._socket.recv(min(count, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                return None
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
