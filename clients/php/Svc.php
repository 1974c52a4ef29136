<?php
// A client of svc for PHP in one file, version 0.1.0: copy it into your project.
// Copyright (c) 2026 The svc contributors. SPDX-License-Identifier: MIT
declare(strict_types=1);

namespace Svc;

const VERSION = '0.1.0';
const CARDS = '/api/v0/partner/svcCard';
const NOT_BEGUN = [408, 421, 429];
const MAY_HAVE_BEGUN = [500, 502, 503, 504];

/**
 * A request failed. Handle it by `error`, the stable code, whose remedy is at `docs`; `no_response` and
 * `unexpected_response` are not of the service. Quote `requestId` when you ask for help.
 */
class SvcError extends \RuntimeException
{
    /** Of a write: what it was sent with. */
    public ?string $idempotencyKey = null;
    public array|string|null $body = null;

    public function __construct(
        public readonly string $error,
        public readonly string $description,
        public readonly int $status = 0,
        public readonly ?string $requestId = null,
        public readonly array $errors = [],
        public readonly float $retryAfter = 0,
        public readonly ?string $docs = null,
    ) {
        parent::__construct("$error: $description (status $status, request $requestId)");
    }
}

/** Whether a write was carried out is not known. Send the same `body` again with the same `idempotencyKey`. */
final class OutcomeUnknown extends SvcError
{
    public static function of(SvcError $of): self
    {
        $about = [$of->error, $of->description, $of->status, $of->requestId];
        return new self(...$about, errors: $of->errors, retryAfter: $of->retryAfter, docs: $of->docs);
    }
}

/** A webhook or a receipt is not from the service, was changed, or is too old. */
final class VerificationError extends \RuntimeException
{
}

/**
 * Needs PHP 8.1 with openssl, and sodium for published keys and receipts. It gets and renews tokens, sends what is safe
 * to send again after a lost response, encrypts orders of gift cards, and verifies webhooks and receipts. What has no
 * method of its own is `request($method, $path, $body)`: JSON objects go in and come out as arrays; amounts are rupees.
 */
abstract class Client
{
    protected readonly string $baseUrl;
    protected array $headers = ['User-Agent' => 'svc-php/' . VERSION];

