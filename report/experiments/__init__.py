"""The experiments of the report, one file each.

Each file has four functions:

    run()              -> results that JSON can represent      (needs the faces, takes time)
    draw(results)      -> figures by name                      (from the results only)
    tables(results)    -> LaTeX tabulars by name
    numbers(results)   -> LaTeX text by key, for ``\\N{file.key}``
"""

NAMES = (
    "setting",
    "batch_equivalence",
    "two_batches",
    "drift",
    "reconstruction",
    "speed",
    "merge_tree",
    "split_person",
    "certificate",
    "recognition",
    "classifiers",
    "slides",
    "quality",
    "errata",
    "streamed",
)
"""In the order of the report. They run one at a time, so that timings do not disturb each other."""
