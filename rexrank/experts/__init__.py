"""Radiologists' judgements of reports, read from their owners' files, and how well metrics agree with them."""
