"""``python -m kinode.cli``."""

from kinode.cli.commands import main

main()
