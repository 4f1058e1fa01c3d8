"""Where the door is; the names that allauth looks for are its own."""

from __future__ import annotations

from django.urls import path

from controllers.signin import factors, provider, reports, views

urlpatterns = [
    path("sign-in/", views.SignIn.as_view(), name="login"),
    path("sign-in/", views.SignIn.as_view(), name="account_login"),
    path("sign-in/<int:user_id>/<str:token>/", views.sign_in_by_link, name="sign-in"),
    path("sign-in/code/", views.Code.as_view(), name="mfa_authenticate"),
    path("sign-in/passkey/", views.Passkey.as_view(), name="mfa_login_webauthn"),
    path("sign-in/inactive/", views.inactive, name="account_inactive"),
    path("sign-in/again/", views.Again.as_view(), name="account_reauthenticate"),
    path("sign-in/again/code/", views.CodeAgain.as_view(), name="mfa_reauthenticate"),
    path(
        "sign-in/again/passkey/", views.PasskeyAgain.as_view(), name="mfa_reauthenticate_webauthn"
    ),
    path("sign-in/provider/", provider.leave, name="provider"),
    path("sign-in/provider/<str:provider_id>/", provider.arrive, name="openid_connect_callback"),
    path("sign-out/", views.sign_out, name="logout"),
    path("sign-out/", views.sign_out, name="account_logout"),
    path("reports/csp", reports.csp, name="csp-reports"),
    path("profile/password", factors.ChangePassword.as_view(), name="account_change_password"),
    path("profile/password/new", factors.NewPassword.as_view(), name="account_set_password"),
    path("profile/app", factors.AddApp.as_view(), name="mfa_activate_totp"),
    path("profile/app/remove", factors.RemoveApp.as_view(), name="mfa_deactivate_totp"),
    path("profile/passkeys/new", factors.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path(
        "profile/passkeys/<int:pk>/remove",
        factors.RemovePasskey.as_view(),
        name="mfa_remove_webauthn",
    ),
    path("profile/codes", factors.Codes.as_view(), name="mfa_view_recovery_codes"),
    path("profile/codes/new", factors.NewCodes.as_view(), name="mfa_generate_recovery_codes"),
]
