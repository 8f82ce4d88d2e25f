"""The steps of the recursion at one link, and the passes over a tree of links."""
