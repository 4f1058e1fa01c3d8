"""Settings of the door: what allauth reads, and the identity provider."""

from __future__ import annotations

import os

from ioa_site.settings import identity_provider

ACCOUNT_ADAPTER = "controllers.signin.adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600
# `controllers.access.lockout` counts tries in the database, for all processes.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
MFA_ADAPTER = "controllers.signin.adapter.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {
    "authenticate": "controllers.signin.forms.CodeForm",
    "reauthenticate": "controllers.signin.forms.CodeAgainForm",
    "add_webauthn": "controllers.signin.forms.AddPasskeyForm",
    "authenticate_webauthn": "controllers.signin.forms.PasskeyForm",
    "login_webauthn": "controllers.signin.forms.PasskeyAloneForm",
    "reauthenticate_webauthn": "controllers.signin.forms.PasskeyAgainForm",
}
# People of an identity provider come in by their groups, as the table says, and by nothing else.
OIDC_ISSUER = identity_provider.env_issuer("IOA_OIDC_ISSUER")
OIDC_NAME = os.environ.get("IOA_OIDC_NAME", "").strip() or "single sign-on"
OIDC_GROUPS = identity_provider.env_groups("IOA_OIDC_GROUPS")
OIDC_GROUPS_CLAIM = os.environ.get("IOA_OIDC_GROUPS_CLAIM", "").strip() or "groups"
OIDC_CLIENT = identity_provider.env_client(OIDC_ISSUER)
SOCIALACCOUNT_ADAPTER = "controllers.signin.provider.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = identity_provider.providers(OIDC_ISSUER, OIDC_NAME, OIDC_CLIENT)
