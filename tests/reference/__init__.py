"""Pages of `docs/reference/`, made of code; `python -m tests.catalogue` writes them."""
