"""What Railpost can do, one folder each."""
