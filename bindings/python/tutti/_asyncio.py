"""Requests in asyncio."""
import asyncio


async def finished(request):
    """Waits for a request while other tasks run, and returns its result.

    The event loop is never blocked: it asks the request again and again, at first each time around, later each
    half millisecond. With TUTTI_PROGRESS_THREAD=1 the operation moves in between, too.
    """
    for _ in range(200):
        if request.test():
            return request.result
        await asyncio.sleep(0)
    while not request.test():
        await asyncio.sleep(0.0005)
    return request.result
