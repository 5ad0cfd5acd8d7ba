import JSON
import Salesforce

/// Records fetched by the values of their ID field, one query per page.
///
/// The values are read once, so that no record moves between pages when others are deleted or
/// added.
final class RecordsByIDPages: SyncDownPages {
  struct Request: Sendable {
    var values: IDList
    /// Fetches only what was modified after this, in milliseconds; nil fetches all.
    var since: Int64?
  }

  /// How to count the total of records.
  enum Total {
    /// All requested values, as a refresh counts.
    case values
    /// The records that arrive: known for the first page, and assumed for the others.
    case answers
  }

  private(set) var totalSize: Int
  let isSorted = false
  let isCut: Bool
  private let total: Total
  private let slice: Int
  private let destination: SyncDestination
  private let context: SyncContext
  private let windows: [any AnswerSource<QueryAnswer>]
  private var isFirst = true

  /// Fetches fields of records, plus their ID and modification date.
  init(
    _ query: IDQuery, _ fields: [String], _ requests: [Request], total: Total,
    isCut: Bool = false, into destination: SyncDestination, session: Session, _ context: SyncContext
  ) {
    totalSize = requests.reduce(0) { $0 + $1.values.count }
    self.total = total
    self.isCut = isCut
    slice = query.slice
    self.destination = destination
    self.context = context
    let date = destination.modificationPath
    let fields = IDQuery.fields(fields, adding: [destination.idPath, date])
    windows = requests.map { request in
      query.window(session, values: request.values, context) { values in
        query.soql(fields, values: values, modifiedAfter: request.since, date)
      }
    }
  }

  /// Fetches the records with these values by the statements of `soql`.
  init(
    _ values: IDList, into destination: SyncDestination, session: Session, _ context: SyncContext,
    soql: @escaping @Sendable (_ values: [String]) -> String
  ) {
    totalSize = values.count
    total = .answers
    isCut = false
    slice = RequestLimits.idsPerQuery
    self.destination = destination
    self.context = context
    windows = [session.answers(about: values, slice: slice, context.width(.records), soql)]
  }

  func next() async throws(SyncError) -> SyncPage? {
    guard let window = windows.first(where: { $0.hasMore }) else { return nil }
    try context.checkStop()
    let answer = try await window.take()
    let records = try answer.read()
    if isFirst, total == .answers { totalSize += records - min(answer.asked ?? slice, totalSize) }
    isFirst = false
    let parts = answer.pages.map {
      SyncPage.Part(destination, bytes: $0, container: QueryAnswer.container)
    }
    return SyncPage(parts: parts, records: records)
  }
}
