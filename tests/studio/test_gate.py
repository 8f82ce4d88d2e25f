"""The gate by raw sockets: every route and the socket, with everything wrong that a stranger can send."""

import re

import pytest
from raw_requests import ask, ask_socket, frame, open_socket
from served_arm import PAGE, ROUTES

import kinode as kn
from kinode.studio.server.gate import MOST_TOKENS, Gate

# -- who has a cookie is let in --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/", "text/html; charset=utf-8", PAGE.replace("\r\n", "\n").encode()),
        ("/?t=3", "text/html; charset=utf-8", PAGE.replace("\r\n", "\n").encode()),
        ("/app.js", "text/javascript; charset=utf-8", b"let c"),
        ("/run.bin", "application/octet-stream", b"\0\1"),
        ("/files/meshes/link%201.stl", "application/octet-stream", b"solid"),
        ("/files/photo.png", "image/png", b"\x89PNG"),
        ("/files/evil.html", "application/octet-stream", b"<script>alert(1)</script>"),
    ],
)
def test_pages_and_files(server, cookie, path, kind, body):
    reply = ask(server, path, Cookie=cookie)
    assert (reply.status, reply.headers["content-type"], reply.body) == (200, kind, body)


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_our_own_page_may_ask(server, cookie, site):
    assert ask(server, Cookie=cookie, Sec_Fetch_Site=site).status == 200


def test_our_own_origin_may_ask(server, cookie):
    assert ask(server, Cookie=cookie, Origin=f"http://127.0.0.1:{server.port}").status == 200


def test_other_cookies_do_not_matter(server, cookie):
    assert ask(server, Cookie=f"kinode_1=x; {cookie}; {cookie.partition('=')[0]}=tossed").status == 200


def test_the_socket_opens_and_answers(server, cookie):
    with open_socket(server, cookie) as link:
        link.sendall(frame(b'{"seq": 1, "kind": "echo", "text": "arm"}'))
        assert b'"said":"arm"' in link.recv(1000)


def test_what_is_put_in_later_is_served(server, cookie):
    server.put("/later.json", "{}")
    assert ask(server, "/later.json", Cookie=cookie).body == b"{}"


# -- cookies and tokens ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ROUTES)
def test_no_route_without_cookie(server, path):
    reply = ask(server, path)
    assert reply.status == 403
    assert reply.body == ask(server, "/elsewhere").body  # nothing is told about what there is


@pytest.mark.parametrize("path", ROUTES)
def test_no_route_with_a_wrong_cookie(server, cookie, path):
    name, _, value = cookie.partition("=")
    assert ask(server, path, Cookie=f"{name}={value[::-1]}").status == 403


@pytest.mark.parametrize("change", ["", "é", "{0}0", "{1}", " {0}", '"{0}"'])
def test_a_cookie_must_be_right_to_the_letter(server, cookie, change):
    name, _, value = cookie.partition("=")
    assert ask(server, Cookie=f"{name}={change.format(value, value[:-1])}").status == 403
    assert ask(server, Cookie=f"kinode_1={value}").status == 403


def test_the_cookie_is_kept_from_scripts_and_sites(server):
    reply = ask(server, f"/?token={server.gate.new_token()}")
    name, *rest = reply.headers["set-cookie"].split("; ")
    assert re.fullmatch(rf"kinode_{server.port}=[0-9a-f]{{32}}", name)
    assert rest == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert reply.body == b""


def test_tokens_are_random_and_long():
    gate = Gate("127.0.0.1", 1)
    tokens = {gate.new_token() for _ in range(20)}
    assert len(tokens) == 20 and all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)


def test_a_token_is_good_once(server):
    path = f"/?token={server.gate.new_token()}"
    assert ask(server, path).status == 303
    assert ask(server, path).status == 403


def test_a_used_token_does_not_bother_who_is_in(server, cookie):
    reply = ask(server, "/?token=used", Cookie=cookie)
    assert (reply.status, reply.headers["location"]) == (303, "/")
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("form", ["", "x", "{0}0", "{1}", "{0}&token={0}", "%00{0}", "é"])
def test_wrong_tokens(server, form):
    token = server.gate.new_token()
    assert ask(server, "/?token=" + form.format(token, token[:-1])).status in (0, 403)
    assert ask(server, f"/?token={token}").status == 303  # which a wrong one does not use up


@pytest.mark.parametrize("path", ["/socket", "/app.js", "/files/photo.png", "/nothing"])
def test_a_token_opens_the_first_page_alone(server, path):
    token = server.gate.new_token()
    assert ask(server, f"{path}?token={token}").status == 403
    assert ask_socket(server, None, f"{path}?token={token}").status == 403
    assert ask(server, f"/?token={token}").status == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Origin": "https://example.org"},
        {"Host": "example.org"},
    ],
)
def test_a_token_is_not_spent_by_strangers(server, headers):
    path = f"/?token={server.gate.new_token()}"
    assert ask(server, path, **headers).status == 403
    assert ask(server, path).status == 303


