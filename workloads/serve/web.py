"""As much of HTTP/1.1 as the API needs, over asyncio streams: requests with a length, answers whole or in chunks, and who has gone."""

import asyncio
import json
from http import HTTPStatus

MOST_HEAD_BYTES, MOST_BODY_BYTES = 64 << 10, 32 << 20


class HttpError(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Reader(asyncio.StreamReader):
    """Tells at once that the client has closed the connection, not at the next write to it."""

    when_gone = None
    gone = False

    def feed_eof(self):
        super().feed_eof()
        self._tell()

    def set_exception(self, exception):
        super().set_exception(exception)
        self._tell()

    def _tell(self):
        self.gone = True
        if self.when_gone:
            self.when_gone()


class Request:
    def __init__(self, method, path, headers):
        self.method, self.path, self.headers = method, path, headers
        self.body = b""

    @property
    def keeps_alive(self):
        return self.headers.get("connection", "").lower() != "close"

    def json(self):
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise HttpError(400, f"the body is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise HttpError(400, "the body is no JSON object")
        return value


async def read_request(reader, writer):
    """None: the client has closed the connection, as it may between two requests."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise HttpError(431, "the head of the request is too long") from None
    # POST /v1/completions HTTP/1.1
    # Content-Length: 42
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise HttpError(400, "this is no request of HTTP/1")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if parts[2] == "HTTP/1.0":
        headers["connection"] = "close"
    request = Request(parts[0], parts[1].partition("?")[0], headers)
    if "transfer-encoding" in headers:
        raise HttpError(411, "a request's body needs a Content-Length")
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        raise HttpError(400, "Content-Length is no number")
    if len(length) > 12 or int(length) > MOST_BODY_BYTES:
        raise HttpError(413, f"a body has at most {MOST_BODY_BYTES} bytes")
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.body = await reader.readexactly(int(length))
    return request


class Answer:
    """To one request: whole by send(), or by begin_stream(), events, and end_stream()."""

    def __init__(self, writer, keeps_alive):
        self._writer, self._keeps_alive = writer, keeps_alive
        self.headers = {}

    def send(self, status, body, kind="application/json"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._head(status, kind, f"Content-Length: {len(body)}")
        self._writer.write(body)

    def begin_stream(self):
        self._head(200, "text/event-stream", "Cache-Control: no-cache", "Transfer-Encoding: chunked")

    async def send_event(self, text):
        event = f"data: {text}\n\n".encode()
        self._writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await self._writer.drain()

    def end_stream(self):
        self._writer.write(b"0\r\n\r\n")

    def _head(self, status, kind, *more):
        connection = "keep-alive" if self._keeps_alive else "close"
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {kind}", f"Connection: {connection}", *more]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


def send_error(answer, status, message):
    answer.send(status, {"error": {"message": message, "type": "invalid_request_error", "code": status}})


async def serve_connection(reader, writer, route):
    """route(request, answer, reader) answers one request after the other."""
    try:
        keeps_alive = True
        while keeps_alive:
            try:
                request = await read_request(reader, writer)
            except HttpError as error:
                send_error(Answer(writer, False), error.status, str(error))
                break
            if request is None:
                break
            keeps_alive = request.keeps_alive
            answer = Answer(writer, keeps_alive)
            try:
                await route(request, answer, reader)
            except HttpError as error:
                send_error(answer, error.status, str(error))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the client has gone
    finally:
        writer.close()


async def listen(listener, route):
    """Serves an open socket."""
    loop = asyncio.get_running_loop()
    connections = set()  # the loop itself keeps no task alive

    def begin(reader, writer):
        task = loop.create_task(serve_connection(reader, writer, route))
        connections.add(task)
        task.add_done_callback(connections.discard)

    def make_protocol():
        return asyncio.StreamReaderProtocol(Reader(limit=MOST_HEAD_BYTES, loop=loop), begin)

    return await loop.create_server(make_protocol, sock=listener)
