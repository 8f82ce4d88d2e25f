"""FMUs that come from strangers: whatever is wrong with them is said in words, and nothing of it stays behind."""

import io
import os
import zipfile
from pathlib import Path

import pytest
from small_fmus import FOLDERS, build_library, describe_2, describe_3, sharedLibraryExtension

import kinode as kn

DOCTYPE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>'


def write_fmu(path, description, version=2, library=None):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        content = build_library("lag", version) if library is None else library
        archive.writestr(f"binaries/{FOLDERS[version]}/lag{sharedLibraryExtension}", content)
    return path


def refuse(path, message, **fields):
    with pytest.raises(kn.ModelError, match=message) as error:
        kn.System("s").fmu("lag", path, **fields)
    assert str(error.value).startswith("lag.file: ")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_damaged_archives_are_named(tmp_path, method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("modelDescription.xml", describe_2("lag"))
    data = bytearray(stream.getvalue())
    data[60:90] = b"\xff" * 30  # of the packed description
    (tmp_path / "bad.fmu").write_bytes(data)
    refuse(tmp_path / "bad.fmu", r"bad\.fmu (is no FMU, or damaged|cannot be unpacked): ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in files")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.fmu")
    refuse(tmp_path / "pipe.fmu", "no ordinary file")


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "ISO-8859-1"])
def test_entities_are_refused_in_any_encoding(tmp_path, encoding):
    body = describe_2("lag").partition("?>")[2]
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    refuse(write_fmu(tmp_path / "bad.fmu", (head + DOCTYPE + body).encode(encoding)), "declares entities of its own")
    path = write_fmu(tmp_path / "good.fmu", (head + body).encode(encoding))
    assert kn.System("s").fmu("lag", path).description.name == "lag"


@pytest.mark.parametrize(
    ("version", "old", "new", "message"),
    [
        (2, 'valueReference="3"', 'valueReference="-3"', "y has the value reference -3"),
        (2, 'valueReference="3"', f'valueReference="{2**32}"', f"y has the value reference {2**32}"),
        (2, 'valueReference="3"', "", r"is not one of FMI \(TypeError"),
        (3, 'valueReference="3"', 'valueReference="8"', r"is not one of FMI \(KeyError: 3"),
        (2, 'name="count"', 'name="y"', "names the variable 'y' twice"),
        (2, '<Unknown index="2"/>', '<Unknown index="2"/>' * 2, r"names the derivative 'der\(x\)' twice"),
        (2, 'numberOfEventIndicators="0"', 'numberOfEventIndicators="-1"', "-1 event indicators"),
        (2, 'numberOfEventIndicators="0"', 'numberOfEventIndicators="1000000000"', "1000000000 event indicators"),
        (2, 'modelIdentifier="lag"', "", "the modelIdentifier '', which names no library in it"),
        (2, 'modelIdentifier="lag"', 'modelIdentifier="../../lag"', "the modelIdentifier '../../lag'"),
        (3, "<CoSimulation ", '<CoSimulation fixedInternalStepSize="x" ', r"is not one of FMI \(ValueError"),
        (3, "<CoSimulation ", '<CoSimulation fixedInternalStepSize="NaN" ', "fixedInternalStepSize of nan"),
        (3, "<CoSimulation ", '<CoSimulation fixedInternalStepSize="-1" ', "fixedInternalStepSize of -1"),
        (
            3, 'causality="output" variability="continuous"/>',
            'causality="output" variability="continuous"><Dimension start="-3"/><Dimension start="-3"/></Float64>',
            "y has the size -3",
        ),
    ],
)  # fmt: skip
def test_descriptions_that_are_none(tmp_path, version, old, new, message):
    text = describe_2("lag") if version == 2 else describe_3("lag")
    assert old in text
    refuse(write_fmu(tmp_path / "bad.fmu", text.replace(old, new, 1), version), message, period=0.01)


@pytest.mark.parametrize("version", [2, 3])
def test_a_library_that_is_none_leaves_the_working_folder(tmp_path, monkeypatch, version):
    monkeypatch.chdir(tmp_path)
    text = describe_2("lag") if version == 2 else describe_3("lag")
    system = kn.System("s")
    system.fmu("lag", write_fmu(tmp_path / "bad.fmu", text, version, b"no library"), period=0.01)
    with pytest.raises(kn.Error, match="cannot be loaded"):
        kn.simulate(system, 0.1)
    assert Path.cwd() == tmp_path
