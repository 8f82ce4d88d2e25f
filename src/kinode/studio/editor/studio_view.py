"""``kinode studio``: the server with the studio's page and a model behind it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from kinode.editing.checked_text import trusting
from kinode.errors import ArgumentError
from kinode.player.player_file import find_studio, page_of
from kinode.studio.document.document_files import DocumentFile, new_file, open_file
from kinode.studio.editor.library import draw_ahead
from kinode.studio.editor.panes import PaneAnswers
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Session
from kinode.studio.server.web_server import ServedView, Server


class StudioView(ServedView):
    """The studio of one model: a server on this machine; a context manager that closes it.

    Parameters
    ----------
    file : path, optional
        The model; without one the page begins with the gallery.
    folder : path, optional
        Below which models are saved and opened; that of the file, or the present one.
    read_only : bool, default False
        Whether changes are refused.
    port : int
        0 takes a free one.
    program : str, optional
        The text of the page's program; the built one if left out.
    verify : bool, default True
        Whether derivations are compared after each change, else when the page asks for it.
    trust : bool, default False
        Whether the file may name FMUs and files outside its folder; other models that are opened may not.

    Examples
    --------
    >>> from kinode.studio.editor.studio_view import StudioView
    >>> with StudioView("examples/rlc.yaml", read_only=True, program="") as view:
    ...     view.desk.document.file.name
    'rlc.yaml'
    """

    def __init__(
        self, file: str | os.PathLike[str] | None = None, *, folder: str | os.PathLike[str] | None = None,
        read_only: bool = False, port: int = 0, program: str | None = None, verify: bool = True,
        trust: bool = False,
    ) -> None:  # fmt: skip
        path = None if file is None else Path(file)
        self.folder = Path(folder) if folder is not None else Path.cwd() if path is None else path.absolute().parent
        if not self.folder.is_dir():
            raise ArgumentError(f"folder: {str(self.folder)!r} is not a folder")
        self._trusted = ExitStack()
        if trust:
            if path is None:
                raise ArgumentError("trust is for a model that is named")
            self._trusted.enter_context(trusting(path))
        document = new_file(self.folder) if path is None else _open_or_new(path.absolute())
        body = find_studio() if program is None else program
        self.session = Session(read_only=read_only)
        gallery = " data-gallery" if path is None else ""
        page = page_of("/studio.js", f"{document.name} - kinode", "data-kinode-studio", gallery)
        self.server = Server(self.session, {"/": page, "/studio.js": body}, port=port)
        self.desk = StudioDesk(self.session, document, self.folder)
        self.panes = PaneAnswers(self.desk, self.server.put, verify)
        self.server.start()
        if path is None and program is None:
            draw_ahead()

    def close(self) -> None:
        """End the server; what is not saved is offered when the model is opened again."""
        self.panes.close()
        self.desk.close()
        super().close()
        self._trusted.close()


def _open_or_new(path: Path) -> DocumentFile:
    """The file of a model; one that is not there yet is a new model of that name."""
    if path.exists() or path.suffix.lower() not in (".yaml", ".yml"):
        return open_file(path)
    if not path.parent.is_dir():
        raise ArgumentError(f"there is no folder {path.parent}")
    name = path.stem if path.stem.isidentifier() else "model"
    return new_file(path.parent, f"kinode: 1\nname: {name}\n", path.name)


def serve_studio(
    file: str | os.PathLike[str] | None = None, *, read_only: bool = False, port: int = 0,
    plugins: Iterable[str] = (), verify: bool = True, browser: bool = True, trust: bool = False,
    say: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Draw, run and watch a model on a page, until Ctrl-C.

    Parameters
    ----------
    file : str or path, optional
        The model; without one the page begins with a gallery of examples.
    read_only : bool, default False
        Whether changes are refused.
    port : int
        0 takes a free one.
    plugins : iterable of str
        Modules that register joints and elements.
    verify : bool, default True
        Whether derivations are compared after each change.
    browser : bool, default True
        Whether the browser is opened.
    trust : bool, default False
        Whether the file may name FMUs and files outside its folder.
    say : function
        What prints a line.
    """
    for plugin in plugins:
        try:
            importlib.import_module(plugin)
        except ImportError as error:
            raise ArgumentError(f"--plugins: {plugin} cannot be imported: {error}") from None
    with StudioView(file, read_only=read_only, port=port, verify=verify, trust=trust) as view:
        ending = "Ctrl-C ends it; what is not saved is offered when the model is opened again"
        view.serve(view.desk.document.file.name, ending, browser, say)
