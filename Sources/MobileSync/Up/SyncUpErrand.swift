import Salesforce

/// What is done beside the rest: a request and its answer.
enum SyncUpErrand {
  typealias Carried = Result<(answers: [RowAnswer], read: CompositeResult?), OrgError>
  typealias Request = @concurrent @Sendable () async -> (flight: Int, answer: Answer)

  enum Answer: Sendable {
    case looked([Result<RecordReader.Answer, OrgError>])
    case opened(Result<String, NotOpened>)
    case carried(Carried)
  }

  /// Why no bulk job is there.
  struct NotOpened: Error {
    var error: OrgError
    /// The jobs that may have been made all the same.
    var lost: Set<String> = []
    /// Whether the org answers something else.
    var isAlone = false

    /// Whether the changes may go in requests: what the org does not do in a job it may do in those.
    ///
    /// A job without rows does nothing, whether it was made or not. What an outage stopped fares no better another
    /// way.
    var mayGoInRequests: Bool {
      error.isAboutTheObject || error.isFailedAnswer || error.kind == .invalidResponse || isAlone
    }
  }

  /// Opens a job for writes like this one.
  static func open(_ write: SyncUpWrite, _ session: Session, number: Int) -> Request {
    {
      let since = session.estimatedServerDate - slackMilliseconds
      let operation = SyncUpJob.operation(write.action)
      do throws(OrgError) {
        let job = try await BulkIngestJob.open(
          operation, write.objectType, externalIDField: write.externalKey?.field, session)
        return (number, .opened(.success(job.id)))
      } catch {
        var failure = NotOpened(error: error)
        switch error.kind {
        case .unreachable, .timeout, .invalidResponse:
          failure.isAlone = await session.isAnswered()
          guard failure.isAlone else { break }
          let lost = try? await BulkIngestJob.left(
            by: operation, write.objectType, since: since, session)
          failure.lost = Set(lost ?? [])
        default: break
        }
        return (number, .opened(.failure(failure)))
      }
    }
  }

  /// How far the org's clock is told apart from what is estimated of it.
  private static let slackMilliseconds: Int64 = 60_000

  static func look(_ questions: [RecordReader.Inquiry], number: Int) -> Request {
    let looks = questions.map(\.request)
    return {
      var answers: [Result<RecordReader.Answer, OrgError>] = []
      for look in looks { answers.append(await look()) }
      return (number, .looked(answers))
    }
  }

  static func carry(_ request: SyncUpRequest, _ session: Session, number: Int) -> Request {
    {
      do throws(OrgError) {
        return (number, .carried(.success(try await request.send(session))))
      } catch {
        return (number, .carried(.failure(error)))
      }
    }
  }
}
