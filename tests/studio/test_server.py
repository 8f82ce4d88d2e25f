"""The server by raw sockets: files and paths, headers, sizes, slowness, and how it begins and ends."""

import base64
import hashlib
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import ExitStack, suppress

import pytest
from raw_requests import (
    ask,
    ask_socket,
    close_code,
    connect,
    frame,
    get_cookie,
    lines_of,
    open_socket,
    parse,
    read_all,
)
from served_arm import ROUTES, SECRET

import kinode as kn
from kinode.studio.server.session import Session
from kinode.studio.server.web_server import Server, ServerLimits, page, serve

# -- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/files/../secret.txt", "/files/%2e%2e/secret.txt", "/files/%2E%2e%2Fsecret.txt", "/files/..%2fsecret.txt",
        "/files/%252e%252e/secret.txt", "/files/..%5csecret.txt", "/files/..\\secret.txt", "/files/....//secret.txt",
        "/files//etc/passwd", "/files/%2fetc%2fpasswd", "//files/photo.png", "/files/./photo.png",
        "/files/photo.png%00", "/files/photo.png/", "/files/%c0%ae%c0%ae/secret.txt",
        "/files/\x7f", "/files/a%0d%0aSet-Cookie:x", "/../",
        "/.", "files/photo.png", "*", "http://evil.example/", "http://127.0.0.1/files/photo.png", "", "?token=x", "/%",
        "/%zz",
    ],
)  # fmt: skip
def test_paths_that_are_not_plain(server, cookie, path):
    reply = ask(server, path, Cookie=cookie)
    assert reply.status == 400
    assert SECRET.encode() not in reply.body and "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "path",
    [
        "out/secret.txt",
        "leak.txt",
        ".env",
        "out/arm/.env",
        "meshes",
        "pipe",
        "none.stl",
        "photo.png/x",
        "a" * 3000,
        "out",
    ],
)
def test_files_that_are_not_served(server, cookie, path):
    assert ask(server, f"/files/{path}", Cookie=cookie).status == 404


def test_a_page_without_icon_is_no_error(server, cookie):
    assert ask(server, "/favicon.ico", Cookie=cookie).status == 204
    assert ask(server, "/favicon.ico").status == 403


def test_without_folder_there_are_no_files(folder):
    with serve(Session(), {"/": "x"}) as other:
        cookie = get_cookie(other)
        assert ask(other, "/", Cookie=cookie).status == 200
        assert ask(other, "/files/photo.png", Cookie=cookie).status == 404


