"""Addresses on the network."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host can only be this machine: ``localhost``, 127.0.0.0/8 or ::1; without port and brackets."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
