"""Settings of the door: what allauth reads, and the identity provider."""

from __future__ import annotations

import os

from ioa_site import identity

ACCOUNT_ADAPTER = "controllers.entrance.adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600
# Tries are counted in the database, for all processes: see `controllers.door.lockout`.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
MFA_ADAPTER = "controllers.entrance.adapter.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {
    "authenticate": "controllers.entrance.forms.CodeForm",
    "reauthenticate": "controllers.entrance.forms.CodeAgainForm",
    "add_webauthn": "controllers.entrance.forms.AddPasskeyForm",
    "authenticate_webauthn": "controllers.entrance.forms.PasskeyForm",
    "login_webauthn": "controllers.entrance.forms.PasskeyAloneForm",
    "reauthenticate_webauthn": "controllers.entrance.forms.PasskeyAgainForm",
}
# People of an identity provider come in by their groups, as the table says, and by nothing else.
OIDC_ISSUER = identity.env_issuer("IOA_OIDC_ISSUER")
OIDC_NAME = os.environ.get("IOA_OIDC_NAME", "").strip() or "single sign-on"
OIDC_GROUPS = identity.env_groups("IOA_OIDC_GROUPS")
OIDC_GROUPS_CLAIM = os.environ.get("IOA_OIDC_GROUPS_CLAIM", "").strip() or "groups"
OIDC_CLIENT = identity.env_client(OIDC_ISSUER)
SOCIALACCOUNT_ADAPTER = "controllers.entrance.provider.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = identity.providers(OIDC_ISSUER, OIDC_NAME, OIDC_CLIENT)
