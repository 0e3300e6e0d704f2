"""The experiments of the report, one file each.

Each file has four functions, all but the last of them optional to the reader of another:

    run()              -> numbers, as JSON can hold them       (needs the faces, takes time)
    draw(results)      -> figures by name                      (from the numbers alone)
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
    "errata",
)
"""In the order of the report; what is timed keeps the machine to itself because they run one by one."""
