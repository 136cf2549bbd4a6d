"""What score cards say together: spread, correlations, lengths, ranks; and the report that shows it."""
