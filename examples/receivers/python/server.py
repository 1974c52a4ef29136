"""Python's standard library: PORT=3000 WEBHOOK_SECRET=whsec_… python3 server.py"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300
seen = set()  # in your database, with a unique index


def is_signed(raw: bytes, message_id: str, timestamp: str, signatures: str) -> bool:
    """Whether one of the signatures, each `v1,<Base64>`, is that of these bytes, and recent."""
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + raw
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, each) for each in signatures.split())


class Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))  # the bytes that were sent
        message_id, timestamp, signatures = (
            self.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
        )
        if not is_signed(raw, message_id, timestamp, signatures):
            self.send_response(400)  # not from the service
            return self.end_headers()
        self.send_response(204)  # first respond, then work
        self.end_headers()
        if message_id not in seen:
            seen.add(message_id)
            event = json.loads(raw)
            print("received", event["type"], event["data"].get("amount"), flush=True)

    def log_message(self, *_: object) -> None:
        """Requests are not logged."""


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Hook)
print("listening", flush=True)
server.serve_forever()
