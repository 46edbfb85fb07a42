from dataclasses import replace

from calibrant.report.context import draw_study, method_context, page_context, segment_context


def test_every_figure_is_drawn_once(segmented):
    drawn = draw_study(segmented)
    names = ["before", "after", "scores-before", "scores-after", "map", "timeline"]
    assert list(drawn) == [*names, "segment-0", "segment-1", "segment-2"]
    assert all("<svg" in markup for markup in drawn.values())


def test_methods_have_their_strip_and_the_line_of_their_map(study):
    rows = method_context(study, str)["all"]
    lines = {row["key"]: row["line"] for row in rows}
    assert lines["bayes_iso"] == "after line-solid"
    assert lines["platt"] == "m0 line-solid"
    assert lines["identity"] == ""  # doing nothing is the diagonal
    assert all(("circle" in row["strip"]) == (row["interval"] is not None) for row in rows)
    assert method_context(replace(study, comparison=None), str)["all"] == []


def test_segments_in_an_order_are_a_timeline_if_they_are_many(segmented):
    one = segmented.segments[1]
    days = tuple(replace(one, name=f"2026-03-{i:02}", diagram=None) for i in range(1, 21))
    wards = tuple(replace(one, name=f"ward {i}", diagram=None) for i in range(1, 21))
    assert segment_context(replace(segmented, segments=days), str)["timeline"]
    assert not segment_context(replace(segmented, segments=days[:3]), str)["timeline"]
    assert not segment_context(replace(segmented, segments=wards), str)["timeline"]


def test_notes_call_methods_by_their_titles(study):
    notes = ("platt, isotonic: not tied.", "platt is slow.", "Rows: none.", "plattitude: no.")
    shown = page_context(replace(study, notes=notes), "t")["notes"]
    assert shown[:4] == [
        "Platt scaling, isotonic regression: not tied.",
        "Platt scaling is slow.",
        "Rows: none.",
        "plattitude: no.",
    ]
