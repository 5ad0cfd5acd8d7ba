package attache.kit;

import static attache.kit.KitTest.NOW;
import static attache.kit.KitTest.expect;
import static attache.kit.KitTest.refused;
import static attache.kit.KitTest.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What an app does otherwise than it should, and what happens on a phone. */
final class StrangerTest {
  private final KitTest scene;

  StrangerTest(KitTest scene) {
    this.scene = scene;
  }

  private Path home(String name) {
    return scene.work.resolve(name).resolve(".attache/visits").resolve(scene.owner.user);
  }

  /** Copies a bundle with its signature. */
  private Path copy(Path bundle, Path target) throws Exception {
    Files.createDirectories(target.getParent());
    Files.copy(bundle, target);
    Files.copy(Path.of(bundle + ".sig"), Path.of(target + ".sig"));
    return target;
  }

  void run() {
    test("an edit during the installation stays", () -> {
      Attache kit = scene.installed("during");
      Offer offer = kit.verify(scene.own(2));
      kit.steps = name -> {
        if (name.equals("extract 1")) scene.edit("during", 0, true);
      };
      refused(Refusal.Code.NOT_ALLOWED, () -> kit.install(offer, () -> {}, NOW));
      kit.steps = name -> {};
      expect(kit.generation(), 1);
      expect(kit.hasChanges(), true);
    });
    test("an edit while the stores are closed stays", () -> {
      Attache kit = scene.installed("closing");
      Offer offer = kit.verify(scene.own(2));
      refused(
          Refusal.Code.NOT_ALLOWED, () -> kit.install(offer, () -> scene.edit("closing", 0, true), NOW));
      expect(kit.generation(), 1);
      expect(kit.decide(NOW, offer).action, Decision.Action.RETURN);
    });
    test("stores that cannot be closed are not replaced later", () -> {
      Attache kit = scene.installed("open");
      Offer offer = kit.verify(scene.own(2));
      try {
        kit.install(offer, () -> {
          throw new KitTest.Stop();
        }, NOW);
        throw new AssertionError("is installed");
      } catch (KitTest.Stop stop) {
        scene.edit("open", 0, true);
      }
      kit.resume();
      expect(kit.generation(), 1);
      expect(kit.decide(NOW, offer).action, Decision.Action.RETURN);
    });
    for (String kind : new String[] {"bundle", "delta"}) {
      test("an app that forgets to resume keeps its edits: " + kind, () -> {
        String name = "forgets-" + kind;
        Attache kit = scene.installed(name);
        Offer offer = kit.verify(kind.equals("delta") ? scene.delta() : scene.own(2));
        kit.steps = step -> {
          if (step.equals("commit")) throw new KitTest.Stop();
        };
        try {
          kit.install(offer, () -> {}, NOW);
          throw new AssertionError("is installed");
        } catch (KitTest.Stop stop) {
          // As if it had been stopped after the directory was renamed.
          Files.move(home(name).resolve("staging"), home(name).resolve("ready"));
        }
        scene.edit(name, 0, true);
        Attache again = scene.kit(name);
        expect(again.decide(NOW, again.verify(scene.own(2))).action, Decision.Action.RETURN);
        expect(again.generation(), 1);
      });
    }
    test("stores that the app removes in closing are replaced", () -> {
      Attache kit = scene.installed("removed");
      kit.install(kit.verify(scene.own(2)), () -> Files.delete(scene.store("removed")), NOW);
      expect(kit.generation(), 2);
    });
    test("two installations at once follow each other", () -> {
      List<Thread> threads = new ArrayList<>();
      List<Exception> errors = new ArrayList<>();
      for (int number = 0; number < 8; number++) {
        Attache kit = scene.kit("both");
        Offer offer = kit.verify(scene.own(1 + number % 2));
        threads.add(new Thread(() -> {
          try {
            kit.install(offer, () -> {}, NOW);
          } catch (Exception error) {
            boolean isLate = error instanceof Refusal && ((Refusal) error).code == Refusal.Code.NOT_ALLOWED;
            synchronized (errors) {
              if (!isLate) errors.add(error);
            }
          }
        }));
      }
      for (Thread thread : threads) thread.start();
      for (Thread thread : threads) thread.join();
      expect(errors, List.of());
      Attache kit = scene.kit("both");
      expect(kit.generation(), 2);
      expect(scene.stamps("both").get(0).split(" ")[1], scene.stamps("both").get(1).split(" ")[1]);
    });
    test("a file of which half has arrived", () -> {
      byte[] whole = Files.readAllBytes(scene.own(2));
      Path half = scene.work.resolve("half.zip");
      Files.write(half, Arrays.copyOf(whole, whole.length / 2));
      refused(Refusal.Code.ARCHIVE,
          () -> scene.installed("half").verify(half, Path.of(scene.own(2) + ".sig")));
    });
    for (String name : new String[] {"a b", "ü'\"#%", "日本", "-x", "zip.sig.zip", "n".repeat(200)}) {
      test("the name " + name, () -> {
        Path folder = scene.work.resolve(name);
        Attache kit = scene.kit(name);
        kit.install(kit.verify(copy(scene.own(1), folder.resolve(name))), () -> {}, NOW);
        scene.edit(name, 0, true);
        Attache.Return returned = kit.prepareReturn(folder.resolve("return.zip"), NOW);
        kit.delivered(returned);
        expect(kit.hasChanges(), false);
      });
    }
    test("a return of another installation is not delivered", () -> {
      Attache kit = scene.installed("late");
      Attache.Return early = kit.prepareReturn(scene.work.resolve("late.zip"), NOW);
      kit.install(kit.verify(scene.own(2)), () -> {}, NOW);
      scene.edit("late", 0, true);
      kit.prepareReturn(scene.work.resolve("next.zip"), NOW);
      kit.delivered(early);
      expect(Files.exists(early.file), false);
      expect(kit.decide(NOW).action, Decision.Action.RETURN);
    });
    test("a clock that was set back delays nothing", () -> {
      Attache kit = scene.installed("clock");
      scene.edit("clock", 0, true);
      Instant ahead = NOW.plus(Duration.ofDays(400));
      kit.delivered(kit.prepareReturn(scene.work.resolve("clock.zip"), ahead));
      Offer second = kit.verify(scene.own(2));
      expect(kit.decide(ahead, second).action, Decision.Action.WAIT);
      expect(kit.decide(NOW, second).action, Decision.Action.RETURN);
      kit.delivered(kit.prepareReturn(scene.work.resolve("clock.zip"), NOW));
      expect(kit.decide(NOW, second).action, Decision.Action.WAIT);
    });
  }
}
