"""Sphinx's settings for the site. `make docs` puts the pages together first: see proofs_tests/site."""

from importlib import metadata

project = "Exchequer"
author = "The Exchequer authors"
copyright = "the Exchequer authors; Apache-2.0"
try:
    release = metadata.version("exchequer")
except metadata.PackageNotFoundError:  # built from a checkout that is not installed
    release = ""

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []
nitpicky = False
suppress_warnings = [
    "ref.python",  # a name in a signature that two packages have is not linked
    "misc.highlighting_failure",  # the picture of ARCHITECTURE.md is in a language that forges draw
]  # with -W any other is an error

myst_heading_anchors = 4  # as a forge makes them, so that links work there too
myst_enable_extensions = ["deflist"]

python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries = False  # each name has a heading already

html_theme = "furo"
html_title = f"Exchequer {release}".strip()
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    # Furo's own colours for links and comments in code are a little too faint for WCAG's 4.5 : 1.
    "light_css_variables": {
        "color-foreground-muted": "#5b6067",
        "color-brand-content": "#1f4fc4",
        "color-brand-primary": "#1f4fc4",
    },
    "dark_css_variables": {
        "color-brand-content": "#8fb4ff",
        "color-brand-primary": "#8fb4ff",
        "color-foreground-muted": "#a8adb5",
    },
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
