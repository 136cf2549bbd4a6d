"""Programs that rexrank drives: METEOR's Java."""
