"""Engine: the specification in plain Python, without a database, a clock or the network.

Values go in and values come out: readings and a compiled controller become judgements, plans,
conditions and events. Nothing here knows Django, reads the time or acts in the world; `now` and
the effects are passed in. Read `cycle` first: its five phases are the whole story.

Words:
- cycle: one pass of a controller through WATCH, DIFF, PLAN, ACT and REPORT
- dimension: one way to be off target, such as kpi or budget; each gives a score from 0 to 1
- drift: how far a resource is from what is declared, as one weighted score
- judgement: what a controller last concluded about a resource
- gate: the one function that says whether an action may happen now, and why not
- mode: how far a controller may go (observe, advise, warn, enforce)
"""

__all__ = [
    "act",
    "admission",
    "allowances",
    "breaker",
    "configuration",
    "cycle",
    "diff",
    "digests",
    "document_values",
    "drift",
    "due_times",
    "errors",
    "events",
    "finding_text",
    "findings",
    "gate",
    "hooks",
    "precedence",
    "programs",
    "proposal_lifecycle",
    "replay",
    "report",
    "run_lifecycle",
    "terms",
    "watch",
]
