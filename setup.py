"""What pyproject.toml cannot say: `exchequer help` has topics, which are made of the documentation with a wheel."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithTopics(build_py):
    """An editable installation reads the documentation itself."""

    def run(self) -> None:
        """All modules, then the file of topics beside theirs."""
        super().run()
        if not self.editable_mode:
            reading = runpy.run_path(str(ROOT / "exchequer/topics/reading.py"))
            made = reading["packed"](reading["read_topics"](ROOT))
            (Path(self.build_lib) / "exchequer/topics" / reading["PACKED"]).write_text(made, encoding="utf-8")


setup(cmdclass={"build_py": BuildWithTopics})
