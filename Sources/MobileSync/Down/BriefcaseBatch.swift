import JSON
import Salesforce
import System

/// The IDs of one group that one request retrieves.
package struct BriefcaseBatch: Sendable, Hashable {
  /// The index of the group in the target's groups.
  package let group: Int
  package let ids: [String]

  package init(group: Int, ids: [String]) {
    self.group = group
    self.ids = ids
  }

  /// Returns the requests for the wanted IDs of each group, in slices of `size` IDs.
  ///
  /// Slices follow the order of the groups, with one request for each type in a slice.
  package static func slices(of wanted: [[String]], size: Int) -> [[BriefcaseBatch]] {
    let size = min(max(1, size), RequestLimits.retrieve)
    var slices: [[BriefcaseBatch]] = []
    var room = 0
    for (group, ids) in wanted.enumerated() {
      var rest = ids[...]
      while !rest.isEmpty {
        if room == 0 {
          slices.append([])
          room = size
        }
        let part = rest.prefix(room)
        slices[slices.count - 1].append(BriefcaseBatch(group: group, ids: Array(part)))
        rest = rest.dropFirst(part.count)
        room -= part.count
      }
    }
    return slices
  }

  /// Reads a response: the number of its entries, and the IDs for which it has no record.
  package func read(_ page: [UInt8]) throws(SyncError) -> (count: Int, missing: [String]) {
    var found = RecordIDSet()
    let read = try found.insert(page, "Id", in: .array)
    let isWhole = found.count == ids.count
    return (read.records + read.nulls, isWhole ? [] : ids.filter { !found.contains($0) })
  }

  /// Throws unless the response has an entry for each ID that was requested.
  func check(answered count: Int, of groups: [BriefcaseGroup]) throws(SyncError) {
    guard count != ids.count else { return }
    throw SyncError(
      .incomplete,
      "the org returned \(count) of \(CountText.of(ids.count, "record")) of "
        + groups[group].sobjectType,
      fix: "run again")
  }
}

/// The org's response to a batch, or to part of one.
struct BriefcaseAnswer: Sendable {
  let batch: BriefcaseBatch
  let bytes: [UInt8]
}

extension [BriefcaseGroup] {
  /// Fetches the responses to the batches, as the org's bytes and in order: one for each batch, or
  /// several for a batch whose response would be too large.
  func retrieves(
    _ batches: [BriefcaseBatch], in session: Session
  ) -> AnswerWindow<[BriefcaseAnswer]> {
    AnswerWindow(session, count: batches.count) { [self] index throws(OrgError) in
      try await retrieve(batches[index], in: session)
    }
  }

  /// Fetches the same responses with several batches in one call.
  ///
  /// Each part of a call is the same request as without one, so its records have the same bytes,
  /// and null for those that cannot be read.
  func wideRetrieves(
    _ batches: [BriefcaseBatch], in session: Session, _ width: CallWidth
  ) -> WideWindow<BriefcaseBatch, [BriefcaseAnswer]> {
    let way = WideWindow<BriefcaseBatch, [BriefcaseAnswer]>.Way(
      session: session, width: width,
      request: { [self] batch, name in
        let group = self[batch.group]
        return session.retrieveRequest(
          group.sobjectType, ids: batch.ids, fields: group.fields, referenceId: name)
      },
      read: { batch, part, _ in
        Session.isArray(part.body) ? [BriefcaseAnswer(batch: batch, bytes: part.body)] : nil
      },
      alone: { [self] batch throws(OrgError) in
        let answers = try await retrieve(batch, in: session)
        width.note(bytes: answers.reduce(0) { $0 + $1.bytes.count })
        return answers
      }, combinesOne: session.expectsDescriptions)
    var rest = batches[...]
    return WideWindow(way) { most in
      let next = rest.prefix(most)
      rest = rest.dropFirst(next.count)
      return [BriefcaseBatch](next)
    }
  }

  private func retrieve(
    _ batch: BriefcaseBatch, in session: Session
  ) async throws(OrgError) -> [BriefcaseAnswer] {
    let group = self[batch.group]
    return try await session.retrieveParts(
      group.sobjectType, ids: batch.ids, fields: group.fields
    ).map { part in
      BriefcaseAnswer(
        batch: BriefcaseBatch(group: batch.group, ids: part.ids), bytes: part.bytes)
    }
  }
}
