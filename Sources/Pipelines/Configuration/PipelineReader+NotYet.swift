import JSON
import MobileSync

extension PipelineReader {
  /// The keys that are understood and asked for, but whose feature does not exist yet.
  mutating func findNotYet(_ pipeline: Pipeline, _ root: JSONNode) {
    let login = root["org"]?["login"]
    let reconcile = root["reconcile"]
    if pipeline.org.login.method == .refreshToken {
      refuse(login?["method"], "a login by refresh token", "use \"jwt\"")
    }
    if pipeline.org.login.method == .sf {
      refuse(login?["method"], "a login by the alias of sf", "use \"jwt\" or \"accessToken\"")
    }
    if case .csv(_, _, _?) = pipeline.users.source {
      refuse(root["users"]?["csv"]?["refreshToken"], "a column of refresh tokens", "remove it")
    }
    if pipeline.pack.signKey != nil {
      refuse(root["pack"]?["sign"], "signing", "remove it")
    }
    if pipeline.reconcile.mode == .mergeFields {
      refuse(reconcile?["mode"], "merging by field", "write \"config\"")
    }
    if pipeline.reconcile.trust == .diff {
      refuse(reconcile?["trust"], "finding edits without flags", "write \"flags\"")
    }
    if let node = reconcile?["nextGeneration"], node.bool == true {
      refuse(node, "carrying open edits into the next generation", "write false, or leave it out")
    }
    if pipeline.report.metricsFile?.hasPrefix("/") == true {
      refuse(root["report"]?["metricsFile"], "a file of metrics", "remove it")
    }
    for (store, node) in zip(pipeline.stores, root["stores"]?.array ?? []) {
      refuseSecondSyncUps(store, node)
      for sync in store.reconciled {
        guard case .syncUp(let target) = sync.target, target.kind == .parentChildren else {
          continue
        }
        refuse(
          place(of: sync, "reconcile", node),
          "sending parents and children together (\(sync.syncName))",
          "leave the sync out of \"reconcile\"")
      }
    }
  }

  /// Of two sync ups over one soup the first would decide alone, and the second's fields never travel.
  private mutating func refuseSecondSyncUps(_ store: StoreSettings, _ node: JSONNode) {
    var first: [String: String] = [:]
    for sync in store.reconciled {
      guard let other = first.updateValue(sync.syncName, forKey: sync.soupName) else { continue }
      first[sync.soupName] = other
      refuse(
        place(of: sync, "reconcile", node),
        "a second sync up over the soup \(JSONText.quoted(sync.soupName)) (\(sync.syncName), after "
          + "\(other))",
        "name one of them in \"reconcile\"")
    }
  }

  private mutating func refuse(_ node: JSONNode?, _ what: String, _ fix: String) {
    notYet.append(
      Problem(
        file: reader.file, line: node?.line ?? 0, column: node?.column ?? 0,
        path: node?.path ?? "", message: "not yet: \(what) does not exist in this version",
        fix: fix))
  }
}
