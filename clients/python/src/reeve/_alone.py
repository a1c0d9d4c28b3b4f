"""PyPI has another product `reeve`, whose module has the same name. The two cannot be installed together."""

from __future__ import annotations

from pathlib import Path


def require_alone(package: Path) -> None:
    """Each of the two overwrites files of the other, so what is left of both is neither."""
    if next(package.parent.glob("reeve-*.dist-info"), None) is None:
        return
    raise ImportError(
        "the distribution 'reeve' is another product with the same module: "
        "pip uninstall reeve, then pip install --force-reinstall reeve-gateway",
        name="reeve",
    )
