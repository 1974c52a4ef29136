// A client of svc for Java in one file, version 0.1.0: copy it into your project, and give it your package.
// Copyright (c) 2026 The svc contributors. SPDX-License-Identifier: MIT
import java.math.*;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.security.spec.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.*;
import javax.crypto.*;
import javax.crypto.spec.*;

/**
 * Needs Java 17 and no library. It gets and renews tokens, sends what is safe to send again after a lost response,
 * encrypts orders of gift cards, and verifies webhooks and receipts. What has no method of its own is
 * {@code request(method, path, body)}. Bodies go in and come out as JSON text, for the JSON library that you have.
 * One instance serves a whole process, all its threads.
 */
public abstract class Svc {
  /** A request failed. Handle it by {@code error}, the stable code, whose remedy is at {@code docs};
   * {@code no_response} and {@code unexpected_response} are not of the service. Quote {@code requestId} for help. */
  public static class SvcError extends RuntimeException {
    public final String error, description, requestId, docs, details;
    public final int status;
    public String idempotencyKey, body; // of a write

    SvcError(String error, String description, int status, String requestId, String docs, String details) {
      super(error + ": " + description + " (status " + status + ", request " + requestId + ")");
      this.error = error; this.description = description; this.status = status;
      this.requestId = requestId; this.docs = docs; this.details = details;
    }
  }

  /** Whether a write was carried out is not known. Send the same {@code body} again with its {@code idempotencyKey}. */
  public static final class OutcomeUnknown extends SvcError {
    OutcomeUnknown(SvcError it) { super(it.error, it.description, it.status, it.requestId, it.docs, it.details); }
  }

  /** A webhook or a receipt is not from the service, was changed, or is too old. */
  public static final class VerificationError extends RuntimeException {
    VerificationError(String what) { super(what); }
  }

  private static final String VERSION = "0.1.0", CARDS = "/api/v0/partner/svcCard";
  private static final String PROBLEM = "application/problem+json, ";
  private static final Set<Integer> NOT_BEGUN = Set.of(408, 421, 429), MAY_HAVE_BEGUN = Set.of(500, 502, 503, 504);
  private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  protected final String baseUrl;
  /** For one attempt, and for a call with all its attempts. Change options before the first call. */
  public Duration timeout = Duration.ofSeconds(15), deadline = Duration.ofSeconds(60);
  public int maxRetries = 4;
  /** Header fields of every request. */
  public final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private Token held;

  private record Token(String text, String cookie, long renewAt, long endsAt) {
    static Token of(String text, String cookie, long now, double seconds) {
      var early = Math.min(seconds * 0.2, 300);
      return new Token(text, cookie, now + (long) ((seconds - early) * 1e9), now + (long) (seconds * 1e9));
    }
  }

  protected Svc(String baseUrl) {
    if (!baseUrl.matches("https://[^/?#@]+[^?#@]*|http://(localhost|127[.\\d]+|\\[::1])(:\\d+)?(/[^?#@]*)?"))
      throw new IllegalArgumentException("baseUrl must be like https://pay.example.com: http:// reveals the keys");
    this.baseUrl = baseUrl.replaceAll("/+$", "");
    headers.put("User-Agent", "svc-java/" + VERSION);
  }

  public String request(String method, String path, String body) { return request(method, path, body, null, Map.of()); }

  /** Any operation; a body that begins with a brace is JSON, another one an encrypted order. Returns the response. */
  public String request(String method, String path, String body, String idempotencyKey, Map<String, String> more) {
    return call(method, path, body, idempotencyKey, more).body();
  }

  HttpResponse<String> call(String method, String path, String body, String idempotencyKey, Map<String, String> more) {
    var head = new HashMap<>(more);
    if (!method.equals("GET")) {
      if (body == null) body = "{}";
      head.put("Idempotency-Key", idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey);
      head.put("Content-Type", body.startsWith("{") ? "application/json" : "application/jose");
    }
    var again = !method.equals("POST") || !path.startsWith("/sandbox/"); // what plays the world has no idempotency keys
    var until = System.nanoTime() + deadline.toNanos();
    for (Token refused = null; ; ) {
      var token = token(refused);
      head.put("Authorization", "Bearer " + token.text());
      if (token.cookie() != null) head.put("Cookie", token.cookie());
      try {
        return send(method, path, body, head, again, until);
      } catch (SvcError failure) {
        failure.idempotencyKey = head.get("Idempotency-Key");
        failure.body = body;
        if (refused != null || !failure.error.matches("invalid_token|invalid_session")) throw failure;
        refused = token;
      }
    }
  }

