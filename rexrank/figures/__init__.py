"""Pictures of scores: intervals, spreads, ranks, correlations, as SVG for pages and as files."""
