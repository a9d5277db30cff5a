"""The process that nodes run in: its DDS participant, threads, signals and end."""
