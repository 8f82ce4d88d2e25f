"""What the server of the tests holds: a page, files, and something that it must not show."""

PAGE = (
    "<!doctype html>\r\n<script type=module>let a = 1;\r\nlet b = a;</script><script src='/app.js'></script><p>arm"
    '<SCRIPT type="application/x-kinode-run">data</SCRIPT><script>last()</script >'
)
SECRET = "outside the folder"
ROUTES = ["/", "/app.js", "/run.bin", "/files/photo.png", "/files/meshes/link%201.stl", "/nothing", "/files/nothing"]
