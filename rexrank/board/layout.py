"""Where things lie in a benchmark's repo: written by its builder, read by the backend and by submitters."""

REFERENCE_FILE = "data/test.parquet"
DESCRIPTION_FILE = "benchmark.yaml"
