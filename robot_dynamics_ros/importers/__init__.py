"""Robot descriptions from outside: text or table in, model out; and models cut, joined and written."""
