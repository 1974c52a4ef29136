<?php
// Plain PHP, with Svc.php beside it: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 hook.php
// In Laravel the same stands in a controller, with $request->getContent(); declare its route in routes/api.php, which has
// no CSRF check.
use function Svc\verify_webhook;

require 'Svc.php';

try {
    // The bytes that were sent, before anything parses them.
    $event = verify_webhook(file_get_contents('php://input'), $_SERVER, getenv('WEBHOOK_SECRET'));
} catch (Svc\VerificationError) {
    http_response_code(400); // not from the service
    return;
}
http_response_code(204);
// In your database, with a unique index; a folder stands for it here.
$seen = @fopen(sys_get_temp_dir() . '/seen-' . hash('sha256', $_SERVER['HTTP_WEBHOOK_ID']), 'x');
if ($seen) {
    error_log("received {$event['type']} {$event['data']['amount']}");
}
