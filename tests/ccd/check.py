"""Judges collision queries by Tight-Inclusion CCD (ipctk), which misses nothing: check.py FILE.

What it says touches, we have to say. It may say so of what comes within its tolerance; such a case is asked again with a
tolerance of 1e-12 before it counts.
"""

import sys

import ipctk
import numpy as np

queries = np.fromfile(sys.argv[1]).reshape(-1, 26)
rough, fine = (ipctk.TightInclusionCCD(tolerance, 100_000, 1.0) for tolerance in (1e-6, 1e-12))
touch = missed = doubtful = careful = 0
for query in queries:
    vertices = query[1:25].reshape(8, 3)
    name = "edge_edge_ccd" if query[0] else "point_triangle_ccd"
    ours = query[25] <= 1
    theirs, _ = getattr(rough, name)(*vertices)
    if theirs and not ours:
        doubtful += 1
        theirs, _ = getattr(fine, name)(*vertices)
        if theirs:
            missed += 1
            print("missed:", query.tolist())
    touch += theirs
    careful += ours and not theirs
print(f"{len(queries)} queries, {touch} touch: {missed} missed, {doubtful} asked again; {careful} of the others said to touch")
assert touch > len(queries) / 4
assert careful < len(queries) / 100
sys.exit(missed > 0)