# -- what browsers are told ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*ROUTES, "/%", "/socket"])
def test_every_answer_has_the_headers(server, cookie, path):
    for headers in ({}, {"Cookie": cookie}):
        reply = ask(server, path, **headers)
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "server" not in reply.headers
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_the_policy_of_a_page(server, cookie):
    policy = ask(server, Cookie=cookie).headers["content-security-policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    inline = (b"let a = 1;\nlet b = a;", b"last()")
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'" for text in inline]
    assert rules["script-src"] == " ".join(["'self'", *hashes])
    assert rules["connect-src"] == f"'self' ws://127.0.0.1:{server.port} data: blob:"
    module = page('<script type="module">x()</script><script type="application/json">{}</script>', "a:1").policy
    assert module.count("sha256-") == 1  # a module is a program, data are not
    assert "unsafe-eval" not in policy and rules["base-uri"] == rules["form-action"] == "'none'"


@pytest.mark.parametrize("path", ["/app.js", "/files/photo.png", "/files/evil.html"])
def test_what_is_no_page_may_do_nothing(server, cookie, path):
    assert ask(server, path, Cookie=cookie).headers["content-security-policy"].endswith("sandbox")


# -- sizes and times -------------------------------------------------------------------------------------------------


def test_a_long_path_is_refused(server, cookie):
    assert ask(server, "/" + "a" * 9000, Cookie=cookie).status == 414


def test_long_and_many_headers_are_refused(server, cookie):
    assert ask(server, Cookie=cookie, X="a" * 9000).status == 431
    assert ask(server, Cookie=cookie, X=["a"] * 200).status == 431


@pytest.mark.parametrize(
    "noise", [b"\0" * 100 + b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/2\r\n\r\n", b"\x16\x03\x01\r\n"]
)
def test_noise_is_cut_off(server, noise):
    with connect(server) as link:
        link.sendall(noise)
        assert read_all(link) == b""


@pytest.mark.parametrize("start", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_who_does_not_finish_is_cut_off(start):
    with serve(Session(), limits=ServerLimits(request_seconds=0.3)) as other, connect(other) as link:
        link.sendall(start)
        assert read_all(link) == b""


def wait_for_room(server):
    """Until a server that has room for one has room: the one before is gone."""
    deadline = time.monotonic() + 60
    while ask(server).status != 403:  # nobody knows us, but we are heard
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("patient", [False, True])
def test_who_does_not_read_is_cut_off(patient):
    size = 30_000_000  # more than buffers hold
    limits = ServerLimits(request_seconds=120.0 if patient else 1.0, connections=1)
    with serve(Session(), {"/": "x", "/large.bin": bytes(size)}, limits=limits) as other:
        cookie = get_cookie(other)
        wait_for_room(other)
        with connect(other) as link:
            link.sendall(lines_of(other, "/large.bin", "GET", {"Cookie": cookie}))
            began = len(link.recv(1))
            if patient:
                assert ask(other).status == 0  # there is no room: it waits for us
            else:
                wait_for_room(other)
            assert (began + len(read_all(link)) > size) == patient


def test_a_large_message_ends_the_socket(server, cookie):
    with open_socket(server, cookie) as link:
        link.sendall(frame(b"x" * 1001))
        assert close_code(read_all(link)) == 1009


def test_a_message_that_says_it_is_huge_ends_the_socket(server, cookie):
    with open_socket(server, cookie) as link:
        link.sendall(frame(b"", length=1 << 62))
        assert close_code(read_all(link)) == 1009


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(b"\xff\xff"), 1007),
        (frame(b"{}", masked=False), 1002),
        (frame(b"", opcode=3), 1002),
        (frame(b"x" * 126, opcode=9), 1002),
        (b"\xff\xff\xff\xff", 1002),
    ],
)
def test_frames_that_are_wrong(server, cookie, data, code):
    with open_socket(server, cookie) as link:
        link.sendall(data)
        assert close_code(read_all(link)) == code
    assert ask(server, Cookie=cookie).status == 200


def test_sockets_are_counted():
    with serve(Session(), {"/": "x"}, limits=ServerLimits(sockets=2)) as other:
        cookie = get_cookie(other)
        with open_socket(other, cookie), open_socket(other, cookie):
            assert ask_socket(other, cookie).status == 503
            assert ask(other, Cookie=cookie).status == 200
        deadline = time.monotonic() + 60
        while ask_socket(other, cookie).status != 101:
            assert time.monotonic() < deadline


def test_connections_are_counted_and_the_oldest_that_waits_makes_room():
    limits = ServerLimits(connections=3, request_seconds=120.0, close_seconds=120.0)
    with serve(Session(), {"/": "x"}, limits=limits) as other:
        cookie = get_cookie(other)
        with open_socket(other, cookie) as page, connect(other) as first, connect(other) as second:
            with connect(other) as third:
                assert read_all(first) == b""
                second.sendall(lines_of(other, "/", "GET", {}))
                third.sendall(lines_of(other, "/", "GET", {}))
                assert [parse(read_all(link)).status for link in (second, third)] == [403, 403]
            page.sendall(frame(b"", opcode=9))
            assert page.recv(2)[0] == 0x8A, "the page that is connected stays: it answers a ping"


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_who_keeps_connections_open_shuts_nobody_out(start):
    """140 of them, where there is room for 128: whole requests are answered at once, not after the times are over."""
    limits = ServerLimits(request_seconds=120.0, close_seconds=120.0)
    with serve(Session(), {"/": "x"}, limits=limits) as other, ExitStack() as stack:
        cookie = get_cookie(other)
        for _ in range(140):
            with suppress(ConnectionError):  # some are cut off on the way
                stack.enter_context(connect(other)).sendall(start)
        assert [ask(other, Cookie=cookie).status for _ in range(5)] == [200] * 5


