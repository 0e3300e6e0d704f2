"""Style of the figures."""

import logging

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

# Silence warnings about the dates of fonts.
logging.getLogger("fontTools").setLevel(logging.ERROR)

OURS, LEAN, PEER, BAD, GRAY = "#1b6ca8", "#6fb1dc", "#c0392b", "#d98324", "#777777"

plt.rcParams.update(
    {
        "font.family": "serif",
        "font.serif": ["DejaVu Serif"],
        "mathtext.fontset": "cm",
        "font.size": 8,
        "axes.labelsize": 8,
        "axes.titlesize": 8.5,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "lines.linewidth": 1.2,
        "lines.markersize": 3.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.5,
        "figure.constrained_layout.use": True,
        "pdf.fonttype": 42,
    }
)


def panels(columns=2, height=2.3, width=6.3):
    """Create axes side by side, as wide as the text."""
    figure, axes = plt.subplots(1, columns, figsize=(width, height))
    return figure, np.atleast_1d(axes)


def ticks(axis, values):
    """Label a logarithmic axis with these values only, as plain numbers."""
    axis.set_xticks(values, [f"{value:,}" for value in values])
    axis.set_xticks([], minor=True)


def note(axis, x, y, text):
    """Write a short text above a line, on white, so that no grid line crosses it."""
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
    axis.annotate(text, (x, y), (0, 2.5), textcoords="offset points", fontsize=7, color=GRAY, bbox=white)


def save(figure, path):
    """Save a figure without a date, so that the same results give the same file."""
    figure.savefig(path, metadata={"CreationDate": None, "Producer": None, "Creator": None})
    plt.close(figure)