    /**
     * @param ?array $token what `onToken` was given, such as from a cache that your processes share: a token for each
     *     web request would be one too many
     * @param ?\Closure $onToken is given each new token, to store it
     */
    public function __construct(
        string $baseUrl,
        private ?array $token = null,
        private readonly ?\Closure $onToken = null,
        private readonly float $timeout = 15,
        private readonly float $deadline = 60,
        private readonly int $maxRetries = 4,
        array $headers = [],
    ) {
        if (!preg_match('~^(https://[^/?#@]+|http://(localhost|127[.\d]+|\[::1\])(:\d+)?)(/[^?#@]*)?$~', $baseUrl)) {
            throw new \InvalidArgumentException('baseUrl must be like https://pay.example.com: http reveals the keys');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->headers = $headers + $this->headers;
    }

    /** Any operation. An array is sent as JSON, a string as an encrypted order. Returns the response's `payload`. */
    public function request(
        string $method,
        string $path,
        array|string|null $body = null,
        ?string $idempotencyKey = null,
        array $headers = [],
    ): array {
        return $this->call($method, $path, $body, $idempotencyKey, $headers)[1];
    }

    protected function call(string $method, string $path, mixed $body, ?string $key, array $headers = []): array
    {
        $content = null;
        if ($method !== 'GET') {
            $headers['Idempotency-Key'] = $key ?? bin2hex(random_bytes(16));
            $headers['Content-Type'] = is_string($body) ? 'application/jose' : 'application/json';
            $content = is_string($body) ? $body : json($body ?: new \stdClass());
        }
        // What plays the world has no idempotency keys.
        $again = $method !== 'POST' || !str_starts_with($path, '/sandbox/');
        $until = hrtime(true) + $this->deadline * 1e9;
        for ($refused = null; ; $refused = $token) {
            $token = $this->token($refused);
            $sent = ['Authorization' => "Bearer {$token['token']}", 'Cookie' => $token['cookie'] ?? ''] + $headers;
            try {
                [$got, $found] = $this->send($method, $path, $content, array_filter($sent), $again, $until);
                return [$got, $found['payload'] ?? $found];
            } catch (SvcError $failure) {
                $failure->idempotencyKey = $headers['Idempotency-Key'] ?? null;
                $failure->body = $body;
                if ($refused || !in_array($failure->error, ['invalid_token', 'invalid_session'])) {
                    throw $failure;
                }
            }
        }
    }

    /** Sends the same bytes until there is a success, or a failure that sending them again does not help. */
    protected function send(
        string $method,
        string $path,
        ?string $content,
        array $headers,
        bool $again = true,
        float $until = INF,
    ): array {
        $until = min($until, hrtime(true) + $this->deadline * 1e9);
        $unknown = false;
        for ($attempt = 0; ; $attempt++) {
            [$status, $got, $text] = $this->attempt($method, $path, $content, $headers);
            $found = json_decode($text === '' ? '{}' : $text, true);
            if ($status >= 200 && $status < 300 && is_array($found)) {
                return [$got, $found];
            }
            $failure = $this->failure($status, $got, $text, $found);
            $isForeign = $failure->error === 'unexpected_response' && ($status < 300 || $status >= 500);
            $isLost = $isForeign || in_array($failure->error, ['no_response', 'outcome_unknown']);
            $unknown = $unknown || $isLost;
            $passing = in_array($status, NOT_BEGUN) || $again && ($isLost || in_array($status, MAY_HAVE_BEGUN));
            $wait = max($failure->retryAfter, min(8, 0.25 * 2 ** $attempt) * random_int(500, 1000) / 1000);
            if (!$passing || $attempt === $this->maxRetries || hrtime(true) + $wait * 1e9 >= $until) {
                // After an attempt that may have been carried out, only a final response says what happened.
                $isUnknown = isset($headers['Idempotency-Key']) && ($isLost || $passing && $unknown);
                throw $isUnknown ? OutcomeUnknown::of($failure) : $failure;
            }
            usleep((int) ($wait * 1e6));
        }
    }

    /** Status, header fields and body; status 0 where no whole response came. */
    private function attempt(string $method, string $path, ?string $content, array $headers): array
    {
        // Failures come with their fields.
        $accept = 'application/problem+json, ' . ($headers['Accept'] ?? 'application/json');
        $headers = ['Accept' => $accept, 'Connection' => 'close'] + $headers + $this->headers;
        $lines = array_map(fn ($name, $value) => "$name: $value", array_keys($headers), $headers);
        if (preg_match('/[\x00-\x1f\x7f]/', implode($lines))) {
            throw new \InvalidArgumentException('a header field has a control character');
        }
        $http = ['method' => $method, 'header' => $lines, 'timeout' => $this->timeout, 'protocol_version' => '1.1'];
        $http += ['ignore_errors' => true, 'follow_location' => 0] + ($content === null ? [] : ['content' => $content]);
        $stream = @fopen($this->baseUrl . $path, 'r', false, stream_context_create(['http' => $http]));
        if ($stream === false) {
            return [0, [], error_get_last()['message'] ?? ''];
        }
        $got = [];
        foreach (stream_get_meta_data($stream)['wrapper_data'] as $line) {
            if (preg_match('~^HTTP/\S+ (\d+)~', $line, $match)) {
                [$status, $got] = [(int) $match[1], []];
            } elseif (preg_match('/^([^:]+):\s*(.*)$/', $line, $match)) {
                $got[strtolower($match[1])][] = $match[2];
            }
        }
        $text = stream_get_contents($stream);
        $length = (int) ($got['content-length'][0] ?? strlen((string) $text));
        $isWhole = !stream_get_meta_data($stream)['timed_out'] && strlen((string) $text) === $length;
        return $isWhole ? [$status, $got, $text] : [0, $got, 'the response broke off'];
    }

    private function failure(int $status, array $got, string $text, mixed $found): SvcError
    {
        $after = (float) preg_replace('/\D.*/', '', $got['retry-after'][0] ?? '0');
        if ($status === 0) {
            return new SvcError('no_response', "no response: $text");
        }
        if (!isset($found['error'], $found['detail'], $found['requestId'])) {
            $what = 'not a response of svc: ' . substr($text, 0, 100);
            return new SvcError('unexpected_response', $what, $status, retryAfter: $after);
        }
        $docs = "$this->baseUrl/docs/errors#{$found['error']}";
        $about = [$found['error'], $found['detail'], $status, $found['requestId']];
        return new SvcError(...$about, errors: $found['errors'] ?? [], retryAfter: $after, docs: $docs);
    }

    /** Token, session cookie and seconds that it is good for. */
    abstract protected function newToken(): array;

    /** A token that is good now, renewed in the last fifth of its life. Until its end a failed renewal is no harm. */
    private function token(?array $refused): array
    {
        $now = time();
        $isGood = $this->token && $this->token !== $refused && $now < $this->token['endsAt'];
        if ($isGood && $now < $this->token['renewAt']) {
            return $this->token;
        }
        try {
            [$token, $cookie, $life] = $this->newToken();
            $times = ['renewAt' => $now + $life - min(300, $life / 5), 'endsAt' => $now + $life];
            $this->token = ['token' => $token, 'cookie' => $cookie] + $times;
            if ($this->onToken) {
                ($this->onToken)($this->token);
            }
        } catch (SvcError $failure) {
            if (!$isGood) {
                throw $failure;
            }
            $this->token['renewAt'] = $now + 5;
        }
        return $this->token;
    }

    /** The service's public keys (RFC 7517): to encrypt orders, and to verify receipts. */
    public function publishedKeys(): array
    {
        return $this->send('GET', '/.well-known/jwks.json', null, [])[1]['keys'];
    }
}

final class Merchant extends Client
{
    public function __construct(string $baseUrl, private readonly string $apiKey, mixed ...$options)
    {
        parent::__construct($baseUrl, ...$options);
    }

