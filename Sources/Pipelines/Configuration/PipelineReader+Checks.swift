import JSON
import MobileSync
import Salesforce
import System

extension PipelineReader {
  /// Checks that the sections are consistent.
  func check(_ pipeline: Pipeline, _ root: JSONNode) {
    checkRefreshTokens(pipeline, root)
    checkVersion(pipeline, root)
    checkLogin(pipeline, root)
    checkIntegrationUser(pipeline, root)
    checkStores(pipeline, root)
    checkTrust(pipeline, root)
    checkQueries(pipeline, root)
    checkKeep(pipeline, root)
    checkInboxStore(pipeline, root)
    checkWork(pipeline, root)
  }

  /// Checks that published bundles, orders and results are not taken for returns, and removed.
  private func checkInboxStore(_ pipeline: Pipeline, _ root: JSONNode) {
    guard let returns = pipeline.inbox.store else { return }
    let section = root["inbox"]?["store"]
    for (what, store) in [
      ("bundles are published", pipeline.publish?.store),
      ("orders are written", pipeline.work?.store),
    ] {
      guard let store, returns.overlaps(store, below: pipeline.name) else { continue }
      reader.report(
        section?["s3"]?["prefix"] ?? section?["s3"] ?? section?["directory"] ?? root,
        "\(what) to \(store.location)/\(pipeline.name), and would be taken for returns",
        "write another prefix or directory for returns, such as \"inbox\"")
    }
  }

  /// Checks that workers can log in: a refresh token that the org replaces is stored where the run
  /// is.
  private func checkWork(_ pipeline: Pipeline, _ root: JSONNode) {
    guard pipeline.work != nil, pipeline.org.login.method == .refreshToken else { return }
    reader.report(
      root["work"] ?? root,
      "workers cannot log in by refreshToken: the org may replace the token",
      "use another login, such as \"jwt\"; or remove \"work\"")
  }

  /// Checks that issued records, and the ledger's values, are kept at least as long as bundles are
  /// valid.
  private func checkKeep(_ pipeline: Pipeline, _ root: JSONNode) {
    let (keep, expiry) = (pipeline.keep, pipeline.pack.expiresAfterDays)
    if keep.issuedRecordDays < expiry {
      reader.report(
        root["keep"]?["issuedRecordDays"] ?? root,
        "a bundle is valid for \(CountText.of(expiry, "day")), but its issued records are kept for "
          + "\(keep.issuedRecordDays)",
        "write \(expiry) or more in keep.issuedRecordDays, or fewer days in pack.expiresAfterDays")
    }
    let least = max(keep.issuedRecordDays, KeepSettings.leastRunsDays)
    if keep.runsDays < least {
      let (subject, days) =
        keep.issuedRecordDays == least
        ? ("issued records are kept", least) : ("requests without an answer are watched", least - 1)
      reader.report(
        root["keep"]?["runsDays"] ?? root,
        "reports and the values of resolved edits are kept for \(CountText.of(keep.runsDays, "day")), "
          + "but \(subject) for \(CountText.of(days, "day"))",
        "write \(least) or more in keep.runsDays")
    }
  }

  /// Checks that refresh tokens are configured, and that a table of tokens is used only with that
  /// login.
  private func checkRefreshTokens(_ pipeline: Pipeline, _ root: JSONNode) {
    let login = pipeline.org.login
    if pipeline.users.source.hasRefreshTokens, login.method != .refreshToken {
      reader.report(
        root["users"]?["csv"]?["refreshToken"] ?? root,
        "a login by \(login.method.rawValue) does not use a column of refresh tokens",
        "remove it, or write \"method\": \"refreshToken\" in org.login")
    }
    guard login.method == .refreshToken, login.refreshToken == nil else { return }
    let node = root["org"]?["login"] ?? root
    if !pipeline.users.source.hasRefreshTokens {
      reader.report(
        node, "a login by refreshToken needs \"refreshToken\"",
        "add \"refreshToken\": {\"file\": \"…\"}, or name a column of tokens in users.csv")
    }
  }

