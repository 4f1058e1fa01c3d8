"""Where the pages are."""

from __future__ import annotations

from django.urls import path

from controllers.web.approvals import approvals_page, decision_form, proposal_page
from controllers.web.audit import audit_log, table_exports, trace
from controllers.web.base.page import view
from controllers.web.controllers import (
    autonomy,
    controller_actions,
    controller_list,
    controller_page,
    cycle_page,
    replay,
)
from controllers.web.economics import economics_page
from controllers.web.find import inbox, search_page
from controllers.web.holds import hold_list, hold_page, pause
from controllers.web.manage import channels, machines, manage_page, policies, tokens
from controllers.web.overview import overview_page, welcome
from controllers.web.people import groups, people_page, person_signin, profile, security
from controllers.web.resources import resource_drills, resource_list, resource_page

urlpatterns = [
    path("", view(overview_page.Overview), name="start"),
    path("welcome", view(welcome.Welcome), name="welcome"),
    path("welcome/example", welcome.load_example, name="load-example"),
    path("welcome/apply", welcome.apply, name="apply-documents"),
    path("approvals", view(approvals_page.Approvals), name="approvals"),
    path("approvals.csv", table_exports.proposals, name="approvals-csv"),
    path("approvals/decide", decision_form.decide_many, name="decide-many"),
    path("approvals/automatic", decision_form.make_automatic, name="make-automatic"),
    path("approvals/<int:key>", view(proposal_page.ProposalPage), name="proposal"),
    path("approvals/<int:key>/decide", decision_form.decide, name="decide"),
    path("resources", view(resource_list.Resources), name="resources"),
    path("resources.csv", resource_list.export, name="resources-csv"),
    path("resources/<str:kind>/<str:name>", view(resource_page.ResourcePage), name="resource"),
    path("governance/<str:name>/drill", resource_drills.ask, name="drill"),
    path("controllers", view(controller_list.Controllers), name="controllers"),
    path("controllers.csv", table_exports.controllers, name="controllers-csv"),
    path("controllers/<str:name>", view(controller_page.ControllerPage), name="controller"),
    path("controllers/<str:name>/run", controller_actions.run, name="controller-run"),
    path("controllers/<str:name>/mode", controller_actions.change_mode, name="controller-mode"),
    path("controllers/<str:name>/autonomy", autonomy.take_back, name="controller-autonomy"),
    path("controllers/<str:name>/breaker", controller_actions.breaker, name="controller-breaker"),
    path("controllers/<str:name>/replay", view(replay.ReplayPage), name="controller-replay"),
    path("controllers/<str:name>/cycles/<int:number>", view(cycle_page.CyclePage), name="cycle"),
    path("overrides", view(hold_list.Overrides), name="overrides"),
    path("overrides.csv", table_exports.overrides, name="overrides-csv"),
    path("overrides/new", hold_page.place, name="hold-new"),
    path("overrides/<int:key>", view(hold_page.HoldPage), name="hold"),
    path("overrides/<int:key>/lift", hold_page.lift, name="hold-lift"),
    path("overrides/<int:key>/renew", hold_page.renew, name="hold-renew"),
    path("pause", pause.pause, name="pause"),
    path("resume", pause.resume, name="resume"),
    path("economics", view(economics_page.Economics), name="economics"),
    path("economics.csv", economics_page.export, name="economics-csv"),
    path("audit", view(audit_log.Audit), name="audit"),
    path("audit.csv", audit_log.export, name="audit-csv"),
    path("audit/verify", audit_log.verify, name="audit-verify"),
    path("audit/trace/<str:correlation>", view(trace.Trace), name="trace"),
    path("search", view(search_page.Search), name="search"),
    path("shortcuts", view(search_page.Shortcuts), name="shortcuts"),
    path("more", view(search_page.More), name="more"),
    path("inbox", view(inbox.Inbox), name="inbox"),
    path("inbox/read", inbox.read, name="inbox-read"),
    path("people", view(people_page.People), name="people"),
    path("people/invite", people_page.invite, name="people-invite"),
    path("people/groups", view(groups.Groups), name="groups"),
    path("people/groups/new", groups.add, name="group-new"),
    path("people/groups/<int:key>", view(groups.GroupPage), name="group"),
    path("people/groups/<int:key>/change", groups.change, name="group-change"),
    path("people/groups/<int:key>/member", groups.member, name="group-member"),
    path("people/groups/<int:key>/delete", groups.delete, name="group-delete"),
    path("people/<int:key>", view(people_page.PersonPage), name="person"),
    path("people/<int:key>/grant", people_page.grant, name="person-grant"),
    path("people/<int:key>/revoke", people_page.revoke, name="person-revoke"),
    path("people/<int:key>/link", people_page.link, name="person-link"),
    path("people/<int:key>/active", people_page.deactivate, name="person-active"),
    path("people/<int:key>/door", person_signin.door, name="person-door"),
    path("manage", view(manage_page.Manage), name="manage"),
    path("manage/tokens", view(tokens.Tokens), name="tokens"),
    path("manage/tokens/new", tokens.issue, name="token-new"),
    path("manage/tokens/<str:key>/revoke", tokens.revoke, name="token-revoke"),
    path("manage/channels", view(channels.Channels), name="channels"),
    path("manage/channels/new", channels.put, name="channel-new"),
    path("manage/channels/unmap", channels.unmap, name="channel-unmap"),
    path("manage/channels/test", channels.test, name="channel-test"),
    path("manage/machines", view(machines.Machines), name="machines"),
    path("manage/machines/new", machines.register, name="machine-new"),
    path("manage/machines/<str:name>/rotate", machines.rotate, name="machine-rotate"),
    path("manage/machines/<str:name>/switch", machines.switch, name="machine-switch"),
    path("manage/policies", view(policies.Policies), name="policies"),
    path("profile/security", security.show, name="security"),
    path("profile/security", security.show, name="mfa_index"),
    path("profile/security/sessions", security.end_sessions, name="end-sessions"),
    path("profile", profile.show, name="profile"),
    path("profile/deputies", profile.deputise, name="profile-deputies"),
]
