import Salesforce

/// The retrieves of a briefcase: a few are in flight, their answers are taken in order.
///
/// Tasks of their own and not a task group: an optimised build of Swift 6.3.1 answers that a group
/// which is handed on as `inout` has no tasks.
struct RetrieveWindow {
  private typealias Retrieve = Task<Result<[UInt8], OrgError>, Never>

  /// How many retrieves are in flight or unread.
  private static let size = 3

  private let session: Session
  private let groups: [BriefcaseGroup]
  private let batches: [BriefcaseBatch]
  private var next = 0
  private var inFlight: [Retrieve] = []

  /// Sends the first retrieves.
  init(session: Session, groups: [BriefcaseGroup], batches: [BriefcaseBatch]) {
    self.session = session
    self.groups = groups
    self.batches = batches
    for _ in 0..<Self.size { sendNext() }
  }

  /// The answer of the next batch; another retrieve is sent before it is handed out.
  mutating func take() async throws(SyncError) -> [UInt8] {
    guard !inFlight.isEmpty else {
      throw SyncError(.cancelled, "the retrieves ended before their answers were read")
    }
    let retrieve = inFlight.removeFirst()
    let result = await withTaskCancellationHandler {
      await retrieve.value
    } onCancel: {
      retrieve.cancel()
    }
    if Task.isCancelled { throw SyncError(.cancelled, "the prime was cancelled") }
    sendNext()
    switch result {
    case .success(let page): return page
    case .failure(let error): throw SyncError(error)
    }
  }

  /// Gives up what is still under way.
  mutating func cancel() {
    for retrieve in inFlight { retrieve.cancel() }
    inFlight = []
  }

  private mutating func sendNext() {
    guard next < batches.count else { return }
    let batch = batches[next]
    let sobjectType = groups[batch.group].sobjectType
    let fields = groups[batch.group].fields
    next += 1
    inFlight.append(
      Task { [session] in
        do throws(OrgError) {
          return .success(
            try await session.retrieve(sobjectType, ids: batch.ids, fields: fields))
        } catch {
          return .failure(error)
        }
      })
  }
}
