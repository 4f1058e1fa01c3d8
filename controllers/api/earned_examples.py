"""Examples of drills, of how well people and controllers decide, and of what was earned."""

from __future__ import annotations

from typing import Any

Example = dict[str, Any]
AT = "2026-02-25T10:00:00Z"
ASKED: Example = {
    "id": 7,
    "governance": "governance/platform-governance",
    "state": "asked",
    "author": "person/ines",
    "askedAt": AT,
    "evidence": [],
    "correlationId": "0d0e5a1e-1f0b-4b9a-9a56-0d4f2b6f7b11",
}
PASSED: Example = {
    **ASKED,
    "state": "passed",
    "begunAt": AT,
    "endedAt": AT,
    "evidence": [
        {"step": "control", "found": "proposal/41 was carried out."},
        {"step": "pause", "found": "hold/9 stands, epoch 31."},
        {"step": "attempt", "found": "proposal/42 was refused: controller/x is paused."},
        {"step": "lift", "found": "hold/9 is lifted, none is left."},
        {"step": "afterwards", "found": "proposal/42 was carried out."},
    ],
}
DRILLS: Example = {
    "items": [PASSED],
    "lastOverrideTest": AT,
    "every": "30d",
    "nextAt": "2026-03-27T10:00:00Z",
}
QUALITY: Example = {
    "since": "2025-11-27T10:00:00Z",
    "answers": 40,
    "approved": 34,
    "rejected": 4,
    "overridden": 2,
    "reverted": 1,
    "worse": 0,
    "checks": 6,
    "caught": 5,
    "catchRate": 0.83,
    "overrideRate": 0.05,
    "revertRate": 0.03,
    "typicalSeconds": 240.0,
    "slowSeconds": 5400.0,
    "cut": False,
}
TOGETHER: Example = {"people": 5, "fewest": 3, "quality": QUALITY}
AUTONOMY: Example = {
    "items": [
        {
            "operation": "throttle",
            "domain": "growth",
            "approvals": 25,
            "bar": 25,
            "setbacks": 1,
            "granted": True,
            "grantedAt": AT,
        }
    ]
}
REPLAY_WISH: Example = {"threshold": 0.3, "weights": {"kpi": 2}}
VANISHED: Example = {
    "proposal": 41,
    "resource": "agent/scribe",
    "at": AT,
    "answer": "approve",
    "decidedBy": "person/maya",
    "contradicts": "A person approved it; it would not have been proposed.",
}
REPLAY: Example = {
    "controller": "controller/domain-health",
    "counts": {
        "points": 310,
        "proposals": 12,
        "resources": 6,
        "appears": 0,
        "vanishes": 1,
        "unasked": 0,
        "asked": 0,
        "contradictions": 1,
    },
    "since": "2026-01-25T10:00:00Z",
    "appears": [],
    "vanishes": [VANISHED],
    "unasked": [],
    "asked": [],
    "contradictions": [VANISHED],
    "limits": [],
}
