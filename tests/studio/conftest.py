"""A server for the tests of gate and server, and the cookie of a browser that was let in."""

import os

import pytest
from raw_requests import get_cookie
from served_arm import PAGE, SECRET

from kinode.studio.server.session import Session
from kinode.studio.server.web_server import Server, ServerLimits


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    top = tmp_path_factory.mktemp("model")
    (top / "secret.txt").write_text(SECRET)
    inside = top / "arm"
    (inside / "meshes").mkdir(parents=True)
    (inside / "meshes" / "link 1.stl").write_bytes(b"solid")
    (inside / "evil.html").write_text("<script>alert(1)</script>")
    (inside / "photo.png").write_bytes(b"\x89PNG")
    (inside / ".env").write_text(SECRET)
    (inside / "out").symlink_to(top)
    (inside / "leak.txt").symlink_to(top / "secret.txt")
    os.mkfifo(inside / "pipe")
    return inside


@pytest.fixture(scope="module")
def server(folder):
    session = Session()
    session.handle("echo", lambda job: {"said": job.fields.get("text")})
    limits = ServerLimits(request_seconds=120.0, message_bytes=1000)  # nobody is too slow, however busy the machine is
    with Server(session, {"/": PAGE, "/app.js": "let c", "/run.bin": b"\0\1"}, folder=folder, limits=limits) as made:
        yield made


@pytest.fixture(scope="module")
def cookie(server):
    return get_cookie(server)
