"""One map for many segments, partially pooled."""
