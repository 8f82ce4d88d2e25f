"""The work of each cause between stored states."""
