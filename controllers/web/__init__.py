"""Web: the pages. Each reads here, and writes through a use case below.

One package for each family of pages, with the name of its templates. Pages and the API never
import each other; what both need lies below them.

Words:
- page: a class with its address, its rights and its template
- part: a piece of a page that is pushed to open pages
"""

__all__ = ["health"]
