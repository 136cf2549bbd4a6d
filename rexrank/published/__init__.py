"""The published record: tables of ReXrank and CXPMRG-Bench as they were printed, ranked and checked."""
