"""Sign-in: how people get in, prove again who they are, and get out.

Passwords, passkeys, authenticator apps, recovery codes, links and an identity provider. The
guard asks before every view whether the session is still good.

Words:
- factor: something a person signs in with
- reauthentication: confirming who you are before something grave
"""

__all__ = ["reauthentication"]
