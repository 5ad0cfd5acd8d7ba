import Salesforce

/// A request and its response, run concurrently with others.
enum SyncUpErrand {
  typealias Carried = Result<(answers: [RowAnswer], read: CompositeResult?), OrgError>
  typealias Request = @concurrent @Sendable () async -> (flight: Int, answer: Answer)

  enum Answer: Sendable {
    case looked([Result<RecordReader.Answer, OrgError>])
    case opened(Result<String, NotOpened>)
    case carried(Carried)
  }

  /// The reason why no bulk job exists.
  struct NotOpened: Error {
    var error: OrgError
    /// The jobs that may have been created anyway.
    var lost: Set<String> = []
    /// Whether the org answers other requests.
    var isAlone = false

    /// Whether the changes may be sent in requests, which may succeed if a job does not.
    ///
    /// A job without rows does nothing, whether it was created or not. What an outage stopped would
    /// also fail in requests.
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

  /// The tolerance between the org's time and the estimate of it.
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
