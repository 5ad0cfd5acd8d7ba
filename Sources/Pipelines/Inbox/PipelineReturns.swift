import JSON
import Ledger
import Returns
import System

/// The returns of a pipeline, and the operator's actions on those that were refused.
package struct PipelineReturns: Sendable {
  private let pipeline: Pipeline
  private let data: DataDirectory

  /// Opens the returns of a pipeline; `root` is the directory that holds `<pipeline>/`.
  package init(_ pipeline: Pipeline, root: String) {
    self.pipeline = pipeline
    data = DataDirectory(root: root, name: pipeline.name)
  }

  /// Returns all returns from inbox to `done`, in that order.
  ///
  /// If a run is active, a file that it moves meanwhile may be missing, or may be named by its
  /// digest.
  package func list() throws -> [File] {
    try LedgerCheck.checkRights(data)
    var found = try inbox()
    for directory in try Self.directories(in: data.processing) {
      found.append(try lying(directory, .taken))
    }
    found += try quarantined()
    let finished = try Self.directories(in: data.done).map { try lying($0, .done) }
    found += try withOwners(finished)
    return found + (try discarded())
  }

  /// Returns the files with a given name, or with a digest that has the given prefix.
  package func find(_ word: String) throws -> [File] {
    let all = try list()
    let exact = all.filter { $0.name == word || $0.sha256 == word }
    if !exact.isEmpty || word.utf8.count < Self.leastDigits { return exact }
    return all.filter { $0.sha256?.hasPrefix(word) == true }
  }

  /// The least number of characters of a digest that name a return.
  package static let leastDigits = 4

  // MARK: listing

  private func inbox() throws -> [File] {
    let directory = data.inbox(pipeline.inbox.path)
    guard Files.isDirectory(directory) else { return [] }
    let inbox = Inbox(
      directory: directory, root: data.path, settleSeconds: pipeline.inbox.settleSeconds,
      fileBytes: pipeline.inbox.limits.fileBytes)
    var found: [File] = []
    for candidate in try inbox.candidates(now: Clock.wallMilliseconds()) {
      var one = waiting(candidate.path)
      if let refusal = candidate.refusal {
        one.state = .left
        (one.reason, one.code, one.fix) = (refusal.sentence, refusal.code.rawValue, refusal.fix)
      } else if !candidate.hasStoodStill {
        one.state = .arriving
        one.reason =
          "it was written to a moment ago; it is taken when it has been unchanged for "
          + "\(CountText.of(pipeline.inbox.settleSeconds, "second")) (inbox.settleSeconds)"
      }
      found.append(one)
    }
    for name in try Files.list(directory) where Inbox.isUpload(name) {
      var one = waiting(directory + "/" + name)
      one.state = .arriving
      one.reason = "its name shows an upload in progress: it is taken under its final name"
      found.append(one)
    }
    return found
  }

  private func waiting(_ path: String) -> File {
    let time = (try? Files.modificationTime(of: path)).map { $0 / 1_000_000 }
    return File(
      state: .waiting, name: Files.name(of: path), path: path, bytes: DiskUse.bytes(of: path),
      since: time)
  }

  private func lying(_ directory: String, _ state: File.State) throws -> File {
    let taken = TakenReturn(directory: directory)
    let sha256 = Files.name(of: directory)
    return File(
      state: state, name: taken?.name ?? sha256, sha256: sha256, path: directory,
      bytes: DiskUse.bytes(of: directory), since: taken?.arrived)
  }

  private func quarantined() throws -> [File] {
    let reasons = try Quarantine.list(data.quarantine).reduce(into: [:]) {
      $0[$1.sha256] = $1.detail
    }
    return try Self.directories(in: data.quarantine).map { directory in
      var one = try lying(directory, .quarantined)
      let detail = reasons[one.sha256 ?? ""]
      one.code = detail?["code"]?.string
      one.reason =
        detail?["reason"]?.string ?? "its reason file was removed, so no report lists it"
      one.fix = detail?["fix"]?.string
      return one
    }
  }

  private func discarded() throws -> [File] {
    guard Files.isDirectory(data.quarantine) else { return [] }
    return try Files.list(data.quarantine).compactMap { name in
      guard name.hasSuffix(Quarantine.discardedEnding) else { return nil }
      let bytes = (try? Files.read(data.quarantine + "/" + name, limit: 1 << 16)) ?? []
      guard let note = try? JSONValue(parsing: bytes) else { return nil }
      let sha256 = String(name.dropLast(Quarantine.discardedEnding.count))
      var one = File(
        state: .discarded, name: note["name"]?.string ?? sha256, sha256: sha256)
      one.since = note["discarded"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
      (one.reason, one.code) = (note["reason"]?.string, note["code"]?.string)
      one.by = note["by"]?.string
      return one
    }
  }

  /// Adds what the ledger knows about returns that were processed.
  private func withOwners(_ returns: [File]) throws -> [File] {
    guard !returns.isEmpty, let ledger = try data.ledgerIfThere() else { return returns }
    defer { ledger.close() }
    return try returns.map { one in
      guard let known = try one.sha256.flatMap(ledger.returned(sha256:)) else { return one }
      var one = one
      one.owner = try ledger.snapshotRow(id: known.snapshotID)?.username ?? known.snapshotID
      one.of = "generation \(known.generation), \(known.platform)"
      one.edits = try ledger.verdicts(of: known)
      return one
    }
  }

  static func directories(in directory: String) throws(SystemError) -> [String] {
    guard Files.isDirectory(directory) else { return [] }
    return try Files.list(directory).filter { !$0.hasPrefix(".") }.map { directory + "/" + $0 }
      .filter { Files.isDirectory($0) }
  }

  // MARK: actions

  /// Moves refused returns back to the inbox, where the next ingest validates them again.
  package func release(_ words: [String]) throws -> [File] {
    try work(words) { one, sha256 in
      let place = data.processing + "/" + sha256
      guard TakenReturn(directory: data.quarantine + "/" + sha256) != nil else {
        throw PipelineError(
          .configuration, "returns.no-note",
          "\(one.name) cannot be released: its note is missing",
          location: data.quarantine + "/" + sha256,
          fix: "put the file into the inbox, then discard the rest")
      }
      try Files.makeDirectory(data.processing)
      try DurableFile.move(data.quarantine + "/" + sha256, toNew: place)
      try ReasonFile.remove(of: sha256, in: data.quarantine)
    }
  }

  /// Removes refused returns, and records who removed them and when.
  package func discard(_ words: [String], by name: String) throws -> [File] {
    try work(words) { one, sha256 in
      let place = data.quarantine + "/" + sha256
      var note: JSONObject = ["format": 1, "name": .string(one.name), "sha256": .string(sha256)]
      note["code"] = one.code.map(JSONValue.string)
      note["reason"] = one.reason.map(JSONValue.string)
      note["arrived"] = one.since.map { .string(Dates.utc($0)) }
      note["discarded"] = .string(Dates.utc(Clock.wallMilliseconds()))
      note["by"] = .string(name)
      try DurableFile.write(
        JSONValue.object(note).fileBytes,
        to: place + Quarantine.discardedEnding)
      try DurableFile.takeAway(place)
      try ReasonFile.remove(of: sha256, in: data.quarantine)
    }
  }

  /// Applies an action to all of the named returns, or to none if one of them does not exist.
  private func work(
    _ words: [String], _ body: (File, _ sha256: String) throws -> Void
  ) throws -> [File] {
    guard Files.exists(data.path) else {
      throw try unknown(words.first ?? "", inQuarantine: true)
    }
    let lock = try PipelineRun.takeLock(data)
    defer { lock.close() }
    var chosen: [File] = []
    for word in words {
      let found = try find(word).filter { $0.state == .quarantined }
      guard found.count == 1, let one = found.first else {
        if found.isEmpty { throw try unknown(word, inQuarantine: true) }
        throw several(word, found)
      }
      if !chosen.contains(where: { $0.sha256 == one.sha256 }) { chosen.append(one) }
    }
    for one in chosen { if let sha256 = one.sha256 { try body(one, sha256) } }
    return chosen
  }

  /// The error for a word that names no return, or none in quarantine.
  package func unknown(_ word: String, inQuarantine: Bool = false) throws -> PipelineError {
    let listed = try list()
    let chosen = inQuarantine ? listed.filter { $0.state == .quarantined } : listed
    var error = PipelineError(
      .configuration, "returns.unknown",
      "there is no return \(word)" + (inQuarantine ? " in quarantine" : ""),
      location: inQuarantine ? data.quarantine : data.path)
    if word.utf8.count < Self.leastDigits,
      chosen.contains(where: { $0.sha256?.hasPrefix(word) == true })
    {
      error.reason = "a prefix of a digest needs at least \(Self.leastDigits) characters"
      error.fix = "write more of the digest, or the file name"
      return error
    }
    if let other = try find(word).first {
      error.reason = "\(other.name) is not in quarantine; its state: \(other.state.words)"
      if inQuarantine, other.state == .taken {
        error.fix =
          "attache ingest \(pipeline.called) validates it; if it is refused again, it can be discarded"
        return error
      }
    }
    if chosen.isEmpty {
      error.fix =
        inQuarantine
        ? "nothing to do: no return is in quarantine"
        : "put returns into \(data.inbox(pipeline.inbox.path)): none has arrived yet"
      return error
    }
    // Only a name that the list hides without it needs the option.
    let isHidden = !inQuarantine && chosen.contains { [.done, .discarded].contains($0.state) }
    let all = isHidden ? " --all" : ""
    error.fix =
      "name a return that attache returns list \(pipeline.called)\(all) shows, "
      + "or at least \(Self.leastDigits) characters of its digest"
    return error
  }

  private func several(_ word: String, _ found: [File]) -> PipelineError {
    PipelineError(
      .configuration, "returns.several", "\(word) names \(found.count) returns",
      location: data.quarantine,
      fix: "name one by its digest: "
        + found.compactMap(\.shortDigest).joined(separator: ", "))
  }
}
