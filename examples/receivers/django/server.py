"""Django, with svc_client.py beside it: PORT=3000 WEBHOOK_SECRET=whsec_… python3 server.py"""

import os

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from svc_client import VerificationError, verify_webhook

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], SECRET_KEY="example")
seen = set()  # in your database, with a unique index


@csrf_exempt  # the signature protects it
@require_POST
def hook(request: HttpRequest) -> HttpResponse:
    try:
        event = verify_webhook(request.body, request.headers, os.environ["WEBHOOK_SECRET"])
    except VerificationError:
        return HttpResponse(status=400)  # not from the service
    message_id = request.headers["webhook-id"]
    if message_id not in seen:
        seen.add(message_id)
        print("received", event["type"], event["data"].get("amount"), flush=True)  # slow work: a queue
    return HttpResponse(status=204)


urlpatterns = [path("hook", hook)]
if __name__ == "__main__":
    execute_from_command_line(["server.py", "runserver", "--noreload", "127.0.0.1:" + os.environ["PORT"]])