    protected function newToken(): array
    {
        [$got, $found] = $this->send('POST', '/api/v0/merchant/token', '', ['API-Key' => $this->apiKey]);
        $expiry = $found['expiry'] / 1000; // an instant of the service's clock, or the time that is left
        return [$found['token'], null, $expiry > 1e8 ? $expiry - strtotime($got['date'][0]) : $expiry];
    }

    public function createQrCode(array $fields, ?string $idempotencyKey = null): array
    {
        return $this->request('POST', '/api/v0/qr-code', $fields, $idempotencyKey);
    }

    public function getQrCode(string $id): array
    {
        return $this->request('GET', '/api/v0/qr-code/' . rawurlencode($id));
    }

    /** After this no payment is accepted. `outcome` and `payments` say what was before, `receipt` proves it. */
    public function cancelQrCode(string $id, ?string $idempotencyKey = null): array
    {
        [$got, $code] = $this->call('PATCH', '/api/v0/qr-code/' . rawurlencode($id) . '/cancel', [], $idempotencyKey);
        [$outcome, $count, $amount] = preg_split('/; \w+=/', $got['svc-outcome'][0]);
        $payments = ['count' => (int) $count, 'amount' => (float) $amount];
        return ['outcome' => $outcome, 'payments' => $payments, 'receipt' => $got['svc-receipt'][0]] + $code;
    }
}

final class Partner extends Client
{
    private ?array $published = null;

    /** @param ?array $sharedKey the `kid` and `k` that were issued to you; null: orders go to the published key */
    public function __construct(
        string $baseUrl,
        string $partnerId,
        private readonly string $clientId,
        private readonly string $clientSecret,
        private readonly ?array $sharedKey = null,
        mixed ...$options,
    ) {
        parent::__construct($baseUrl, ...$options);
        $this->headers['partnerId'] = $partnerId;
    }

    protected function newToken(): array
    {
        $form = ['client_id' => $this->clientId, 'client_secret' => $this->clientSecret];
        $form['grant_type'] = 'client_credentials';
        $headers = ['Content-Type' => 'application/x-www-form-urlencoded'];
        [$got, $found] = $this->send('POST', '/oauth/token', http_build_query($form), $headers);
        preg_match('/SVCSESSION=[^;]+/', implode('; ', $got['set-cookie'] ?? []), $session);
        return [$found['access_token'], $session[0] ?? null, $found['expires_in']];
    }

    /** The order as a JWE. Keep it with its idempotency key: the same two may be sent again, and issue one card. */
    public function encrypt(array $order): string
    {
        if ($this->sharedKey) {
            $header = ['alg' => 'A256KW', 'enc' => 'A256GCM', 'kid' => $this->sharedKey['kid']];
            return jwe($order, $header, unbase64($this->sharedKey['k']));
        }
        $fits = fn ($key) => $key['use'] === 'enc' && ($key['crv'] ?? '') === 'X25519';
        $this->published ??= current(array_filter($this->publishedKeys(), $fits));
        $secret = random_bytes(32);
        $shared = sodium_crypto_scalarmult($secret, unbase64($this->published['x']));
        $epk = ['kty' => 'OKP', 'crv' => 'X25519', 'x' => base64(sodium_crypto_scalarmult_base($secret))];
        $header = ['alg' => 'ECDH-ES+A256KW', 'enc' => 'A256GCM', 'kid' => $this->published['kid'], 'epk' => $epk];
        // Concat KDF (RFC 7518 section 4.6.2).
        $info = pack('N', 14) . 'ECDH-ES+A256KW' . pack('NNN', 0, 0, 256);
        return jwe($order, $header, hash('sha256', pack('N', 1) . $shared . $info, true));
    }

