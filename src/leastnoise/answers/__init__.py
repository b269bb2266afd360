"""Post-processing: noisy measurements to answers with honest error bars. Costs no privacy."""
