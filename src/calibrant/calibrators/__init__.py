"""One method, one file. `registry` lists them; `base` says what they share."""
