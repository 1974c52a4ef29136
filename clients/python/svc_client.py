"""A client of svc for Python in one file, version 0.1.0: copy it into your project.
Copyright (c) 2026 The svc contributors. SPDX-License-Identifier: MIT

Needs Python 3.9 and `cryptography`. It gets and renews tokens, sends what is safe to send again after a lost response,
encrypts orders of gift cards, and verifies webhooks and receipts. What has no method of its own is
`client.request(method, path, body)`: JSON objects go in and come out as dicts. Amounts are rupees.
"""
import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import threading
import time
import uuid
from collections import namedtuple
from email.utils import parsedate_to_datetime
from urllib import error, parse, request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, keywrap
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VERSION = "0.1.0"
NOT_BEGUN, MAY_HAVE_BEGUN = {408, 421, 429}, {500, 502, 503, 504}
CARDS = "/api/v0/partner/svcCard"
_Token = namedtuple("_Token", "token cookie renew_at ends_at")
_NoRedirect = type("_NoRedirect", (request.HTTPRedirectHandler,), {"redirect_request": lambda *_: None})  # with a token


class SvcError(Exception):
    """A request failed. Handle it by `error`, the stable code, whose remedy is at `docs`; `no_response` and
    `unexpected_response` are not of the service. Quote `request_id` when you ask for help."""

    def __init__(self, error, description, status=None, request_id=None, errors=(), retry_after=0.0, docs=None):
        super().__init__(f"{error}: {description} (status {status}, request {request_id})")
        self.error, self.description, self.status, self.request_id = error, description, status, request_id
        self.errors, self.retry_after, self.docs = errors, retry_after, docs
        self.idempotency_key = self.body = None  # of the request, where it is a write


class OutcomeUnknown(SvcError):
    """Whether a write was carried out is not known. Send the same `body` again with the same `idempotency_key`."""


class VerificationError(Exception):
    """A webhook or a receipt is not from the service, was changed, or is too old."""


