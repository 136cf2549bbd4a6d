"""Proof that encoders and metrics give the originals' numbers: invented reports, seeded checkpoints, comparisons."""
