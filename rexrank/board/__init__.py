"""Requests, results and the leaderboard: what they hold, how they change, how rows are ranked."""
