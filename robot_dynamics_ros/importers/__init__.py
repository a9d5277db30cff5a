"""Robot descriptions from outside: text or table in, model out."""
