"""Reports of runs, studies and fits: one HTML file each, which needs nothing else."""
