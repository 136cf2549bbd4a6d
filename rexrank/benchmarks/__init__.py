"""Builders of test sets, the number of studies of each track, and blind floors."""

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkError, BenchmarkStudy, Licence, TrainingStudy
from rexrank.benchmarks.repository import push, push_floor

__all__ = ["Benchmark", "BenchmarkError", "BenchmarkStudy", "Licence", "TrainingStudy", "push", "push_floor"]
