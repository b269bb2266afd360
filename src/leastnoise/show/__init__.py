"""Plans and releases for people to read."""
