import attache.kit.*;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Bundles in an app; call {@code kit.resume()} at its start, and {@code sync} when it is online. */
final class FieldApp {
  /** The app's own transport; {@code fetch} returns false if the server has no such file. */
  interface Server {
    boolean fetch(String name, Path file) throws Exception;
    void upload(Path file) throws Exception;
  }

  static Decision sync(Attache kit, Server server, Path cache, Attache.Closing closing, Consumer<Reason> show)
      throws Exception {
    Offer offer = fetch(kit, server, "android.delta." + kit.generation() + ".zip", cache);
    if (offer == null) offer = fetch(kit, server, "android.zip", cache);
    Decision decision = offer == null ? kit.decide() : kit.decide(offer);
    if (decision.action == Decision.Action.RETURN) {
      Attache.Return store = kit.prepareReturn(cache.resolve("return.zip"));
      server.upload(store.file);
      kit.delivered(store);
    } else if (decision.action != Decision.Action.WAIT) {
      kit.install(offer, closing);
      kit.reasons().forEach(show);
    }
    return decision;
  }

  private static Offer fetch(Attache kit, Server server, String name, Path cache) throws Exception {
    Path file = cache.resolve(name);
    if (!server.fetch(name, file) || !server.fetch(name + ".sig", cache.resolve(name + ".sig"))) return null;
    try {
      return kit.verify(file);
    } catch (Refusal refusal) {
      if (name.contains("delta")) return null;
      throw refusal;
    }
  }
}
