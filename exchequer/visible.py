"""Text from books, files and databases, made fit for a terminal. Imports nothing, as every command needs it."""


def visible(text: object) -> str:
    """The text with whatever a terminal would obey, or a reader would not see, spelt out; line feeds too.

    So a name in the books can neither move the cursor, nor hide behind another, nor add a line to a table.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def visible_lines(text: str) -> str:
    """The same for text of several lines, whose line feeds stay."""
    return "\n".join(map(visible, text.split("\n")))
