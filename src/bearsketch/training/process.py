"""What this process uses."""

from bearsketch.system import peak_rss_bytes

__all__ = ["peak_rss_bytes"]