    /** Issues a gift card for an order, or for what `encrypt` returned. */
    public function createCard(array|string $order, ?string $idempotencyKey = null): array
    {
        $key = $idempotencyKey ?? bin2hex(random_bytes(16));
        try {
            return $this->request('POST', CARDS, is_string($order) ? $order : $this->encrypt($order), $key);
        } catch (SvcError $failure) {
            if (is_string($order) || $this->sharedKey || $failure->error !== 'decryption_failed') {
                throw $failure;
            }
            $this->published = null; // the service has a new key
            return $this->request('POST', CARDS, $this->encrypt($order), $key);
        }
    }

    public function searchCards(array $fields): array
    {
        return $this->request('POST', CARDS . '/search', $fields)['data'];
    }
}

function json(mixed $value): string
{
    return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
}

function base64(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

function unbase64(string $text): string
{
    return (string) base64_decode(strtr($text, '-_', '+/'), true);
}

/** A compact JWE (RFC 7516): A256GCM encrypts the content, A256KW (RFC 3394) wraps its key. */
function jwe(array $order, array $header, string $wrappingKey): string
{
    [$head, $key, $iv] = [base64(json($header)), random_bytes(32), random_bytes(12)];
    $content = openssl_encrypt(json($order), 'aes-256-gcm', $key, OPENSSL_RAW_DATA, $iv, $tag, $head);
    [$check, $blocks] = [str_repeat("\xA6", 8), str_split($key, 8)];
    for ($step = 0; $step < 24; $step++) {
        $raw = OPENSSL_RAW_DATA | OPENSSL_ZERO_PADDING;
        $text = openssl_encrypt($check . $blocks[$step % 4], 'aes-256-ecb', $wrappingKey, $raw);
        $check = substr($text, 0, 8) ^ pack('J', $step + 1);
        $blocks[$step % 4] = substr($text, 8);
    }
    return implode('.', [$head, ...array_map(base64(...), [$check . implode($blocks), $iv, $content, $tag])]);
}

/**
 * The event of a delivery. `$rawBody` is what `file_get_contents('php://input')` returns; `$headers` may be `$_SERVER`
 * or `getallheaders()`; `$secrets` are the endpoint's `whsec_…`, or the service's public keys `whpk_…`. A delivery may
 * come twice: skip a `webhook-id` that you have.
 */
function verify_webhook(string $rawBody, array $headers, string|array $secrets, ?int $now = null): array
{
    foreach ($headers as $name => $value) {
        $named[str_replace(['http_', '_'], ['', '-'], strtolower((string) $name))] = $value;
    }
    [$id, $timestamp] = [(string) ($named['webhook-id'] ?? ''), (string) ($named['webhook-timestamp'] ?? '')];
    if ($id === '' || !preg_match('/^\d{1,12}$/D', $timestamp) || abs(($now ?? time()) - (int) $timestamp) > 300) {
        throw new VerificationError("a header is missing, or webhook-timestamp is far from this machine's clock");
    }
    foreach ((array) $secrets as $secret) {
        [$kind, $key] = [substr($secret, 0, 5), base64_decode(explode('_', $secret)[1])];
        $signed = "$id.$timestamp.$rawBody";
        $right = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
        foreach (explode(' ', (string) ($named['webhook-signature'] ?? '')) as $each) {
            $isRight = $kind === 'whsec' && hash_equals($right, $each);
            $byKey = $kind === 'whpk_' && str_starts_with($each, 'v1a,');
            if ($isRight || $byKey && is_ed25519($key, (string) base64_decode(substr($each, 4), true), $signed)) {
                return json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR);
            }
        }
    }
    throw new VerificationError('no signature fits: is the body raw, and the secret that of this endpoint?');
}

function is_ed25519(string $key, string $signature, string $signed): bool
{
    $isLong = strlen($key) === 32 && strlen($signature) === 64;
    return $isLong && sodium_crypto_sign_verify_detached($signature, $signed, $key);
}

/** What the receipt of a closed QR code states; `$keys` as `publishedKeys` returned them, old ones included. */
function verify_receipt(string $receipt, array $keys): array
{
    [$header, $payload, $signature] = explode('.', $receipt) + ['', '', ''];
    $found = json_decode(unbase64($header), true);
    $kind = [substr_count($receipt, '.'), $found['alg'] ?? '', $found['typ'] ?? ''];
    if ($kind === [2, 'EdDSA', 'svc-receipt']) {
        foreach ($keys as $key) {
            $isIt = ($key['kid'] ?? '') === ($found['kid'] ?? null) && ($key['crv'] ?? '') === 'Ed25519';
            if ($isIt && is_ed25519(unbase64($key['x']), unbase64($signature), "$header.$payload")) {
                return json_decode(unbase64($payload), true, flags: JSON_THROW_ON_ERROR);
            }
        }
    }
    throw new VerificationError('the receipt is forged, or its key is not among these');
}
