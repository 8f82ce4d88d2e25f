"""The gate: who may speak to the server behind a live page.

Any page of the web that is open in the same browser can send requests to this machine, and so can every program on it.
The gate lets in the browser that was given the address, and no one else:

- The address holds a **token** of 128 bits that is good for one opening.  It is exchanged for a **cookie** that scripts
  cannot read (HttpOnly), that requests of other sites do not carry (SameSite=Strict), and that is named by the port, so
  that several servers on one machine do not disturb each other.
- ``Host`` must be ours to the letter: a foreign name that was pointed at this machine (DNS rebinding) ends here.
- ``Origin`` must be ours on the socket, where it may not be missing either; elsewhere where there is one.
- ``Sec-Fetch-Site``, where a browser sends it, must say that the request comes from our page, or from no page at all
  (an address that was typed or opened by a program).
- ``GET`` alone; paths in one spelling only, without ``..``, empty parts, backslashes or doubly encoded characters.

A request that is refused uses up no token, and is told nothing about what there is.

Not covered: cookies know no ports, so a browser shows the cookie to other servers on the same address too; a program
of another user of this machine that the browser visits there could use it.  Over a network everything is in the clear.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from threading import Lock
from urllib.parse import parse_qsl, unquote_to_bytes

from kinode.errors import ArgumentError

SOCKET = "/socket"
MOST_TOKENS = 64
"""Tokens not used yet, and browsers let in; the oldest go first."""
_AUTHORITY = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?")
_SEGMENT = re.compile(r"[^\x00-\x1f\x7f/\\%]+")
EXPLANATION = (
    "This address is good for one opening, and only as kinode gave it.\n"
    "Open the address that kinode printed in a new tab, or start it again.\n"
)


@dataclass(frozen=True)
class Verdict:
    """What becomes of a request: 200 means that it may go on, to ``path``."""

    status: int
    message: str = ""
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def passes(self) -> bool:
        """Whether the request may go on."""
        return self.status == 200


class Gate:
    """Decides on requests by method, target and headers.

    Parameters
    ----------
    host : str
        The name or address in the address bar.
    port : int
        The port in the address bar.
    names : sequence of str
        Further ``host:port`` by which browsers may come, such as the end of a tunnel.

    Examples
    --------
    >>> gate = Gate("127.0.0.1", 8123)
    >>> own = ("Host", "127.0.0.1:8123")
    >>> gate.decide("GET", "/", [own]).status
    403
    >>> verdict = gate.decide("GET", f"/?token={gate.new_token()}", [own])
    >>> verdict.status
    303
    >>> cookie = dict(verdict.headers)["Set-Cookie"].split(";")[0]
    >>> gate.decide("GET", "/", [own, ("Cookie", cookie)]).passes
    True
    """

    def __init__(self, host: str, port: int, names: Sequence[str] = ()) -> None:
        shown = f"[{host}]" if ":" in host else host.lower()
        self.authority = f"{shown}:{port}"
        self.cookie_name = f"kinode_{port}"
        self.authorities = {self.authority} | ({shown} if port == 80 else set())
        for name in names:
            check_authority(name)
            self.authorities.add(name)
        self._tokens: list[str] = []
        self._admitted: list[str] = []
        self._lock = Lock()

    def new_token(self) -> str:
        """A token for one opening."""
        token = secrets.token_hex(16)
        with self._lock:
            self._tokens = [*self._tokens[1 - MOST_TOKENS :], token]
        return token

    def decide(self, method: str, target: str, headers: Iterable[tuple[str, str]]) -> Verdict:
        """Whether a request may go on, and where to; else what it is told."""
        named: dict[str, list[str]] = {}
        for name, value in headers:
            named.setdefault(name.lower(), []).append(value)
        hosts = named.get("host", [])
        if len(hosts) != 1 or hosts[0] not in self.authorities:
            return Verdict(403, "This server does not answer to that name.\n")
        if method != "GET":
            return Verdict(405, "Only GET is answered.\n", headers=(("Allow", "GET"),))
        path, query = _split(target)
        if path is None:
            return Verdict(400, "The path is not spelled plainly.\n")
        if not self._comes_from_us(named, hosts[0], path == SOCKET):
            return Verdict(403, EXPLANATION)
        if self._has_cookie(named.get("cookie", [])):
            if path == "/" and "token" in dict(query):
                return Verdict(303, headers=(("Location", "/"),))
            return Verdict(200, path=path)
        tokens = [value for name, value in query if name == "token"]
        if path == "/" and len(tokens) == 1 and self._use(tokens[0]):
            return Verdict(303, headers=(("Location", "/"), ("Set-Cookie", self._new_cookie())))
        return Verdict(403, EXPLANATION)

    def _comes_from_us(self, named: dict[str, list[str]], host: str, socket: bool) -> bool:
        """Whether origin and site are our own; on the socket they may not be left out."""
        origins = named.get("origin", [])
        if (origins or socket) and origins != [f"http://{host}"]:
            return False
        sites = named.get("sec-fetch-site", [])
        return not sites or sites == ["same-origin"] or (not socket and sites == ["none"])

    def _has_cookie(self, values: list[str]) -> bool:
        given = [part.strip().partition("=") for value in values for part in value.split(";")]
        with self._lock:
            return any(
                name == self.cookie_name and _find(_digest(value), self._admitted) is not None
                for name, _, value in given
            )

    def _use(self, token: str) -> bool:
        """Whether a token is good; it is not any more."""
        with self._lock:
            k = _find(token, self._tokens)
            if k is not None:
                del self._tokens[k]
            return k is not None

    def _new_cookie(self) -> str:
        value = secrets.token_hex(16)
        with self._lock:
            self._admitted = [*self._admitted[1 - MOST_TOKENS :], _digest(value)]
        return f"{self.cookie_name}={value}; Path=/; HttpOnly; SameSite=Strict"


def check_authority(name: str) -> None:
    """Whether a text can stand in the address bar before the path."""
    if not _AUTHORITY.fullmatch(name):
        raise ArgumentError(f"names: {name!r} is not of the form host:port, in small letters")


def _digest(cookie: str) -> str:
    return sha256(cookie.encode("utf-8", "surrogateescape")).hexdigest()


def _find(value: str, known: list[str]) -> int | None:
    """Place of a secret in a list, in a time that does not tell how much of it was right."""
    given = value.encode("utf-8", "surrogateescape")
    places = [k for k, secret in enumerate(known) if compare_digest(given, secret.encode())]
    return places[0] if places else None


def _split(target: str) -> tuple[str | None, list[tuple[str, str]]]:
    """Path, decoded once, and query of a request target; no path where it is not spelled plainly."""
    raw, _, query = target.partition("?")
    try:
        path = unquote_to_bytes(raw).decode("utf-8")
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=32)
    except ValueError:
        return None, []
    if path == "/":
        return path, pairs
    first, *segments = path.split("/")
    plain = not first and segments and all(_SEGMENT.fullmatch(x) and x not in (".", "..") for x in segments)
    return (path if plain else None), pairs
