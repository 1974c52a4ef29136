// Runs ../scenarios.json and ../vectors.json with the client, a line for each:
// javac -d OUT Svc.java RunScenarios.java && java -cp OUT RunScenarios SANDBOX.json FOLDER-OF-SCENARIOS
import java.lang.reflect.InvocationTargetException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.regex.Pattern;

public class RunScenarios {
  static final Pattern NAME = Pattern.compile("\\$([\\w.]+)");
  static final Map<String, Svc> CLIENTS = new HashMap<>();

  public static void main(String[] args) throws Exception {
    var sandbox = map(Json.parse(Files.readString(Path.of(args[0]))));
    var base = (String) sandbox.get("baseUrl");
    var apiKey = (String) map(sandbox.get("merchant")).get("apiKey");
    for (var name : List.of("merchant", "once", "impatient")) CLIENTS.put(name, new Svc.Merchant(base, apiKey));
    CLIENTS.put("other", new Svc.Merchant(base, (String) map(sandbox.get("otherMerchant")).get("apiKey")));
    CLIENTS.put("stranger", new Svc.Merchant(base, "svc_test_unknown"));
    CLIENTS.put("unreachable", new Svc.Merchant("http://127.0.0.1:1", apiKey));
    for (var name : List.of("once", "impatient", "unreachable")) CLIENTS.get(name).maxRetries = 0;
    CLIENTS.get("impatient").timeout = Duration.ofMillis(500);
    var partner = map(sandbox.get("incentivePartner"));
    CLIENTS.put("partner", partner(base, partner, map(partner.get("sharedKey"))));
    CLIENTS.put("published", partner(base, partner, Map.of()));

    for (var scenario : (List<?>) Json.parse(Files.readString(Path.of(args[1], "scenarios.json"))))
      report(map(scenario), () -> run((List<?>) map(scenario).get("steps"), sandbox));
    var vectors = map(Json.parse(Files.readString(Path.of(args[1], "vectors.json"))));
    for (var each : (List<?>) vectors.get("webhooks")) report(map(each), () -> verdict(map(each), () -> webhook(map(each))));
    var keys = Json.write(Map.of("keys", vectors.get("receiptKeys")));
    for (var each : (List<?>) vectors.get("receipts"))
      report(map(each), () -> verdict(map(each), () -> Svc.verifyReceipt((String) map(each).get("receipt"), keys)));
    for (var each : (List<?>) vectors.get("encryption"))
      System.out.println("jwe " + partner(base, partner, map(vectors.get("sharedKey"))).encrypt(Json.write(map(each).get("order"))));
  }

  interface Work { void run() throws Exception; }

  static Svc.Partner partner(String base, Map<String, Object> of, Map<String, Object> key) {
    String id = (String) of.get("partnerId"), client = (String) of.get("clientId"), secret = (String) of.get("clientSecret");
    return new Svc.Partner(base, id, client, secret, (String) key.get("kid"), (String) key.get("k"));
  }

  static void report(Map<String, Object> of, Work work) {
    try {
      work.run();
      System.out.println("ok " + of.get("name"));
    } catch (Exception error) { System.out.println("FAILED " + of.get("name") + " " + error); }
  }

  static void verdict(Map<String, Object> of, Work work) throws Exception {
    var isValid = true;
    try { work.run(); } catch (Svc.VerificationError error) { isValid = false; }
    if (!of.get("valid").equals(isValid)) throw new AssertionError(isValid ? "was accepted" : "was refused");
  }

  static void webhook(Map<String, Object> of) {
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    map(of.get("headers")).forEach((name, value) -> headers.put(name, (String) value));
    var secrets = ((List<?>) of.get("secrets")).toArray(String[]::new);
    var now = Instant.ofEpochSecond(((BigDecimal) of.get("now")).longValueExact());
    Svc.verifyWebhook(Base64.getDecoder().decode((String) of.get("body")), headers::get, now, secrets);
  }

