"""Server: processes of the product: web server, worker processes, logs, metrics port, tables.

Everything that belongs to a process and not to the organisation.

Words:
- redaction: keeping secrets out of logs
"""

__all__ = [
    "create_tables",
    "database",
    "logs",
    "metrics_server",
    "progress",
    "redaction",
    "span_export",
    "terminal",
    "web_server",
    "worker_processes",
]
