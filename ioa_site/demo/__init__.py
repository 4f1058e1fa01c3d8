"""Demo: agents of the example organisation at work.

They report over HTTP with tokens of their own, as real agents do.

Words:
- simulation: agents that report by themselves
"""

__all__ = ["simulation"]
