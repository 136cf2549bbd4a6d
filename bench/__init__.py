"""Timings against the original packages. Needs the extra `dev`; never run by the tests."""
