"""The tables and figures of the papers behind calibrant, each printed beside the published figures."""
