"""Settings: all of them, in one place; the defaults run on SQLite without any server.

Each variable of the environment is read once, and a bad value stops the start with a sentence.

Words:
- variable: a setting that the environment may change
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from ioa_site import places
from ioa_site.settings import environment
from ioa_site.settings.signin import *  # noqa: F403 - settings are found by their names here
from ioa_site.version import VERSION

environment.refuse_unknown()

DATA_DIR = places.data_folder()

SECRET_KEY = environment.env_secret("IOA_SECRET_KEY", DATA_DIR / "secret_key")
# Encrypts stored secrets of others: the first key writes, all read. Not the key of sessions, so
# that either can be changed without the other.
SECRETS_KEYS = environment.env_secrets("IOA_SECRETS_KEY", DATA_DIR / "secrets_key")
# Lets calls go to http://127.0.0.1, for development; otherwise only to public https addresses.
WEBHOOKS_ALLOW_LOOPBACK = environment.env_bool("IOA_WEBHOOKS_ALLOW_LOOPBACK")
# What whoever reads /metrics sends as a bearer; without one only this machine itself may.
METRICS_TOKEN = environment.env_token("IOA_METRICS_TOKEN")
LOG_FORMAT = environment.env_choice("IOA_LOG_FORMAT", ("text", "json"))
DEBUG = environment.env_bool("IOA_DEBUG")
BASE_URL = environment.env_url("IOA_BASE_URL", {"http", "https"})
ALLOWED_HOSTS = environment.env_list("IOA_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
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
    # The templates of widgets.
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "resources",
    "controllers",
]

MIDDLEWARE = [
    "ioa_site.middleware.request_context.observe",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "controllers.signin.guard.Guard",
    "ioa_site.middleware.domain_scope.see",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "ioa_site.middleware.problem_page.ProblemPages",
]

ROOT_URLCONF = "ioa_site.urls"
ASGI_APPLICATION = "ioa_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [places.PAGES / "templates"],
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

DATABASES = {"default": environment.env_database("DATABASE_URL", DATA_DIR / "ioa.sqlite3")}
# What a database is to be known by where no disk remembers it; a new one after each restore.
INCARNATION = environment.env_uuid("IOA_INCARNATION")
REDIS_URL = environment.env_url("REDIS_URL", {"redis", "rediss", "unix"})
# Whether other processes run the loop: said by the command that starts this one.
LOOP_ELSEWHERE = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [places.PAGES / "static"]
SERVESTATIC_USE_FINDERS = True

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "start"
LOGOUT_REDIRECT_URL = "login"
# A session ends this long after it began, or after it was last used.
SESSION_LASTS = timedelta(hours=12)
SESSION_IDLE = timedelta(minutes=environment.env_number("IOA_SESSION_IDLE", 30))
SESSION_COOKIE_AGE = int(SESSION_LASTS.total_seconds())
SESSION_COOKIE_HTTPONLY = True
# Served by https, browsers are told to use nothing else, and to give cookies to nobody else.
HTTPS = bool(BASE_URL and BASE_URL.startswith("https:"))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
# A sign-in link works once, and only this long.
PASSWORD_RESET_TIMEOUT = int(timedelta(hours=24).total_seconds())
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Whether whoever approves or administers must have a second factor.
REQUIRE_SECOND_FACTOR = environment.env_bool("IOA_REQUIRE_SECOND_FACTOR")
# Whether this is a demonstration, where links are enough: said by the command that starts it.
DEMO = False
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
if HTTPS:
    # A proxy that ends TLS says so; it must take the header away from what comes from outside.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    # Supervisors, scrapers and agents beside it may ask a process itself, without TLS.
    SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$", r"^api/"]
    SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds())
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
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
        "report-uri": "/reports/csp",
    },
}
# Bodies are capped by `ioa_site.asgi` before Django reads them; this is the second line.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
BODY_LIMIT = 256 * 1024
IMPORT_LIMIT = 5 * 1024 * 1024

# Calls a second of each token, for reads, for writes and for asking; of a person half as many.
# Three seconds' worth may come at once.
API_RATE = environment.env_number("IOA_API_RATE", 20)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "resources.api.authentication.AgentTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["resources.api.rate_limits.Rates"],
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
    # A patch of the API has a shape of its own.
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": [],
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
# What agents told, where its contract does not say how long, by category; then the newest of each.
TELEMETRY_HISTORY = {
    "metric": timedelta(days=365),
    "log": timedelta(days=90),
    "trace": timedelta(days=90),
    "alert": timedelta(days=365),
    "audit": timedelta(days=2555),
}
TELEMETRY_EVENTS = 1_000_000
TELEMETRY_COUNTS = {"minute": timedelta(days=2), "hour": timedelta(days=400)}
# Counted from when a run ended; one that is open stays.
RUN_HISTORY = timedelta(days=90)
# What agents asked, and what they spent; the counters of what they spent stay.
ADMISSION_HISTORY = timedelta(days=90)
USAGE_HISTORY = timedelta(days=400)
CHECKPOINT_EVERY = timedelta(minutes=1)
RETENTION_EVERY = timedelta(hours=1)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {
            "()": "ioa_site.server.logs.Text",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
        "json": {"()": "ioa_site.server.logs.Json"},
    },
    "filters": {"shorten": {"()": "ioa_site.middleware.database_errors.Shorten"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["shorten"],
        }
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "ioa": {"level": "INFO"},
        # Refused requests are answers, not news.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
    },
}
