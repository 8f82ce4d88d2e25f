"""Requests to a server of live pages, written byte by byte as a stranger could."""

import base64
import socket
from contextlib import contextmanager, suppress
from typing import NamedTuple


class Reply(NamedTuple):
    status: int  # 0: the connection was closed without an answer
    headers: dict[str, str]
    body: bytes


def connect(server):
    return socket.create_connection((server.host, server.port), timeout=60)


def read_all(link):
    """All that comes until the connection ends."""
    data = bytearray()
    with suppress(ConnectionResetError):
        while block := link.recv(1 << 20):
            data += block
    return bytes(data)


def parse(data):
    if not data:
        return Reply(0, {}, b"")
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = [line.partition(": ") for line in lines]
    return Reply(int(first.split()[1]), {name.lower(): value for name, _, value in pairs}, body)


def lines_of(server, path, method, headers):
    fields = {"Host": f"127.0.0.1:{server.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    rows = [f"{method} {path} HTTP/1.1"]
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        rows += [f"{name}: {one}" for one in values if one is not None]
    return ("\r\n".join(rows) + "\r\n\r\n").encode("latin-1")


def ask(server, path="/", method="GET", **headers):
    """The reply to one request; a header that is None is left out, a list stands several times."""
    with connect(server) as link:
        link.sendall(lines_of(server, path, method, headers))
        return parse(read_all(link))


def upgrade(server, cookie, **changes):
    """The headers of a right opening of the socket, changed."""
    headers = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": base64.b64encode(bytes(16)).decode(),
        "Origin": f"http://127.0.0.1:{server.port}", "Cookie": cookie,
    }  # fmt: skip
    return headers | changes


def get_cookie(server):
    """The cookie of a browser that opens the address."""
    reply = ask(server, f"/?token={server.gate.new_token()}")
    assert reply.status == 303 and reply.headers["location"] == "/"
    return reply.headers["set-cookie"].partition(";")[0]


def ask_socket(server, cookie, path="/socket", method="GET", **changes):
    with connect(server) as link:
        link.sendall(lines_of(server, path, method, upgrade(server, cookie, **changes)))
        data = b""
        while b"\r\n\r\n" not in data and (block := link.recv(65536)):
            data += block
        return parse(data)


@contextmanager
def open_socket(server, cookie):
    with connect(server) as link:
        link.sendall(lines_of(server, "/socket", "GET", upgrade(server, cookie)))
        data = b""
        while b"\r\n\r\n" not in data:
            data += link.recv(1)
        assert parse(data).status == 101
        yield link


def frame(payload, opcode=1, length=None, masked=True):
    """A frame of the socket by hand, with a mask of zeros."""
    size = len(payload) if length is None else length
    flag = 0x80 if masked else 0
    if size < 126:
        head = bytes([0x80 | opcode, flag | size])
    elif size < 65536:
        head = bytes([0x80 | opcode, flag | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | opcode, flag | 127]) + size.to_bytes(8, "big")
    return head + (bytes(4) if masked else b"") + payload


def close_code(data):
    """The code of the closing frame in what a server sent."""
    at = data.rfind(b"\x88")
    return int.from_bytes(data[at + 2 : at + 4], "big") if at >= 0 else None
