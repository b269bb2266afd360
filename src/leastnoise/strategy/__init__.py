"""What to measure and how to rebuild: public mathematics that never sees counts, ε or noise."""
