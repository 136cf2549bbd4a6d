"""Score cards side by side: which system is better, and how sure that is."""