  static void run(List<?> steps, Map<String, Object> sandbox) throws Exception {
    var known = new HashMap<String, Object>(Map.of("sandbox", sandbox, "baseUrl", sandbox.get("baseUrl")));
    for (var key : List.of("key", "key2")) known.put(key, "key-" + UUID.randomUUID());
    for (var each : steps) {
      var step = map(each);
      Object result;
      var failed = false;
      try {
        result = call((String) step.get("call"), (List<?>) resolve(step.get("with"), known));
      } catch (Svc.SvcError | Svc.VerificationError | IllegalArgumentException error) {
        failed = true;
        result = facts(error);
      }
      var expected = resolve(step.getOrDefault("fails", step.get("expect")), known);
      var wrong = failed != step.containsKey("fails") ? "it " + (failed ? "failed" : "did not fail")
          : expected == null ? null : differs(expected, result, "");
      if (wrong != null) throw new IllegalStateException(step.get("call") + ": " + wrong + ": " + result);
      known.put((String) step.getOrDefault("as", "last"), result);
    }
  }

  static Object call(String name, List<?> args) throws Exception {
    if (name.equals("openMerchant")) return new Svc.Merchant((String) args.get(0), (String) args.get(1));
    if (name.equals("verifyReceipt")) return Json.parse(Svc.verifyReceipt((String) args.get(0), (String) args.get(1)));
    var client = CLIENTS.get(name.split("\\.")[0]);
    var texts = args.stream().map(each -> each == null || each instanceof String ? each : Json.write(each)).toArray();
    if (name.endsWith(".request")) {
      var headers = new HashMap<String, String>();
      map(args.get(4)).forEach((field, value) -> headers.put(field, (String) value));
      return payload(client.request((String) texts[0], (String) texts[1], (String) texts[2], (String) texts[3], headers));
    }
    for (var method : client.getClass().getMethods()) {
      if (!method.getName().equals(name.split("\\.")[1])) continue;
      try {
        var result = method.invoke(client, texts);
        if (result instanceof Svc.Merchant.Cancelled end) {
          var code = new HashMap<>(map(payload(end.code())));
          code.putAll(Map.of("outcome", end.outcome(), "receipt", end.receipt()));
          code.put("payments", Map.of("count", BigDecimal.valueOf(end.payments()), "amount", end.amount()));
          return code;
        }
        if (name.endsWith(".publishedKeys") || name.endsWith(".encrypt")) return result;
        var found = payload((String) result);
        return name.endsWith(".searchCards") ? map(found).get("data") : found;
      } catch (InvocationTargetException error) { throw (Exception) error.getCause(); }
    }
    throw new IllegalStateException("no method " + name);
  }

  static Object payload(String text) {
    var found = map(Json.parse(text));
    return found.getOrDefault("payload", found);
  }

  static Map<String, Object> facts(RuntimeException error) {
    var facts = new HashMap<String, Object>();
    facts.put("kind", error instanceof IllegalArgumentException ? "usage" : error.getClass().getSimpleName());
    if (!(error instanceof Svc.SvcError failure)) return facts;
    facts.put("error", failure.error);
    facts.put("status", BigDecimal.valueOf(failure.status));
    facts.put("requestId", failure.requestId);
    facts.put("docs", failure.docs);
    facts.put("idempotencyKey", failure.idempotencyKey);
    facts.put("body", failure.body != null && failure.body.startsWith("{") ? Json.parse(failure.body) : failure.body);
    if (failure.details.startsWith("{")) facts.put("errors", map(Json.parse(failure.details)).get("errors"));
    return facts;
  }

  /** The value with what {@code $name.path} stands for. */
  static Object resolve(Object value, Map<String, Object> known) {
    if (value instanceof Map<?, ?> fields) {
      var made = new LinkedHashMap<String, Object>();
      fields.forEach((name, each) -> made.put((String) name, resolve(each, known)));
      return made;
    }
    if (value instanceof List<?> list) return list.stream().map(each -> resolve(each, known)).collect(ArrayList::new, List::add, List::addAll);
    if (!(value instanceof String text)) return value;
    var whole = NAME.matcher(text);
    return whole.matches() ? find(whole.group(1), known) : NAME.matcher(text).replaceAll(each -> (String) find(each.group(1), known));
  }

