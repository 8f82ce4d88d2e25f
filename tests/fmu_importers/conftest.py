"""Other programs that run FMUs: these tests run under ``make test-nightly ONLY=importers``, which installs them."""

import os

collect_ignore_glob = [] if os.environ.get("KINODE_IMPORTERS") else ["test_*.py"]
