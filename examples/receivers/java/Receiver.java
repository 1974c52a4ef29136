// Plain Java, with Svc.java beside it: javac *.java && PORT=3000 WEBHOOK_SECRET=whsec_… java Receiver
// In Spring the same stands in a controller: @PostMapping("/hook") with @RequestBody byte[] rawBody and
// @RequestHeader Map<String, String> headers, and headers::get in place of getFirst.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

public class Receiver {
  static final Set<String> SEEN = ConcurrentHashMap.newKeySet(); // in your database, with a unique index

  static void receive(HttpExchange exchange) throws IOException {
    var rawBody = exchange.getRequestBody().readAllBytes(); // the bytes that were sent, before anything parses them
    var headers = exchange.getRequestHeaders();
    try {
      Svc.verifyWebhook(rawBody, headers::getFirst, Instant.now(), System.getenv("WEBHOOK_SECRET"));
    } catch (Svc.VerificationError error) {
      exchange.sendResponseHeaders(400, -1); // not from the service
      return;
    }
    exchange.sendResponseHeaders(204, -1); // first respond, then work
    var json = new String(rawBody, "UTF-8");
    if (SEEN.add(headers.getFirst("webhook-id")))
      System.out.println("received " + Svc.text(json, "type") + " " + Svc.text(json, "amount"));
  }

  public static void main(String[] args) throws IOException {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
    server.createContext("/hook", Receiver::receive);
    server.start();
  }
}
