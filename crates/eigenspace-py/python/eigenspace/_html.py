"""HTML representation of a model for notebooks: a table and a scree plot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._model import EigenspaceModel

BARS = 40
WIDTH, HEIGHT = 8, 60


def of(model: EigenspaceModel) -> str:
    certificate = model.certificate()
    cells = {
        "rows": f"{model.count:,}",
        "features": f"{model.n_features:,}",
        "directions kept": f"{model.rank:,}",
        "components": f"{model.n_components:,}",
    }
    if model.count != model.weight:
        cells["weight"] = f"{model.weight:,.6g}"
    if model.count > 0:
        cells["explained variance"] = f"{float(model.explained_variance_ratio().sum()):.2%}"
        exact = certificate.is_exact
        cells["certificate"] = (
            "exact" if exact else f"error at most {certificate.relative_error_bound:.1e} of the largest eigenvalue"
        )
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:right">{escape(value)}</td></tr>'
        for name, value in cells.items()
    )
    return f"<div><strong>EigenspaceModel</strong><table>{rows}</table>{_scree(model)}</div>"


def _scree(model: EigenspaceModel) -> str:
    """Draw bars of the leading explained variance ratios."""
    shares = model.explained_variance_ratio()[:BARS]
    if len(shares) == 0 or shares[0] <= 0:
        return ""
    bars = "".join(
        f'<rect x="{i * WIDTH}" y="{HEIGHT - height:.2f}" width="{WIDTH - 2}" height="{height:.2f}">'
        f"<title>component {i + 1}: {share:.2%}</title></rect>"
        for i, share in enumerate(shares)
        for height in [max(0.5, HEIGHT * share / shares[0])]
    )
    width = WIDTH * len(shares)
    label = 'role="img" aria-label="explained variance ratios"'
    return f'<svg width="{width}" height="{HEIGHT}" fill="#4c78a8" {label}>{bars}</svg>'
