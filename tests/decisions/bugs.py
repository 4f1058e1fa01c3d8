"""Bugs planted on purpose, each beside the promise it breaks: whoever watches must notice.

A bug is a few words of a real function, put differently while a test runs. Where the product is
worded otherwise by now, planting fails loudly, and the bug has to be worded anew.
"""

from __future__ import annotations
import __future__

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from textwrap import dedent
from types import CodeType, FunctionType
from typing import Any, NamedTuple


class Slip(NamedTuple):
    """A function, such as `controllers.decisions.proposals:take`, and what is wrong in it."""

    where: str
    right: str
    wrong: str


class Bug(NamedTuple):
    """A bug by its name, the promise it breaks, and where."""

    name: str
    promise: str
    slips: tuple[Slip, ...]


def bug(name: str, promise: str, where: str, right: str, wrong: str) -> Bug:
    return Bug(name, promise, (Slip(f"controllers.{where}", right, wrong),))


@contextmanager
def planted(found: Bug) -> Iterator[None]:
    """Let the product have a bug for a while."""
    with ExitStack() as stack:
        for slip in found.slips:
            stack.enter_context(slipped(slip))
        yield


@contextmanager
def slipped(slip: Slip) -> Iterator[None]:
    """Put another body into a function: whoever imported it has the wrong one too."""
    function = function_at(slip.where)
    usual, kept = function.__code__, dict(function.__dict__)
    function.__code__ = reworded(function, slip)
    try:
        yield
    finally:
        function.__code__ = usual
        function.__dict__.clear()
        function.__dict__.update(kept)


def function_at(where: str) -> FunctionType:
    module, _, path = where.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if not isinstance(found, FunctionType):
        raise LookupError(f"{where} is no function.")
    return found


def reworded(function: FunctionType, slip: Slip) -> CodeType:
    """Compile a function with some of its words replaced."""
    source = dedent(inspect.getsource(function))
    if source.count(slip.right) != 1:
        raise LookupError(f"{slip.where} is worded otherwise by now.")
    text = source.replace(slip.right, slip.wrong)
    file = function.__code__.co_filename
    names: dict[str, Any] = dict(function.__globals__)
    exec(compile(text, file, "exec", __future__.annotations.compiler_flag), names)  # noqa: S102
    return names[function.__name__].__code__  # type: ignore[no-any-return]


