"""Coverage of every interval that was found wanting, measured where the truth is known."""
