"""The private parts of Scrapy's engine and downloader that a crawl needs."""

from __future__ import annotations

from scrapy.core.downloader import Downloader, Slot
from scrapy.core.engine import ExecutionEngine


def is_ending(engine: ExecutionEngine) -> bool:
    """Return whether the spider of a crawl is being closed; False before its begin and after its end."""
    return engine._slot is not None and engine._slot.closing is not None


def is_closing(engine: ExecutionEngine) -> bool:
    """Return whether the crawl is ending, so that nothing new will be fetched."""
    return not engine.running or engine._slot is None or is_ending(engine)


def look_again(engine: ExecutionEngine) -> None:
    """Make the engine ask its scheduler for requests now; its heartbeat does so every five seconds."""
    slot = engine._slot
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def forget_spider(engine: ExecutionEngine) -> None:
    """End a crawl that could not begin: Scrapy would close a spider it never opened, with tracebacks."""
    engine.spider = None


def send_waiting(downloader: Downloader, host: str) -> None:
    """Send the requests that wait in the slot of a host, as far as it has room for them."""
    downloader._process_queue(downloader.slots[host])


def keep_exact(slot: Slot) -> None:
    """Switch off the jitter of the delay of a host, of up to 50 %."""
    if hasattr(slot, "jitter"):  # Scrapy 2.19 and later
        slot.jitter = 0.0
    else:
        slot.randomize_delay = False
