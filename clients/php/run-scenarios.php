<?php
// Runs ../scenarios.json and ../vectors.json with the client: php run-scenarios.php SANDBOX.json; a line for each.
declare(strict_types=1);

use Svc\{Merchant, OutcomeUnknown, Partner, SvcError, VerificationError};

require __DIR__ . '/Svc.php';
$read = fn (string $file) => json_decode(file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);
$sandbox = $read($argv[1]);
[$base, $m, $p] = [$sandbox['baseUrl'], $sandbox['merchant'], $sandbox['incentivePartner']];
$identity = [$base, $p['partnerId'], $p['clientId'], $p['clientSecret']];
$clients = [
    'merchant' => new Merchant($base, $m['apiKey']),
    'other' => new Merchant($base, $sandbox['otherMerchant']['apiKey']),
    'once' => new Merchant($base, $m['apiKey'], maxRetries: 0),
    'impatient' => new Merchant($base, $m['apiKey'], maxRetries: 0, timeout: 0.5),
    'stranger' => new Merchant($base, 'svc_test_unknown'),
    'unreachable' => new Merchant('http://127.0.0.1:1', $m['apiKey'], maxRetries: 0),
    'partner' => new Partner(...$identity, sharedKey: $p['sharedKey']),
    'published' => new Partner(...$identity),
];

function call(string $name, array $args, array $clients): mixed
{
    return match (true) {
        $name === 'openMerchant' => new Merchant(...$args),
        $name === 'verifyReceipt' => Svc\verify_receipt(...$args),
        default => $clients[strtok($name, '.')]->{strtok('')}(...$args),
    };
}

/** The value with what `$name.path` stands for. */
function resolve(mixed $value, array $known): mixed
{
    if (is_array($value)) {
        return array_map(fn ($each) => resolve($each, $known), $value);
    }
    $found = fn (array $match) => array_reduce(explode('.', $match[1]), fn ($at, $part) => $at[$part], $known);
    if (!is_string($value)) {
        return $value;
    }
    return preg_match('/^\$([\w.]+)$/', $value, $whole) ? $found($whole) : preg_replace_callback('/\$([\w.]+)/', $found, $value);
}

/** The first place where the actual value is not what was expected; fields that are not named may be anything. */
function differs(mixed $expected, mixed $actual, string $path = ''): ?string
{
    if ($expected === '*') {
        return $actual ? null : "$path is missing";
    }
    if (is_array($expected) && is_array($actual) && (!array_is_list($expected) || count($expected) === count($actual))) {
        foreach ($expected as $name => $each) {
            if ($wrong = differs($each, $actual[$name] ?? null, "$path.$name")) {
                return $wrong;
            }
        }
        return null;
    }
    $isEqual = is_numeric($expected) && is_numeric($actual) ? $expected == $actual : $expected === $actual;
    return $isEqual ? null : "$path is " . json_encode($actual) . ', not ' . json_encode($expected);
}

function facts(Throwable $error): array
{
    $kind = (new ReflectionClass($error))->getShortName();
    return ['kind' => $kind === 'InvalidArgumentException' ? 'usage' : $kind] + get_object_vars($error);
}

function run(array $steps, array $sandbox, array $clients): void
{
    $known = ['sandbox' => $sandbox, 'baseUrl' => $sandbox['baseUrl'], 'key' => uniqid('key-', true), 'key2' => uniqid('key-', true)];
    foreach ($steps as $step) {
        $expected = $step['fails'] ?? $step['expect'] ?? null;
        try {
            $result = call($step['call'], resolve($step['with'], $known), $clients);
            $isWrong = isset($step['fails']);
        } catch (SvcError | VerificationError | InvalidArgumentException $error) {
            $result = facts($error);
            $isWrong = !isset($step['fails']);
        }
        $wrong = $isWrong || $expected === null ? null : differs(resolve($expected, $known), $result);
        if ($isWrong || $wrong) {
            throw new RuntimeException("{$step['call']}: $wrong: " . json_encode($result));
        }
        $known[$step['as'] ?? 'last'] = $result;
    }
}

function report(string $name, Closure $work): void
{
    try {
        $work();
        echo "ok $name\n";
    } catch (Throwable $error) {
        echo "FAILED $name $error\n";
    }
}

function verdict(array $case, Closure $work): void
{
    try {
        $isValid = is_array($work());
    } catch (VerificationError) {
        $isValid = false;
    }
    if ($isValid !== $case['valid']) {
        throw new RuntimeException($isValid ? 'was accepted' : 'was refused');
    }
}

foreach ($read(__DIR__ . '/../scenarios.json') as $scenario) {
    report($scenario['name'], fn () => run($scenario['steps'], $sandbox, $clients));
}
$vectors = $read(__DIR__ . '/../vectors.json');
foreach ($vectors['webhooks'] as $case) {
    $work = fn () => Svc\verify_webhook(base64_decode($case['body']), $case['headers'], $case['secrets'], $case['now']);
    report($case['name'], fn () => verdict($case, $work));
}
foreach ($vectors['receipts'] as $case) {
    report($case['name'], fn () => verdict($case, fn () => Svc\verify_receipt($case['receipt'], $vectors['receiptKeys'])));
}
foreach ($vectors['encryption'] as $case) {
    echo 'jwe ', (new Partner(...$identity, sharedKey: $vectors['sharedKey']))->encrypt($case['order']), "\n";
}
