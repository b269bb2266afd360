"""The experiments of Yuan et al. (TODS 2015), a figure a file, and whoever wants to add one.

`figures/` says what each figure shows, `figure` reads that and lists the points behind it, `point`
measures one, `runner` all that are missing, `rows` keeps them, `draw` and `gallery` show them.
"""
