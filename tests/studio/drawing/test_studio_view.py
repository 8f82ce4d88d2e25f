"""The studio by raw sockets: its routes pass the same gate, and no file is served."""

import pytest
from raw_requests import ask, ask_socket, get_cookie

import kinode as kn
from kinode.studio.editor.studio_view import StudioView, serve_studio

MODEL = "kinode: 1\nname: a\nelements:\n  r: {kind: resistor, plus: gnd, minus: gnd, resistance: 1}\n"
ROUTES = ("/", "/studio.js")


@pytest.fixture
def view(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.yaml").write_text(MODEL)
    (folder / "secret.txt").write_text("secret")
    with StudioView(folder / "a.yaml", program="export {};", verify=False) as view:
        yield view


@pytest.mark.parametrize("path", [*ROUTES, "/socket"])
def test_no_route_without_the_cookie(view, path):
    assert ask(view.server, path).status == 403
    assert ask(view.server, path, Cookie=f"kinode_{view.server.port}=wrong").status == 403


def test_routes_with_the_cookie(view):
    cookie = get_cookie(view.server)
    page = ask(view.server, "/", Cookie=cookie)
    assert page.status == 200 and b"data-kinode-studio" in page.body and b"a.yaml" in page.body
    policy = page.headers["content-security-policy"]
    assert "unsafe-eval" not in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert ask(view.server, "/studio.js", Cookie=cookie).status == 200


@pytest.mark.parametrize(
    "path", ["/a.yaml", "/files/a.yaml", "/files/secret.txt", "/secret.txt", "/player.js", "/files/../a.yaml"]
)
def test_no_file_is_served(view, path):
    reply = ask(view.server, path, Cookie=get_cookie(view.server))
    assert reply.status in (400, 404) and b"resistor" not in reply.body and b"secret" not in reply.body


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_other_hosts_and_origins_are_refused(view, path, headers):
    assert ask(view.server, path, Cookie=get_cookie(view.server), **headers).status in (400, 403, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_the_socket_is_for_our_own_page(view, origin):
    assert ask_socket(view.server, get_cookie(view.server), Origin=origin).status == 403


def test_without_a_model_the_page_begins_with_the_gallery(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with StudioView(program="") as view:
        page = ask(view.server, "/", Cookie=get_cookie(view.server))
        assert b"data-gallery" in page.body and view.desk.document.file.path is None


def test_a_model_that_is_not_there_yet_is_new(tmp_path):
    with StudioView(tmp_path / "axis.yaml", program="") as view:
        assert view.desk.document.text == "kinode: 1\nname: axis\n" and view.desk.document.file.name == "axis.yaml"


@pytest.mark.parametrize("name", ["run.nc", "a.view.yaml", "nowhere/a.yaml", "there_is_no.urdf2"])
def test_what_is_no_model_is_not_opened(tmp_path, name):
    (tmp_path / "a.view.yaml").write_text("kinode_view: 1\n")
    (tmp_path / "run.nc").write_text("x")
    with pytest.raises((kn.ModelError, kn.ArgumentError)):
        StudioView(tmp_path / name, program="")


def test_a_plug_in_that_is_not_there_is_said():
    with pytest.raises(kn.ArgumentError, match="no_such_module"):
        serve_studio(None, plugins=["no_such_module"])
