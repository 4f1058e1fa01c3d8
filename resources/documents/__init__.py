"""Documents: resources as plain values, without a database.

Strict readers, the kinds with their schemas and rules, validation, differences, expressions and
the one `Problem` that every entrance renders. Everything here is plain Python.

Words:
- document: a resource as text or plain values: kind, metadata, spec, status
- kind: a sort of resource, such as Agent; one module each
- problem: a refusal with a code, a status and a sentence
- weakening: a change after which a declaration guards less
"""

__all__ = [
    "actor",
    "canonical",
    "differences",
    "durations",
    "expressions",
    "files",
    "kind",
    "kinds",
    "limits",
    "paths",
    "problems",
    "reader",
    "schedules",
    "validation",
    "weakening",
    "yaml_text",
]
