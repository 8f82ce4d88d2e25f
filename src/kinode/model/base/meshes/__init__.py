"""Meshes of bodies: their triangles, mass properties, and files of visuals."""
