"""Trust: how decisions and actions turned out, and what follows from that.

Track records, the quality of decisions, promotions that a record earns, and rules that are tried
against the past. Reads what happened, and changes nothing but by a proposal.

Words:
- track record: what became of what somebody proposed
- promotion: a proposal to let a controller do something without asking
- replay: what another rule would have made of the past
"""

__all__ = ["decision_quality", "policy_replay", "promotions", "track_record"]
