"""Views: plots, pictures of mechanisms, reports.  They show results and compute no mechanics."""
