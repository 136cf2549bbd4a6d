"""Programs of others that the library drives."""
