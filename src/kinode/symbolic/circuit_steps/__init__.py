"""The steps of ``kn.explain`` for circuits."""
