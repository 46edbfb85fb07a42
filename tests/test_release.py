"""What a release says about itself in several files agrees, and no placeholder is released."""

import os
import re
import tomllib
from pathlib import Path

import pytest

import calibrant

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
VERSION, DATE = re.search(
    r"^## \[(.+?)\] – (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
).groups()
RELEASE = DATE != "unreleased" or os.environ.get("GITHUB_REF", "").startswith("refs/tags/v")


def yaml_of(path):
    return pytest.importorskip("yaml", reason="workflows and recipes are YAML").safe_load(path.read_text("utf-8"))


def test_one_version_everywhere():
    assert calibrant.__version__ == VERSION
    assert yaml_of(ROOT / "CITATION.cff")["version"] == VERSION
    assert yaml_of(ROOT / "packaging" / "recipe.yaml")["context"]["version"] == VERSION


def test_a_release_has_a_date_and_addresses():
    assert PROJECT["project"]["urls"].keys() == {"Repository", "Documentation", "Issues", "Changelog"}
    if RELEASE:
        places = [name for name, url in PROJECT["project"]["urls"].items() if ".invalid" in url]
        assert not places, f"give {places} in [project.urls] their addresses before the release"
        assert str(yaml_of(ROOT / "CITATION.cff")["date-released"]) == DATE, "CHANGELOG.md and CITATION.cff differ"


def test_wheels_are_built_for_the_versions_that_are_named():
    """All that the classifiers name, and one without the global lock."""
    named = {
        name.rpartition(" ")[2].replace("3.", "cp3") for name in PROJECT["project"]["classifiers"] if ":: 3." in name
    }
    built = set(PROJECT["tool"]["cibuildwheel"]["build"].replace("-*", "").split())
    assert built == named | {"cp314t"}


def test_the_recipe_requires_what_the_package_requires():
    recipe = yaml_of(ROOT / "packaging" / "recipe.yaml")["requirements"]

    def loose(requirements):
        return {requirement.replace(" ", "") for requirement in requirements}

    assert loose(recipe["run"]) == loose(PROJECT["project"]["dependencies"]) | {"python"}
    assert loose(recipe["host"]) == loose(PROJECT["build-system"]["requires"]) | {"python", "pip"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(path):
    """A tag can be moved, a hash cannot; the comment says which version it is."""
    uses = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    assert [line for line in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+.*", line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_scripts_and_tests_that_exist(path):
    jobs = yaml_of(path)["jobs"].values()
    commands = " ".join(step["run"] for job in jobs for step in job["steps"] if "run" in step)
    assert [name for name in re.findall(r"(?:scripts|tests)/[\w/.]+", commands) if not (ROOT / name).exists()] == []


def test_every_file_that_the_package_reads_is_in_the_wheel():
    package = ROOT / "src" / "calibrant"
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["calibrant"]
    own = {path for path in package.glob("*/*") if path.suffix in {".css", ".csv", ".jinja", ".mplstyle", ".toml"}}
    assert own
    assert own <= {path for pattern in patterns for path in package.glob(pattern)}
