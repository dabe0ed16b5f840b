"""The action and the hook for other repositories: what they run is there, and runs."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from exchequer.cli import main

ROOT = Path(__file__).parents[2]

TEST = """
from exchequer import PureDP

def test_constant(privacy):
    privacy.function(lambda data: 0, PureDP(0.1), records=[0, 1], n=1, samples=100)
"""


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_action_checks_claims_and_leaves_its_findings(tmp_path: Path) -> None:
    """Its last step, as a runner would start it, with the defaults of its inputs."""
    action = read("action.yml")
    assert action["runs"]["using"] == "composite"
    step = action["runs"]["steps"][-1]
    given = {name: value["default"] for name, value in action["inputs"].items()}
    values = {name: given[text.strip("${} ").removeprefix("inputs.").strip()] for name, text in step["env"].items()}
    command = step["run"]
    if not any(point.value == "exchequer.pytest_plugin" for point in metadata.entry_points(group="pytest11")):
        command = command.replace("-m pytest", "-m pytest -p exchequer.pytest_plugin")
    (tmp_path / "test_it.py").write_text(TEST, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **values, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / given["sarif"]).is_file()


@pytest.mark.parametrize("hook", read(".pre-commit-hooks.yaml"), ids=lambda hook: str(hook["id"]))
def test_hooks_start_commands_that_exist(hook: dict[str, str]) -> None:
    program, command = hook["entry"].split()
    assert program in {point.name for point in metadata.entry_points(group="console_scripts")}
    assert command in main.list_commands(click.Context(main))