  /** Sends the same bytes until there is a success, or a failure that sending them again does not help. */
  private HttpResponse<String> send(
      String method, String path, String body, Map<String, String> more, boolean again, long until) {
    var head = new TreeMap<>(headers);
    head.putAll(more);
    head.merge("Accept", PROBLEM + "application/json", (asked, all) -> PROBLEM + asked); // failures with their fields
    var publisher = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
    var request = HttpRequest.newBuilder(URI.create(baseUrl + path)).method(method, publisher);
    head.forEach(request::setHeader);
    for (int attempt = 0, losses = 0; ; attempt++) {
      SvcError failure;
      var retryAfter = 0L;
      var sent = http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
      try {
        var response = sent.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        if (response.statusCode() < 300 && response.body().matches("(?s)\\s*\\{.*}\\s*|[\\w.-]*")) return response;
        var after = header(response, "Retry-After").filter(text -> text.matches("\\d{1,6}"));
        retryAfter = Long.parseLong(after.orElse("0"));
        failure = failure(response);
      } catch (ExecutionException | TimeoutException | InterruptedException error) {
        sent.cancel(true);
        if (error instanceof InterruptedException) Thread.currentThread().interrupt();
        failure = new SvcError("no_response", method + " " + path + ": " + error, 0, null, null, "");
      }
      var isForeign = failure.error.equals("unexpected_response") && (failure.status < 300 || failure.status >= 500);
      var isLost = isForeign || failure.error.matches("no_response|outcome_unknown");
      if (isLost) losses++;
      var passing = NOT_BEGUN.contains(failure.status) || again && (isLost || MAY_HAVE_BEGUN.contains(failure.status));
      var backoffMs = Math.min(8000, 250 << attempt) * ThreadLocalRandom.current().nextDouble(0.5, 1);
      var wait = (long) (Math.max(retryAfter * 1e3, backoffMs) * 1e6);
      var isLast = attempt == maxRetries || System.nanoTime() + wait >= until || Thread.currentThread().isInterrupted();
      // After an attempt that may have been carried out, only a final response says what happened.
      var isUnknown = head.containsKey("Idempotency-Key") && (isLost || passing && losses > 0);
      if (isLast || !passing) throw isUnknown ? new OutcomeUnknown(failure) : failure;
      java.util.concurrent.locks.LockSupport.parkNanos(wait);
    }
  }

  private SvcError failure(HttpResponse<String> response) {
    String text = response.body(), error = text(text, "error"), requestId = text(text, "requestId");
    var what = "not a response of svc: " + text.lines().findFirst().orElse("");
    if (error == null || requestId == null)
      return new SvcError("unexpected_response", what, response.statusCode(), null, null, text);
    var docs = baseUrl + "/docs/errors#" + error;
    return new SvcError(error, text(text, "detail"), response.statusCode(), requestId, docs, text);
  }

  private static Optional<String> header(HttpResponse<?> of, String name) { return of.headers().firstValue(name); }

  abstract Token newToken(long now);

  /** A token that is good now, renewed in the last fifth of its life. Until its end a failed renewal is no harm. */
  private synchronized Token token(Token refused) {
    var now = System.nanoTime();
    var isGood = held != null && held != refused && now < held.endsAt();
    if (isGood && now < held.renewAt()) return held;
    try {
      held = newToken(now);
    } catch (SvcError failure) {
      if (!isGood) throw failure;
      held = new Token(held.text(), held.cookie(), now + 5_000_000_000L, held.endsAt());
    }
    return held;
  }

  HttpResponse<String> plain(String method, String path, String body, Map<String, String> more) {
    return send(method, path, body, more, true, System.nanoTime() + deadline.toNanos());
  }

  /** The service's public keys (RFC 7517): to encrypt orders, and to verify receipts. */
  public String publishedKeys() { return plain("GET", "/.well-known/jwks.json", null, Map.of()).body(); }

  public static final class Merchant extends Svc {
    /** What cancelling returns: the code as JSON, what was before, and the receipt that proves it. */
    public record Cancelled(String code, String outcome, int payments, BigDecimal amount, String receipt) {}
    private final String apiKey;
    public Merchant(String baseUrl, String apiKey) { super(baseUrl); this.apiKey = apiKey; }

