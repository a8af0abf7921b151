"""Random input for everything that strangers can reach: `python -m fuzz`."""
