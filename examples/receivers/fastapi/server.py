"""FastAPI, with svc_client.py beside it: WEBHOOK_SECRET=whsec_… uvicorn --port 3000 server:app"""

import os

from fastapi import BackgroundTasks, FastAPI, Request, Response
from svc_client import VerificationError, verify_webhook

app = FastAPI()
seen = set()  # in your database, with a unique index


# No model as a parameter: it would parse the body before it is verified.
@app.post("/hook")
async def hook(request: Request, work: BackgroundTasks) -> Response:
    raw = await request.body()  # the bytes that were sent
    try:
        event = verify_webhook(raw, request.headers, os.environ["WEBHOOK_SECRET"])
    except VerificationError:
        return Response(status_code=400)  # not from the service
    message_id = request.headers["webhook-id"]
    if message_id not in seen:
        seen.add(message_id)
        work.add_task(print, "received", event["type"], event["data"].get("amount"), flush=True)
    return Response(status_code=204)