    @Override Token newToken(long now) {
      var response = plain("POST", "/api/v0/merchant/token", null, Map.of("API-Key", apiKey));
      var expiry = Double.parseDouble(text(response.body(), "expiry")) / 1000; // an instant, or the time that is left
      var date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(header(response, "Date").orElseThrow()));
      var seconds = expiry > 1e8 ? expiry - date.getEpochSecond() : expiry;
      return Token.of(text(response.body(), "token"), null, now, seconds);
    }

    public String createQrCode(String json, String idempotencyKey) {
      return request("POST", "/api/v0/qr-code", json, idempotencyKey, Map.of());
    }
    public String getQrCode(String id) { return request("GET", "/api/v0/qr-code/" + encoded(id), null); }

    /** After this no payment is accepted. */
    public Cancelled cancelQrCode(String id, String idempotencyKey) {
      var response = call("PATCH", "/api/v0/qr-code/" + encoded(id) + "/cancel", null, idempotencyKey, Map.of());
      var end = header(response, "svc-outcome").orElseThrow().split("; \\w+=");
      var receipt = header(response, "svc-receipt").orElseThrow();
      return new Cancelled(response.body(), end[0], Integer.parseInt(end[1]), new BigDecimal(end[2]), receipt);
    }
  }

  public static final class Partner extends Svc {
    private final String client, kid, key;
    private volatile String published;

    /** {@code kid} and {@code k} of the shared key that was issued to you; null: orders go to the published key. */
    public Partner(String baseUrl, String partnerId, String clientId, String clientSecret, String kid, String key) {
      super(baseUrl);
      headers.put("partnerId", partnerId);
      this.client = "&client_id=" + encoded(clientId) + "&client_secret=" + encoded(clientSecret);
      this.kid = kid; this.key = key;
    }

    @Override Token newToken(long now) {
      var form = Map.of("Content-Type", "application/x-www-form-urlencoded");
      var response = plain("POST", "/oauth/token", "grant_type=client_credentials" + client, form);
      var cookies = response.headers().allValues("Set-Cookie").stream().map(line -> line.split(";")[0]);
      var session = cookies.filter(each -> each.startsWith("SVCSESSION=")).findFirst().orElse(null);
      var seconds = Double.parseDouble(text(response.body(), "expires_in"));
      return Token.of(text(response.body(), "access_token"), session, now, seconds);
    }

    /** The order as a JWE. Keep it with its idempotency key: the same two may be sent again, and issue one card. */
    public String encrypt(String order) {
      try {
        if (key != null) {
          var wrap = Cipher.getInstance("AESWrap");
          wrap.init(Cipher.WRAP_MODE, new SecretKeySpec(bytes(key), "AES"));
          return jwe(order, "A256KW", kid, wrap);
        }
        var newest = published != null ? published : objects(publishedKeys())
            .filter(each -> "RSA-OAEP-256".equals(text(each, "alg"))).findFirst().orElseThrow();
        published = newest;
        BigInteger n = new BigInteger(1, bytes(text(newest, "n"))), e = new BigInteger(1, bytes(text(newest, "e")));
        var wrap = Cipher.getInstance("RSA/ECB/OAEPPadding");
        wrap.init(Cipher.WRAP_MODE, KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(n, e)),
            new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT));
        return jwe(order, "RSA-OAEP-256", text(newest, "kid"), wrap);
      } catch (GeneralSecurityException error) { throw new IllegalStateException(error); }
    }

    /** Issues a gift card for an order, or for what {@code encrypt} returned. */
    public String createCard(String order, String idempotencyKey) {
      if (!order.startsWith("{")) return request("POST", CARDS, order, idempotencyKey, Map.of());
      var id = idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
      try {
        return createCard(encrypt(order), id);
      } catch (SvcError failure) {
        if (key != null || !failure.error.equals("decryption_failed")) throw failure;
        published = null; // the service has a new key
        return createCard(encrypt(order), id);
      }
    }

    public String searchCards(String json) { return request("POST", CARDS + "/search", json); }
  }

  /** A compact JWE (RFC 7516): A256GCM encrypts the content, {@code wrap} its key. */
  private static String jwe(String text, String alg, String kid, Cipher wrap) throws GeneralSecurityException {
    var header = base64(("{\"alg\":\"" + alg + "\",\"enc\":\"A256GCM\",\"kid\":\"" + kid + "\"}").getBytes());
    var generator = KeyGenerator.getInstance("AES");
    generator.init(256);
    var key = generator.generateKey();
    var gcm = Cipher.getInstance("AES/GCM/NoPadding");
    gcm.init(Cipher.ENCRYPT_MODE, key); // draws an IV of 12 bytes
    gcm.updateAAD(header.getBytes());
    var content = gcm.doFinal(text.getBytes(StandardCharsets.UTF_8));
    var end = content.length - 16;
    byte[] encrypted = Arrays.copyOf(content, end), tag = Arrays.copyOfRange(content, end, end + 16);
    var parts = Stream.of(wrap.wrap(key), gcm.getIV(), encrypted, tag).map(Svc::base64);
    return header + "." + parts.collect(Collectors.joining("."));
  }

  private static String base64(byte[] bytes) { return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes); }
  private static byte[] bytes(String base64url) { return Base64.getUrlDecoder().decode(base64url); }
  private static String encoded(String text) { return URLEncoder.encode(text, StandardCharsets.UTF_8); }

  private static Stream<String> objects(String json) {
    return Pattern.compile("\\{[^{}]*}").matcher(json).results().map(each -> each.group());
  }

  /** The first string, number or boolean of JSON by its name: enough for what this client reads. */
  public static String text(String json, String name) {
    var value = "(?:\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"|([-\\w.+]+))";
    var found = Pattern.compile('"' + name + "\"\\s*:\\s*" + value).matcher(json);
    if (!found.find()) return null;
    return found.group(2) != null ? found.group(2) : found.group(1).replace("\\\"", "\"").replace("\\\\", "\\");
  }

  /** Verifies a delivery of {@code rawBody}, the bytes as they came. {@code header} returns a header field by its name;
   * {@code secrets} are the endpoint's {@code whsec_…}, or the service's public keys {@code whpk_…}. A delivery may
   * come twice: skip a {@code webhook-id} that you have. */
  public static void verifyWebhook(byte[] rawBody, UnaryOperator<String> header, Instant now, String... secrets) {
    String id = header.apply("webhook-id"), timestamp = header.apply("webhook-timestamp");
    if (id == null || timestamp == null || !timestamp.matches("[0-9]{1,12}")
        || Math.abs(now.getEpochSecond() - Long.parseLong(timestamp)) > 300)
      throw new VerificationError("a header is missing, or webhook-timestamp is far from this machine's clock");
    var signed = new java.io.ByteArrayOutputStream();
    signed.writeBytes((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    signed.writeBytes(rawBody);
    for (var each : Objects.requireNonNullElse(header.apply("webhook-signature"), "").split(" "))
      for (var secret : secrets) if (isSigned(secret, each, signed.toByteArray())) return;
    throw new VerificationError("no signature fits: is the body raw, and the secret that of this endpoint?");
  }

  private static boolean isSigned(String secret, String signature, byte[] signed) {
    try {
      var key = Base64.getDecoder().decode(secret.substring(secret.indexOf('_') + 1));
      if (secret.startsWith("whpk_"))
        return signature.startsWith("v1a,")
            && isEd25519(key, Base64.getDecoder().decode(signature.substring(4)), signed);
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      var right = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed));
      return MessageDigest.isEqual(right.getBytes(), signature.getBytes());
    } catch (GeneralSecurityException | IllegalArgumentException error) { return false; }
  }

  private static boolean isEd25519(byte[] key, byte[] signature, byte[] signed) throws GeneralSecurityException {
    var prefix = HexFormat.of().parseHex("302a300506032b6570032100"); // of a public key in X.509 (RFC 8410)
    var encoded = Arrays.copyOf(prefix, prefix.length + key.length);
    System.arraycopy(key, 0, encoded, prefix.length, key.length);
    var verifier = Signature.getInstance("Ed25519");
    verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded)));
    verifier.update(signed);
    return verifier.verify(signature);
  }

  /** What the receipt of a closed QR code states, as JSON; {@code keys} as {@code publishedKeys} returned them. */
  public static String verifyReceipt(String receipt, String keys) {
    try {
      var parts = receipt.split("\\.", -1);
      var header = new String(bytes(parts[0]));
      var fits = objects(keys).filter(each -> text(header, "kid").equals(text(each, "kid")));
      var key = bytes(fits.map(each -> text(each, "x")).findFirst().orElseThrow());
      var signed = (parts[0] + "." + parts[1]).getBytes();
      var isReceipt = "EdDSA".equals(text(header, "alg")) && "svc-receipt".equals(text(header, "typ"));
      if (parts.length == 3 && isReceipt && isEd25519(key, bytes(parts[2]), signed)) return new String(bytes(parts[1]));
    } catch (GeneralSecurityException | RuntimeException error) { /* as below */ }
    throw new VerificationError("the receipt is forged, or its key is not among these");
  }
}