NEVER = "if False:"
BUGS = (
    bug(
        "an effect does not ask for holds",
        "I2",
        "decisions.gate_facts:question",
        "hold=precedence.strongest(held, reach),",
        "hold=None,",
    ),
    Bug(
        "holds are asked for before the lock is taken",
        "I2",
        (
            Slip(
                "controllers.execution.critical_section:enter",
                'failpoint("before the claim")\n',
                "enter.early = gate_facts.examine(found, now)\n"
                '    failpoint("before the claim")\n',
            ),
            Slip(
                "controllers.execution.critical_section:go_on",
                "ruling = gate_facts.examine(proposal, now)",
                "ruling = enter.early",
            ),
        ),
    ),
    bug(
        "a quorum is met only exactly",
        "I4",
        "decisions.answers.votes:vote",
        "not heard.enough",
        "heard.given != heard.needed",
    ),
    bug(
        "rights are remembered",
        "I1, I18",
        "access.roles.rights:holds_role",
        "return grants(roles, domain, now).filter(person=person.pk).exists()",
        "key = f'{person.pk} {roles} {domain}'\n"
        "    found = grants(roles, domain, now).filter(person=person.pk).exists()\n"
        "    return holds_role.__dict__.setdefault(key, found)",
    ),
    bug(
        "votes are not asked about again",
        "I1",
        "execution.authority:given",
        "votes = roles.still_valid(decisions, proposal, now)",
        "votes = [each for each in decisions if each.person_id]",
    ),
    Bug(
        "a policy outlives the hold that stopped it",
        "I1",
        (
            Slip(
                "controllers.execution.authority:given",
                " and not only_proposes(proposal, now)",
                "",
            ),
            Slip(
                "controllers.execution.recheck:look_at",
                "means.only_propose = holds.only_proposes(controller.key, now)",
                "means.only_propose = False",
            ),
        ),
    ),
    bug(
        "whoever has a part in it approves",
        "I9",
        "access.roles.interests:objection",
        "if code else None",
        "if code and code != 'Proposer' else None",
    ),
    bug(
        "whoever edited it approves",
        "I9",
        "access.roles.interests:objection",
        "if code else None",
        "if code and code != 'Editor' else None",
    ),
    bug(
        "whoever declared the target approves at high risk",
        "I9",
        "access.roles.interests:objection",
        "if code else None",
        "if code and code != 'LastEditor' else None",
    ),
    bug(
        "a deputy counts beside the one they stand for",
        "I9",
        "access.roles.eligibility:still_valid",
        "if not heard & involved and counts",
        "if counts",
    ),
    bug(
        "a ceiling is not asked for",
        "I1",
        "access.roles.eligibility:Case.lack",
        "if highest < RISKS.index(self.risk):",
        NEVER,
    ),
    bug(
        "a grant that ended still counts",
        "I1",
        "access.roles.rights:anywhere",
        "Q(ends_at=None) | Q(ends_at__gt=current(now)),",
        "",
    ),
    bug(
        "what was approved never lapses",
        "I1",
        "execution.critical_section:lapsed",
        "if not late.exists():",
        "if True:",
    ),
    bug(
        "what waits never expires",
        "I4",
        "decisions.proposals:fitting",
        'if verb != "expire":',
        NEVER,
    ),
    bug(
        "an old form is taken",
        "I8",
        "decisions.proposals:fitting",
        "if seen is not None:",
        NEVER,
    ),
    bug(
        "a target that was declared anew is changed all the same",
        "I7",
        "execution.recheck:look",
        "same = row.generation == left_at(proposal, begun)",
        "same = True",
    ),
    bug(
        "a plan that rests on something else is carried out",
        "I7",
        "execution.recheck:compared",
        '"same" if plan.plan.basis == proposal.basis_digest else "moved"',
        '"same"',
    ),
    bug(
        "it happens although nobody could write it down",
        "I5",
        "decisions.proposals:tell",
        "    finally:\n",
        "    except Exception:\n        pass\n    finally:\n",
    ),
    bug(
        "a worker that was replaced is heard",
        "I3",
        "execution.results:mine",
        "pk=proposal, fence=fence",
        "pk=proposal",
    ),
    bug(
        "an agent that lost its claim is heard",
        "I3",
        "execution.agent_tasks:report",
        "late = (step.state, step.fence) != (Step.State.CLAIMED, fence)",
        "late = step.state != Step.State.CLAIMED",
    ),
    bug(
        "every attempt has a key of its own",
        "I3",
        "execution.steps:key_of",
        "proposal.revision, plan",
        "proposal.fence, plan",
    ),
    bug(
        "what nobody saw the end of is tried again",
        "I3",
        "execution.results:settle",
        "again = step.idempotent and step.attempts < moves.MOST_ATTEMPTS",
        "again = step.attempts < moves.MOST_ATTEMPTS",
    ),
    bug(
        "an agent claims what is held",
        "I2",
        "execution.agent_tasks:check",
        "if ruling.word not in OPEN_TO_PEOPLE:",
        NEVER,
    ),
    bug(
        "an agent goes on under a hold",
        "I2",
        "execution.agent_tasks:heartbeat",
        "hold = stopping(proposal, now)",
        "hold, epoch = None, present",
    ),
    bug(
        "the mode of the time of the proposal is kept",
        "I10",
        "decisions.gate_facts:mode_of",
        "return controller.mode",
        "return proposal.mode",
    ),
    bug(
        "the glass beats a hold",
        "I2",
        "decisions.answers.votes:force",
        "if ruling.hold is not None:",
        NEVER,
    ),
    bug(
        "whoever broke the glass looks it over after another answer",
        "I9",
        "decisions.answers.votes:force",
        "interested=sorted({*proposal.interested, *roles.interested_in(said.actor, None)}),",
        "",
    ),
    bug(
        "an operator lifts",
        "I2",
        "decisions.holds.hold_end:lift",
        "roles.check_lift(",
        "roles.check_stop(",
    ),
    bug(
        "it is undone after its time",
        "I1",
        "decisions.answers.undo_and_review:turn_back",
        "pk=proposal.pk, undo_until__gt=current(said.now)",
        "pk=proposal.pk",
    ),
    bug(
        "what others declared since is undone with it",
        "I11",
        "operations.local_executor:undone",
        'if has != entry["has"] or not same(value, entry["wrote"]):',
        NEVER,
    ),
    Bug(
        "a token decides",
        "I9",
        (
            Slip(
                "controllers.api.proposals.decisions:person_of",
                "raise forbidden(Human.refusal)",
                "return User.objects.get(username='maya')",
            ),
            Slip(
                "resources.api.authentication:require_scope",
                "if not isinstance(request.auth, AgentToken):",
                "if True:",
            ),
        ),
    ),
)