class _Client:
    """One instance serves a whole process, all its threads."""

    def __init__(self, base_url, *, timeout=15.0, deadline=60.0, max_retries=4, headers=None, allow_plain_http=False):
        url = parse.urlsplit(base_url)
        is_safe = url.scheme == "https" or re.fullmatch(r"localhost|127(\.\d+){3}|::1", url.hostname or "")
        if url.scheme not in ("http", "https") or not (is_safe or allow_plain_http) or url.query or url.username:
            raise ValueError("base_url must be like https://pay.example.com; http:// reveals the keys on the way")
        self.base_url, self.timeout = base_url.rstrip("/"), timeout
        self.deadline, self.max_retries = deadline, max_retries
        self._headers = {"User-Agent": f"svc-python/{VERSION}", **(headers or {})}
        self._opener = request.build_opener(_NoRedirect)
        self._lock, self._held = threading.Lock(), None

    def request(self, method, path, body=None, *, idempotency_key=None, headers=None):
        """Any operation. A dict is sent as JSON, a str as an encrypted order. Returns the `payload` of the response."""
        return self._call(method, path, body, idempotency_key, headers)[1]

    def _call(self, method, path, body=None, idempotency_key=None, headers=None):
        head, data = {"Accept": "application/json", **(headers or {})}, None
        if method != "GET":
            head["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
            head["Content-Type"] = "application/jose" if isinstance(body, str) else "application/json"
            data = (body if isinstance(body, str) else json.dumps(body or {}, default=float)).encode()
        again = method != "POST" or not path.startswith("/sandbox/")  # what plays the world has no idempotency keys
        until, refused = time.monotonic() + self.deadline, None
        while True:
            held = self._token(refused)
            sent = {**head, "Authorization": "Bearer " + held.token, **({"Cookie": held.cookie} if held.cookie else {})}
            try:
                got, found = self._send(method, path, data, sent, again, until)
                return got, found.get("payload", found)
            except SvcError as failure:
                if refused or failure.error not in ("invalid_token", "invalid_session"):
                    failure.idempotency_key, failure.body = head.get("Idempotency-Key"), body
                    raise
                refused = held

    def _send(self, method, path, data=None, headers=None, again=True, until=None):
        """Sends the same bytes until there is a success, or a failure that sending them again does not help."""
        until, unknown, headers = until or time.monotonic() + self.deadline, False, headers or {}
        for attempt in range(self.max_retries + 1):
            try:
                status, got, text = self._attempt(method, path, data, headers)
                found = json.loads(text or b"{}")
                if status < 300 and isinstance(found, dict):
                    return got, found
                failure = self._failure(status, got, text, found)
            except (OSError, http.client.HTTPException) as cause:
                failure = SvcError("no_response", f"{method} {path} got no response: {cause!r}")
            except ValueError:
                failure = self._failure(status, got, text, None)
            is_lost = failure.error in ("no_response", "outcome_unknown")
            is_lost = is_lost or failure.error == "unexpected_response" and failure.status not in range(300, 500)
            unknown = unknown or is_lost
            passing = failure.status in NOT_BEGUN or again and (is_lost or failure.status in MAY_HAVE_BEGUN)
            wait = max(failure.retry_after, min(8, 0.25 * 2**attempt) * random.uniform(0.5, 1))
            if not passing or attempt == self.max_retries or time.monotonic() + wait >= until:
                # After an attempt that may have been carried out, only a final response says what happened.
                if "Idempotency-Key" in headers and (is_lost or passing and unknown):
                    failure.__class__ = OutcomeUnknown
                raise failure
            time.sleep(wait)

    def _attempt(self, method, path, data, headers):
        accept = "application/problem+json, " + headers.get("Accept", "application/json")  # failures with their fields
        head = {**self._headers, **headers, "Accept": accept}
        try:
            sent = request.Request(self.base_url + path, data, head, method=method)
            with self._opener.open(sent, timeout=self.timeout) as response:
                return response.status, response.headers, response.read()
        except error.HTTPError as failed:
            with failed:
                return failed.status, failed.headers, failed.read()

    def _failure(self, status, headers, text, found):
        after = float(headers["Retry-After"]) if re.fullmatch(r"\d+", headers.get("Retry-After", "")) else 0.0
        try:
            docs = f"{self.base_url}/docs/errors#{found['error']}"
            parts = found["error"], found["detail"], status, found["requestId"], found.get("errors", ())
            return SvcError(*parts, retry_after=after, docs=docs)
        except (KeyError, TypeError):
            what = f"not a response of svc: {text[:100]!r}"
            return SvcError("unexpected_response", what, status, headers.get("x-request-id"), retry_after=after)

    def _token(self, refused):
        """A token that is good now, renewed in the last fifth of its life. Until then a failed renewal is no harm."""
        with self._lock:
            held, now = self._held, time.monotonic()
            is_good = held is not None and held is not refused and now < held.ends_at
            if not is_good or now >= held.renew_at:
                try:
                    token, cookie, life = self._new_token()
                    self._held = _Token(token, cookie, now + life - min(300, life / 5), now + life)
                except SvcError:
                    if not is_good:
                        raise
                    self._held = held._replace(renew_at=now + 5)
            return self._held

    def published_keys(self):
        """The service's public keys (RFC 7517): to encrypt orders, and to verify receipts."""
        return self._send("GET", "/.well-known/jwks.json")[1]["keys"]


class Merchant(_Client):
    def __init__(self, base_url, api_key, **options):
        super().__init__(base_url, **options)
        self._api_key = api_key

    def _new_token(self):
        headers, found = self._send("POST", "/api/v0/merchant/token", b"", {"API-Key": self._api_key})
        expiry = found["expiry"] / 1000  # an instant of the service's clock, or the time that is left
        now = parsedate_to_datetime(headers["Date"]).timestamp() if expiry > 1e8 else 0
        return found["token"], None, expiry - now

    def create_qr_code(self, idempotency_key=None, **fields):
        return self.request("POST", "/api/v0/qr-code", fields, idempotency_key=idempotency_key)

    def get_qr_code(self, qr_code_id):
        return self.request("GET", f"/api/v0/qr-code/{parse.quote(qr_code_id, safe='')}")

    def cancel_qr_code(self, qr_code_id, idempotency_key=None):
        """After this no payment is accepted. `outcome` and `payments` say what was before, `receipt` proves it."""
        path = f"/api/v0/qr-code/{parse.quote(qr_code_id, safe='')}/cancel"
        headers, code = self._call("PATCH", path, {}, idempotency_key)
        end = re.split(r"; \w+=", headers["svc-outcome"])
        payments = {"count": int(end[1]), "amount": float(end[2])}
        return {**code, "outcome": end[0], "payments": payments, "receipt": headers["svc-receipt"]}


class Partner(_Client):
    """`shared_key` is the `{kid, k}` that was issued to you. Without it, orders go to the service's published key."""

    def __init__(self, base_url, partner_id, client_id, client_secret, shared_key=None, **options):
        super().__init__(base_url, **options)
        self._client = {"client_id": client_id, "client_secret": client_secret}
        self._headers["partnerId"], self._shared_key, self._published = partner_id, shared_key, None

    def _new_token(self):
        form = {"grant_type": "client_credentials", **self._client}
        head = {"Content-Type": "application/x-www-form-urlencoded"}
        headers, found = self._send("POST", "/oauth/token", parse.urlencode(form).encode(), head)
        session = re.search(r"SVCSESSION=[^;]+", "; ".join(headers.get_all("Set-Cookie", [])))
        return found["access_token"], session and session[0], found["expires_in"]

    def encrypt(self, order, fresh=False):
        """The order as a JWE. Keep it with its idempotency key: the same two may be sent again, and issue one card."""
        if self._shared_key:
            wrapping = _unbase64(self._shared_key["k"])
            return _jwe(order, "A256KW", self._shared_key["kid"], lambda key: keywrap.aes_key_wrap(wrapping, key))
        if fresh or not self._published:
            self._published = next(each for each in self.published_keys() if each.get("alg") == "RSA-OAEP-256")
        key = self._published
        e, n = (int.from_bytes(_unbase64(key[name]), "big") for name in "en")
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        public = rsa.RSAPublicNumbers(e, n).public_key()
        return _jwe(order, "RSA-OAEP-256", key["kid"], lambda content_key: public.encrypt(content_key, oaep))

    def create_card(self, order, idempotency_key=None, headers=None):
        """Issues a gift card for an order, or for what `encrypt` returned."""
        options = {"idempotency_key": idempotency_key or str(uuid.uuid4()), "headers": headers}
        if isinstance(order, str):
            return self.request("POST", CARDS, order, **options)
        try:
            return self.request("POST", CARDS, self.encrypt(order), **options)
        except SvcError as failure:
            if self._shared_key or failure.error != "decryption_failed":
                raise
        return self.request("POST", CARDS, self.encrypt(order, fresh=True), **options)  # the service has a new key

    def search_cards(self, **fields):
        return self.request("POST", CARDS + "/search", fields)["data"]


def _base64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unbase64(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if _base64(data) != text:  # Python skips what is not of the alphabet
        raise ValueError("not base64url")
    return data


def _jwe(value, alg, kid, wrap):
    """A compact JWE (RFC 7516): A256GCM encrypts the content, `wrap` its key."""
    header = _base64(json.dumps({"alg": alg, "enc": "A256GCM", "kid": kid}).encode())
    key, iv = os.urandom(32), os.urandom(12)
    content = AESGCM(key).encrypt(iv, json.dumps(value, default=float).encode(), header.encode())
    return ".".join([header, *map(_base64, (wrap(key), iv, content[:-16], content[-16:]))])


def verify_webhook(raw_body, headers, *secrets, now=None):
    """The event of a delivery. `raw_body` is the bytes as they came; `secrets` are the endpoint's `whsec_…`, or the
    service's public keys `whpk_…`. A delivery may come twice: skip a `webhook-id` that you have."""
    named = {name.lower(): value for name, value in headers.items()}
    message_id, stamp, given = (named.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", stamp) or abs((now or time.time()) - int(stamp)) > 300:
        raise VerificationError("a header is missing, or webhook-timestamp is far from this machine's clock")
    signed = f"{message_id}.{stamp}.".encode() + raw_body
    for kind, key in ((secret[:6], base64.b64decode(secret.split("_")[1])) for secret in secrets):
        right = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        for each in given.split(" "):
            if kind == "whsec_" and hmac.compare_digest(right.encode(), each.encode()):
                return json.loads(raw_body)
            if kind != "whsec_" and each.startswith("v1a,") and _is_ed25519(key, each[4:], signed):
                return json.loads(raw_body)
    raise VerificationError("no signature fits: is the body raw, and the secret that of this endpoint?")


def _is_ed25519(key, signature, signed):
    try:
        raw = _unbase64(signature.translate({43: 45, 47: 95}).rstrip("="))
        ed25519.Ed25519PublicKey.from_public_bytes(key).verify(raw, signed)
        return True
    except (InvalidSignature, ValueError):
        return False


def verify_receipt(receipt, keys):
    """What the receipt of a closed QR code states; `keys` as `published_keys` returned them, old ones included."""
    try:
        header, payload, signature = receipt.split(".")
        found = json.loads(_unbase64(header))
        key = next(each["x"] for each in keys if each.get("kid") == found["kid"] and each.get("crv") == "Ed25519")
        is_receipt = (found["alg"], found["typ"]) == ("EdDSA", "svc-receipt")
        if is_receipt and _is_ed25519(_unbase64(key), signature, f"{header}.{payload}".encode()):
            return json.loads(_unbase64(payload))
    except (ValueError, KeyError, TypeError, StopIteration):
        pass
    raise VerificationError("the receipt is forged, or its key is not among these")