  /// Checks that a named API version has the features that the pipeline needs.
  ///
  /// The org's newest version is checked later.
  private func checkVersion(_ pipeline: Pipeline, _ root: JSONNode) {
    guard let node = root["org"]?["apiVersion"],
      let version = pipeline.org.apiVersion.flatMap({ APIVersion($0) })
    else { return }
    for feature in APIFeature.allCases
    where pipeline.features.contains(feature) && version < feature.since {
      reader.report(
        node, "\(feature.words) need API version \(feature.since)",
        "write \"\(feature.since)\" or later, or remove it to use the org's newest version")
    }
  }

  /// Checks that a login that is a single user serves one user, unless the file says that all users
  /// share one view.
  private func checkLogin(_ pipeline: Pipeline, _ root: JSONNode) {
    guard pipeline.isOneUserLogin, pipeline.users.source.mayBeSeveral else { return }
    let method = pipeline.org.login.method.rawValue
    let node = root["org"]?["login"]?["method"] ?? root
    let briefcase = pipeline.stores(of: .user).lazy.flatMap(\.primed).first {
      $0.target.of(BriefcaseTarget.self) != nil
    }
    if let briefcase {
      reader.report(
        node,
        "a login by \(method) can only be one user, but "
          + "\(JSONText.quoted(briefcase.syncName)) is a briefcase, "
          + "which the org fills separately for each user",
        "use \"jwt\" or a table of refresh tokens to log in as each user, or name one user")
      return
    }
    if pipeline.prime.fetchAs == .user {
      reader.report(
        node, "a login by \(method) can only be one user, but there are snapshots of several",
        "use \"jwt\" or a table of refresh tokens, or state that all users share one view: "
          + "\"prime\": {\"fetchAs\": \"integration\"}")
    }
    let sends = pipeline.stores(of: .user).contains { !$0.reconcile.isEmpty }
    if pipeline.reconcile.sendAs == .user, sends {
      reader.report(
        node, "a login by \(method) can only be one user, but there are edits of several",
        "use \"jwt\" or a table of refresh tokens, or state who sends: "
          + "\"reconcile\": {\"sendAs\": \"integration\"}")
    }
  }

  /// Checks that an integration user is named where one is needed.
  ///
  /// A login that is a single user is its own.
  private func checkIntegrationUser(_ pipeline: Pipeline, _ root: JSONNode) {
    guard !pipeline.isOneUserLogin, pipeline.org.login.integrationUser == nil else { return }
    var reasons: [(JSONNode?, String)] = []
    switch pipeline.users.source {
    case .query: reasons.append((root["users"]?["query"], "the query of users"))
    case .loginUser:
      reasons.append((root["users"]?["self"], "\"self\" with a login for any user"))
    case .list, .csv: break
    }
    for (store, node) in zip(pipeline.stores, root["stores"]?.array ?? [])
    where store.scope == .global {
      reasons.append((node["scope"], "a global store"))
    }
    if pipeline.prime.fetchAs == .integration {
      reasons.append((root["prime"]?["fetchAs"], "\"fetchAs\": \"integration\""))
    }
    if pipeline.reconcile.sendAs == .integration {
      reasons.append((root["reconcile"]?["sendAs"], "\"sendAs\": \"integration\""))
    }
    if pipeline.reconcile.onInactiveUser == .integration {
      reasons.append((root["reconcile"]?["onInactiveUser"], "\"onInactiveUser\": \"integration\""))
    }
    for (node, reason) in reasons {
      reader.report(
        node ?? root, "\(reason) needs the integration user",
        "add \"integrationUser\": \"attache@example.com\" to org.login")
    }
  }

