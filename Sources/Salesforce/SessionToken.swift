import System

/// The token of a session.
///
/// It is renewed by a single login, no matter how many requests found it expired.
package final class SessionToken: Sendable {
  /// A token at some moment.
  struct Value: Sendable {
    let text: String
    let instanceURL: String
    /// The number of renewals.
    ///
    /// A request that failed with an older token finds the newer one here.
    let number: Int
  }

  private struct State {
    var value: Value
    var renewal: Task<Result<Grant, OrgError>, Never>?
  }

  private let state: Locked<State>
  private let login: @Sendable () async throws(OrgError) -> Grant

  init(_ grant: Grant, login: @escaping @Sendable () async throws(OrgError) -> Grant) {
    state = Locked(
      State(value: Value(text: grant.token, instanceURL: grant.instanceURL, number: 0)))
    self.login = login
  }

  var current: Value { state.withLock { $0.value } }

  /// Replaces the failed token, unless another request has already done so.
  func renew(_ failed: Value, because error: OrgError) async throws(OrgError) {
    let login = self.login
    let renewal = state.withLock { state -> Task<Result<Grant, OrgError>, Never>? in
      guard state.value.number == failed.number else { return nil }
      if let running = state.renewal { return running }
      let started = Task { () -> Result<Grant, OrgError> in
        do throws(OrgError) { return .success(try await login()) } catch { return .failure(error) }
      }
      state.renewal = started
      return started
    }
    guard let renewal else { return }
    let result = await renewal.value
    state.withLock { state in
      guard state.value.number == failed.number else { return }
      state.renewal = nil
      if case .success(let grant) = result {
        state.value = Value(
          text: grant.token, instanceURL: grant.instanceURL, number: failed.number + 1)
      }
    }
    _ = try result.get()
  }
}
