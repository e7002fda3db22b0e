"""The site of docs/, made by ``make docs``: pages are Markdown, the API comes from our docstrings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "Kaskade"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages"]
html_theme = "furo"
html_title = "Kaskade"
html_copy_source = False
html_show_copyright = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
exclude_patterns = ["conf.py", "**/.ipynb_checkpoints"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True}
add_module_names = False


def setup(app: Sphinx) -> None:
    """Keep napoleon from reading ``what it is: more of it`` below an attribute as its type and text."""

    def begin_with_a_comment(_: Sphinx, what: str, *rest: Any) -> None:
        if what in ("attribute", "data", "property"):
            rest[-1][:0] = ["..", ""]

    app.connect("autodoc-process-docstring", begin_with_a_comment, priority=400)
