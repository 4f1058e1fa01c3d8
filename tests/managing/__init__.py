"""Pages for tokens, channels, machines, policies, and how somebody signs in."""
