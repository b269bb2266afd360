"""What leastnoise claims, measured: `make bench` prints a row per figure and fails on a miss."""
