"""Web: what pages read of the organisation: documents, relations and changes.

Everything is read within what the viewer may see, in a fixed number of statements.

Words:
- relation: what a resource names, and what names it
"""

__all__ = ["changes", "detail", "overview", "relations"]
