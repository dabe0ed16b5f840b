"""`exchequer help`: terms, errors and pages of the documentation, offline."""

import re
import shutil
import textwrap
from collections.abc import Iterable
from typing import Final

import click

from exchequer.topics import Topic, known_topics, like, named, pages_with

_LINK: Final = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*\)")
_WIDTH: Final = 100


def tell(words: str, commands: Iterable[str], *, whole: bool) -> None:
    """Print what is known of a topic. Raises ValueError with what may be meant where there is none.

    commands: names of commands, which have a help of their own.  whole: pages from their beginning to their end.
    """
    found = named(words)
    own = next((command for command in commands if command == words.strip()), None)
    if not found and own is None:
        raise ValueError(f"no topic {words!r}; {_meant(words)}exchequer help lists all of them")
    for place, topic in enumerate(found):
        if place:
            click.echo()
        _show(topic, whole=whole)
    if own is not None:
        click.echo(f"{'Command: ' if found else f'{words} is a command: '}exchequer {own} --help")


def index() -> None:
    """Print the names of all topics."""
    topics = known_topics()
    for kind in dict.fromkeys(each.kind for each in topics if each.kind not in ("term", "error")):
        click.echo(_heading({"how to": "How to", "reference": "Reference"}.get(kind, f"{kind.capitalize()}s")))
        pages = [each for each in topics if each.kind == kind]
        width = max(len(each.key) for each in pages)
        click.echo("\n".join(f"  {each.key:<{width}}  {each.title}" for each in pages) + "\n")
    for kind in ("error", "term"):
        click.echo(_heading(f"{kind.capitalize()}s"))
        click.echo(_wrapped(", ".join(each.key for each in topics if each.kind == kind)) + "\n")
    click.echo("exchequer help TOPIC explains one of them; exchequer COMMAND --help has the options of a command.")


def _meant(words: str) -> str:
    """What was probably meant; else the pages that have those words."""
    if near := like(words):
        return f"did you mean {' or '.join(near)}? "
    pages = dict.fromkeys(each.key for each in pages_with(words))
    return f"pages that have it: {', '.join(pages)}; " if pages else ""


def _show(topic: Topic, *, whole: bool) -> None:
    click.echo(_heading(topic.title))
    if topic.kind == "term":
        source, _, code = topic.place.partition("; code: ")
        click.echo(_wrapped(_plain(topic.text)))
        click.echo(f"\nFrom: {source}. In Python: {code.strip('`')}")
        for page in pages_with(topic.title.partition(" (")[0]):
            if page.key != topic.key:
                click.echo(f"See: exchequer help {page.key}  ({page.title}, {page.place})")
    elif topic.kind == "error":
        click.echo(_wrapped(_plain(topic.text)))
        for page in _linked(topic):
            click.echo(f"See: exchequer help {page.key}  ({page.place})")
    elif whole:
        click.echo(_plain(topic.text))
    else:
        click.echo(_wrapped(_plain(topic.beginning)))
        if topic.headings:
            click.echo(f"\nSections: {', '.join(map(_plain, topic.headings))}")
        click.echo(f"\nThe whole page: exchequer help {topic.key} --whole  ({topic.kind}, {topic.place})")


def _linked(topic: Topic) -> list[Topic]:
    """Pages that its text has links to."""
    stems = re.findall(r"\]\([^()\s]*?([\w-]+)/([\w-]+)\.md[^()]*\)", topic.text)
    ends = {f"{folder}/{stem}.md" for folder, stem in stems}
    return [each for each in known_topics() if each.kind != "error" and each.place.removeprefix("docs/") in ends]


def _heading(text: str) -> str:
    return click.style(_plain(text), bold=True)


def _plain(markdown: str) -> str:
    """Without links, which lead nowhere on a terminal."""
    return _LINK.sub(r"\1", markdown)


def _wrapped(text: str) -> str:
    """Paragraphs as wide as the terminal, indented. Names with "-" stay whole."""
    wrapper = textwrap.TextWrapper(
        min(shutil.get_terminal_size().columns, _WIDTH),
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return "\n\n".join(wrapper.fill(each) for each in text.split("\n\n"))