  static Object find(String path, Object known) {
    for (var part : path.split("\\.")) known = map(known).get(part);
    return known;
  }

  /** The first place where the actual value is not what was expected; fields that are not named may be anything. */
  static String differs(Object expected, Object actual, String path) {
    if (expected.equals("*")) return actual == null || actual.equals("") ? path + " is missing" : null;
    if (expected instanceof Map<?, ?> fields && actual instanceof Map<?, ?> found) {
      for (var each : fields.entrySet()) {
        var wrong = differs(each.getValue(), found.get(each.getKey()), path + "." + each.getKey());
        if (wrong != null) return wrong;
      }
      return null;
    }
    if (expected instanceof List<?> list && actual instanceof List<?> found && list.size() == found.size()) {
      for (int n = 0; n < list.size(); n++) {
        var wrong = differs(list.get(n), found.get(n), path + "[]");
        if (wrong != null) return wrong;
      }
      return null;
    }
    var isEqual = expected instanceof BigDecimal number && actual instanceof BigDecimal other ? number.compareTo(other) == 0 : expected.equals(actual);
    return isEqual ? null : path + " is " + actual + ", not " + expected;
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> map(Object value) { return (Map<String, Object>) value; }

  /** A small reader and writer of JSON, where your project has a library. */
  static final class Json {
    private final String text;
    private int at = 0;

    private Json(String text) { this.text = text; }

    static Object parse(String text) { return new Json(text).value(); }

    private char next() {
      while (" \n\r\t".indexOf(text.charAt(at)) >= 0) at++;
      return text.charAt(at++);
    }

    private Object value() {
      var first = next();
      if (first == '"') return string();
      if (first == '{') {
        var map = new LinkedHashMap<String, Object>();
        for (var each = next(); each != '}'; each = next()) {
          if (each == ',') each = next();
          var name = string();
          next();
          map.put(name, value());
        }
        return map;
      }
      if (first == '[') {
        var list = new ArrayList<>();
        for (var each = next(); each != ']'; each = next()) {
          if (each != ',') at--;
          list.add(value());
        }
        return list;
      }
      var from = at - 1;
      while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) at++;
      var word = text.substring(from, at);
      return word.equals("null") ? null : word.matches("true|false") ? (Object) word.equals("true") : new BigDecimal(word);
    }

    private String string() {
      var made = new StringBuilder();
      for (var each = text.charAt(at++); each != '"'; each = text.charAt(at++)) {
        if (each == '\\') {
          each = text.charAt(at++);
          if (each == 'u') made.append((char) Integer.parseInt(text.substring(at, at += 4), 16));
          else made.append(each == 'n' ? '\n' : each == 't' ? '\t' : each == 'r' ? '\r' : each == 'b' ? '\b' : each == 'f' ? '\f' : each);
        } else made.append(each);
      }
      return made.toString();
    }

    static String write(Object value) {
      if (value instanceof Map<?, ?> map) {
        var fields = new StringJoiner(",", "{", "}");
        map.forEach((name, each) -> fields.add(write(name) + ":" + write(each)));
        return fields.toString();
      }
      if (value instanceof List<?> list) {
        var items = new StringJoiner(",", "[", "]");
        for (var each : list) items.add(write(each));
        return items.toString();
      }
      if (!(value instanceof String text)) return String.valueOf(value);
      var made = new StringBuilder("\"");
      for (var each : text.toCharArray())
        made.append(each == '"' || each == '\\' ? "\\" + each : each < 0x20 ? String.format("\\u%04x", (int) each) : each);
      return made.append('"').toString();
    }
  }
}
