"""The symbols that an object file needs and does not have: ELF, COFF and Mach-O, 64 bits, little endian."""

from __future__ import annotations

from struct import unpack_from


def find_needed(code: bytes) -> set[str]:
    """The names of undefined symbols; a leading underscore of Mach-O is taken off."""
    if code[:4] == b"\x7fELF":
        return _of_elf(code)
    if code[:4] == b"\xcf\xfa\xed\xfe":
        return {name.removeprefix("_") for name in _of_macho(code)}
    return _of_coff(code)


def _text(code: bytes, at: int) -> str:
    return code[at : code.index(b"\0", at)].decode()


def _of_elf(code: bytes) -> set[str]:
    start, size, count = unpack_from("<Q", code, 40)[0], *unpack_from("<HH", code, 58)
    sections = [unpack_from("<IIQQQQIIQQ", code, start + k * size) for k in range(count)]
    needed = set()
    for section in sections:
        if section[1] == 2:  # the table of symbols
            names = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, _, _, home = unpack_from("<IBBH", code, at)
                if name and home == 0:
                    needed.add(_text(code, names + name))
    return needed


def _of_coff(code: bytes) -> set[str]:
    table, count = unpack_from("<II", code, 8)
    needed, k, names = set(), 0, table + 18 * count
    while k < count:
        at = table + 18 * k
        value, home, _, storage, more = unpack_from("<IhHBB", code, at + 8)
        if home == 0 and value == 0 and storage == 2:
            short, place = unpack_from("<II", code, at)
            needed.add(_text(code, names + place) if short == 0 else code[at : at + 8].rstrip(b"\0").decode())
        k += 1 + more
    return needed


def _of_macho(code: bytes) -> set[str]:
    count, at, needed = unpack_from("<I", code, 16)[0], 32, set()
    for _ in range(count):
        command, size = unpack_from("<II", code, at)
        if command == 2:
            symbols, n, names, _ = unpack_from("<IIII", code, at + 8)
            for k in range(n):
                name, kind, _, _, value = unpack_from("<IBBHQ", code, symbols + 16 * k)
                if kind & 0x0E == 0 and value == 0 and not kind & 0xE0:
                    needed.add(_text(code, names + name))
        at += size
    return needed
