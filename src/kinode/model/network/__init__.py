"""Parts of networks: electrical, rotational, translational; nodes between them."""
