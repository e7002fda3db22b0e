"""What goes wrong is said beside the button that was pressed, in every room."""

from __future__ import annotations



