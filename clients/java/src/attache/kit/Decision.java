package attache.kit;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an app does next. The rules are in {@code clients/decisions.json}. */
public final class Decision {
  /** What to do. */
  public enum Action {
    /** Install the bundle. */
    INSTALL,
    /** Apply the delta; if it is refused, install the bundle. */
    DELTA,
    /** Return the store; then ask again. */
    RETURN,
    /** Nothing to do until a newer bundle is offered. */
    WAIT
  }

  /** The days after which a return that no bundle includes is repeated. */
  private static final Duration REPEAT_AFTER = Duration.ofDays(3);

  public final Action action;
  /** The position of the offer to install or apply; -1 if there is none. */
  public final int offer;
  /** Whether the offer is past its {@code expires}: show the user its age. */
  public final boolean isExpired;

  private Decision(Action action, int offer, boolean isExpired) {
    this.action = action;
    this.offer = offer;
    this.isExpired = isExpired;
  }

  /** Decides about offers; a pure function. {@code installed} is null on an empty device. */
  public static Decision about(Installed installed, List<Offered> offers, Instant now) {
    Facts facts = new Facts();
    int best = -1;
    for (int index = 0; index < offers.size(); index++) {
      Offered offer = offers.get(index);
      if (installed != null && !isNewer(offer, installed)) continue;
      if (offer.from != null && (installed == null || !offer.from.equals(installed.stamps))) continue;
      if (best < 0 || isBetter(offer, offers.get(best))) best = index;
    }
    Offered offer = best < 0 ? null : offers.get(best);
    facts.newer = offer != null;
    facts.delta = offer != null && offer.from != null;
    if (installed != null) {
      facts.work = installed.dirty > 0 || installed.carried || installed.returnedWork;
      facts.changed = installed.changed;
      facts.returned = installed.returned == installed.handback && installed.returnedAt != null;
      if (offer != null && installed.install != null) {
        facts.included =
            offer.includes.stream().anyMatch(include ->
                include.stampId.equals(installed.stampId) && installed.install.equals(include.install)
                    && include.handback != null && include.handback >= installed.handback);
      }
      facts.overdue =
          offer != null && installed.returnedAt != null
              && (now.isBefore(installed.returnedAt)
                  || offer.created.isAfter(installed.returnedAt)
                      && now.isAfter(installed.returnedAt.plus(REPEAT_AFTER)));
    }
    Action action = facts.action();
    if (action == Action.RETURN || action == Action.WAIT) return new Decision(action, -1, false);
    return new Decision(action, best, offer.expires != null && now.isAfter(offer.expires));
  }

  private static boolean isNewer(Offered offer, Installed installed) {
    if (offer.generation != installed.generation) return offer.generation > installed.generation;
    return installed.created != null && offer.created.isAfter(installed.created);
  }

  /** Of one age, a delta comes first. */
  private static boolean isBetter(Offered offer, Offered other) {
    if (offer.generation != other.generation) return offer.generation > other.generation;
    if (!offer.created.equals(other.created)) return offer.created.isAfter(other.created);
    return offer.from != null && other.from == null;
  }

  /** The facts on which a decision depends. */
  public static final class Facts {
    /** A bundle that is newer than the installed one is offered. */
    public boolean newer;
    /** A delta from the installed bundle to the newest one is offered. */
    public boolean delta;
    /** Elements have local changes, or came open, or were returned with local changes. */
    public boolean work;
    /** The local changes differ from those at the last return, or at the installation. */
    public boolean changed;
    /** The last return was delivered. */
    public boolean returned;
    /** The newest bundle includes the last return. */
    public boolean included;
    /** The newest bundle was made after the return, which is some days old, without it. */
    public boolean overdue;

    /** Decides; a pure function. */
    public Action action() {
      if (!newer) return changed ? Action.RETURN : Action.WAIT;
      if (!work) return delta ? Action.DELTA : Action.INSTALL;
      if (changed || !returned) return Action.RETURN;
      if (included) return delta ? Action.DELTA : Action.INSTALL;
      return overdue ? Action.RETURN : Action.WAIT;
    }
  }

  /** The installed stores, as a decision sees them. */
  public static final class Installed {
    public long generation;
    /** Null if another app installed the stores. */
    public Instant created;
    /** The members of the stamp of the user's stores. */
    public String stampId;
    public String install;
    public long handback;
    /** The stamp ID of each store by its path. */
    public Map<String, String> stamps = new LinkedHashMap<>();
    /** The number of elements with local changes, in all stores. */
    public int dirty;
    /** Whether a store came with open edits. */
    public boolean carried;
    /** Whether a return of this installation had local changes. */
    public boolean returnedWork;
    /** Whether the local changes differ from those at the last return, or at the installation. */
    public boolean changed;
    /** The last return of this installation that was delivered. */
    public long returned;
    /** When it was made; null if there is none. */
    public Instant returnedAt;
  }

  /** A bundle or a delta that may be installed. */
  public static final class Offered {
    public long generation;
    public Instant created;
    public Instant expires;
    public List<Manifest.Include> includes;
    /** For a delta: the stamp ID of each store that it is for, by path. */
    public Map<String, String> from;
  }
}
