"""API of the loop: proposals, holds, runs, admission, work, telemetry, controllers, economics.

One package for each tag of the description. A serializer carries the validation, the
description and the example of its fields; a view makes one call to a use case.

Words:
- tag: a group of operations in the description of the API
"""
