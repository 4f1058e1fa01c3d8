"""Cases drawn from the API's own description, played against the running product."""
