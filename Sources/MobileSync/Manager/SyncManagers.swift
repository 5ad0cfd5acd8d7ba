import Salesforce
import SmartStore
import System

/// The sync managers of a program; each user and store has exactly one.
///
/// ```swift
/// let org = try Org(url: words[1], credentials: .accessToken(words[2]))
/// let managers = SyncManagers(directory: words[3], platform: .ios, org: org)
/// ```
public actor SyncManagers {
  private let directory: String
  private let platform: Platform
  private let org: Org
  private let settings: SyncSettings
  private let customTargets: CustomTargets
  private var managers: [String: Task<Result<SyncManager, SyncError>, Never>] = [:]

  /// Creates the managers of the stores below a directory.
  ///
  /// - Parameters:
  ///   - directory: Where the stores are, at the paths that an app has below its own directory.
  ///   - platform: The layout of newly created stores.
  ///   - org: The org to sync with.
  ///   - settings: The settings of each manager.
  ///   - customTargets: The code of the program's custom targets.
  public init(
    directory: String, platform: Platform, org: Org, settings: SyncSettings = SyncSettings(),
    customTargets: CustomTargets = CustomTargets()
  ) {
    self.directory = directory
    self.platform = platform
    self.org = org
    self.settings = settings
    self.customTargets = customTargets
  }

  /// Returns the manager of a user's store, which is created if it is missing.
  ///
  /// - Parameters:
  ///   - username: The user; nil for the user of the credentials.
  ///   - storeName: The store; the default is the user's default store.
  public func manager(
    username: String? = nil, storeName: String = StoreLocation.defaultStoreName
  ) async throws(SyncError) -> SyncManager {
    let user = try await self.user(username)
    let location = StoreLocation(platform, storeName: storeName, user: user)
    return try await manager(at: "\(directory)/\(location.path)", user, username)
  }

  /// Returns the manager of a store that belongs to all users, syncing as one of them.
  public func globalManager(
    username: String? = nil, storeName: String = StoreLocation.defaultStoreName
  ) async throws(SyncError) -> SyncManager {
    let user = try await self.user(username)
    let location = StoreLocation(platform, storeName: storeName)
    return try await manager(at: "\(directory)/\(location.path)", user, username)
  }

  /// Returns the manager of a store file at any location; an existing store keeps its platform.
  public func manager(
    storeAt path: String, username: String? = nil
  ) async throws(SyncError) -> SyncManager {
    try await manager(at: path, user(username), username)
  }

  /// Closes all managers; later requests create new ones.
  public func close() async throws(SyncError) {
    let all = managers.values
    managers = [:]
    var failure: SyncError?
    for task in all {
      guard case .success(let manager) = await task.value else { continue }
      // A manager that fails to close does not keep the others open.
      do throws(SyncError) { try await manager.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func user(_ username: String?) async throws(SyncError) -> StoreLocation.User {
    let org = self.org
    let session = try await SyncError.inOrg { try await org.session(username: username) }
    return StoreLocation.User(
      organizationID: session.identity.organizationID, userID: session.identity.userID)
  }

  private func manager(
    at path: String, _ user: StoreLocation.User, _ username: String?
  ) async throws(SyncError) -> SyncManager {
    // Two spellings of a path must lead to the same store.
    let path = try SyncManager.place(of: path)
    let key = "\(user.organizationID)/\(user.userID):\(path)"
    let task =
      managers[key]
      ?? Task { [platform, org, settings, customTargets] in
        do throws(SyncError) {
          let manager = try await SyncManager(
            storeAt: path, platform: platform, settings: settings, customTargets: customTargets
          ) { () async throws(OrgError) in try await org.session(username: username) }
          return .success(manager)
        } catch {
          return .failure(error)
        }
      }
    managers[key] = task
    let result = await task.value
    if case .failure = result, managers[key] == task { managers[key] = nil }
    return try result.get()
  }
}

extension SyncManager {
  /// Opens or creates the store of a file, with its directories, and takes ownership of it.
  package init(
    storeAt path: String, platform: Platform, settings: SyncSettings = SyncSettings(),
    customTargets: CustomTargets = CustomTargets(),
    login: @escaping @Sendable () async throws(OrgError) -> Session
  ) async throws(SyncError) {
    let path = try Self.place(of: path)
    let store = try SyncError.inStore {
      try Store.shared(path, creating: platform, waitSeconds: settings.waitSeconds)
    }
    try await self.init(
      store: store, settings: settings, customTargets: customTargets, login: login)
  }
  /// Returns the canonical path of a store's file, creating its directories if they are missing.
  fileprivate static func place(of path: String) throws(SyncError) -> String {
    do throws(SystemError) {
      if !Files.exists(path), let directory = Files.parent(of: path) {
        if !Files.isDirectory(directory) { try Files.makeDirectory(directory) }
      }
      return try Files.resolved(path)
    } catch {
      throw SyncError(store: error)
    }
  }
}
