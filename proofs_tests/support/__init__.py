"""What several tests share; not shipped."""
