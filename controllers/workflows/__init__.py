"""Workflows: runs of declared workflows, carried by agents and decided by people.

A run is started with the declaration as it is at that moment. Its steps become ready, are
claimed by agents, ask people at gates, and are undone in reverse order. Triggers start runs by
events and by the clock.

Words:
- run: one execution of a workflow
- step: one part of a run, done by one agent
- gate of a run: a step at which people are asked
- trigger: an event or a time that starts runs
"""

__all__ = ["runs", "triggers"]
