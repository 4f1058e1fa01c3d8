"""All settings, in one file; defaults run on SQLite without any server."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from ioa_site import env
from ioa_site.version import VERSION

env.refuse_unknown()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("IOA_DATA_DIR") or BASE_DIR / "var").absolute()

SECRET_KEY = env.env_secret("IOA_SECRET_KEY", DATA_DIR / "secret_key")
# Encrypts stored secrets of others: the first key writes, all read. Not the key of sessions, so
# that either can be changed without the other.
SECRETS_KEYS = env.env_secrets("IOA_SECRETS_KEY", DATA_DIR / "secrets_key")
# Lets calls go to http://127.0.0.1, for development; otherwise only to public https addresses.
WEBHOOKS_ALLOW_LOOPBACK = env.env_bool("IOA_WEBHOOKS_ALLOW_LOOPBACK")
DEBUG = env.env_bool("IOA_DEBUG")
BASE_URL = env.env_url("IOA_BASE_URL", {"http", "https"})
ALLOWED_HOSTS = env.env_list("IOA_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
if BASE_URL:
    ALLOWED_HOSTS.append(urlsplit(BASE_URL).hostname or "")
    CSRF_TRUSTED_ORIGINS = [BASE_URL.rstrip("/")]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "resources",
    "controllers",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "ioa_site.urls"
ASGI_APPLICATION = "ioa_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": env.env_database("DATABASE_URL", DATA_DIR / "ioa.sqlite3")}
REDIS_URL = env.env_url("REDIS_URL", {"redis", "rediss", "unix"})
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
SERVESTATIC_USE_FINDERS = True

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "start"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = bool(BASE_URL and BASE_URL.startswith("https:"))
# A sign-in link works once, and only this long.
PASSWORD_RESET_TIMEOUT = int(timedelta(hours=24).total_seconds())
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
# Bodies are capped by `ioa_site.asgi` before Django reads them; this is the second line.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
BODY_LIMIT = 256 * 1024
IMPORT_LIMIT = 5 * 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "resources.api.authentication.AgentTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": [
        "resources.api.formats.JSONParser",
        "resources.api.formats.YAMLParser",
        "resources.api.formats.TextYAMLParser",
    ],
    "DEFAULT_RENDERER_CLASSES": [
        "resources.api.formats.JSONRenderer",
        "resources.api.formats.YAMLRenderer",
        "resources.api.formats.TextYAMLRenderer",
    ],
    "DEFAULT_SCHEMA_CLASS": "resources.api.schema.Schema",
    "EXCEPTION_HANDLER": "resources.api.problems.answer",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "IOA Control",
    "DESCRIPTION": "Declare the organisation, report how it is, follow every change.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "resources.api.schema.add_components",
        "controllers.api.components.add_components",
    ],
}

# Retention: by age first, then by count. What a resource declares and shows now always stays.
SPEC_HISTORY = timedelta(days=730)
SPEC_REVISIONS = 500
STATUS_HISTORY = timedelta(days=30)
STATUS_REVISIONS = 1_000
# What the loop recorded: drift over time for each controller and resource, and its cycles.
DRIFT_HISTORY = timedelta(days=90)
DRIFT_SAMPLES = 10_000
CYCLE_HISTORY = timedelta(days=30)
CYCLE_RECORDS = 1_000
# Counted from when an alert was over; an open one stays.
ALERT_HISTORY = timedelta(days=90)
CHECKPOINT_EVERY = timedelta(minutes=1)
RETENTION_EVERY = timedelta(hours=1)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "ioa": {"level": "INFO"},
        # Refused requests are answers, not news.
        "django.request": {"level": "ERROR"},
    },
}
