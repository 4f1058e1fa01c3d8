"""Live pages: what was committed reaches every open page, once, in order."""
