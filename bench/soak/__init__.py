"""An hour under mixed traffic, and whether anything grows: `python -m bench soak`."""
