package attache.kit;

/** The user whose bundles an app installs. */
public final class Owner {
  public final String org;
  public final String user;
  public final String pipeline;
  public final String platform;

  /**
   * An owner on Android; {@code org} and {@code user} are the 18-character IDs of the user who is
   * logged in.
   */
  public Owner(String org, String user, String pipeline) {
    this(org, user, pipeline, "android");
  }

  public Owner(String org, String user, String pipeline, String platform) {
    this.org = org;
    this.user = user;
    this.pipeline = pipeline;
    this.platform = platform;
  }

  /** Checks that a manifest is one of this user's. */
  public void check(Manifest manifest) throws Refusal {
    if (manifest.format != 1) {
      throw new Refusal(Refusal.Code.FORMAT, "format " + manifest.format + " needs a newer app");
    }
    require(Refusal.Code.ORG, manifest.org, org);
    require(Refusal.Code.USER, manifest.user, user);
    require(Refusal.Code.PIPELINE, manifest.pipeline, pipeline);
    require(Refusal.Code.PLATFORM, manifest.platform, platform);
  }

  private static void require(Refusal.Code code, String found, String wanted) throws Refusal {
    if (found.equals(wanted)) return;
    String name = code.name().toLowerCase(java.util.Locale.ROOT);
    throw new Refusal(code, "the bundle is for the " + name + " \"" + found + "\"");
  }
}
