"""Queries as a matrix W over classes of cells: what is asked, before anything about privacy."""
