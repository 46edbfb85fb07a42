"""Settings of the documentation; `scripts/docs` builds it."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import calibrant

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "calibrant"
author = "the calibrant developers"
project_copyright = author
version = release = calibrant.__version__

extensions = [
    "command_line",
    "myst_parser",
    "numpydoc",
    "offline_math",
    "page_pictures",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# Docstrings: types stand in the text, so signatures stay short; `name` is a link where there is something to link to.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, set_fit_request, set_predict_proba_request, set_predict_request, "
    "set_score_request, set_partial_fit_request, set_transform_request"
}
autosummary_generate = [f"reference/{path.name}" for path in sorted((Path(__file__).parent / "reference").glob("*.md"))]
default_role = "py:obj"
numpydoc_show_class_members = False  # each class lists its own

# A warning in an example is a mistake in the example. The files are run by the tests, too.
warnings.filterwarnings("error", module="__main__")
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "_gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # times of one machine say nothing
    "abort_on_example_error": False,  # with -W every failure is reported, and fails the build
    "remove_config_comments": True,
    "copyfile_regex": r"",
}

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "calibrant"
html_static_path = ["_static"]
html_css_files = ["calibrant.css"]
html_extra_path = ["browser.html"]  # a page of its own, as it is
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"footer_icons": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
