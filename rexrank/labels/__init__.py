"""CheXpert-14 labels of reports by rules, without weights."""
