"""Decisions: what is proposed, what people answer, and what they hold.

Proposals, holds, the gate and the locks are one context, because they share one critical
section: an effect shares its scope, and a hold has it to itself. What a person said wins, also
over work that was approved or is running. A proposal moves by one verb at a time, and the
ledger hears of each move.

Words:
- proposal: an action that waits for people, with the evidence it rests on
- answer: what somebody says about a proposal, such as approve or override
- hold: a person's no: override, pause, freeze or stop-all
- attention check: a plainly bad proposal that shows whether people look
- escalation: a question that nobody answers goes to somebody else
"""

__all__ = [
    "answers",
    "attention_checks",
    "autonomy",
    "creation",
    "database_lives",
    "escalation",
    "expiry",
    "gate_facts",
    "held_reason",
    "holds",
    "local_checkpoint",
    "locks",
    "proposal_groups",
    "proposals",
]
