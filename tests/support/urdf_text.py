"""Texts of URDF files, part by part."""

INERTIAL = (
    '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>'
)
LINK_A = '<link name="a"/>'
LINK_B = f'<link name="b">{INERTIAL}</link>'


def joint(inner: str = "", kind: str = "revolute", name: str = "j", parent: str = "a", child: str = "b") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


def robot(*parts: str) -> str:
    """A document with each part on a line of its own, from line 2 on."""
    return "\n".join(['<?xml version="1.0"?><robot name="r">', *parts, "</robot>"])


def link(inner: str) -> str:
    return f'<link name="b">{inner}</link>'
