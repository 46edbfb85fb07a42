import json
import re
from dataclasses import asdict, replace

import pytest

from calibrant.report.advice import next_steps
from calibrant.report.outcome import EVENT, HIT, outcome_of
from calibrant.report.page import render
from calibrant.report.verdict import judge

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")
pytest.importorskip("plotly", reason="plotly is in the extra `report`")
WORDS_OF_EVENTS = re.compile(r"happen|positive|the event")


def test_all_words_differ():
    assert outcome_of(False) is EVENT
    assert outcome_of(True) is HIT
    assert not set(asdict(EVENT).values()) & set(asdict(HIT).values())


@pytest.mark.parametrize("name", ["found", "segmented", "one_sided"])
def test_a_page_about_predicted_classes_speaks_of_right_and_wrong(name, request):
    found = replace(request.getfixturevalue(name), top_label=True)
    assert not WORDS_OF_EVENTS.search(" ".join([*judge(found).sentences, *next_steps(found)]))
    page = render(found, "t", jinja2, "")
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    shown = re.sub(r"<[^>]*>", lambda tag: " ".join(re.findall(r'(?:aria-label|data-head)="([^"]*)"', tag[0])), shown)
    assert re.findall(r".{0,30}(?:happen|positive|the event).{0,20}", shown) == []
    assert "How often it was right" in page
    assert "whether its class was right" in page


def test_hover_texts_and_axes_speak_of_right_and_wrong(segmented):
    page = render(replace(segmented, top_label=True), "t", jinja2, "")
    texts = []

    def collect(value):
        if isinstance(value, dict):
            texts.extend(each for key, each in value.items() if key in ("hovertemplate", "text") and str(each) == each)
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                collect(each)

    collect(json.loads(re.search(r'id="report-data">(.*?)</script>', page, flags=re.DOTALL)[1]))
    assert len(texts) > 10
    assert not [text for text in texts if WORDS_OF_EVENTS.search(text) or "WORD" in text]
