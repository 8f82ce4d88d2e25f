"""JAX and PyTorch are large: these tests run under ``make test-nightly ONLY=frameworks``, which installs them."""

import os

collect_ignore_glob = [] if os.environ.get("KINODE_FRAMEWORKS") else ["test_*.py"]
