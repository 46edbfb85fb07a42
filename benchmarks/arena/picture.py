"""The critical-difference diagram: average ranks on a line, bars over methods that the tasks do not tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.arena.summary import OURS, Ranking

__all__ = ["draw"]

OURS_COLOUR, PEER_COLOUR, BAR_COLOUR = "#0b5cad", "#555555", "#c2410c"
LINE = 0.26  # inches between two names
BAR = 0.11  # inches between two bars


def draw(result: Ranking, title: str, path: Path, width: float = 9.0) -> None:
    """Save the diagram; the better half of the methods hangs to the left, the other half to the right."""
    half = (len(result.ranks) + 1) // 2
    groups = result.groups()
    bars = 0.25 + BAR * len(groups)
    depth = bars + LINE * half
    figure = Figure(figsize=(width, depth + 1.45), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    ax.set_ylim(-depth - 0.1, 0.75)
    low, high = 1.0, float(len(result.ranks))
    margin = 0.42 * (high - low)
    ax.set_xlim(low - margin, high + margin)
    ax.axis("off")
    ax.set_title(f"Average rank by {title}", loc="left", fontsize=11)
    _axis(ax, low, high, result.critical_difference)
    for number, (first, last) in enumerate(groups):
        y = -0.2 - BAR * number
        ends = [result.ranks.iloc[first] - 0.08, result.ranks.iloc[last] + 0.08]
        ax.plot(ends, [y, y], color=BAR_COLOUR, linewidth=2.6, solid_capstyle="butt")
    for position, (name, rank) in enumerate(result.ranks.items()):
        left = position < half
        line = position if left else len(result.ranks) - 1 - position
        _name(ax, str(name), float(rank), -bars - LINE * (line + 0.5), low if left else high, left)
    figure.savefig(path, dpi=150, facecolor="white")


def _axis(ax: Any, low: float, high: float, critical: float) -> None:
    ax.plot([low, high], [0.0, 0.0], color="black", linewidth=1.0)
    step = max(1, round((high - low) / 11))
    for tick in range(int(low), int(high) + 1, step):
        ax.plot([tick, tick], [0.0, 0.08], color="black", linewidth=1.0)
        ax.text(tick, 0.11, str(tick), ha="center", va="bottom", fontsize=9)
    ax.plot([low, low + critical], [0.48, 0.48], color=BAR_COLOUR, linewidth=2.6, solid_capstyle="butt")
    ax.text(low + critical + 0.3, 0.48, f"critical difference {critical:.1f} (Nemenyi, 5 %)", va="center", fontsize=9)


def _name(ax: Any, name: str, rank: float, y: float, end: float, left: bool) -> None:
    ours = name.startswith(OURS)
    colour = OURS_COLOUR if ours else PEER_COLOUR
    away = -0.3 if left else 0.3
    ax.plot([rank, rank, end], [0.0, y, y], color=colour, linewidth=0.8, alpha=0.8)
    text = f"{name}  {rank:.1f}" if left else f"{rank:.1f}  {name}"
    weight = "bold" if ours else "normal"
    ax.text(end + away, y, text, ha="right" if left else "left", va="center", fontsize=9, color=colour, weight=weight)
