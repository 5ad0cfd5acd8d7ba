import Arguments
import Pipelines
import System

/// The commands of attache, in the order in which help lists them.
package enum AttacheTool {
  static let version = ProgramVersion.text

  package static let tool = Tool<Program>(
    name: "attache",
    summary: "prime SmartStore snapshots from an org, pack them, and reconcile returned stores",
    version: version, date: "November 21, 2026",
    discussion: """
      A pipeline is one JSON file. `attache run PIPELINE` runs all stages: it ingests returned stores, \
      sends their edits to the org, primes changes, and packs bundles for offline distribution.
      """,
    groups: [
      Note("bundle", "one bundle"),
      Note("key", "keys that sign bundles"),
      Note("org", "the embedded org"),
      Note("returns", "returned stores: list, show, release, discard"),
      Note("store", "one SmartStore file"),
      Note("sync", "Mobile Sync on one store, without a pipeline"),
    ],
    sections: sections,
    commands: [
      RunCommand.self, IngestCommand.self, ReconcileCommand.self, ReconcileUndoCommand.self,
      DecideCommand.self, ReviewCommand.self,
      PrimeCommand.self,
      PackCommand.self, WorkCommand.self, PublishCommand.self, PublishURLCommand.self,
      PruneCommand.self,
      BackupCommand.self, RecoverCommand.self,
      ReturnsListCommand.self, ReturnsShowCommand.self,
      ReturnsReleaseCommand.self, ReturnsDiscardCommand.self, ListCommand.self, StatusCommand.self,
      ReportCommand.self, ExplainCommand.self, CheckCommand.self, InitCommand.self,
      BundleInspectCommand.self, BundleVerifyCommand.self,
      BundleExtractCommand.self, BundleDeltaCommand.self, BundleApplyDeltaCommand.self,
      KeyMakeCommand.self, StoreQueryCommand.self, StoreSoupsCommand.self,
      StoreCheckCommand.self,
      StoreSealCommand.self, StoreUnsealCommand.self,
      SyncRunCommand.self, SyncStatusCommand.self, SyncListCommand.self, SyncDeleteCommand.self,
      OrgServeCommand.self,
      OrgSeedCommand.self, OrgCheckCommand.self, OrgCACommand.self, DemoCommand.self,
      CompleteCommand.self,
    ],
    exitStatuses: ExitStatus.meanings.map { Note($0.status, $0.meaning) },
    variables: [
      Note(
        "ATTACHE_DATA",
        "a pipeline's data directory, if --data is not given; demo and the embedded org ignore it"),
      Note("ATTACHE_ORG_URL", "the org's address, if --org-url is not given"),
      Note("ATTACHE_CLIENT_ID", "the connected app, if --client-id is not given"),
      Note("NO_COLOR", "no color, if it is set and --color is not given"),
      Note("HTTPS_PROXY, NO_PROXY", "the proxy, and the hosts reached without it"),
      Note("CURL_CA_BUNDLE, SSL_CERT_FILE", "certificate authorities to trust"),
    ], former: former)

  /// The sections of the first help page.
  private static let sections = [
    HelpSection(
      "run",
      [
        "run", "ingest", "reconcile", "prime", "pack", "work", "publish", "list", "status",
        "report",
        "explain",
      ]),
    HelpSection("returns and decisions", ["returns", "decide", "review"]),
    HelpSection("stores and bundles", ["store", "bundle", "key", "sync"]),
    HelpSection("org", ["org", "demo"]),
    HelpSection(
      "setup",
      ["init", "check", "prune", "backup", "recover", "completion", "manual", "help"]),
  ]

  /// Commands and options that were renamed or removed before 1.0.
  private static let former = FormerWords(
    options: [
      "again": "--retry", "drop": "--discard", "rehearse": "--dry-run --report DIR",
      "json": "--format json", "conflicts": "--verdict conflict",
      "clashes": "--verdict device-conflict", "failed": "--verdict failed",
      "in-doubt": "--verdict unconfirmed", "created-twice": "--verdict duplicate-created",
      "deleted": "--verdict deleted-on-server", "merged": "--verdict merged-on-server",
      "not-visible": "--verdict not-visible", "not-permitted": "--verdict exceeds-user-access",
      "blocked": "--verdict blocked", "held": "--verdict not-attempted",
      "not-configured": "--verdict not-configured", "record": "--match-record ID",
      "as": "--generation SNAPSHOT/GENERATION",
    ],
    commands: ["reconcile retry": "attache decide PIPELINE --retry --verdict VERDICTS --now"])
}
