"""What this process uses."""

from __future__ import annotations

from pathlib import Path


def peak_rss_bytes() -> int:
    """Most memory the process ever had in RAM, in bytes.

    Linux keeps it as VmHWM, which unlike getrusage does not count what a parent had before this
    program was started.

    Examples
    --------
    >>> peak_rss_bytes() > 1 << 20
    True
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource
    import sys

    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
