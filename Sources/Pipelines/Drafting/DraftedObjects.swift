import JSON
import Salesforce
import System

/// The org's descriptions of objects for the first user of a new pipeline.
package struct DraftedObjects: Sendable {
  /// The objects, in the order in which they were named.
  package let objects: [Describe]
  /// The fields on the user's page layout to edit a record, by object; an object without a layout is missing.
  package let edited: [String: Set<String>]
  /// The org's own address.
  package let address: String
  /// The user as whom the org was asked.
  package let username: String

  /// Logs in as the draft says, and requests the descriptions.
  ///
  /// `root` is the directory that holds `<pipeline>/`.
  package static func ask(
    _ names: [String], _ draft: PipelineDraft, root: String, variables: [String: String]
  ) async throws -> DraftedObjects {
    var provisional = draft
    provisional.store = .provisional
    let scratch = try ScratchDirectory(variables)
    defer { scratch.remove() }
    let pipeline: Pipeline
    do {
      pipeline = try provisional.write(into: scratch.path, variables: variables)
    } catch let error as Problems {
      throw Problems(error.list.map { $0.below(scratch.path) })
    }
    let access = try OrgAccess(
      pipeline, DataDirectory(root: root, name: draft.name), variables: variables)
    let session = try await session(draft, access)
    var objects: [Describe] = []
    var edited: [String: Set<String>] = [:]
    for name in names {
      let object = try await describe(name, session)
      objects.append(object)
      edited[object.name] = await fields(onLayoutOf: object.name, session)
    }
    return DraftedObjects(
      objects: objects, edited: edited, address: session.instanceURL,
      username: session.identity.username)
  }

  private static func session(_ draft: PipelineDraft, _ access: OrgAccess) async throws -> Session {
    if case .list(let names) = draft.users, let first = names.first {
      return try await access.session(as: first)
    }
    return try await access.anySession()
  }

  /// The fields of a page layout; nil where the org has none for the user, or does not say.
  private static func fields(
    onLayoutOf name: String, _ session: Session
  ) async -> Set<String>? {
    guard
      let bytes = try? await session.layout(
        name, formFactor: "Large", layoutType: "Full", mode: "Edit"),
      let layout = try? JSONValue(parsing: bytes)
    else { return nil }
    func all(_ value: JSONValue, _ member: String) -> [JSONValue] { value[member]?.array ?? [] }
    let names = all(layout, "sections").flatMap { all($0, "layoutRows") }
      .flatMap { all($0, "layoutItems") }.flatMap { all($0, "layoutComponents") }
      .filter { $0["componentType"] == "Field" }.compactMap { $0["apiName"]?.string }
    return names.isEmpty ? nil : Set(names)
  }

  private static func describe(_ name: String, _ session: Session) async throws -> Describe {
    do throws(OrgError) {
      return try await session.describe(name)
    } catch {
      guard error.kind == .notFound || error.isAboutTheObject else { throw error }
      let names = (try? await session.objectNames()) ?? []
      let near = Spelling.nearest(name, among: names)
      throw PipelineError(
        .configuration, "init.object", "\(session.identity.username) cannot see an object \(name)",
        fix: near.map { "write \($0)" } ?? "write its API name, such as Contact or Site_Visit__c")
    }
  }
}

extension Problem {
  /// Returns the problem without the path of the temporary directory of the file.
  fileprivate func below(_ directory: String) -> Problem {
    Problem(
      file: file.hasPrefix(directory + "/")
        ? String(file.dropFirst(directory.utf8.count + 1)) : file,
      line: line, column: column, path: path, message: message, fix: fix)
  }
}
