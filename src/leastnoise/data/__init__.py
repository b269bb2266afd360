"""What comes from outside: files with workloads and counts."""