# -- the server itself -----------------------------------------------------------------------------------------------


def test_it_listens_on_this_machine_alone():
    with serve(Session()) as other:
        assert other.host == "127.0.0.1"
        assert other.new_address().startswith(f"http://127.0.0.1:{other.port}/?token=")
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.2", other.port), timeout=1)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::"])
def test_listening_everywhere_needs_a_name(host):
    with pytest.raises(kn.ArgumentError, match="names="):
        Server(Session(), host=host)


def test_another_host_by_name():
    with serve(Session(), {"/": "x"}, host="0.0.0.0", names=["lab7:8000"]) as other:
        assert other.new_address().startswith("http://lab7:8000/?token=")
        path = f"/?token={other.gate.new_token()}"
        assert ask(other, path, Host="evil.example:8000").status == 403
        reply = ask(other, path, Host="lab7:8000")
        assert reply.status == 303
        cookie = reply.headers["set-cookie"].partition(";")[0]
        changes = {"Host": "lab7:8000", "Origin": f"http://127.0.0.1:{other.port}"}
        assert ask_socket(other, cookie, **changes).status == 403
        assert ask_socket(other, cookie, **changes | {"Origin": "http://lab7:8000"}).status == 101
        assert "ws://lab7:8000" in ask(other, Host="lab7:8000", Cookie=cookie).headers["content-security-policy"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"port": 70000}, "between 0 and 65535"),
        ({"names": ["Lab7:80"]}, "small letters"),
        ({"host": "203.0.113.7"}, "cannot listen"),
        ({"folder": "/nowhere/at/all"}, "not a folder"),
        ({"pages": {"/socket": "x"}}, "'/socket'"),
        ({"pages": {"/files/x": "x"}}, "'/files/x'"),
        ({"pages": {"x.html": "x"}}, "'x.html'"),
        ({"pages": {"/": b"\xff"}}, "UTF-8"),
    ],
)
def test_wrong_arguments(arguments, said):
    with pytest.raises(kn.ArgumentError, match=said):
        Server(Session(), **arguments)


def test_a_port_that_is_taken(server):
    with pytest.raises(kn.ArgumentError, match="cannot listen"):
        Server(Session(), port=server.port)


def test_it_ends_when_asked_whoever_is_connected():
    other = serve(Session(), {"/": "x"})
    cookie = get_cookie(other)
    assert not other.wait(0)
    with connect(other) as idle, open_socket(other, cookie) as link:
        closer = threading.Thread(target=other.close)
        closer.start()
        assert other.wait(60)
        assert close_code(read_all(link)) == 1001
        assert read_all(idle) == b""
        closer.join()
    other.close()
    with pytest.raises(OSError):
        connect(other)
    with pytest.raises(kn.ArgumentError, match="once"):
        other.start()


def test_a_server_that_never_started_ends_too():
    other = Server(Session())
    other.close()
    assert other.wait(0)


def test_ctrl_c_ends_it():
    code = """
        import os, signal, socket, sys, threading, time
        from kinode.studio.server.web_server import serve
        from kinode.studio.server.session import Session
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs are born deaf to it
        server = serve(Session(), {"/": "x"})
        idle = socket.create_connection(("127.0.0.1", server.port))
        def interrupt():
            main = threading.main_thread().ident
            def callers(frame):
                while frame is not None:
                    yield frame.f_code
                    frame = frame.f_back
            while server.wait.__code__ not in callers(sys._current_frames()[main]):
                time.sleep(0.01)
            time.sleep(0.3)  # it has come to the lock inside by now
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        print(server.wait())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)
