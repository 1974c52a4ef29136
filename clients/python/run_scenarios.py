"""Runs ../scenarios.json and ../vectors.json with the client: python3 run_scenarios.py SANDBOX.json; a line for each."""
import base64
import json
import pathlib
import re
import sys
import uuid

import svc_client
from svc_client import Merchant, OutcomeUnknown, Partner, SvcError, VerificationError

FOLDER = pathlib.Path(__file__).resolve().parent.parent
sandbox = json.loads(pathlib.Path(sys.argv[1]).read_text())
base, m, p = sandbox["baseUrl"], sandbox["merchant"], sandbox["incentivePartner"]
identity = base, p["partnerId"], p["clientId"], p["clientSecret"]
clients = {
    "merchant": Merchant(base, m["apiKey"]),
    "other": Merchant(base, sandbox["otherMerchant"]["apiKey"]),
    "once": Merchant(base, m["apiKey"], max_retries=0),
    "impatient": Merchant(base, m["apiKey"], max_retries=0, timeout=0.5),
    "stranger": Merchant(base, "svc_test_unknown"),
    "unreachable": Merchant("http://127.0.0.1:1", m["apiKey"], max_retries=0),
    "partner": Partner(*identity, p["sharedKey"]),
    "published": Partner(*identity),
}


def call(name, args):
    if name == "openMerchant":
        return Merchant(*args)
    if name == "verifyReceipt":
        return svc_client.verify_receipt(*args)
    client, method = name.split(".")
    if method == "request":
        http_method, path, body, key, headers = args
        return clients[client].request(http_method, path, body, idempotency_key=key, headers=headers)
    if method == "createQrCode":
        return clients[client].create_qr_code(args[1], **args[0])
    if method == "searchCards":
        return clients[client].search_cards(**args[0])
    return getattr(clients[client], re.sub("[A-Z]", lambda found: "_" + found[0].lower(), method))(*args)


def resolve(value, known):
    """The value with what `$name.path` stands for."""
    if isinstance(value, dict):
        return {name: resolve(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [resolve(each, known) for each in value]
    if not isinstance(value, str):
        return value

    def found(match):
        at = known
        for part in match[1].split("."):
            at = at[part]
        return at

    whole = re.fullmatch(r"\$([\w.]+)", value)
    return found(whole) if whole else re.sub(r"\$([\w.]+)", found, value)


def differs(expected, actual, path=""):
    """The first place where the actual value is not what was expected; fields that are not named may be anything."""
    if expected == "*":
        return None if actual else f"{path} is missing"
    if isinstance(expected, dict) and isinstance(actual, dict):
        return next(filter(None, (differs(each, actual.get(name), f"{path}.{name}") for name, each in expected.items())), None)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return next(filter(None, (differs(*pair, f"{path}[]") for pair in zip(expected, actual))), None)
    return None if expected == actual else f"{path} is {actual!r}, not {expected!r}"


def facts(error):
    kinds = (OutcomeUnknown, SvcError, VerificationError, ValueError)
    kind = next(each.__name__ for each in kinds if isinstance(error, each))
    names = {"idempotencyKey": "idempotency_key", "requestId": "request_id"}
    fields = ("error", "status", "docs", "errors", "body", "idempotencyKey", "requestId")
    found = {each: getattr(error, names.get(each, each), None) for each in fields}
    return {**found, "kind": "usage" if kind == "ValueError" else kind, "errors": list(found["errors"] or [])}


def run(steps):
    known = {"sandbox": sandbox, "baseUrl": base, "key": f"key-{uuid.uuid4()}", "key2": f"key-{uuid.uuid4()}"}
    for step in steps:
        expected = step.get("fails", step.get("expect", {}))
        try:
            result = call(step["call"], resolve(step["with"], known))
            failed = "fails" in step
        except (SvcError, VerificationError, ValueError) as error:
            result, failed = facts(error), "fails" not in step
        wrong = "it failed" if failed else differs(resolve(expected, known), result) if expected else None
        if wrong or failed:
            raise AssertionError(f"{step['call']}: {wrong}: {result!r}")
        known[step.get("as", "last")] = result


def report(name, work):
    try:
        work()
        print("ok", name)
    except Exception as error:  # each is a line of the report
        print("FAILED", name, repr(error))


def verdict(case, work):
    try:
        is_valid = work() is not None
    except VerificationError:
        is_valid = False
    assert is_valid == case["valid"], "was accepted" if is_valid else "was refused"


for scenario in json.loads((FOLDER / "scenarios.json").read_text()):
    report(scenario["name"], lambda: run(scenario["steps"]))
vectors = json.loads((FOLDER / "vectors.json").read_text())
for case in vectors["webhooks"]:
    raw = base64.b64decode(case["body"])
    given = raw, case["headers"], *case["secrets"]
    report(case["name"], lambda: verdict(case, lambda: svc_client.verify_webhook(*given, now=case["now"])))
for case in vectors["receipts"]:
    report(case["name"], lambda: verdict(case, lambda: svc_client.verify_receipt(case["receipt"], vectors["receiptKeys"])))
for case in vectors["encryption"]:
    print("jwe", Partner(*identity, vectors["sharedKey"]).encrypt(case["order"]))
