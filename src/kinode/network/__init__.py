"""The structure of networks of components: pure combinatorics and names, no numbers of an instant."""
