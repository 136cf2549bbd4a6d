"""Validity: what a score means, and when it means nothing."""
