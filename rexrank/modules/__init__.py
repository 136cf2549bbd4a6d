"""Evaluate modules: what they share, their page, and how they get to a Hub."""