def test_old_tokens_end():
    gate = Gate("127.0.0.1", 5)
    first, *_, last = [gate.new_token() for _ in range(MOST_TOKENS + 1)]
    own = [("Host", "127.0.0.1:5")]
    assert gate.decide("GET", f"/?token={first}", own).status == 403
    assert gate.decide("GET", f"/?token={last}", own).status == 303


# -- Host, Origin, Sec-Fetch-Site, method ----------------------------------------------------------------------------

HOSTS = [
    None, "", "127.0.0.1", "127.0.0.1:1", "localhost:{0}", "evil.example:{0}", "127.0.0.1.:{0}", "[::1]:{0}",
    "127.0.0.1:{0}.evil.example", "evil@127.0.0.1:{0}", "127.0.0.1:{0}, evil", "127.1:{0}", "127.0.0.1:0{0}",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_other_hosts_are_refused(server, cookie, host):
    host = host and host.format(server.port)
    assert ask(server, Cookie=cookie, Host=host).status == 403
    assert ask_socket(server, cookie, Host=host).status == 403


def test_two_hosts_are_refused(server, cookie):
    assert ask(server, Cookie=cookie, Host=[f"127.0.0.1:{server.port}", "evil.example"]).status == 403
    assert ask(server, Cookie=cookie, Host=[f"127.0.0.1:{server.port}"] * 2).status == 403


ORIGINS = [
    "null", "", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1:{0}", "http://localhost:{0}",
    "http://evil.example", "http://127.0.0.1:{0}/", "http://127.0.0.1:{0}.evil.example", "HTTP://127.0.0.1:{0}",
]  # fmt: skip


@pytest.mark.parametrize("origin", [*ORIGINS, None])
def test_the_socket_is_for_our_origin(server, cookie, origin):
    origin = origin and origin.format(server.port)
    assert ask_socket(server, cookie, Origin=origin).status == 403


@pytest.mark.parametrize("origin", ORIGINS)
def test_no_page_for_other_origins(server, cookie, origin):
    reply = ask(server, "/run.bin", Cookie=cookie, Origin=origin.format(server.port))
    assert reply.status == 403
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_two_origins_are_refused(server, cookie):
    own = f"http://127.0.0.1:{server.port}"
    assert ask_socket(server, cookie, Origin=[own, own]).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "Same-Origin", "nonsense"])
@pytest.mark.parametrize("path", ["/", "/run.bin", "/files/photo.png"])
def test_requests_of_other_sites_are_refused(server, cookie, site, path):
    assert ask(server, path, Cookie=cookie, Sec_Fetch_Site=site).status == 403


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("none", 403), ("same-origin", 101)]
)
def test_the_socket_is_opened_by_our_page(server, cookie, site, status):
    assert ask_socket(server, cookie, Sec_Fetch_Site=site).status == status


@pytest.mark.parametrize(
    "method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X"]
)
@pytest.mark.parametrize("path", ["/", "/socket", "/files/photo.png"])
def test_other_methods(server, cookie, method, path):
    reply = ask(server, path, method, Cookie=cookie)
    assert (reply.status, reply.headers["allow"]) == (405, "GET")
    assert bool(reply.body) == (method != "HEAD")
    assert ask_socket(server, cookie, "/socket", method).status == 405


@pytest.mark.parametrize("extra", [{"Content_Length": "5"}, {"Transfer_Encoding": "chunked"}])
def test_requests_with_a_body_are_cut_off(server, cookie, extra):
    assert ask(server, "/", "POST", Cookie=cookie, **extra).status == 0
    assert ask(server, "/", "GET", Cookie=cookie, **extra).status == 0


@pytest.mark.parametrize("path", ["/", "/run.bin", "/files/photo.png", "/nothing"])
def test_sockets_open_at_one_path(server, cookie, path):
    assert ask_socket(server, cookie, path).status in (200, 404)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"Upgrade": None}, 426),
        ({"Connection": None}, 426),
        ({"Upgrade": "h2c"}, 426),
        ({"Sec_WebSocket_Key": None}, 400),
        ({"Sec_WebSocket_Key": "short"}, 400),
        ({"Sec_WebSocket_Version": "8"}, 400),
        ({"Cookie": None}, 403),
        ({"Cookie": "kinode_1=0"}, 403),
    ],
)
def test_wrong_openings(server, cookie, changes, status):
    reply = ask_socket(server, cookie, **changes)
    assert reply.status == status
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["", "a b", "http://lab7", "lab7/x", "lab7:port"])
def test_names_are_checked(name):
    with pytest.raises(kn.ArgumentError, match="host:port"):
        Gate("127.0.0.1", 1, [name])


def test_names_on_port_80_and_of_version_6():
    assert Gate("lab7", 80).authorities == {"lab7", "lab7:80"}
    assert Gate("::1", 81).authorities == {"[::1]:81"}
