"""The privacy kernel: the only place where counts meet noise.

It imports nothing of ours but `errors`, and can be read alone, in this order:
`privacy` (the promise), `sensitivity` and `quantise` (an integer strategy), `calibrate` (how much
noise), `noise` (the sampler), `measure` (the one release). `docs/privacy.md` proves each step.
"""
