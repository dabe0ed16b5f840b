"""What a plan costs under every rule, and what learning a halfspace takes. Loaded when asked for."""

__all__: list[str] = []
