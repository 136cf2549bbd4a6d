"""Metrics as reward functions for reinforcement learning."""
