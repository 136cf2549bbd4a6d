"""Timings against the original packages. Needs the extra `dev`; the tests run it on a few reports and judge no time."""
