"""Views: diagrams, pictures of mechanisms, plots.  They show results and compute no mechanics."""
