"""One sentence for every event that the product writes; it goes on after who did it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from controllers.decisions import answers


class EventSentence(NamedTuple):
    """How an event is told: its tone, its icon, and what goes on after who did it."""

    tone: str
    icon: str
    text: str


RESOURCES: Mapping[str, EventSentence] = {
    "resource.created": EventSentence("", "plus", "declared {it}"),
    "resource.spec-changed": EventSentence(
        "accent", "file-code", "changed what {it} should be{changed}"
    ),
    "resource.metadata-changed": EventSentence(
        "", "pencil-line", "changed the labels of {it}{changed}"
    ),
    "resource.deleted": EventSentence("warn", "x", "deleted {it}"),
    "resource.released": EventSentence(
        "", "git-compare-arrows", "took {it} from its owner {owner}"
    ),
    "resource.status-reported": EventSentence("", "activity", "reported {own} status{changed}"),
    "resource.condition-changed": EventSentence("", "circle-dot", "marked {it} {condition}"),
    "token.issued": EventSentence("", "key-round", "made a token for {it}{until}"),
    "token.revoked": EventSentence("warn", "key-round", "revoked a token of {it}"),
    "token.refused": EventSentence("danger", "shield-check", "tried {tried} and may not{because}"),
    "retention.dropped": EventSentence("", "package", "dropped {count} {it} past their time"),
    "example.loaded": EventSentence(
        "", "boxes", "loaded the example organisation, {count} resources"
    ),
}
LOOP: Mapping[str, EventSentence] = {
    "controller.drift-detected": EventSentence(
        "warn", "triangle-alert", "found {it} drifting{score}"
    ),
    "controller.convergence-ended": EventSentence(
        "danger", "circle-alert", "gave up on {it}{ending}"
    ),
    "controller.action-performed": EventSentence("accent", "zap", "{action} {it}{result}"),
    "controller.error": EventSentence("danger", "circle-alert", "could not look at {it}{because}"),
    "controller.autonomy-granted": EventSentence("accent", "check", "let {it} act alone: {trust}"),
    "controller.autonomy-ended": EventSentence(
        "warn", "hand", "ended what {it} did alone: {trust}{because}"
    ),
    "controller.breaker-opened": EventSentence("danger", "circle-pause", "tripped{because}"),
    "controller.breaker-reset": EventSentence("ok", "rotate-ccw", "reset {it} to try one cycle"),
    "controller.fell-silent": EventSentence("danger", "clock", "heard nothing more of {it}"),
    "controller.heard-again": EventSentence("ok", "plug", "was heard again"),
    "controller.logged": EventSentence("", "scroll-text", "noted on {it}{message}"),
    "controller.reconciliation-requested": EventSentence(
        "", "refresh-cw", "asked {it} to look now"
    ),
    "controller.reconciliation-started": EventSentence("", "eye", "began to look at {watched}"),
    "controller.reconciliation-completed": EventSentence("", "refresh-cw", "ended {cycle}"),
}
ANSWERS: Mapping[str, EventSentence] = {
    **{
        each.event: EventSentence(each.sentence.tone, each.sentence.icon, each.sentence.text)
        for each in answers.ALL
        if each.sentence
    },
    "proposal.voted": EventSentence("human", "check", "approved {it}{on}{behalf}{votes}"),
    "proposal.unreviewed": EventSentence("danger", "eye", "found {it}{on} not reviewed in time"),
}
PROPOSALS: Mapping[str, EventSentence] = {
    "proposal.created": EventSentence("warn", "inbox", "{asks}: {plan} ({it})"),
    "proposal.revised": EventSentence("warn", "pencil-line", "revised {it}{on}"),
    "proposal.confirmed": EventSentence("", "check", "confirmed {it}{on}"),
    "proposal.superseded": EventSentence(
        "", "git-compare-arrows", "replaced {it}{on}{successor}{because}"
    ),
    "proposal.converged": EventSentence("ok", "circle-check", "closed {it}{on}{because}"),
    "proposal.expired": EventSentence(
        "warn", "clock", "let {it}{on} lapse, nobody answered in time"
    ),
    "proposal.lapsed": EventSentence("warn", "clock", "let {it}{on} lapse{because}"),
    "proposal.skipped": EventSentence("", "x", "left {it}{on} out{because}"),
    "proposal.held": EventSentence("human", "hand", "holds {it}{on} back{because}"),
    "proposal.freed": EventSentence("", "play", "lets {it}{on} go on"),
    "proposal.woken": EventSentence("warn", "alarm-clock", "shows {it}{on} again{because}"),
    "proposal.reproposed": EventSentence("", "inbox", "proposed {it}{on} anew{because}"),
    "proposal.checked": EventSentence("", "shield-check", "ended {it}{on}: it was a check"),
    "proposal.escalated": EventSentence("warn", "megaphone", "told {rung} that {it}{on} waits"),
}
CARRYING_OUT: Mapping[str, EventSentence] = {
    "proposal.begun": EventSentence("accent", "play", "began {it}{on}"),
    "proposal.resumed": EventSentence("accent", "play", "went on with {it}{on}"),
    "proposal.stopped": EventSentence("human", "circle-pause", "stopped {it}{on}{because}"),
    "proposal.retried": EventSentence("warn", "rotate-ccw", "tries {it}{on} again{because}"),
    "proposal.offered": EventSentence("accent", "bot", "offered{operation} of {it}{on} to {to}"),
    "proposal.dispatched": EventSentence("accent", "plug", "sent{operation} of {it}{on} to {to}"),
    "proposal.claimed": EventSentence("accent", "bot", "took{operation} of {it}{on}"),
    "proposal.progressed": EventSentence(
        "accent", "bot", "is{percent} through{operation} of {it}{note}"
    ),
    "proposal.step-done": EventSentence("ok", "check", "did one step of {it}{on}"),
    "proposal.late-result": EventSentence(
        "warn", "clock", "answered too late about {it}{on}{because}"
    ),
    "proposal.executed": EventSentence("accent", "zap", "carried out {it}{on}"),
    "proposal.verified": EventSentence("ok", "circle-check", "saw that {it}{on} helped"),
    "proposal.failed": EventSentence("danger", "circle-alert", "saw {it}{on} fail{because}"),
    "proposal.lost": EventSentence(
        "danger", "circle-help", "does not know how {it}{on} ended{because}"
    ),
    "proposal.rolled-back": EventSentence("warn", "undo-2", "took {it}{on} back"),
}
PEOPLE: Mapping[str, EventSentence] = {
    "hold.placed": EventSentence("human", "hand", "{hold}{until}"),
    "hold.lifted": EventSentence("human", "play", "lifted the hold on {it}"),
    "hold.renewed": EventSentence("human", "clock", "lets the hold on {it} stand{until}"),
    "hold.ended": EventSentence("human", "clock", "ended the hold on {it}, its time was over"),
    "system.restored": EventSentence("danger", "circle-alert", "found the database restored"),
    "hold.reminded": EventSentence(
        "", "alarm-clock", "reminded {owner} that the hold on {it} ends soon"
    ),
    "person.added": EventSentence("", "users", "added {it} to the {right}"),
    "person.granted": EventSentence("warn", "key-round", "made {it} {right}{until}"),
    "person.revoked": EventSentence("warn", "key-round", "took the role {right} from {it}"),
    "person.delegated": EventSentence("human", "users", "named {deputy} as deputy{until}"),
    "person.delegation-ended": EventSentence(
        "human", "users", "ended {deputy}'s time as deputy of {it}"
    ),
    "person.signed-in": EventSentence("", "log-in", "signed in"),
    "person.signed-out": EventSentence("", "log-out", "signed {away}"),
    "person.password-changed": EventSentence("", "key-round", "changed {own} password"),
    "person.second-factor-added": EventSentence(
        "ok", "shield-check", "set up an app as second factor"
    ),
    "person.second-factor-removed": EventSentence(
        "warn", "shield-check", "removed the app as second factor"
    ),
    "person.passkey-added": EventSentence("ok", "key-round", "added a passkey"),
    "person.passkey-removed": EventSentence("warn", "key-round", "removed a passkey"),
    "person.recovery-codes-made": EventSentence("", "key-round", "made new recovery codes"),
    "person.factors-forgotten": EventSentence(
        "warn", "shield-check", "took the second factors of {it} away"
    ),
    "person.locked-out": EventSentence(
        "danger", "shield-check", "kept {it} waiting after wrong tries"
    ),
    "person.unlocked": EventSentence("ok", "key-round", "let {it} try to sign in again"),
    "person.link-made": EventSentence("", "key-round", "made a sign-in link for {it}"),
    "person.connected": EventSentence("", "plug", "connected {it} to single sign-on"),
    "person.deactivated": EventSentence("warn", "x", "shut {it} out"),
    "person.reactivated": EventSentence("ok", "check", "let {it} in again"),
    "person.refused": EventSentence(
        "danger", "shield-check", "tried {tried} and may not{refusal}"
    ),
    "group.made": EventSentence("", "users", "made the group {it}"),
    "group.changed": EventSentence("", "users", "changed the group {it}{formerly}"),
    "group.joined": EventSentence("warn", "users", "put {member} into the group {it}"),
    "group.left": EventSentence("warn", "users", "took {member} out of the group {it}"),
    "group.deleted": EventSentence("warn", "users", "deleted the group {it}"),
    "export.begun": EventSentence("", "download", "takes {file} out{filters}"),
    "export.made": EventSentence("", "download", "took {file} out, {count} rows"),
    "secrets.rotated": EventSentence(
        "", "key-round", "wrote {count} secrets anew with the present key"
    ),
    "channel.mapped": EventSentence("", "plug", "connected {it}"),
    "channel.unmapped": EventSentence("warn", "plug", "disconnected {it}"),
    "channel.tested": EventSentence("", "plug", "tested {it}"),
    "endpoint.registered": EventSentence("", "plug", "entered the machine {it}"),
    "endpoint.rotated": EventSentence("", "key-round", "made a new secret for the machine {it}"),
    "endpoint.enabled": EventSentence("ok", "play", "switched the machine {it} on"),
    "endpoint.disabled": EventSentence("warn", "circle-pause", "switched the machine {it} off"),
}
EVENTS: Mapping[str, EventSentence] = {
    "telemetry.received": EventSentence("", "activity", "told {count} event(s)"),
    "telemetry.contract-violated": EventSentence(
        "warn", "triangle-alert", "told {named} against its contract: {broken}, {acted}"
    ),
    "telemetry.source-refused": EventSentence(
        "danger", "shield-check", "told {named}, which is not its to tell: {acted}"
    ),
    "telemetry.personal-data-found": EventSentence(
        "warn", "shield-check", "sent personal data with {named}: {acted}"
    ),
    "telemetry.injection-detected": EventSentence(
        "danger", "shield-check", "sent words that try to take over with {named}: {acted}"
    ),
    "telemetry.alert-triggered": EventSentence("warn", "megaphone", "rang for {it}: {rule}"),
    "telemetry.alert-resolved": EventSentence("ok", "circle-check", "saw the alert of {it} end"),
}
RUNS: Mapping[str, EventSentence] = {
    "workflow.queued": EventSentence("", "clock", "asked for run {run} of {it}"),
    "workflow.start-refused": EventSentence("warn", "x", "started no run of {it}{because}"),
    "workflow.started": EventSentence("accent", "play", "began run {run} of {it}"),
    "workflow.step-started": EventSentence("accent", "play", "began {step} in run {run} of {it}"),
    "workflow.step-progressed": EventSentence("", "activity", "is at {step} in run {run} of {it}"),
    "workflow.step-completed": EventSentence("ok", "check", "ended {step} in run {run} of {it}"),
    "workflow.step-failed": EventSentence(
        "warn", "circle-alert", "saw {step} fail in run {run} of {it}{because}"
    ),
    "workflow.step-retried": EventSentence(
        "warn", "rotate-ccw", "tries {step} again in run {run} of {it}{because}"
    ),
    "workflow.gate-opened": EventSentence(
        "warn", "inbox", "asks people about {step} in run {run} of {it}"
    ),
    "workflow.blocked": EventSentence("warn", "hand", "lets run {run} of {it} wait for people"),
    "workflow.resumed": EventSentence("accent", "play", "lets run {run} of {it} go on"),
    "workflow.compensating": EventSentence("warn", "undo-2", "undoes run {run} of {it}"),
    "workflow.completed": EventSentence("ok", "circle-check", "completed run {run} of {it}"),
    "workflow.failed": EventSentence(
        "danger", "circle-alert", "saw run {run} of {it} fail{because}"
    ),
    "workflow.late-result": EventSentence(
        "warn", "clock", "spoke too late about {step} in run {run} of {it}"
    ),
}
DRILLS: Mapping[str, EventSentence] = {
    "drill.asked": EventSentence("", "shield-check", "asked for a drill of {it}"),
    "drill.begun": EventSentence("", "shield-check", "began a drill of {it}"),
    "drill.passed": EventSentence(
        "ok", "shield-check", "proved that a pause stops an effect in {it}"
    ),
    "drill.failed": EventSentence(
        "danger", "shield-check", "proved nothing in a drill of {it}{because}"
    ),
}
SPENDING: Mapping[str, EventSentence] = {
    "admission.allowed": EventSentence("", "check", "may {does}{cautioned}"),
    "admission.denied": EventSentence("warn", "x", "may not {does}{because}"),
    "admission.waiting": EventSentence("warn", "inbox", "waits for a person to let it {does}"),
    "admission.redeemed": EventSentence("accent", "play", "used its permit to {does}"),
    "admission.refused": EventSentence(
        "danger", "x", "showed a permit that does not count{because}"
    ),
    "admission.lapsed": EventSentence("", "clock", "took back {it}'s unused permit to {does}"),
    "admission.unreported": EventSentence(
        "warn", "circle-help", "never heard what it took {it} to {does}"
    ),
    "usage.recorded": EventSentence("", "wallet", "spent {amount}"),
    "price.set": EventSentence("", "wallet", "set the price of {it}"),
    "price.removed": EventSentence("warn", "wallet", "removed the price of {it}"),
    "system.security_access_denied": EventSentence(
        "warn", "shield-check", "may not {does}{because}"
    ),
    "system.security_violation_detected": EventSentence(
        "danger", "shield-check", "broke a rule{because}"
    ),
    "system.security_injection_detected": EventSentence(
        "danger", "shield-check", "passed along a text that gives orders{pattern}"
    ),
    # Their names begin with the domain.
    "budget_threshold_reached": EventSentence("warn", "wallet", "rings for {it}{message}"),
    "budget_exceeded": EventSentence("danger", "wallet", "rings for {it}{message}"),
    "budget_agent_overspend": EventSentence("warn", "wallet", "rings for {it}{message}"),
}
SENTENCES: Mapping[str, EventSentence] = {
    **RESOURCES,
    **LOOP,
    **ANSWERS,
    **PROPOSALS,
    **CARRYING_OUT,
    **PEOPLE,
    **EVENTS,
    **RUNS,
    **DRILLS,
    **SPENDING,
}
