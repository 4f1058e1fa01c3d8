"""One sentence for every event that the product writes; it goes on after who did it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Said(NamedTuple):
    """How an event is told: its tone, its icon, and what goes on after who did it."""

    tone: str
    icon: str
    text: str


RESOURCES: Mapping[str, Said] = {
    "resource.created": Said("", "plus", "declared {it}"),
    "resource.spec-changed": Said("accent", "file-code", "changed what {it} should be{changed}"),
    "resource.metadata-changed": Said("", "pencil-line", "changed the labels of {it}{changed}"),
    "resource.deleted": Said("warn", "x", "deleted {it}"),
    "resource.released": Said("", "git-compare-arrows", "took {it} from its owner {owner}"),
    "resource.status-reported": Said("", "activity", "reported {own} status{changed}"),
    "resource.condition-changed": Said("", "circle-dot", "marked {it} {condition}"),
    "token.issued": Said("", "key-round", "made a token for {it}{until}"),
    "token.revoked": Said("warn", "key-round", "revoked a token of {it}"),
    "token.refused": Said("danger", "shield-check", "tried {tried} and may not{because}"),
    "retention.dropped": Said("", "package", "dropped {count} {it} past their time"),
    "example.loaded": Said("", "boxes", "loaded the example organisation, {count} resources"),
}
LOOP: Mapping[str, Said] = {
    "controller.drift-detected": Said("warn", "triangle-alert", "found {it} drifting{score}"),
    "controller.convergence-ended": Said("danger", "circle-alert", "gave up on {it}{ending}"),
    "controller.action-performed": Said("accent", "zap", "{action} {it}{result}"),
    "controller.error": Said("danger", "circle-alert", "could not look at {it}{because}"),
    "controller.autonomy-granted": Said("accent", "check", "let {it} act alone: {trust}"),
    "controller.autonomy-ended": Said(
        "warn", "hand", "ended what {it} did alone: {trust}{because}"
    ),
    "controller.breaker-opened": Said("danger", "circle-pause", "tripped{because}"),
    "controller.breaker-reset": Said("ok", "rotate-ccw", "reset {it} to try one cycle"),
    "controller.fell-silent": Said("danger", "clock", "heard nothing more of {it}"),
    "controller.heard-again": Said("ok", "plug", "was heard again"),
    "controller.logged": Said("", "scroll-text", "noted on {it}{message}"),
    "controller.reconciliation-requested": Said("", "refresh-cw", "asked {it} to look now"),
    "controller.reconciliation-started": Said("", "eye", "began to look at {watched}"),
    "controller.reconciliation-completed": Said("", "refresh-cw", "ended {cycle}"),
}
ANSWERS: Mapping[str, Said] = {
    "proposal.approved": Said("ok", "check", "approved {it}{on}{behalf}{votes}"),
    "proposal.voted": Said("human", "check", "approved {it}{on}{behalf}{votes}"),
    "proposal.rejected": Said("human", "x", "rejected {it}{on}{behalf}"),
    "proposal.changed": Said("human", "pencil-line", "changed the plan of {it}{on}{behalf}"),
    "proposal.overridden": Said("human", "hand", "did something else than {it}{on}{instead}"),
    "proposal.adopted": Said("human", "check", "declared what {it}{on} found as wanted{behalf}"),
    "proposal.accepted": Said("human", "check", "let the drift of {it}{on} be{behalf}{until}"),
    "proposal.snoozed": Said("human", "alarm-clock", "put {it}{on} aside{until}{behalf}"),
    "proposal.changes-requested": Said("human", "pencil-line", "asked to change {it}{on}{behalf}"),
    "proposal.withdrawn": Said("human", "undo-2", "withdrew {it}{on}"),
    "proposal.undo-requested": Said("warn", "undo-2", "asked to undo {it}{on}{because}"),
    "proposal.glass-broken": Said("danger", "zap", "forced {it}{on} in an emergency{until}"),
    "proposal.extended": Said("human", "clock", "gave {it}{on} more time{until}{behalf}"),
    "proposal.resolved": Said("human", "check", "said how {it}{on} ended"),
    "proposal.reviewed": Said("human", "eye", "reviewed {it}{on}{behalf}"),
    "proposal.unreviewed": Said("danger", "eye", "found {it}{on} not reviewed in time"),
}
PROPOSALS: Mapping[str, Said] = {
    "proposal.created": Said("warn", "inbox", "{asks}: {plan} ({it})"),
    "proposal.revised": Said("warn", "pencil-line", "revised {it}{on}"),
    "proposal.confirmed": Said("", "check", "confirmed {it}{on}"),
    "proposal.superseded": Said("", "git-compare-arrows", "replaced {it}{on}{successor}{because}"),
    "proposal.converged": Said("ok", "circle-check", "closed {it}{on}{because}"),
    "proposal.expired": Said("warn", "clock", "let {it}{on} lapse, nobody answered in time"),
    "proposal.lapsed": Said("warn", "clock", "let {it}{on} lapse{because}"),
    "proposal.skipped": Said("", "x", "left {it}{on} out{because}"),
    "proposal.held": Said("human", "hand", "holds {it}{on} back{because}"),
    "proposal.freed": Said("", "play", "lets {it}{on} go on"),
    "proposal.woken": Said("warn", "alarm-clock", "shows {it}{on} again{because}"),
    "proposal.reproposed": Said("", "inbox", "proposed {it}{on} anew{because}"),
    "proposal.checked": Said("", "shield-check", "ended {it}{on}: it was a check"),
    "proposal.escalated": Said("warn", "megaphone", "told {rung} that {it}{on} waits"),
}
CARRYING_OUT: Mapping[str, Said] = {
    "proposal.begun": Said("accent", "play", "began {it}{on}"),
    "proposal.resumed": Said("accent", "play", "went on with {it}{on}"),
    "proposal.stopped": Said("human", "circle-pause", "stopped {it}{on}{because}"),
    "proposal.retried": Said("warn", "rotate-ccw", "tries {it}{on} again{because}"),
    "proposal.offered": Said("accent", "bot", "offered{operation} of {it}{on} to {to}"),
    "proposal.dispatched": Said("accent", "plug", "sent{operation} of {it}{on} to {to}"),
    "proposal.claimed": Said("accent", "bot", "took{operation} of {it}{on}"),
    "proposal.progressed": Said("accent", "bot", "is{percent} through{operation} of {it}{note}"),
    "proposal.step-done": Said("ok", "check", "did one step of {it}{on}"),
    "proposal.late-result": Said("warn", "clock", "answered too late about {it}{on}{because}"),
    "proposal.executed": Said("accent", "zap", "carried out {it}{on}"),
    "proposal.verified": Said("ok", "circle-check", "saw that {it}{on} helped"),
    "proposal.failed": Said("danger", "circle-alert", "saw {it}{on} fail{because}"),
    "proposal.lost": Said("danger", "circle-help", "does not know how {it}{on} ended{because}"),
    "proposal.rolled-back": Said("warn", "undo-2", "took {it}{on} back"),
}
PEOPLE: Mapping[str, Said] = {
    "hold.placed": Said("human", "hand", "{hold}{until}"),
    "hold.lifted": Said("human", "play", "lifted the hold on {it}"),
    "hold.renewed": Said("human", "clock", "lets the hold on {it} stand{until}"),
    "hold.ended": Said("human", "clock", "ended the hold on {it}, its time was over"),
    "system.restored": Said("danger", "circle-alert", "found the database restored"),
    "hold.reminded": Said("", "alarm-clock", "reminded {owner} that the hold on {it} ends soon"),
    "person.added": Said("", "users", "added {it} to the {right}"),
    "person.granted": Said("warn", "key-round", "made {it} {right}{until}"),
    "person.revoked": Said("warn", "key-round", "took the role {right} from {it}"),
    "person.delegated": Said("human", "users", "named {deputy} as deputy{until}"),
    "person.delegation-ended": Said("human", "users", "ended {deputy}'s time as deputy of {it}"),
    "person.signed-in": Said("", "log-in", "signed in"),
    "person.signed-out": Said("", "log-out", "signed {away}"),
    "person.password-changed": Said("", "key-round", "changed {own} password"),
    "person.second-factor-added": Said("ok", "shield-check", "set up an app as second factor"),
    "person.second-factor-removed": Said(
        "warn", "shield-check", "removed the app as second factor"
    ),
    "person.passkey-added": Said("ok", "key-round", "added a passkey"),
    "person.passkey-removed": Said("warn", "key-round", "removed a passkey"),
    "person.recovery-codes-made": Said("", "key-round", "made new recovery codes"),
    "person.factors-forgotten": Said(
        "warn", "shield-check", "took the second factors of {it} away"
    ),
    "person.locked-out": Said("danger", "shield-check", "kept {it} waiting after wrong tries"),
    "person.unlocked": Said("ok", "key-round", "let {it} try to sign in again"),
    "person.link-made": Said("", "key-round", "made a sign-in link for {it}"),
    "person.connected": Said("", "plug", "connected {it} to single sign-on"),
    "person.deactivated": Said("warn", "x", "shut {it} out"),
    "person.reactivated": Said("ok", "check", "let {it} in again"),
    "person.refused": Said("danger", "shield-check", "tried {tried} and may not{refusal}"),
    "group.made": Said("", "users", "made the group {it}"),
    "group.changed": Said("", "users", "changed the group {it}{formerly}"),
    "group.joined": Said("warn", "users", "put {member} into the group {it}"),
    "group.left": Said("warn", "users", "took {member} out of the group {it}"),
    "group.deleted": Said("warn", "users", "deleted the group {it}"),
    "export.begun": Said("", "download", "takes {file} out{filters}"),
    "export.made": Said("", "download", "took {file} out, {count} rows"),
    "secrets.rotated": Said("", "key-round", "wrote {count} secrets anew with the present key"),
    "channel.mapped": Said("", "plug", "connected {it}"),
    "channel.unmapped": Said("warn", "plug", "disconnected {it}"),
    "channel.tested": Said("", "plug", "tested {it}"),
    "endpoint.registered": Said("", "plug", "entered the machine {it}"),
    "endpoint.rotated": Said("", "key-round", "made a new secret for the machine {it}"),
    "endpoint.enabled": Said("ok", "play", "switched the machine {it} on"),
    "endpoint.disabled": Said("warn", "circle-pause", "switched the machine {it} off"),
}
EVENTS: Mapping[str, Said] = {
    "telemetry.received": Said("", "activity", "told {count} event(s)"),
    "telemetry.contract-violated": Said(
        "warn", "triangle-alert", "told {named} against its contract: {broken}, {acted}"
    ),
    "telemetry.source-refused": Said(
        "danger", "shield-check", "told {named}, which is not its to tell: {acted}"
    ),
    "telemetry.personal-data-found": Said(
        "warn", "shield-check", "sent personal data with {named}: {acted}"
    ),
    "telemetry.injection-detected": Said(
        "danger", "shield-check", "sent words that try to take over with {named}: {acted}"
    ),
    "telemetry.alert-triggered": Said("warn", "megaphone", "rang for {it}: {rule}"),
    "telemetry.alert-resolved": Said("ok", "circle-check", "saw the alert of {it} end"),
}
RUNS: Mapping[str, Said] = {
    "workflow.queued": Said("", "clock", "asked for run {run} of {it}"),
    "workflow.start-refused": Said("warn", "x", "started no run of {it}{because}"),
    "workflow.started": Said("accent", "play", "began run {run} of {it}"),
    "workflow.step-started": Said("accent", "play", "began {step} in run {run} of {it}"),
    "workflow.step-progressed": Said("", "activity", "is at {step} in run {run} of {it}"),
    "workflow.step-completed": Said("ok", "check", "ended {step} in run {run} of {it}"),
    "workflow.step-failed": Said(
        "warn", "circle-alert", "saw {step} fail in run {run} of {it}{because}"
    ),
    "workflow.step-retried": Said(
        "warn", "rotate-ccw", "tries {step} again in run {run} of {it}{because}"
    ),
    "workflow.gate-opened": Said("warn", "inbox", "asks people about {step} in run {run} of {it}"),
    "workflow.blocked": Said("warn", "hand", "lets run {run} of {it} wait for people"),
    "workflow.resumed": Said("accent", "play", "lets run {run} of {it} go on"),
    "workflow.compensating": Said("warn", "undo-2", "undoes run {run} of {it}"),
    "workflow.completed": Said("ok", "circle-check", "completed run {run} of {it}"),
    "workflow.failed": Said("danger", "circle-alert", "saw run {run} of {it} fail{because}"),
    "workflow.late-result": Said(
        "warn", "clock", "spoke too late about {step} in run {run} of {it}"
    ),
}
DRILLS: Mapping[str, Said] = {
    "drill.asked": Said("", "shield-check", "asked for a drill of {it}"),
    "drill.begun": Said("", "shield-check", "began a drill of {it}"),
    "drill.passed": Said("ok", "shield-check", "proved that a pause stops an effect in {it}"),
    "drill.failed": Said("danger", "shield-check", "proved nothing in a drill of {it}{because}"),
}
SPENDING: Mapping[str, Said] = {
    "admission.allowed": Said("", "check", "may {does}{cautioned}"),
    "admission.denied": Said("warn", "x", "may not {does}{because}"),
    "admission.waiting": Said("warn", "inbox", "waits for a person to let it {does}"),
    "admission.redeemed": Said("accent", "play", "used its permit to {does}"),
    "admission.refused": Said("danger", "x", "showed a permit that does not count{because}"),
    "admission.lapsed": Said("", "clock", "took back {it}'s unused permit to {does}"),
    "admission.unreported": Said("warn", "circle-help", "never heard what it took {it} to {does}"),
    "usage.recorded": Said("", "wallet", "spent {amount}"),
    "price.set": Said("", "wallet", "set the price of {it}"),
    "price.removed": Said("warn", "wallet", "removed the price of {it}"),
    "system.security_access_denied": Said("warn", "shield-check", "may not {does}{because}"),
    "system.security_violation_detected": Said("danger", "shield-check", "broke a rule{because}"),
    "system.security_injection_detected": Said(
        "danger", "shield-check", "passed along a text that gives orders{pattern}"
    ),
    # Their names begin with the domain.
    "budget_threshold_reached": Said("warn", "wallet", "rings for {it}{message}"),
    "budget_exceeded": Said("danger", "wallet", "rings for {it}{message}"),
    "budget_agent_overspend": Said("warn", "wallet", "rings for {it}{message}"),
}
SENTENCES: Mapping[str, Said] = {
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
