"""Pages of the board: what the results, request and status repos hold, made readable."""