  /// Checks the settings that unflagged edits require.
  ///
  /// A change that the app did not flag may already have been sent by the app: it must never
  /// overwrite later changes, or be confused with a redelivered edit.
  private func checkTrust(_ pipeline: Pipeline, _ root: JSONNode) {
    guard pipeline.reconcile.detectEdits == .compare, let settings = root["reconcile"] else {
      return
    }
    if pipeline.reconcile.returnOpenEdits {
      reader.report(
        settings["returnOpenEdits"] ?? settings,
        "edits are redelivered by the flags of their rows, so \"detectEdits\" cannot be "
          + "\"compare\"",
        "write \"returnOpenEdits\": false, or \"detectEdits\": \"flags\"")
    }
    for (store, node) in zip(pipeline.stores, root["stores"]?.array ?? []) {
      for sync in store.reconciled where sync.options.mergeMode == .overwrite {
        reader.report(
          place(of: sync, "reconcile", node),
          "\(JSONText.quoted(sync.syncName)) overwrites, and with \"detectEdits\": \"compare\" it would send again "
            + "what an app has already sent, over later changes of other users",
          "give it \"mergeMode\": \"LEAVE_IF_CHANGED\", or write \"detectEdits\": \"flags\"")
      }
    }
  }

  private func checkStores(_ pipeline: Pipeline, _ root: JSONNode) {
    for (store, node) in zip(pipeline.stores, root["stores"]?.array ?? []) {
      if store.scope == .global, !store.reconcile.isEmpty, pipeline.reconcile.sendAs == .user {
        reader.report(
          node["reconcile"] ?? node,
          "a global store belongs to no user, so no user can send its edits",
          "write \"reconcile\": [] in this store, or \"sendAs\": \"integration\" in the pipeline's section \"reconcile\""
        )
      } else if store.scope == .global, !store.reconcile.isEmpty, node["reconcile"] == nil {
        reader.report(
          node,
          "a global store is in every bundle, and its edits would be sent with the permissions of the "
            + "integration user",
          "name the sync ups whose edits are to be sent in \"reconcile\", or write "
            + "\"reconcile\": []")
      }
      for (key, syncs) in [("prime", store.primed), ("reconcile", store.reconciled)] {
        for sync in syncs where sync.target.of(CustomTarget.self) != nil {
          reader.report(
            place(of: sync, key, node),
            "the target of \(JSONText.quoted(sync.syncName)) is code in the app, "
              + "which attache does not have",
            "remove the sync from \"\(key)\"")
        }
      }
      for sync in store.primed
      where pipeline.prime.fetchAs == .integration && sync.target.of(BriefcaseTarget.self) != nil {
        reader.report(
          root["prime"]?["fetchAs"] ?? node,
          "\(JSONText.quoted(sync.syncName)) is a briefcase, "
            + "which the org fills only for its own user",
          "write \"fetchAs\": \"user\"")
      }
    }
  }

  /// Returns where a store names a sync; the store itself if it uses all syncs.
  func place(of sync: SyncDefinition, _ key: String, _ store: JSONNode) -> JSONNode {
    store[key]?.array?.first { $0.string == sync.syncName } ?? store
  }

  /// Checks that every `:name` in a query has a value.
  private func checkQueries(_ pipeline: Pipeline, _ root: JSONNode) {
    let known = PrimeSettings.builtInVariables + pipeline.prime.variables.keys.sorted()
    for (store, node) in zip(pipeline.stores, root["stores"]?.array ?? []) {
      for sync in store.primed {
        for name in sync.target.queries.flatMap(SOQLVariables.names(in:))
        where !known.contains(name) {
          let nearest = Spelling.nearest(name, among: known).map {
            "did you mean :\($0)? Otherwise "
          }
          reader.report(
            place(of: sync, "prime", node),
            "the query of \(JSONText.quoted(sync.syncName)) in \(store.syncsFile) uses :\(name), "
              + "which has no value",
            (nearest ?? "") + "add \"variables\": {\"\(name)\": \"…\"} to the section prime")
        }
      }
    }
  }
}
