"""The component circuit that a system is: components, links, nodes, and the names of link variables."""
