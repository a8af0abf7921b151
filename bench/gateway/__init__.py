"""What a piece costs on its way through a gateway: `python -m bench gateway`."""
