import Salesforce

/// The retrieves of a briefcase: a few are in flight, their answers are taken in order.
struct RetrieveWindow {
  /// What one retrieve brought.
  typealias Answer = (place: Int, result: Result<[UInt8], OrgError>)

  /// How many retrieves are in flight or unread.
  private static let size = 3

  private let session: Session
  private let groups: [BriefcaseGroup]
  private let batches: [BriefcaseBatch]
  private var next = 0
  private var waiting: [Int: Result<[UInt8], OrgError>] = [:]

  init(session: Session, groups: [BriefcaseGroup], batches: [BriefcaseBatch]) {
    self.session = session
    self.groups = groups
    self.batches = batches
  }

  /// Sends the first retrieves.
  mutating func start(in tasks: inout TaskGroup<Answer>) {
    for _ in 0..<Self.size { sendNext(in: &tasks) }
  }

  /// The answer of a batch; the next retrieve is sent before it is handed out.
  mutating func take(
    _ place: Int, from tasks: inout TaskGroup<Answer>
  ) async throws(SyncError) -> [UInt8] {
    while true {
      if let result = waiting.removeValue(forKey: place) {
        sendNext(in: &tasks)
        return try SyncError.answer(result)
      }
      guard let answer = await tasks.next() else {
        throw SyncError(.cancelled, "the retrieves ended before their answers were read")
      }
      waiting[answer.place] = answer.result
    }
  }

  private mutating func sendNext(in tasks: inout TaskGroup<Answer>) {
    guard next < batches.count else { return }
    let place = next
    let batch = batches[place]
    let group = groups[batch.group]
    next += 1
    tasks.addTask { [session] in
      do throws(OrgError) {
        return (
          place,
          .success(
            try await session.retrieve(group.sobjectType, ids: batch.ids, fields: group.fields))
        )
      } catch {
        return (place, .failure(error))
      }
    }
  }
}

extension SyncError {
  /// The value of an answer.
  static func answer<T>(_ result: Result<T, OrgError>) throws(SyncError) -> T {
    switch result {
    case .success(let value): return value
    case .failure(let error): throw SyncError(error)
    }
  }
}
