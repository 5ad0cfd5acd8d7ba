"""Directs a client to the local org: every name below salesforce.com is this machine, at the org's port.

No other name resolves. Python loads this file automatically, so the client's code is not changed.
"""

import os
import socket

_port = os.environ.get("ATTACHE_ORG_PORT")
_getaddrinfo = socket.getaddrinfo


def _pointed(host, port, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else (host or "")
    if name.endswith(".salesforce.com"):
        return _getaddrinfo("127.0.0.1", int(_port), *rest, **more)
    if name in ("", "127.0.0.1", "localhost", "::1"):
        return _getaddrinfo(host, port, *rest, **more)
    raise socket.gaierror(f"{name} is outside of the test of clients")


if _port:
    socket.getaddrinfo = _pointed
