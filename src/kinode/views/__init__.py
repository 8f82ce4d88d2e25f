"""Views: diagrams, pictures of mechanisms, plots, reports.  They show results and compute no mechanics."""
