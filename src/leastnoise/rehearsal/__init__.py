"""What releases would look like, on public or made-up counts: seeded, and never a release."""
