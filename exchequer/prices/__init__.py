"""What a plan costs under every rule, and what learning a halfspace takes. Each module is loaded when it is asked for."""

__all__: list[str] = []
