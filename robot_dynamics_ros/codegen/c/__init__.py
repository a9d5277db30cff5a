"""C99 of one robot: its quantities as straight-line code, laws and guards as loops, and the library of a controller."""
